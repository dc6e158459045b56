//! Hosts that are spelled in several words: "evil dot com", "evil (chấm) com", "e v i l . c o m".

use std::ops::Range;

use super::address::{Address, Normalized, normalize};
use super::words::LinkWords;

/// The longest spelled host, in bytes.
pub(super) const LONGEST_SPELLED: usize = 160;
/// The beginnings of a dot in brackets.
const BRACKETS: [char; 3] = ['(', '[', '{'];

/// Whether a text begins with a host that is spelled in words.
#[derive(Debug)]
pub(super) enum Spelled {
    No,
    /// More text decides.
    Maybe,
    Host(Address),
}

/// The host as far as it has been read.
struct Host<'a> {
    words: &'a LinkWords,
    text: String,
    /// The dots that a word, a space or a bracket spells.
    dots: usize,
    is_bracketed: bool,
    /// Its last label is spelled letter by letter.
    is_lettered: bool,
}

/// Reads the host that `held` begins with, or continues if `previous` is its first label. `is_whole` says that no more text
/// follows.
///
/// The first label of a host is an ordinary word, which is not held back: of "evil dot com" only "dot com" is found, with
/// the host "evil.com".
pub(super) fn read_spelled(words: &LinkWords, previous: &str, held: &str, is_whole: bool) -> Spelled {
    let label = begins_with_dot(held, words).then(|| first_label(previous, words)).flatten();
    let start = if label.is_some() { 0 } else { held.find(char::is_alphanumeric).unwrap_or(held.len()) };
    let text = label.unwrap_or_default();
    let mut host = Host { words, text, dots: 0, is_bracketed: false, is_lettered: false };
    let (mut found, mut at) = (None, start);
    let verdict = |found: Option<Address>| found.map_or(Spelled::No, Spelled::Host);
    if held[..start].contains(char::is_whitespace) {
        return Spelled::No;
    }
    loop {
        let rest = &held[at..];
        let end = rest.find(char::is_whitespace);
        let token = &rest[..end.unwrap_or(rest.len())];
        if end.is_none() && !is_whole {
            let is_open = host.may_continue_with(token) && held.len() < LONGEST_SPELLED;
            return if is_open { Spelled::Maybe } else { verdict(found) };
        }
        let Some(taken) = host.take(token) else { return verdict(found) };
        if host.is_host(taken.has_path) {
            found = Some(Address::spelled(host.text.clone(), start..at + taken.length));
        }
        let gap = end.map_or("", |end| &rest[end..]);
        let next = gap.find(|c: char| !c.is_whitespace()).unwrap_or(gap.len());
        let is_over = gap[..next].contains('\n') || (next == gap.len() && is_whole);
        if taken.is_last || is_over {
            return verdict(found);
        }
        at += token.len() + next;
    }
}

/// What a word adds to a host.
struct Taken {
    /// How many bytes of the word belong to the host.
    length: usize,
    has_path: bool,
    /// Nothing after it belongs to the host.
    is_last: bool,
}

impl Host<'_> {
    /// Adds the word. `None`: it does not belong to the host.
    fn take(&mut self, token: &str) -> Option<Taken> {
        let word = normalize(token, self.words);
        let whole = Taken { length: token.len(), has_path: false, is_last: false };
        let awaits_label = self.text.is_empty() || self.text.ends_with('.');
        if self.words.is_dot(&word.text) {
            self.is_bracketed |= !word.disguised.is_empty();
            self.dots += 1;
            self.text.push('.');
            return (!awaits_label).then_some(whole);
        }
        if self.words.is_slash(&word.text) {
            return (!awaits_label).then_some(Taken { has_path: true, is_last: true, ..whole });
        }
        let labels = labels_of(&word);
        let text = &word.text[labels.clone()];
        let tail = &word.text[labels.end..];
        let is_letter = text.split('.').all(|label| label.len() == 1);
        let joins = awaits_label || text.starts_with('.') || (self.is_lettered && is_letter);
        // A dot that is written as a dot ends a sentence, unless the letters stand apart.
        let is_sentence = text.is_empty() || (self.text.is_empty() && !tail.is_empty());
        if !joins || is_sentence || (awaits_label && text.starts_with('.')) {
            return None;
        }
        let spells = !word.disguised.is_empty() || (is_letter && text.contains('.'));
        self.dots += usize::from(spells && text.contains('.'));
        self.is_bracketed |= !word.disguised.is_empty();
        self.is_lettered = is_letter;
        self.text.push_str(text);
        Some(Taken {
            length: if tail.starts_with(['/', '?', '#', ':']) { token.len() } else { word.place(labels).end },
            has_path: tail.strip_prefix('/').is_some_and(|path| path.starts_with(char::is_alphanumeric)),
            is_last: !tail.is_empty(),
        })
    }

    /// Whether a word that begins so may belong to the host.
    fn may_continue_with(&self, token: &str) -> bool {
        let begun = normalize(token, self.words).text;
        if self.dots == 0 && !self.is_lettered && !self.text.is_empty() {
            return false;
        }
        if self.text.is_empty() {
            return begun.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.'));
        }
        if self.text.ends_with('.') {
            return begun.chars().all(|c| !c.is_alphanumeric())
                || begun.starts_with(|c: char| c.is_ascii_alphanumeric());
        }
        self.words.may_be_sign(&begun)
            || token.starts_with(BRACKETS)
            || begun.starts_with('.')
            || (self.is_lettered && begun.len() <= 3)
    }

    fn is_host(&self, has_path: bool) -> bool {
        let host = self.text.as_str();
        let labels: Vec<&str> = host.split('.').collect();
        let ([first, ..], [.., name, last]) = (&labels[..], &labels[..]) else { return false };
        if self.dots == 0 || labels.iter().any(|label| label.is_empty()) {
            return false;
        }
        let suffix = psl::suffix(host.as_bytes()).filter(psl::Suffix::is_known).map(|suffix| suffix.as_bytes().len());
        let Some(suffix) = suffix.filter(|length| *length < host.len()) else { return *first == "www" };
        let is_named = self.words.names_host(name, last);
        let is_sure = *first == "www" || self.is_bracketed || suffix > last.len();
        is_sure || is_named || (has_path && !self.words.is_word_suffix(last))
    }
}

