//! Links and images in a reply: to the shop's own hosts, or gone.

mod address;
mod spelled;
mod words;

use std::sync::Arc;

use crate::domain::LinkHost;
use crate::nlu::facts::is_unseen;
pub(super) use address::KnownAddresses;
use address::{Address, find_addresses, is_target_allowed};
use spelled::{LONGEST_SPELLED, Spelled, read_spelled};
pub(super) use words::LinkWords;

/// The longest text of a link, and the longest address, in bytes; what is longer is no link.
const LONGEST_TEXT: usize = 300;
const LONGEST_ADDRESS: usize = 600;
/// The longest run without a space that is held, in bytes.
const LONGEST_WORD: usize = 1200;

/// What comes out, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Any text.
    Text(String),
    /// An allowed address. Its digits are not checked.
    Kept(String),
    /// An address that was taken out of a text.
    Dropped(String),
    /// The address of a link or an image whose own text stays.
    Unlinked(String),
}

/// Holds a word back until it is whole, and a link until it ends.
#[derive(Clone)]
pub(super) struct Links<'a> {
    words: &'a LinkWords,
    hosts: &'a [LinkHost],
    known: Arc<KnownAddresses>,
    held: String,
    begins_line: bool,
    /// Inside a block of code, whose markup does not change.
    in_code: bool,
    /// What the beginning of `held` waits for.
    waiting: Option<Wait>,
    /// The word before `held`, if only spaces are in between: "evil" before "dot com".
    previous: String,
}

/// What must come before it is worth looking at the held text again.
#[derive(Clone, Copy, Debug)]
struct Wait {
    kind: Waiting,
    /// At so many bytes it is decided in any case.
    most: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    /// The end of a word.
    Word,
    /// A bracket, or the character after one.
    Bracket,
    /// The end of a tag.
    Angle,
    /// The next character.
    Next,
}

/// How to handle the beginning of the held text.
enum Step {
    /// It is not clear yet.
    Wait(Wait),
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
    pub(super) fn new(words: &'a LinkWords, hosts: &'a [LinkHost], known: KnownAddresses) -> Self {
        let known = Arc::new(known);
        Self {
            words,
            hosts,
            known,
            held: String::new(),
            begins_line: true,
            in_code: false,
            waiting: None,
            previous: String::new(),
        }
    }

    pub(super) fn push(&mut self, c: char) -> Vec<Part> {
        let before = self.held.chars().next_back();
        self.held.push(c);
        if self.waiting.is_some_and(|wait| wait.goes_on(before, c, self.held.len())) {
            return Vec::new();
        }
        self.settle(false)
    }

    pub(super) fn finish(&mut self) -> Vec<Part> {
        self.settle(true)
    }

    fn settle(&mut self, at_end: bool) -> Vec<Part> {
        let mut parts = Vec::new();
        self.waiting = None;
        let held = std::mem::take(&mut self.held);
        let mut rest = held.as_str();
        while !rest.is_empty() {
            match self.step(rest, at_end) {
                Step::Wait(wait) => {
                    self.waiting = Some(wait);
                    break;
                }
                Step::Done(bytes, done) => {
                    let (taken, left) = rest.split_at(bytes);
                    // A fence opens or closes a block of code.
                    if self.begins_line && ["```", "~~~"].iter().any(|fence| taken.starts_with(fence)) {
                        self.in_code = !self.in_code;
                    }
                    self.begins_line = taken.ends_with('\n') || self.begins_line && taken.trim().is_empty();
                    parts.extend(done);
                    match taken.chars().all(|c| c == ' ') {
                        true => {}
                        false if taken.contains(char::is_whitespace) => self.previous.clear(),
                        false => taken.clone_into(&mut self.previous),
                    }
                    rest = left;
                }
            }
        }
        self.held = rest.to_owned();
        parts
    }

