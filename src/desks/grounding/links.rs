//! Links and images in a reply: to the shop's own hosts, or gone.

mod address;

use std::collections::HashSet;

use crate::domain::LinkHost;
pub(super) use address::addresses;
use address::{find_address, is_allowed};

/// The longest text of a link, and the longest address; what goes on longer is no link.
const LONGEST_TEXT: usize = 300;
const LONGEST_ADDRESS: usize = 2000;

/// What comes out, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Any text.
    Text(String),
    /// An address that may stand, digits and all.
    Kept(String),
    /// What was taken out.
    Dropped(String),
}

/// Holds a word back until it is whole, and a link until it ends.
#[derive(Clone)]
pub(super) struct Links<'a> {
    hosts: &'a [LinkHost],
    /// E-mail addresses that the sources have, in lower case.
    addresses: HashSet<String>,
    held: String,
    begins_line: bool,
}

/// What is to be done with the beginning of what is held.
enum Step {
    /// It is not clear yet.
    Wait,
    /// So many bytes are done, and these parts come of them.
    Done(usize, Vec<Part>),
}

/// A link's text and where it leads.
struct Link {
    text: String,
    address: String,
    is_image: bool,
    /// How many bytes it takes.
    length: usize,
}

impl<'a> Links<'a> {
    pub(super) fn new(hosts: &'a [LinkHost], addresses: HashSet<String>) -> Self {
        Self { hosts, addresses, held: String::new(), begins_line: true }
    }

    pub(super) fn push(&mut self, c: char) -> Vec<Part> {
        self.held.push(c);
        self.settle(false)
    }

    pub(super) fn finish(&mut self) -> Vec<Part> {
        self.settle(true)
    }

    fn settle(&mut self, at_end: bool) -> Vec<Part> {
        let mut parts = Vec::new();
        while !self.held.is_empty() {
            match self.step(at_end) {
                Step::Wait => break,
                Step::Done(bytes, done) => {
                    let taken: String = self.held.drain(..bytes).collect();
                    self.begins_line = taken.ends_with('\n') || self.begins_line && taken.trim().is_empty();
                    parts.extend(done);
                }
            }
        }
        parts
    }

    fn step(&self, at_end: bool) -> Step {
        let held = self.held.as_str();
        match held.chars().next() {
            Some('!') if held == "!" && !at_end => Step::Wait,
            Some('!') if held.starts_with("![") => self.bracket(at_end),
            Some('[') => self.bracket(at_end),
            Some('<') => self.angle(at_end),
            Some(c) if c.is_whitespace() => pass(&held[..c.len_utf8()]),
            _ => self.word(at_end),
        }
    }

    /// `[text](address)`, `[text][label]`, `[label]: address`, each also as an image.
    fn bracket(&self, at_end: bool) -> Step {
        let held = self.held.as_str();
        let is_image = held.starts_with('!');
        let open = usize::from(is_image);
        // No link after all: what is inside is looked at for itself.
        let no_link = || pass(&held[..=open]);
        let wait = |too_long: bool| if at_end || too_long { no_link() } else { Step::Wait };
        let Some(close) = closing(&held[open..], '[', ']').map(|at| open + at) else {
            let too_long = held.len() > LONGEST_TEXT || held.contains("\n\n");
            return wait(too_long);
        };
        let text = held[open + 1..close].to_owned();
        let rest = &held[close + 1..];
        let Some(next) = rest.chars().next() else { return wait(false) };
        let is_note = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
        match next {
            '(' => match closing(rest, '(', ')') {
                Some(end) => {
                    let address = rest[1..end].to_owned();
                    self.link(&Link { text, address, is_image, length: close + 2 + end })
                }
                None => wait(rest.len() > LONGEST_ADDRESS || rest.contains("\n\n")),
            },
            '[' if !is_note => match closing(rest, '[', ']') {
                // Where its label leads is told elsewhere, and goes there.
                Some(end) => Step::Done(close + 2 + end, self.inside(&text)),
                None => wait(rest.len() > LONGEST_TEXT || rest.contains('\n')),
            },
            ':' if self.begins_line && !is_image => match rest.find('\n') {
                Some(end) => self.definition(&held[..close + 1 + end]),
                None if at_end => self.definition(held),
                None => wait(rest.len() > LONGEST_ADDRESS),
            },
            _ => no_link(),
        }
    }

