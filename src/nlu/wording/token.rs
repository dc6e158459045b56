//! Cutting a message into words.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::Spelling;
use crate::domain::serial::Likeness;

/// One word of a message.
#[derive(Clone, Debug)]
pub struct Token {
    pub(super) spelling: Spelling,
    /// One of the words that carry no mark anyway.
    pub(super) plain: bool,
    /// Where it stands in the message, in bytes. The words of a spelled-out abbreviation share theirs.
    pub span: Range<usize>,
    /// Counts the parts between punctuation marks.
    pub clause: usize,
}

impl Token {
    /// The word without its marks, in lower case.
    pub fn folded(&self) -> &str {
        &self.spelling.folded
    }

    /// A number, with a unit perhaps; a serial number is none, whatever it begins with.
    pub(super) fn is_number(&self) -> bool {
        let Spelling { exact, folded, .. } = &self.spelling;
        let is_serial = || exact.is_ascii() && Likeness::of(folded) == Likeness::Serial;
        folded.starts_with(|c: char| c.is_ascii_digit()) && !is_serial()
    }
}

/// A message as words.
///
/// `marked` says that its writer types Vietnamese marks. In such a message *con* is not *còn*, and *gia đình* has nothing
/// to do with *giá*; a word whose marks were forgotten ("bảo hanh") is believed only inside a phrase. In any other
/// message a word without marks stands for every marked one.
#[derive(Debug)]
pub struct Wording<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    marked: bool,
    /// Where each word stands, by its folded spelling; and where a word is a number.
    places: HashMap<String, Vec<usize>>,
    numbers: Vec<usize>,
}

impl<'a> Wording<'a> {
    pub(super) fn read(text: &'a str, aliases: &HashMap<String, Vec<Spelling>>, plain_words: &HashSet<String>) -> Self {
        let mut tokens = Vec::new();
        let (mut words, mut marked) = (0, 0);
        for (span, clause) in runs(text) {
            let word = typed(&text[span.clone()]);
            let spelling = Spelling::of(&word);
            if let Some(meant) = aliases.get(&spelling.exact) {
                tokens.extend(meant.iter().cloned().map(|spelling| Token {
                    spelling,
                    plain: true,
                    span: span.clone(),
                    clause,
                }));
                continue;
            }
            words += usize::from(word.chars().all(char::is_alphabetic));
            marked += usize::from(spelling.is_marked());
            let plain = plain_words.contains(&spelling.exact);
            tokens.push(Token { spelling, plain, span, clause });
        }
        // Written properly, two Vietnamese words in three carry a mark; a lone "Đà Nẵng" among bare words says nothing.
        let marked = marked > 0 && marked * 3 >= words;
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        let mut numbers = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            match places.get_mut(token.folded()) {
                Some(known) => known.push(at),
                None => {
                    places.insert(token.folded().to_owned(), vec![at]);
                }
            }
            if token.is_number() {
                numbers.push(at);
            }
        }
        Self { text, tokens, marked, places, numbers }
    }

    /// Where words of this folded spelling stand, in order.
    pub(super) fn places(&self, folded: &str) -> &[usize] {
        self.places.get(folded).map_or(&[], Vec::as_slice)
    }

    /// Where numbers stand, in order.
    pub(super) fn numbers(&self) -> &[usize] {
        &self.numbers
    }

    /// The words of the part of the sentence that this word is in.
    pub fn clause(&self, word: usize) -> Range<usize> {
        let Some(clause) = self.tokens.get(word).map(|token| token.clause) else { return word..word };
        let start = self.tokens.partition_point(|token| token.clause < clause);
        start..self.tokens.partition_point(|token| token.clause <= clause)
    }

    pub fn text(&self) -> &'a str {
        self.text
    }

    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    pub fn is_marked(&self) -> bool {
        self.marked
    }

    /// What the customer typed for these words.
    pub fn typed(&self, words: Range<usize>) -> &'a str {
        match (self.tokens.get(words.start), self.tokens[..words.end].last()) {
            (Some(first), Some(last)) => &self.text[first.span.start..last.span.end],
            _ => "",
        }
    }
}

/// The marks that are tones; the others (breve, circumflex, horn) make another letter.
const TONES: [char; 5] = ['\u{300}', '\u{301}', '\u{303}', '\u{309}', '\u{323}'];

/// Lower case, decomposed, tones last, so that it does not matter on which vowel or in which order they were typed.
pub(super) fn exact(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let (tones, letters): (String, String) =
        word.nfd().flat_map(char::to_lowercase).partition(|c: &char| TONES.contains(c));
    letters + &tones
}

/// The word as it is looked up: no apostrophes, and no letter drawn out ("alooo" is "alo").
fn typed(run: &str) -> String {
    let mut word = String::new();
    let mut repeated = 0;
    let composed: Vec<char> = run.nfc().filter(|c| !is_apostrophe(*c)).collect();
    for (i, c) in composed.iter().enumerate() {
        let same_before = i > 0 && composed[i - 1] == *c;
        repeated = if same_before && c.is_alphabetic() { repeated + 1 } else { 0 };
        if repeated >= 2 {
            if repeated == 2 {
                word.pop();
            }
            continue;
        }
        word.push(*c);
    }
    word
}

/// The runs of letters and digits, each with the number of its clause.
fn runs(text: &str) -> Vec<(Range<usize>, usize)> {
    let mut found = Vec::new();
    let mut clause = 0;
    let mut start = None;
    let mut before = ' ';
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or(' ', |(_, next)| *next);
        let inside = c.is_alphanumeric()
            || is_combining_mark(c)
            || (is_apostrophe(c) && before.is_alphabetic() && next.is_alphabetic());
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(begun)) => {
                found.push((begun..at, clause));
                start = None;
            }
            _ => {}
        }
        let decimal = before.is_ascii_digit() && next.is_ascii_digit();
        if ",.;:!?…\n()".contains(c) && !decimal {
            clause += 1;
        }
        before = c;
    }
    if let Some(begun) = start {
        found.push((begun..text.len(), clause));
    }
    found
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | '`')
}