    fn step(&self, held: &str, at_end: bool) -> Step {
        match held.chars().next() {
            Some(c) if c.is_whitespace() => pass(&held[..c.len_utf8()]),
            _ if self.in_code => self.word(held, at_end),
            Some('!') if held == "!" && !at_end => Step::wait(Waiting::Next, 2),
            Some('!') if held.starts_with("![") => self.bracket(held, at_end),
            Some('[') if !self.previous.is_empty() && self.words.may_be_disguise(held, at_end) => {
                self.word(held, at_end)
            }
            Some('[') => self.bracket(held, at_end),
            Some('<') => self.angle(held, at_end),
            _ => self.word(held, at_end),
        }
    }

    /// `[text](address)`, `[text][label]`, `[label]: address`, each also as an image.
    fn bracket(&self, held: &str, at_end: bool) -> Step {
        let is_image = held.starts_with('!');
        let open = usize::from(is_image);
        // No link after all: what is inside is looked at for itself.
        let no_link = || pass(&held[..=open]);
        let wait = |too_long: bool, most: usize| {
            if at_end || too_long { no_link() } else { Step::wait(Waiting::Bracket, most) }
        };
        let Some(close) = closing(&held[open..], '[', ']').map(|at| open + at) else {
            let too_long = held.len() > LONGEST_TEXT || held.contains("\n\n");
            return wait(too_long, LONGEST_TEXT + 1);
        };
        let text = held[open + 1..close].to_owned();
        let rest = &held[close + 1..];
        let Some(next) = rest.chars().next() else { return wait(false, held.len() + 1) };
        let most = |rest_most: usize| close + 2 + rest_most;
        let is_note = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
        match next {
            '(' => match closing(rest, '(', ')') {
                Some(end) => {
                    let address = rest[1..end].to_owned();
                    self.link(&Link { text, address, is_image, length: close + 2 + end })
                }
                None => wait(rest.len() > LONGEST_ADDRESS || rest.contains("\n\n"), most(LONGEST_ADDRESS)),
            },
            '[' if !is_note => match closing(rest, '[', ']') {
                // The target of its label is elsewhere in the reply, and is checked there.
                Some(end) => Step::Done(close + 2 + end, self.inside(&text)),
                None => wait(rest.len() > LONGEST_TEXT || rest.contains('\n'), most(LONGEST_TEXT)),
            },
            ':' if self.begins_line && !is_image => match rest.find('\n') {
                Some(end) => self.definition(&held[..close + 1 + end]),
                None if at_end => self.definition(held),
                None => wait(rest.len() > LONGEST_ADDRESS, most(LONGEST_ADDRESS)),
            },
            _ => no_link(),
        }
    }

    fn link(&self, link: &Link) -> Step {
        let target = link.address.trim().trim_start_matches('<');
        let target = target.split(|c: char| c.is_whitespace() || c == '>').next().unwrap_or_default();
        let mut parts = self.inside(&link.text);
        if self.is_good(target) {
            let open = if link.is_image { "![" } else { "[" };
            parts.insert(0, Part::Text(open.to_owned()));
            parts.push(Part::Kept(format!("]({target})")));
        } else {
            parts.push(Part::Unlinked(link.address.clone()));
        }
        Step::Done(link.length, parts)
    }

    /// `[label]: address`, a whole line.
    fn definition(&self, line: &str) -> Step {
        let target = line.split_once("]:").map_or("", |(_, rest)| rest.trim().trim_start_matches('<'));
        let target = target.split(|c: char| c.is_whitespace() || c == '>').next().unwrap_or_default();
        // "[Lưu ý]: máy còn hàng" defines no link.
        if find_addresses(target, self.words).is_empty() && !target.starts_with(['/', '#']) {
            return pass(&line[..1]);
        }
        let part = if self.is_good(target) { Part::Kept(line.to_owned()) } else { Part::Unlinked(line.to_owned()) };
        Step::Done(line.len(), vec![part])
    }

    /// `<https://…>`, `<b>`: an address stands or goes, a tag always goes.
    fn angle(&self, held: &str, at_end: bool) -> Step {
        let Some(next) = held[1..].chars().next() else {
            return if at_end { pass("<") } else { Step::wait(Waiting::Next, 2) };
        };
        if !next.is_ascii_alphabetic() && next != '/' && next != '!' {
            return pass("<");
        }
        let Some(end) = held.find('>') else {
            let wait = !at_end && held.len() <= LONGEST_ADDRESS && !held.contains("\n\n");
            return if wait { Step::wait(Waiting::Angle, LONGEST_ADDRESS + 1) } else { pass("<") };
        };
        let inside = &held[1..end];
        if self.is_good(inside) {
            return Step::Done(end + 1, vec![Part::Kept(held[..=end].to_owned())]);
        }
        let is_tag = find_addresses(inside, self.words).is_empty() && !inside.contains('=');
        let parts = if is_tag { Vec::new() } else { vec![Part::Dropped(inside.to_owned())] };
        Step::Done(end + 1, parts)
    }

