//! The pattern language of the rule files under `prompts/rules/`.
//!
//! Case does not count. A customer's *giá*, *gia* and *gía* all match `giá`, but *mưa* does not match `mua`: a word typed with
//! diacritics must have those of the pattern, a word typed without any matches every spelling ([`TokenStream`] has the details).
//!
//! A pattern is a row of words inside one clause:
//!
//! | written | matches |
//! |---|---|
//! | `giá` | that word |
//! | `mua\|đặt_hàng` | either alternative; `_` joins the words of one alternative |
//! | `được?` | that word or nothing |
//! | `ghế!` | only with its diacritics, since *ghe* without them is too often another word |
//! | `damag*` | every word with this prefix |
//! | `<product>` | any entry of that class |
//! | `#` | a word that begins with a digit and is no serial number |
//! | `..` | up to four words |
//! | `^`, `$` | the beginning and the end of a clause |

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::token::{Spelling, Token, TokenStream, word_bits};
use first_word::{FirstWord, Opening, first_words, openings};

mod first_word;

/// Written for a word that begins with a digit and is no serial number.
const NUMBER: &str = "#";
/// The most words that `..` matches. With three, the rules recognize fewer messages of `tests/data`.
const GAP: usize = 4;
/// Choices with up to this many alternatives are tried one by one.
const FEW: usize = 4;

/// One flag for each word: whether any of the patterns matches it. Words whose `hidden` flag is set match nothing.
pub fn match_mask(patterns: &[Pattern], stream: &TokenStream<'_>, hidden: &[bool]) -> Vec<bool> {
    let mut mask = vec![false; stream.tokens().len()];
    for pattern in patterns {
        for Range { start, end } in pattern.find_all(stream, hidden) {
            mask[start..end].fill(true);
        }
    }
    mask
}

/// Whether any of the patterns matches. Words whose `hidden` flag is set match nothing.
pub fn any_match(patterns: &[Pattern], stream: &TokenStream<'_>, hidden: &[bool]) -> bool {
    patterns.iter().any(|pattern| pattern.find(stream, hidden).is_some())
}

/// A parsed pattern. Small: there are thousands, each message reads them all, and few match.
#[derive(Debug)]
pub struct Pattern {
    /// The two rarest of the openings that a match needs. They rule most texts out.
    rarest: [Opening; 2],
    parts: Box<Parts>,
}

#[derive(Debug)]
struct Parts {
    elements: Vec<Element>,
    /// The words that a match can begin with; `None`: any word.
    first_words: Option<Vec<FirstWord>>,
    /// The other openings that a match needs.
    needed: Vec<Opening>,
    /// Needs more than one word: then a word without diacritics matches more readily, since its neighbours confirm it.
    is_phrase: bool,
}

/// Why a text is not a valid pattern.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum InvalidPattern {
    #[error("the pattern {0:?} matches no word: write at least one word that is not optional")]
    Empty(String),
    #[error(
        "the pattern {pattern:?} names the class <{class}>, which is not defined, or has an entry without a word: correct [classes]"
    )]
    Class { pattern: String, class: String },
}

#[derive(Debug)]
enum Element {
    Words(Choice),
    Gap,
    Start,
    End,
}

/// One of several sequences of words, or nothing.
#[derive(Debug)]
struct Choice {
    any: Vec<Sequence>,
    optional: bool,
    /// The indices of `any` by first word, where there are too many to try each.
    by_first_word: Option<hashbrown::HashMap<String, Vec<usize>>>,
}

/// Words in a row. Patterns that name the same class share its sequences.
pub(super) type Sequence = Arc<[Word]>;

#[derive(Debug)]
pub(super) struct Word {
    spelling: Spelling,
    /// Matches only with its diacritics.
    strict: bool,
    /// Matches every word that begins with it.
    prefix: bool,
}

/// What a match at a fixed position may use of a text.
#[derive(Clone, Debug)]
pub struct Window<'s> {
    /// The words that it can see, whatever clauses they are in.
    pub words: Range<usize>,
    /// Words that `..` does not match.
    pub barred: &'s [bool],
}

