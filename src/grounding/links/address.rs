//! Addresses in a word: of pages, and of e-mail.
//!
//! A word is normalized first (NFKC, invisible characters removed, every dot of IDNA a `.`), so that `evil。com`, `ｅｖｉｌ.com`
//! and `evil[.]com` are the host that a reader takes them for. A run of labels is a host if it ends in a public suffix; where
//! a suffix is a word or the ending of a file as well ("file.md", "ạ.Em"), more must speak for a host.

use std::collections::HashSet;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use url::Url;

use super::words::LinkWords;
use crate::domain::LinkHost;
use crate::nlu::facts::is_unseen;

/// Characters that may follow an address without being part of it.
const TRAILING: &[char] = &['.', ',', ';', ':', '!', '?', ')', ']', '\'', '"', '”', '»', '|', '~', '}', '(', '['];
/// Schemes that need no host to do harm.
const BARE_SCHEMES: [&str; 4] = ["mailto", "javascript", "vbscript", "data"];

/// An address in a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// Its place in the word, in bytes.
    pub place: Range<usize>,
    /// As it is normalized.
    text: String,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// With a scheme, or with one to be put before it.
    Page,
    Host,
    Mail,
}

/// The hosts and e-mail addresses that the sources have, normalized.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct KnownAddresses {
    mails: HashSet<String>,
    hosts: HashSet<String>,
}

impl KnownAddresses {
    /// Adds the addresses of a text of the shop's.
    pub fn add(&mut self, text: &str, link_words: &LinkWords) {
        for address in words(text).flat_map(|word| find_addresses(word, link_words)) {
            match address.kind {
                Kind::Mail => drop(self.mails.insert(address.text)),
                Kind::Page | Kind::Host => self.hosts.extend(address.url().and_then(|url| host_of(&url))),
            }
        }
    }

    /// Adds addresses that were read before.
    pub fn extend(&mut self, other: &Self) {
        self.mails.extend(other.mails.iter().cloned());
        self.hosts.extend(other.hosts.iter().cloned());
    }

    /// Adds the e-mail addresses of a customer's message. The hosts that a customer names stay unknown.
    pub fn add_customer(&mut self, text: &str, link_words: &LinkWords) {
        let found = words(text).flat_map(|word| find_addresses(word, link_words));
        self.mails.extend(found.filter(|address| address.kind == Kind::Mail).map(|address| address.text));
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || matches!(c, '<' | '>'))
}

impl Address {
    /// A host that is spelled in several words.
    pub fn spelled(host: String, place: Range<usize>) -> Self {
        Self { place, text: host, kind: Kind::Host }
    }

    /// Whether it leads to one of the hosts, or is known from the sources.
    pub fn is_allowed(&self, hosts: &[LinkHost], known: &KnownAddresses) -> bool {
        if known.mails.contains(self.text.strip_prefix("mailto:").unwrap_or(&self.text)) {
            return true;
        }
        // What the parser had to repair may be read in another way by a browser.
        let Some(url) = self.url().filter(|_| !self.text.contains(['\\', '\t', '\n', ' '])) else { return false };
        let is_plain = url.username().is_empty() && url.password().is_none();
        let host = host_of(&url).filter(|_| is_plain && matches!(url.scheme(), "http" | "https"));
        host.is_some_and(|host| known.hosts.contains(&host) || hosts.iter().any(|good| good.covers(&host)))
    }

    fn url(&self) -> Option<Url> {
        match self.kind {
            Kind::Page => Url::parse(&self.text).ok(),
            Kind::Host => Url::parse(&format!("https://{}", self.text)).ok(),
            Kind::Mail => None,
        }
    }
}

fn host_of(url: &Url) -> Option<String> {
    url.host_str().map(|host| host.trim_end_matches('.').to_owned())
}

/// Whether the target of a Markdown link may stand: an address and nothing else.
pub(super) fn is_target_allowed(target: &str, hosts: &[LinkHost], known: &KnownAddresses, words: &LinkWords) -> bool {
    let has_hidden = target.contains(|c: char| c == '\\' || (is_unseen(c) && !matches!(c, '_' | '*' | '`')));
    let address = |kind| Address { place: 0..target.len(), text: target.to_owned(), kind };
    let page = address(Kind::Page);
    let mail = Address { text: normalize(target, words).text, ..address(Kind::Mail) };
    let is_mail = target.contains('@') && mail.is_allowed(hosts, known);
    !has_hidden && (is_mail || page.is_allowed(hosts, known))
}

