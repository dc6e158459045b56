//! Splits a text into words.

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::{Lexicon, fold};
use crate::serial::Likeness;

/// The two forms in which words are compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Spelling {
    /// Lower case with diacritics, tone marks last: *hoà* and *hòa* are equal.
    pub exact: String,
    /// Lower case without diacritics.
    pub folded: String,
}

impl Spelling {
    pub fn of(word: &str) -> Self {
        Self { exact: exact(word), folded: fold(word) }
    }

    /// Whether it was written with diacritics.
    pub fn has_diacritics(&self) -> bool {
        self.exact != self.folded
    }

    /// Whether this word, as a customer typed it, can stand for `other`: diacritics count only if they were typed.
    pub fn can_mean(&self, other: &Self) -> bool {
        if self.has_diacritics() { self.exact == other.exact } else { self.folded == other.folded }
    }
}

/// One word of a text.
#[derive(Clone, Debug)]
pub struct Token {
    pub(super) spelling: Spelling,
    /// The word has no diacritics in correct spelling, so it does not stand for another word that has.
    pub(super) plain: bool,
    /// It is a number, with or without a unit. Serial numbers that begin with a digit are not.
    pub(super) is_number: bool,
    /// The bytes of the text that it was typed as. All words of an expanded alias share one span.
    pub span: Range<usize>,
    /// The number of its clause, the part of the text between two punctuation marks.
    pub clause: usize,
}

impl Token {
    /// The word in lower case, without diacritics.
    pub fn folded(&self) -> &str {
        &self.spelling.folded
    }
}

/// A text as a sequence of words.
///
/// [`has_diacritics`](Self::has_diacritics) is true if its writer types Vietnamese diacritics. In such a text *con* is not
/// *còn*, and a word whose diacritics are missing ("bảo hanh") matches only inside a phrase. In any other text a word without
/// diacritics matches every spelling.
#[derive(Debug)]
pub struct TokenStream<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    has_diacritics: bool,
    /// The positions of all words, in the order of the folded words.
    sorted: Vec<usize>,
    /// The bits of all folded words, of their beginnings and of numbers.
    bits: u128,
    /// The positions of the numbers.
    numbers: Vec<usize>,
}

/// Set for a text that has a number.
pub(super) const NUMBER_BIT: u128 = 1;
/// The first bit for a whole word, and the first for the beginning of one.
const WORD_BITS: u32 = 1;
const PREFIX_BITS: u32 = 96;
/// So many bytes of a word are its beginning.
const PREFIX_BYTES: usize = 2;

/// Returns one bit for a folded word. Most words that a text does not have are ruled out by it, without a look-up.
pub(super) fn word_bits(folded: &str) -> u128 {
    1 << (WORD_BITS + hash(folded.as_bytes()) % (PREFIX_BITS - WORD_BITS))
}

/// Returns one bit for how a folded word begins, or all bits if it is too short to tell.
pub(super) fn prefix_bits(folded: &str) -> u128 {
    let beginning = folded.as_bytes().get(..PREFIX_BYTES);
    beginning.map_or(u128::MAX, |bytes| 1 << (PREFIX_BITS + hash(bytes) % (u128::BITS - PREFIX_BITS)))
}

fn hash(bytes: &[u8]) -> u32 {
    // FNV-1a.
    let mixed = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    (bytes.iter().fold(0xcbf2_9ce4_8422_2325, mixed) >> 32) as u32
}