impl Pattern {
    pub(super) fn parse(written: &str, classes: &HashMap<String, Vec<Sequence>>) -> Result<Self, InvalidPattern> {
        let mut elements = Vec::new();
        for part in written.split_whitespace() {
            elements.push(match part {
                "^" => Element::Start,
                "$" => Element::End,
                ".." => Element::Gap,
                _ => choice(part, written, classes)?,
            });
        }
        let needed = elements.iter().map(Element::least_words).sum::<usize>();
        if needed == 0 {
            return Err(InvalidPattern::Empty(written.to_owned()));
        }
        let mut openings = openings(&elements).into_iter();
        // A pattern needs a word.
        let rarest = openings.next().unwrap_or(Opening::MAX);
        let rarest = [rarest, openings.next().unwrap_or(rarest)];
        let parts =
            Parts { first_words: first_words(&elements), needed: openings.collect(), elements, is_phrase: needed > 1 };
        Ok(Self { rarest, parts: Box::new(parts) })
    }

    /// The first match, as a range of words.
    pub fn find(&self, stream: &TokenStream<'_>, hidden: &[bool]) -> Option<Range<usize>> {
        self.matches(stream, hidden).next()
    }

    /// All matches that do not overlap.
    pub fn find_all(&self, stream: &TokenStream<'_>, hidden: &[bool]) -> Vec<Range<usize>> {
        let mut from = 0;
        self.matches(stream, hidden)
            .filter(|range| {
                let free = range.start >= from;
                if free {
                    from = range.end;
                }
                free
            })
            .collect()
    }

    /// How many words the match has that begins at this word, if there is one.
    pub fn match_len(&self, stream: &TokenStream<'_>, at: usize, window: &Window<'_>) -> Option<usize> {
        let first = stream.tokens().get(at)?;
        let may_begin = |words: &Vec<FirstWord>| words.iter().any(|word| word.fits(first));
        if !self.parts.first_words.as_ref().is_none_or(may_begin) {
            return None;
        }
        let search = Search { is_phrase: self.parts.is_phrase, stream, hidden: &[], window: Some(window) };
        search.end(&self.parts.elements, at, at).map(|end| end - at)
    }

    /// The folded words that a match can begin with; `None`: any word may.
    pub fn first_words(&self) -> Option<Vec<&str>> {
        let words = self.parts.first_words.iter().flatten().map(|word| match word {
            FirstWord::Is(word, _) => Some(word.as_str()),
            FirstWord::StartsWith(_) | FirstWord::Number => None,
        });
        self.parts.first_words.as_ref().and_then(|_| words.collect())
    }

    /// Whether a match begins at this word, or would begin if the text continued.
    pub fn may_match_at(&self, stream: &TokenStream<'_>, at: usize) -> bool {
        let search = Search { is_phrase: self.parts.is_phrase, stream, hidden: &[], window: None };
        search.is_open(&self.parts.elements, at, at)
    }

    /// The matches by position. The pattern is tried only at its first words: trying thousands of patterns at every word of a
    /// long message would delay other turns.
    fn matches<'s>(
        &'s self,
        stream: &'s TokenStream<'_>,
        hidden: &'s [bool],
    ) -> impl Iterator<Item = Range<usize>> + 's {
        self.starts(stream).into_iter().filter_map(move |at| {
            let search = Search { is_phrase: self.parts.is_phrase, stream, hidden, window: None };
            let end = search.end(&self.parts.elements, at, at)?;
            (end > at).then_some(at..end)
        })
    }

    /// The positions where a match can begin, in order.
    pub fn starts(&self, stream: &TokenStream<'_>) -> Vec<usize> {
        let may_be_in = |opening: &Opening| stream.may_have(*opening);
        // Most texts end here, without a look at the parts.
        if !self.rarest.iter().all(may_be_in) || !self.parts.needed.iter().all(may_be_in) {
            return Vec::new();
        }
        let Some(words) = &self.parts.first_words else { return (0..stream.tokens().len()).collect() };
        let mut starts: Vec<usize> = Vec::new();
        for word in words {
            match word {
                FirstWord::Is(_, bit) if !stream.may_have(*bit) => {}
                FirstWord::Is(word, _) => starts.extend(stream.positions(word)),
                FirstWord::StartsWith(prefix) => starts.extend(stream.positions_of_prefix(prefix)),
                FirstWord::Number => starts.extend(stream.numbers()),
            }
        }
        starts.sort_unstable();
        starts.dedup();
        starts
    }
}