/// A word as a reader understands it, with the place of each byte in the original word.
#[derive(Default)]
pub(super) struct Normalized {
    pub text: String,
    /// For each byte of `text`, where its character begins and ends in the word.
    places: Vec<Range<usize>>,
    /// For each byte of `text`, whether it was a capital letter.
    capitals: Vec<bool>,
    /// Where a dot or an `@` of `text` was written in another way.
    pub disguised: Vec<usize>,
}

impl Normalized {
    fn push(&mut self, c: char, place: Range<usize>, is_capital: bool) {
        self.text.push(c);
        self.places.resize(self.text.len(), place);
        self.capitals.resize(self.text.len(), is_capital);
    }

    /// The place in the word of these bytes of `text`.
    pub fn place(&self, range: Range<usize>) -> Range<usize> {
        let bytes = self.places.get(range);
        match (bytes.and_then(<[_]>::first), bytes.and_then(<[_]>::last)) {
            (Some(first), Some(last)) => first.start..last.end,
            _ => 0..0,
        }
    }
}

pub(super) fn normalize(word: &str, words: &LinkWords) -> Normalized {
    let mut normalized = Normalized::default();
    let mut at = 0;
    while let Some(c) = word[at..].chars().next() {
        if let Some((length, meant)) = words.disguise(&word[at..]) {
            normalized.disguised.push(normalized.text.len());
            normalized.push(meant, at..at + length, false);
            at += length;
            continue;
        }
        let end = at + c.len_utf8();
        if matches!(c, '。' | '｡' | '．' | '․' | '﹒' | '＠' | '﹫') {
            normalized.disguised.push(normalized.text.len());
        }
        // Markdown shows `\.` as a point.
        let is_escape = c == '\\' && word[end..].starts_with(|next: char| next.is_ascii_punctuation() && next != '\\');
        if !is_unseen(c) || (c == '\\' && !is_escape) {
            // NFKC does not change ASCII.
            if c.is_ascii() {
                normalized.push(c.to_ascii_lowercase(), at..end, c.is_ascii_uppercase());
            } else {
                for plain in c.nfkc().flat_map(char::to_lowercase) {
                    normalized.push(if plain == '。' { '.' } else { plain }, at..end, c.is_uppercase());
                }
            }
        }
        at = end;
    }
    normalized
}

/// The addresses of a word, in order and apart. The work is in proportion to the word's length.
pub(super) fn find_addresses(word: &str, words: &LinkWords) -> Vec<Address> {
    // Most words have no sign that every address has.
    if !word.contains(|c: char| matches!(c, '.' | ':' | '@' | '/' | '[' | '(' | '{') || !c.is_ascii()) {
        return Vec::new();
    }
    let normalized = normalize(word, words);
    let text = normalized.text.as_str();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(is_run).map(|start| at + start) {
        let end = text[start..].find(|c| !is_run(c)).map_or(text.len(), |length| start + length);
        let address = address_at(&normalized, start..end, at, words);
        at = address.as_ref().map_or(end, |(_, place)| place.end).max(end);
        found.extend(address.map(|(kind, place)| Address {
            text: text[place.clone()].to_owned(),
            place: normalized.place(place),
            kind,
        }));
    }
    found
}

/// What hosts, schemes and the names of e-mail addresses are made of.
fn is_run(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '.' | '+' | '%') || unicode_normalization::char::is_combining_mark(c)
}

