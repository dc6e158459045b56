//! Patterns over the words of a message.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::{Spelling, Token, Wording};

/// Written for any word that begins with a digit and is no serial number.
const NUMBER: &str = "#";
/// How many words `..` stands for at most.
const GAP: usize = 4;

/// So many rows of words are tried one by one.
const FEW: usize = 4;

/// A pattern, written as the module's page says.
#[derive(Debug)]
pub struct Pattern {
    elements: Vec<Element>,
    /// The words that a match can begin with, without their marks ([`NUMBER`] among them); `None`: any word.
    openings: Option<Vec<String>>,
    /// Of more than one word: then a word is believed without its marks sooner, since its neighbours tell it.
    phrase: bool,
}

/// Why a text is no pattern.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum InvalidPattern {
    #[error("the pattern {0:?} has no word")]
    Empty(String),
    #[error("the pattern {pattern:?} names the class <{class}>, which is not there")]
    Class { pattern: String, class: String },
}

#[derive(Debug)]
enum Element {
    Words(Choice),
    Gap,
    Start,
    End,
}

/// One of these rows of words, or none.
#[derive(Debug)]
struct Choice {
    any: Vec<Row>,
    optional: bool,
    /// The places of the rows in `any` by their first words, where there are so many that trying each takes long.
    by_opening: Option<HashMap<String, Vec<usize>>>,
}

/// Words in a row. Patterns that name the same class share its rows.
pub(super) type Row = Arc<[Word]>;

#[derive(Debug)]
pub(super) struct Word {
    spelling: Spelling,
    /// Only with its marks.
    strict: bool,
}

impl Pattern {
    pub(super) fn parse(written: &str, classes: &HashMap<String, Vec<Row>>) -> Result<Self, InvalidPattern> {
        let mut elements = Vec::new();
        for part in written.split_whitespace() {
            elements.push(match part {
                "^" => Element::Start,
                "$" => Element::End,
                ".." => Element::Gap,
                _ => words(part, written, classes)?,
            });
        }
        let needed = elements.iter().map(Element::least_words).sum::<usize>();
        if needed == 0 {
            return Err(InvalidPattern::Empty(written.to_owned()));
        }
        Ok(Self { openings: openings(&elements), elements, phrase: needed > 1 })
    }

    /// The first place where the pattern holds, as a range of words.
    pub fn find(&self, wording: &Wording<'_>, hidden: &[bool]) -> Option<Range<usize>> {
        self.places(wording, hidden).next()
    }

    /// Every place where it holds, without overlaps.
    pub fn find_all(&self, wording: &Wording<'_>, hidden: &[bool]) -> Vec<Range<usize>> {
        let mut from = 0;
        self.places(wording, hidden)
            .filter(|range| {
                let free = range.start >= from;
                if free {
                    from = range.end;
                }
                free
            })
            .collect()
    }

    /// The words that a match can begin with, without their marks; `None`: any word may.
    pub fn openings(&self) -> Option<&[String]> {
        self.openings.as_deref().filter(|openings| !openings.iter().any(|word| word == NUMBER))
    }

    /// Whether the pattern holds at this word, or would if the right words followed the last one.
    pub fn is_open_at(&self, wording: &Wording<'_>, at: usize) -> bool {
        Search { phrase: self.phrase, wording, hidden: &[] }.is_open(&self.elements, at, at)
    }

    /// The places where it holds, by their beginnings. Only where one of its opening words stands is it tried: a turn
    /// runs beside others, and thousands of patterns tried at every word of a long message would hold them up.
    fn places<'s>(&'s self, wording: &'s Wording<'_>, hidden: &'s [bool]) -> impl Iterator<Item = Range<usize>> + 's {
        let search = Search { phrase: self.phrase, wording, hidden };
        self.starts(wording).into_iter().filter_map(move |at| {
            let end = search.end(&self.elements, at, at)?;
            (end > at).then_some(at..end)
        })
    }

    /// The words that a match can begin at, in order.
    fn starts(&self, wording: &Wording<'_>) -> Vec<usize> {
        let Some(openings) = &self.openings else { return (0..wording.tokens().len()).collect() };
        let places = |word: &String| if word == NUMBER { wording.numbers() } else { wording.places(word) };
        let mut starts: Vec<usize> = openings.iter().flat_map(places).copied().collect();
        starts.sort_unstable();
        starts.dedup();
        starts
    }
}

impl Element {
    fn least_words(&self) -> usize {
        match self {
            Self::Words(choice) if !choice.optional => choice.any.iter().map(|row| row.len()).min().unwrap_or(0),
            _ => 0,
        }
    }
}

/// The first words of every element up to the first one that cannot be left out.
fn openings(elements: &[Element]) -> Option<Vec<String>> {
    let mut openings = Vec::new();
    for element in elements {
        match element {
            Element::Start | Element::End => {}
            Element::Gap => return None,
            Element::Words(choice) => {
                openings.extend(choice.any.iter().filter_map(|row| row.first()).map(Word::opening));
                if !choice.optional {
                    break;
                }
            }
        }
    }
    openings.sort_unstable();
    openings.dedup();
    Some(openings)
}

fn words(part: &str, pattern: &str, classes: &HashMap<String, Vec<Row>>) -> Result<Element, InvalidPattern> {
    let optional = part.len() > 1 && part.ends_with('?');
    let part = part.strip_suffix('?').filter(|_| optional).unwrap_or(part);
    let mut any = Vec::new();
    for alternative in part.split('|').filter(|alternative| !alternative.is_empty()) {
        match alternative.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) {
            None => any.push(row(alternative.split('_'))),
            Some(class) => {
                let entries = classes
                    .get(class)
                    .ok_or_else(|| InvalidPattern::Class { pattern: pattern.to_owned(), class: class.to_owned() })?;
                any.extend(entries.iter().cloned());
            }
        }
    }
    Ok(Element::Words(Choice::new(any, optional)))
}