impl Element {
    fn least_words(&self) -> usize {
        match self {
            Self::Words(choice) if !choice.optional => choice.any.iter().map(|words| words.len()).min().unwrap_or(0),
            _ => 0,
        }
    }
}

fn choice(part: &str, pattern: &str, classes: &HashMap<String, Vec<Sequence>>) -> Result<Element, InvalidPattern> {
    let optional = part.len() > 1 && part.ends_with('?');
    let part = part.strip_suffix('?').filter(|_| optional).unwrap_or(part);
    let mut any = Vec::new();
    for alternative in part.split('|').filter(|alternative| !alternative.is_empty()) {
        match alternative.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) {
            None => any.push(sequence(alternative.split('_'))),
            Some(class) => {
                let entries = classes
                    .get(class)
                    .filter(|entries| !entries.iter().any(|entry| entry.is_empty()))
                    .ok_or_else(|| InvalidPattern::Class { pattern: pattern.to_owned(), class: class.to_owned() })?;
                any.extend(entries.iter().cloned());
            }
        }
    }
    Ok(Element::Words(Choice::new(any, optional)))
}

/// Parses the words of one alternative.
pub(super) fn sequence<'a>(words: impl Iterator<Item = &'a str>) -> Sequence {
    let parse = |written: &str| {
        let (word, prefix) = written.strip_suffix('*').map_or((written, false), |word| (word, true));
        Word { spelling: Spelling::of(word.trim_end_matches('!')), strict: word.ends_with('!'), prefix }
    };
    words.map(parse).collect()
}

/// One attempt to match: the remaining elements against the words from `at`, for a match that began at `begun`.
struct Search<'s, 'a> {
    is_phrase: bool,
    stream: &'s TokenStream<'a>,
    hidden: &'s [bool],
    window: Option<&'s Window<'s>>,
}

impl Search<'_, '_> {
    fn end(&self, elements: &[Element], begun: usize, at: usize) -> Option<usize> {
        let Some((element, rest)) = elements.split_first() else { return Some(at) };
        match element {
            Element::Start => self.starts_clause(at).then(|| self.end(rest, begun, at))?,
            Element::End => self.ends_clause(at).then(|| self.end(rest, begun, at))?,
            Element::Gap => (0..=GAP)
                .take_while(|skip| *skip == 0 || self.can_skip(begun, at + skip - 1))
                .find_map(|skip| self.end(rest, begun, at + skip)),
            Element::Words(choice) => {
                let continued = |words: &Sequence| self.end(rest, begun, self.sequence_end(words, begun, at)?);
                let end = match &choice.by_first_word {
                    None => choice.any.iter().find_map(continued),
                    Some(by_first_word) => {
                        let words = self.visible(begun, at).and_then(|token| by_first_word.get(token.folded()));
                        words.into_iter().flatten().filter_map(|index| choice.any.get(*index)).find_map(continued)
                    }
                };
                end.or_else(|| choice.optional.then(|| self.end(rest, begun, at))?)
            }
        }
    }

    /// Whether the elements match from `at` on, as far as there are words.
    fn is_open(&self, elements: &[Element], begun: usize, at: usize) -> bool {
        let Some((element, rest)) = elements.split_first().filter(|_| at < self.stream.tokens().len()) else {
            return true;
        };
        match element {
            Element::Start => self.starts_clause(at) && self.is_open(rest, begun, at),
            Element::End => self.ends_clause(at) && self.is_open(rest, begun, at),
            Element::Gap => (0..=GAP)
                .take_while(|skip| *skip == 0 || self.can_skip(begun, at + skip - 1))
                .any(|skip| self.is_open(rest, begun, at + skip)),
            Element::Words(choice) => {
                let left = self.stream.tokens().len() - at;
                let continued = |words: &Sequence| {
                    let typed = words.get(..left).unwrap_or(words);
                    self.sequence_end(typed, begun, at).is_some_and(|end| self.is_open(rest, begun, end))
                };
                choice.any.iter().any(continued) || (choice.optional && self.is_open(rest, begun, at))
            }
        }
    }