    /// A host that is spelled in words, if the text begins with one or may do so.
    fn spelled(&self, held: &str, at_end: bool) -> Option<Step> {
        match read_spelled(self.words, &self.previous, held, at_end) {
            Spelled::No => None,
            Spelled::Maybe => Some(Step::wait(Waiting::Next, LONGEST_SPELLED)),
            Spelled::Host(host) => Some(Step::Done(host.place.end, self.checked(&held[..host.place.end], vec![host]))),
        }
    }

    /// A run without spaces, with any address inside.
    fn word(&self, held: &str, at_end: bool) -> Step {
        let mut end = None;
        for (at, c) in held.char_indices() {
            let is_end = match c {
                '[' if !self.in_code && at > 0 => !self.words.may_be_disguise(&held[at..], at_end),
                '<' if !self.in_code && at > 0 => true,
                c => c.is_whitespace(),
            };
            if is_end {
                end = Some(at);
                break;
            }
        }
        let is_long = held.len() > LONGEST_WORD;
        let Some(end) = end.or_else(|| (at_end || is_long).then_some(held.len())) else {
            return Step::wait(Waiting::Word, LONGEST_WORD + 1);
        };
        if let Some(step) = self.spelled(held, at_end) {
            return step;
        }
        // Split a longer run after a character that no address has; without one, remove it.
        let cut = |word: &str| {
            word.char_indices().rev().find(|(_, c)| !c.is_ascii() && !is_unseen(*c)).map(|(at, c)| at + c.len_utf8())
        };
        let end = match cut(&held[..end]) {
            _ if end <= LONGEST_WORD => end,
            Some(cut) => cut,
            None => return Step::Done(end, vec![Part::Dropped(held[..end].to_owned())]),
        };
        // "xem![ảnh](…)" is an image after a word.
        let image = held[end..].starts_with('[') && held[..end].ends_with('!') && end > 1;
        let end = if image { end - 1 } else { end };
        let word = &held[..end];
        Step::Done(end, self.checked(word, find_addresses(word, self.words)))
    }

    /// The word in parts: each address stands or goes.
    fn checked(&self, word: &str, addresses: Vec<Address>) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut at = 0;
        for address in addresses {
            let place = address.place.clone();
            push_text(&mut parts, &word[at..place.start]);
            let written = word[place.clone()].to_owned();
            let is_good = address.is_allowed(self.hosts, &self.known);
            parts.push(if is_good { Part::Kept(written) } else { Part::Dropped(written) });
            at = place.end;
        }
        push_text(&mut parts, &word[at..]);
        parts
    }

    /// The text of a link, which may hold an image or another address.
    fn inside(&self, text: &str) -> Vec<Part> {
        let mut inner = Self { held: text.to_owned(), begins_line: false, ..self.clone() };
        inner.settle(true)
    }

    fn is_good(&self, target: &str) -> bool {
        is_target_allowed(target, self.hosts, &self.known, self.words)
    }
}

impl Wait {
    /// Whether this character, which follows `before`, decides nothing.
    fn goes_on(self, before: Option<char>, c: char, held: usize) -> bool {
        let is_awaited = match self.kind {
            Waiting::Word => c.is_whitespace() || matches!(c, '<' | '[' | ']') || before == Some('['),
            Waiting::Bracket => matches!(c, ']' | ')' | '\n') || before == Some(']'),
            Waiting::Angle => matches!(c, '>' | '\n'),
            Waiting::Next => true,
        };
        !is_awaited && held < self.most
    }
}

impl Step {
    fn wait(kind: Waiting, most: usize) -> Self {
        Self::Wait(Wait { kind, most })
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