/// The address that begins in this run, or with the signs before it from `from` on.
fn address_at(word: &Normalized, run: Range<usize>, from: usize, words: &LinkWords) -> Option<(Kind, Range<usize>)> {
    let text = word.text.as_str();
    let (own, rest) = (&text[run.clone()], &text[run.end..]);
    if rest.starts_with("://") || rest.starts_with(":\\\\") {
        let ascii = own.rsplit(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '-')).next()?;
        let known = ["https", "http"].into_iter().find(|scheme| ascii.ends_with(scheme));
        return Some((Kind::Page, run.end - known.map_or(ascii.len(), str::len)..page_end(text, run.end)));
    }
    if let Some(tail) = rest.strip_prefix(':')
        && let Some(scheme) = BARE_SCHEMES.into_iter().find(|scheme| own.ends_with(scheme))
    {
        let needed = |tail: &str| match scheme {
            "data" => {
                tail.starts_with(',')
                    || tail.split(['/', ',']).next().is_some_and(|kind| kind.len() < tail.len() && !kind.is_empty())
            }
            _ => tail.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '+' | '%')),
        };
        if needed(tail) {
            return Some((Kind::Page, run.end - scheme.len()..page_end(text, run.end)));
        }
    }
    if let Some(tail) = rest.strip_prefix('@') {
        let host = tail.split(|c| !is_run(c) || matches!(c, '+' | '%')).next()?.trim_end_matches(['.', '-']);
        let name = own.trim_start_matches(['.', '-', '+', '%']);
        if host.contains('.') && !name.is_empty() {
            return Some((Kind::Mail, run.end - name.len()..run.end + 1 + host.len()));
        }
    }
    let host = host_in(word, &run, words)?;
    let begins = text[from..host.start].ends_with("//").then(|| host.start - 2);
    let goes_on = text[host.end..].starts_with(['/', '?', '#', '\\'])
        || text[host.end..].strip_prefix(':').is_some_and(|port| port.starts_with(|c: char| c.is_ascii_digit()));
    let end = if goes_on { page_end(text, host.end) } else { host.end };
    match begins {
        // `//host/path`: a link to another host, with the scheme of the page.
        Some(start) => Some((Kind::Page, start..end)),
        None => Some((Kind::Host, host.start..end)),
    }
}

/// Where an address ends whose host or scheme ends at `from`.
fn page_end(text: &str, from: usize) -> usize {
    let end = text[from..].find(['<', '>', '"', '|']).map_or(text.len(), |length| from + length);
    from + text[from..end].trim_end_matches(TRAILING).len()
}

/// The host in a run, if it is one.
fn host_in(word: &Normalized, run: &Range<usize>, words: &LinkWords) -> Option<Range<usize>> {
    let text = word.text.as_str();
    let tail = text[run.clone()].rfind(['+', '%']).map_or(0, |sign| sign + 1);
    let run = &text[run.start + tail..run.end];
    let host = run.trim_start_matches(['.', '-']);
    let start = run.as_ptr().addr() - text.as_ptr().addr() + run.len() - host.len();
    let host = host.trim_end_matches(['.', '-']);
    let place = start..start + host.len();
    let labels: Vec<&str> = host.split('.').collect();
    let (last, others) = labels.split_last()?;
    if others.is_empty() || labels.iter().any(|label| label.is_empty()) {
        return None;
    }
    let rest = &text[place.end..];
    let has_path = rest.strip_prefix(['/', '?', '#']).is_some_and(|path| {
        path.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '@' | '+' | '?' | '#' | '-' | '~'))
    }) || rest.strip_prefix(':').is_some_and(|port| port.starts_with(|c: char| c.is_ascii_digit()))
        || rest == "/";
    let octet = |label: &&str| label.len() <= 3 && label.parse::<u8>().is_ok();
    if labels.len() == 4 && labels.iter().all(octet) {
        return has_path.then_some(place);
    }
    if !last.starts_with(char::is_alphabetic) || last.chars().count() < 2 {
        return None;
    }
    let next_sign = word.disguised.partition_point(|sign| *sign < place.start);
    let is_disguised = word.disguised.get(next_sign).is_some_and(|sign| place.contains(sign));
    let is_puny = labels.iter().any(|label| label.starts_with("xn--"));
    let suffix = psl::suffix(host.as_bytes()).filter(psl::Suffix::is_known).map(|suffix| suffix.as_bytes().len());
    let is_suffix = suffix.is_some_and(|length| length < host.len());
    let is_sure = labels.first() == Some(&"www") || is_puny || (is_disguised && last.is_ascii());
    (is_sure || (is_suffix && (has_path || suffix > Some(last.len()) || is_bare_host(word, &place, &labels, words))))
        .then_some(place)
}

/// Whether a host without a path is one, and not two sentences or the name of a file.
fn is_bare_host(word: &Normalized, place: &Range<usize>, labels: &[&str], words: &LinkWords) -> bool {
    let [others @ .., last] = labels else { return false };
    if words.is_plain_suffix(last) {
        return true;
    }
    if words.is_file_suffix(last) {
        return false;
    }
    let name = others.last().copied().unwrap_or_default();
    let is_capitalized = word.capitals.get(place.end - last.len()).copied().unwrap_or_default();
    let shouts = word.capitals.get(place.end - 1).copied().unwrap_or_default();
    // "xong.Em", "rồi.ai": a sentence that begins without a space.
    let is_sentence = (is_capitalized && !shouts) || !name.is_ascii();
    name.len() > 1 && name.contains(|c: char| c.is_alphabetic()) && !is_sentence
}