    fn sequence_end(&self, words: &[Word], begun: usize, at: usize) -> Option<usize> {
        let is_phrase = self.is_phrase || words.len() > 1;
        for (offset, word) in words.iter().enumerate() {
            let token = self.visible(begun, at + offset)?;
            if !word.fits(token, !self.stream.has_diacritics() || (is_phrase && !token.plain)) {
                return None;
            }
        }
        Some(at + words.len())
    }

    fn visible(&self, begun: usize, at: usize) -> Option<&Token> {
        let is_hidden = self.hidden.get(at).copied().unwrap_or(false);
        let is_seen = match self.window {
            Some(window) => window.words.contains(&at),
            None => self.is_same_clause(begun, at),
        };
        self.stream.tokens().get(at).filter(|_| is_seen && !is_hidden)
    }

    fn can_skip(&self, begun: usize, at: usize) -> bool {
        let is_allowed = self
            .window
            .is_none_or(|window| window.words.contains(&at) && !window.barred.get(at).copied().unwrap_or(false));
        is_allowed && self.is_same_clause(begun, at)
    }

    fn is_same_clause(&self, begun: usize, at: usize) -> bool {
        let tokens = self.stream.tokens();
        tokens.get(at).is_some_and(|token| token.clause == tokens[begun].clause)
    }

    fn starts_clause(&self, at: usize) -> bool {
        let tokens = self.stream.tokens();
        at == 0 || tokens.get(at).is_some_and(|token| token.clause != tokens[at - 1].clause)
    }

    fn ends_clause(&self, at: usize) -> bool {
        let tokens = self.stream.tokens();
        at == tokens.len() || (at > 0 && tokens[at].clause != tokens[at - 1].clause)
    }
}

impl Choice {
    /// The words that its alternatives begin with.
    fn first_words(&self) -> impl Iterator<Item = FirstWord> {
        self.any.iter().filter_map(|words| words.first()).map(Word::first_word)
    }

    fn new(any: Vec<Sequence>, optional: bool) -> Self {
        let first: Vec<FirstWord> = any.iter().filter_map(|words| words.first()).map(Word::first_word).collect();
        let many = first.len() > FEW;
        let mut by_first_word = many.then(hashbrown::HashMap::<String, Vec<usize>>::new);
        for (index, word) in first.into_iter().enumerate() {
            match word {
                FirstWord::Is(word, _) => {
                    if let Some(known) = &mut by_first_word {
                        known.entry(word).or_default().push(index);
                    }
                }
                FirstWord::StartsWith(_) | FirstWord::Number => by_first_word = None,
            }
        }
        Self { any, optional, by_first_word }
    }
}

impl Word {
    /// Every word that fits begins like this.
    fn first_word(&self) -> FirstWord {
        match &self.spelling {
            Spelling { exact, .. } if exact == NUMBER => FirstWord::Number,
            Spelling { folded, .. } if self.prefix => FirstWord::StartsWith(folded.clone()),
            Spelling { folded, .. } => FirstWord::Is(folded.clone(), word_bits(folded)),
        }
    }

    fn fits(&self, token: &Token, bare_may_match: bool) -> bool {
        let Spelling { exact, folded } = &self.spelling;
        let is = |word: &str, own: &str| if self.prefix { word.starts_with(own) } else { word == own };
        let is_bare = !self.strict && bare_may_match && !token.spelling.has_diacritics();
        let is_number = exact == NUMBER && token.is_number;
        is(&token.spelling.exact, exact) || is_number || (is_bare && is(&token.spelling.folded, folded))
    }
}