/// Parses the words of one alternative.
pub(super) fn row<'a>(words: impl Iterator<Item = &'a str>) -> Row {
    words.map(|word| Word { spelling: Spelling::of(word.trim_end_matches('!')), strict: word.ends_with('!') }).collect()
}

/// One attempt: the elements that are left against the words from `at`, the match having begun at `begun`.
struct Search<'s, 'a> {
    phrase: bool,
    wording: &'s Wording<'a>,
    hidden: &'s [bool],
}

impl Search<'_, '_> {
    fn end(&self, elements: &[Element], begun: usize, at: usize) -> Option<usize> {
        let Some((element, rest)) = elements.split_first() else { return Some(at) };
        match element {
            Element::Start => self.starts_clause(at).then(|| self.end(rest, begun, at))?,
            Element::End => self.ends_clause(at).then(|| self.end(rest, begun, at))?,
            Element::Gap => (0..=GAP)
                .take_while(|skip| *skip == 0 || self.same_clause(begun, at + skip - 1))
                .find_map(|skip| self.end(rest, begun, at + skip)),
            Element::Words(choice) => {
                let goes_on = |row: &Row| self.end(rest, begun, self.row_end(row, begun, at)?);
                let end = match &choice.by_opening {
                    None => choice.any.iter().find_map(goes_on),
                    Some(by_opening) => {
                        let rows = self.visible(begun, at).and_then(|token| by_opening.get(token.folded()));
                        rows.into_iter().flatten().filter_map(|row| choice.any.get(*row)).find_map(goes_on)
                    }
                };
                end.or_else(|| choice.optional.then(|| self.end(rest, begun, at))?)
            }
        }
    }

    /// Whether the elements hold from `at` on, as far as there are words.
    fn is_open(&self, elements: &[Element], begun: usize, at: usize) -> bool {
        let Some((element, rest)) = elements.split_first().filter(|_| at < self.wording.tokens().len()) else {
            return true;
        };
        match element {
            Element::Start => self.starts_clause(at) && self.is_open(rest, begun, at),
            Element::End => self.ends_clause(at) && self.is_open(rest, begun, at),
            Element::Gap => (0..=GAP)
                .take_while(|skip| *skip == 0 || self.same_clause(begun, at + skip - 1))
                .any(|skip| self.is_open(rest, begun, at + skip)),
            Element::Words(choice) => {
                let left = self.wording.tokens().len() - at;
                let goes_on = |row: &Row| {
                    let typed = row.get(..left).unwrap_or(row);
                    self.row_end(typed, begun, at).is_some_and(|end| self.is_open(rest, begun, end))
                };
                choice.any.iter().any(goes_on) || (choice.optional && self.is_open(rest, begun, at))
            }
        }
    }

    fn row_end(&self, row: &[Word], begun: usize, at: usize) -> Option<usize> {
        let phrase = self.phrase || row.len() > 1;
        for (offset, word) in row.iter().enumerate() {
            let token = self.visible(begun, at + offset)?;
            if !word.fits(token, !self.wording.is_marked() || (phrase && !token.plain)) {
                return None;
            }
        }
        Some(at + row.len())
    }

    fn visible(&self, begun: usize, at: usize) -> Option<&Token> {
        let seen = !self.hidden.get(at).copied().unwrap_or(false);
        self.wording.tokens().get(at).filter(|_| seen && self.same_clause(begun, at))
    }

    fn same_clause(&self, begun: usize, at: usize) -> bool {
        let tokens = self.wording.tokens();
        tokens.get(at).is_some_and(|token| token.clause == tokens[begun].clause)
    }

    fn starts_clause(&self, at: usize) -> bool {
        let tokens = self.wording.tokens();
        at == 0 || tokens.get(at).is_some_and(|token| token.clause != tokens[at - 1].clause)
    }

    fn ends_clause(&self, at: usize) -> bool {
        let tokens = self.wording.tokens();
        at == tokens.len() || (at > 0 && tokens[at].clause != tokens[at - 1].clause)
    }
}

impl Choice {
    fn new(any: Vec<Row>, optional: bool) -> Self {
        let openings: Vec<String> = any.iter().filter_map(|row| row.first()).map(Word::opening).collect();
        let many = openings.len() > FEW && !openings.iter().any(|word| word == NUMBER);
        let by_opening = many.then(|| {
            let mut rows: HashMap<String, Vec<usize>> = HashMap::new();
            for (at, word) in openings.into_iter().enumerate() {
                rows.entry(word).or_default().push(at);
            }
            rows
        });
        Self { any, optional, by_opening }
    }
}

impl Word {
    /// What [`Word::fits`] lets through has this folded spelling, or is a number.
    fn opening(&self) -> String {
        if self.spelling.exact == NUMBER { NUMBER.to_owned() } else { self.spelling.folded.clone() }
    }

    fn fits(&self, token: &Token, bare_may_stand: bool) -> bool {
        self.spelling.exact == token.spelling.exact
            || (self.spelling.exact == NUMBER && token.is_number())
            || (!self.strict
                && bare_may_stand
                && !token.spelling.is_marked()
                && self.spelling.folded == token.spelling.folded)
    }
}