impl<'a> TokenStream<'a> {
    pub(super) fn new(text: &'a str, lexicon: &Lexicon) -> Self {
        let Lexicon { aliases, plain_words, ignore_diacritics, serial_words, .. } = lexicon;
        let is_number = |Spelling { exact, folded }: &Spelling| {
            let is_serial = || exact.is_ascii() && serial_words.likeness(folded) == Likeness::Serial;
            folded.starts_with(|c: char| c.is_ascii_digit()) && !is_serial()
        };
        let mut tokens = Vec::new();
        let (mut words, mut marked) = (0, 0);
        for (span, clause) in runs(text) {
            let run = &text[span.clone()];
            let word = normalize(run);
            let spelling = Spelling::of(&word);
            let contraction = run.contains(is_apostrophe).then(|| exact(&run.replace(is_apostrophe, "'")));
            let meant = contraction.and_then(|typed| aliases.get(&typed)).or_else(|| aliases.get(&spelling.exact));
            if let Some(meant) = meant {
                tokens.extend(meant.iter().cloned().map(|spelling| Token {
                    is_number: is_number(&spelling),
                    spelling,
                    plain: true,
                    span: span.clone(),
                    clause,
                }));
                continue;
            }
            words += usize::from(word.chars().all(char::is_alphabetic));
            marked += usize::from(spelling.has_diacritics());
            let plain = plain_words.contains(&spelling.exact);
            tokens.push(Token { is_number: is_number(&spelling), spelling, plain, span, clause });
        }
        // In correct Vietnamese two words of three have diacritics. A single "Đà Nẵng" among other words says nothing.
        let has_diacritics = !*ignore_diacritics && marked > 0 && marked * 3 >= words;
        let mut sorted: Vec<usize> = (0..tokens.len()).collect();
        sorted.sort_by(|a, b| tokens[*a].folded().cmp(tokens[*b].folded()));
        let numbers: Vec<usize> = (0..tokens.len()).filter(|at| tokens[*at].is_number).collect();
        let words = tokens.iter().map(|token| word_bits(token.folded()));
        // A word that is too short to be the beginning of another one has no bit for it.
        let beginnings = tokens.iter().map(Token::folded).filter(|word| word.len() >= PREFIX_BYTES).map(prefix_bits);
        let number = if numbers.is_empty() { 0 } else { NUMBER_BIT };
        let bits = words.chain(beginnings).fold(number, |bits, bit| bits | bit);
        Self { text, tokens, has_diacritics, sorted, bits, numbers }
    }

    /// Whether the text may have one of the words, beginnings or numbers with these bits. `false`: it has none of them.
    pub(super) fn may_have(&self, bits: u128) -> bool {
        self.bits & bits != 0
    }

    /// The positions of a folded word, in order.
    pub(super) fn positions(&self, folded: &str) -> impl Iterator<Item = usize> {
        self.sorted_from(folded).take_while(move |at| self.tokens[*at].folded() == folded)
    }

    /// The positions of all words that begin with these folded letters.
    pub(super) fn positions_of_prefix(&self, prefix: &str) -> impl Iterator<Item = usize> {
        self.sorted_from(prefix).take_while(move |at| self.tokens[*at].folded().starts_with(prefix))
    }

    /// The positions of the folded words from this one on in their order.
    fn sorted_from(&self, folded: &str) -> impl Iterator<Item = usize> {
        let first = self.sorted.partition_point(|at| self.tokens[*at].folded() < folded);
        self.sorted[first..].iter().copied()
    }

    /// The positions of the numbers, in order.
    pub(super) fn numbers(&self) -> &[usize] {
        &self.numbers
    }

    /// The words of the clause that holds this word.
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

    pub fn has_diacritics(&self) -> bool {
        self.has_diacritics
    }

    /// The part of the text that these words were typed as.
    pub fn source(&self, words: Range<usize>) -> &'a str {
        match (self.tokens.get(words.start), self.tokens[..words.end].last()) {
            (Some(first), Some(last)) => &self.text[first.span.start..last.span.end],
            _ => "",
        }
    }
}

/// The combining marks that are tones. Breve, circumflex and horn make another letter.
const TONES: [char; 5] = ['\u{300}', '\u{301}', '\u{303}', '\u{309}', '\u{323}'];

/// What ends a clause.
const CLAUSE_ENDS: [char; 18] =
    [',', '.', ';', ':', '!', '?', '…', '(', ')', '–', '—', '\n', '。', '，', '！', '？', '；', '：'];

/// Lower case, decomposed, tones last: the vowel and the order in which they were typed do not matter.
pub(super) fn exact(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let (tones, letters): (String, String) =
        word.nfd().flat_map(char::to_lowercase).partition(|c: &char| TONES.contains(c));
    letters + &tones
}

/// The word without apostrophes and without stretched letters ("alooo" is "alo").
fn normalize(run: &str) -> Cow<'_, str> {
    let is_stretched = |three: &[u8]| three[0].is_ascii_alphabetic() && three.iter().all(|byte| *byte == three[0]);
    // Most words.
    if run.is_ascii() && !run.contains(is_apostrophe) && !run.as_bytes().windows(3).any(is_stretched) {
        return Cow::Borrowed(run);
    }
    let mut word = String::new();
    let mut repeated = 0;
    let composed: Vec<char> = match run.is_ascii() {
        true => run.chars().filter(|c| !is_apostrophe(*c)).collect(),
        false => run.nfc().filter(|c| !is_apostrophe(*c)).collect(),
    };
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
    Cow::Owned(word)
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
        let is_decimal = before.is_ascii_digit() && next.is_ascii_digit();
        let is_dash = c == '-' && before == ' ' && next == ' ';
        if is_dash || (CLAUSE_ENDS.contains(&c) && !is_decimal) {
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
    matches!(c, '\'' | '’' | '‘' | '`')
}