    fn link(&self, link: &Link) -> Step {
        let target = link.address.trim().trim_start_matches('<');
        let target = target.split(|c: char| c.is_whitespace() || c == '>').next().unwrap_or_default();
        let mut parts = self.inside(&link.text);
        if !link.is_image && self.is_good(target) {
            parts.insert(0, Part::Text("[".to_owned()));
            parts.push(Part::Kept(format!("]({target})")));
        } else if link.is_image && self.is_good(target) {
            parts.insert(0, Part::Text("![".to_owned()));
            parts.push(Part::Kept(format!("]({target})")));
        } else {
            parts.push(Part::Dropped(link.address.clone()));
        }
        Step::Done(link.length, parts)
    }

    /// `[label]: address`, a whole line.
    fn definition(&self, line: &str) -> Step {
        let target = line.split_once("]:").map_or("", |(_, rest)| rest.trim().trim_start_matches('<'));
        let target = target.split(|c: char| c.is_whitespace() || c == '>').next().unwrap_or_default();
        // "[Lưu ý]: máy còn hàng" defines no link.
        if find_address(target).is_none() && !target.starts_with(['/', '#']) {
            return pass(&line[..1]);
        }
        let part = if self.is_good(target) { Part::Kept(line.to_owned()) } else { Part::Dropped(line.to_owned()) };
        Step::Done(line.len(), vec![part])
    }

    /// `<https://…>`, `<b>`: an address stands or goes, a tag always goes.
    fn angle(&self, at_end: bool) -> Step {
        let held = self.held.as_str();
        let Some(next) = held[1..].chars().next() else {
            return if at_end { pass("<") } else { Step::Wait };
        };
        if !next.is_ascii_alphabetic() && next != '/' && next != '!' {
            return pass("<");
        }
        let Some(end) = held.find('>') else {
            let wait = !at_end && held.len() <= LONGEST_ADDRESS && !held.contains("\n\n");
            return if wait { Step::Wait } else { pass("<") };
        };
        let inside = &held[1..end];
        if self.is_good(inside) {
            return Step::Done(end + 1, vec![Part::Kept(held[..=end].to_owned())]);
        }
        let tag = find_address(inside).is_none() && !inside.contains('=');
        let parts = if tag { Vec::new() } else { vec![Part::Dropped(inside.to_owned())] };
        Step::Done(end + 1, parts)
    }

    /// A run without spaces, with any address inside.
    fn word(&self, at_end: bool) -> Step {
        let held = self.held.as_str();
        let end = held.find(|c: char| c.is_whitespace() || matches!(c, '[' | '<'));
        let Some(end) = end.or_else(|| at_end.then_some(held.len())) else { return Step::Wait };
        // "xem![ảnh](…)" is an image behind a word.
        let image = held[end..].starts_with('[') && held[..end].ends_with('!') && end > 1;
        let end = if image { end - 1 } else { end };
        let mut rest = &held[..end];
        let mut parts = Vec::new();
        while let Some(place) = find_address(rest) {
            push_text(&mut parts, &rest[..place.start]);
            let address = rest[place.clone()].to_owned();
            parts.push(if self.is_good(&address) { Part::Kept(address) } else { Part::Dropped(address) });
            rest = &rest[place.end..];
        }
        // What hides an address from us is not shown to a reader, who may see one.
        let seen: String = rest.chars().filter(|c| !crate::domain::facts::is_unseen(*c) || *c == '_').collect();
        match find_address(&seen) {
            Some(_) => parts.push(Part::Dropped(rest.to_owned())),
            None => push_text(&mut parts, rest),
        }
        Step::Done(end, parts)
    }

    /// The text of a link, which may hold an image or another address.
    fn inside(&self, text: &str) -> Vec<Part> {
        let mut inner = Self { held: text.to_owned(), begins_line: false, ..self.clone() };
        inner.settle(true)
    }

    fn is_good(&self, address: &str) -> bool {
        let mail = address.strip_prefix("mailto:").unwrap_or(address);
        is_allowed(address, self.hosts) || self.addresses.contains(&mail.to_lowercase())
    }
}

fn pass(text: &str) -> Step {
    Step::Done(text.len(), vec![Part::Text(text.to_owned())])
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    if !text.is_empty() {
        parts.push(Part::Text(text.to_owned()));
    }
}

/// Where the bracket that opens `text` closes.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let (mut depth, mut escaped) = (0_usize, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == open => depth += 1,
            c if c == close => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}