/// Whether the text begins with a dot that is spelled or in brackets.
fn begins_with_dot(held: &str, words: &LinkWords) -> bool {
    let word = normalize(held.split_whitespace().next().unwrap_or_default(), words);
    words.is_dot(&word.text) || (word.text.starts_with('.') && word.disguised.contains(&0))
}

/// Returns the word as the first label of a host, without the quotes and brackets around it.
fn first_label(word: &str, words: &LinkWords) -> Option<String> {
    let text = normalize(word, words).text;
    let label = text.trim_start_matches(|c: char| !c.is_alphanumeric()).trim_end_matches(['*', '_', '`', '"']);
    let is_label = !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.'));
    (is_label && !label.ends_with('.')).then(|| label.to_owned())
}

/// The labels and dots at the beginning of a word; a dot in brackets may end them.
fn labels_of(word: &Normalized) -> Range<usize> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    let mut end = word.text.find(|c| !is_part(c)).unwrap_or(word.text.len());
    while word.text[..end].ends_with('.') && !word.disguised.contains(&(end - 1)) {
        end -= 1;
    }
    0..end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::persona::Prompts;

    fn words() -> LinkWords {
        LinkWords::read(&Prompts::shipped()).expect("the shipped rules")
    }

    /// How each beginning of the text is read.
    fn read(text: &str) -> Option<Range<usize>> {
        match read_spelled(&words(), "", text, true) {
            Spelled::Host(address) => Some(address.place),
            Spelled::No | Spelled::Maybe => None,
        }
    }

    #[test]
    fn host_in_words_ends_where_its_words_end() {
        for (text, host) in [
            ("evil dot com for money", "evil dot com"),
            ("evil dot com dot vn, nhé", "evil dot com dot vn"),
            ("e v i l . c o m a new site", "e v i l . c o m"),
            ("e v i l.c o m now", "e v i l.c o m"),
            ("evil (dot) com.", "evil (dot) com"),
            ("evil[.] com", "evil[.] com"),
            ("evil dot com/pay now", "evil dot com/pay"),
            ("t dot me slash thief", "t dot me slash"),
        ] {
            assert_eq!(read(text).map(|place| &text[place]), Some(host), "{text}");
        }
    }

    #[test]
    fn dot_continues_the_previous_word() {
        for (previous, held, place) in [
            ("evil", "dot com for money", Some("dot com")),
            ("evil", "(chấm) com", Some("(chấm) com")),
            ("the", "dot com era", None),
            ("evil,", "dot com", None),
            ("", "dot com", None),
        ] {
            let found = match read_spelled(&words(), previous, held, true) {
                Spelled::Host(address) => Some(&held[address.place]),
                Spelled::No | Spelled::Maybe => None,
            };
            assert_eq!(found, place, "{previous:?} {held:?}");
        }
        assert!(matches!(read_spelled(&words(), "evil", "dot ", false), Spelled::Maybe));
    }

    #[test]
    fn text_waits_only_for_possible_hosts() {
        for (text, is_held) in [
            ("evil ", false),
            ("e v", true),
            ("evil[.] c", true),
            ("I h", true),
            ("I have", false),
            ("chào ", false),
            ("evil, ", false),
        ] {
            assert_eq!(matches!(read_spelled(&words(), "", text, false), Spelled::Maybe), is_held, "{text:?}");
        }
    }
}
