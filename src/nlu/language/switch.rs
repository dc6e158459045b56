//! Finds a customer's request for another language.
//!
//! The name of a language is not enough: "tiếng anh" belongs to the talk in "nói tiếng anh được không" and to goods in
//! "bàn phím này có layout tiếng anh không". What tells them apart are the words around it, in tiers (see the data).

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde::Deserialize;

use super::Switch;
use crate::domain::Language;
use crate::domain::language::LanguageProfile;
use crate::domain::text::{InvalidPattern, Lexicon, Pattern, TokenStream, match_mask};

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SwitchFile {
    sure: Vec<String>,
    verbs: Vec<String>,
    polite: Vec<String>,
    bare: Vec<String>,
    alone: Vec<String>,
    refused: Vec<String>,
    negated: Vec<String>,
    reasons: Vec<String>,
    goods: Vec<String>,
    goods_before: Vec<String>,
    goods_after: Vec<String>,
    padding: Vec<String>,
    pub(super) classes: HashMap<String, Vec<String>>,
}

#[derive(Debug)]
pub(super) struct Switcher {
    wishes: Vec<Wishes>,
    negated: Vec<Pattern>,
    reasons: Vec<Pattern>,
    goods: Vec<Pattern>,
    goods_before: Vec<Pattern>,
    goods_after: Vec<Pattern>,
    padding: Vec<Pattern>,
}

/// The ways to ask for one language, and to refuse it.
#[derive(Debug)]
struct Wishes {
    language: Language,
    asked: Vec<(Tier, Vec<Pattern>)>,
    refused: Vec<Pattern>,
}

/// What the words around a wish must be for it to count: the lists of the data, by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tier {
    Sure,
    Verbs,
    Polite,
    Bare,
    Alone,
}

/// A message, with what stands where.
struct Reading<'w, 'a> {
    stream: &'w TokenStream<'a>,
    padding: Vec<bool>,
    /// For each word, how many before it are no padding, and how many are goods.
    unpadded: Vec<usize>,
    goods: Vec<usize>,
    /// Places right after words, and right before words, that make a language a property of goods.
    goods_before: HashSet<usize>,
    goods_after: HashSet<usize>,
    /// In the order of their ends.
    negated: Vec<Range<usize>>,
}

/// A wish at its place in the message.
#[derive(Clone)]
struct Found {
    words: Range<usize>,
    language: Language,
    /// "I do not want you to" stands before it.
    negated: bool,
}

impl Switcher {
    pub(super) fn new(file: &SwitchFile, languages: &[LanguageProfile]) -> Result<Self, InvalidPattern> {
        let shared = Lexicon::new(HashMap::new(), file.classes.clone());
        let mut wishes = languages
            .iter()
            .map(|language| Wishes::new(language.code, file, languages))
            .collect::<Result<Vec<_>, InvalidPattern>>()?;
        wishes.sort_by_key(|wish| wish.language);
        Ok(Self {
            wishes,
            negated: shared.patterns(&file.negated)?,
            reasons: shared.patterns(&file.reasons)?,
            goods: shared.patterns(&file.goods)?,
            goods_before: shared.patterns(&file.goods_before)?,
            goods_after: shared.patterns(&file.goods_after)?,
            padding: shared.patterns(&file.padding)?,
        })
    }

    pub(super) fn switch(&self, stream: &TokenStream<'_>, allowed: &[Language]) -> Option<Switch> {
        let reading = self.read(stream);
        let mut refused: Vec<Found> = self.wishes.iter().flat_map(|wish| wish.refusals(&reading)).collect();
        let (mut asked, denied): (Vec<Found>, Vec<Found>) = self
            .wishes
            .iter()
            .flat_map(|wish| wish.askings(&reading))
            .filter(|found| !is_in_address(stream, &found.words))
            .map(|found| reading.with_its_negation(found))
            .partition(|found| !found.negated);
        refused.extend(denied.into_iter().filter(|_| !reading.speaks_of_goods()));
        // "I do not speak English" holds "speak English".
        let refused_words: HashSet<(Language, usize)> =
            refused.iter().flat_map(|no| no.words.clone().map(|word| (no.language, word))).collect();
        asked.retain(|found| !found.words.clone().any(|word| refused_words.contains(&(found.language, word))));
        // The last of several requests counts: "no English any more, Vietnamese please".
        let to = asked
            .iter()
            .filter(|found| allowed.contains(&found.language))
            .max_by_key(|found| found.words.end)
            .map(|found| found.language)
            .or_else(|| instead(&refused, allowed))?;
        let wished: Vec<Range<usize>> = asked.into_iter().chain(refused).map(|found| found.words).collect();
        Some(Switch { to, rest: self.rest(&reading, &wished) })
    }

    fn read<'w, 'a>(&self, stream: &'w TokenStream<'a>) -> Reading<'w, 'a> {
        let places = |patterns: &[Pattern]| -> Vec<Range<usize>> {
            patterns.iter().flat_map(|pattern| pattern.find_all(stream, &[])).collect()
        };
        let padding = match_mask(&self.padding, stream, &[]);
        let mut negated = places(&self.negated);
        negated.sort_by_key(|words| words.end);
        Reading {
            stream,
            unpadded: counts(padding.iter().map(|padding| !padding)),
            padding,
            goods: counts(match_mask(&self.goods, stream, &[])),
            goods_before: places(&self.goods_before).into_iter().map(|goods| goods.end).collect(),
            goods_after: places(&self.goods_after).into_iter().map(|goods| goods.start).collect(),
            negated,
        }
    }

    /// The message without its wishes, the reasons given for them and the padding that touches them.
    fn rest(&self, reading: &Reading<'_, '_>, wished: &[Range<usize>]) -> String {
        let tokens = reading.stream.tokens();
        let mut gone = match_mask(&self.reasons, reading.stream, &[]);
        for words in wished {
            gone[words.clone()].fill(true);
        }
        for at in 1..tokens.len() {
            gone[at] |= gone[at - 1] && reading.padding[at] && tokens[at].clause == tokens[at - 1].clause;
        }
        for at in (1..tokens.len()).rev() {
            gone[at - 1] |= gone[at] && reading.padding[at - 1] && tokens[at].clause == tokens[at - 1].clause;
        }
        if (0..tokens.len()).all(|at| gone[at] || reading.padding[at]) {
            return String::new();
        }
        kept(reading.stream, &gone).join(" ")
    }
}

/// Whether one of the words is part of an e-mail address or a host: "vn" of "lan@shop.vn" is no language.
fn is_in_address(stream: &TokenStream<'_>, words: &Range<usize>) -> bool {
    let text = stream.text();
    stream.tokens()[words.clone()].iter().any(|token| {
        let (before, after) = (&text[..token.span.start], &text[token.span.end..]);
        let is_part = |c: &char| !c.is_whitespace();
        // Longer addresses are none, and a bound keeps the time linear.
        let mut around =
            before.chars().rev().take(64).take_while(is_part).chain(after.chars().take(64).take_while(is_part));
        let is_suffix = before.ends_with('.')
            && psl::suffix(text[token.span.clone()].to_lowercase().as_bytes()).is_some_and(|suffix| suffix.is_known());
        is_suffix || around.any(|c| c == '@')
    })
}

impl Wishes {
    fn new(language: Language, file: &SwitchFile, languages: &[LanguageProfile]) -> Result<Self, InvalidPattern> {
        let mut classes = file.classes.clone();
        let (own, others): (Vec<_>, Vec<_>) = languages.iter().partition(|other| other.code == language);
        for (class, among) in [("name", own), ("other", others)] {
            classes.insert(
                class.to_owned(),
                among.into_iter().flat_map(|profile: &LanguageProfile| profile.names.clone()).collect(),
            );
        }
        let lexicon = Lexicon::new(HashMap::new(), classes);
        let asked = [
            (Tier::Sure, &file.sure),
            (Tier::Verbs, &file.verbs),
            (Tier::Polite, &file.polite),
            (Tier::Bare, &file.bare),
            (Tier::Alone, &file.alone),
        ];
        let asked = asked
            .into_iter()
            .map(|(tier, written)| Ok((tier, lexicon.patterns(written)?)))
            .collect::<Result<_, InvalidPattern>>()?;
        Ok(Self { language, asked, refused: lexicon.patterns(&file.refused)? })
    }

    fn askings(&self, reading: &Reading<'_, '_>) -> Vec<Found> {
        let mut found = Vec::new();
        for (tier, patterns) in &self.asked {
            for words in patterns.iter().flat_map(|pattern| pattern.find_all(reading.stream, &[])) {
                if reading.allows(*tier, &words) {
                    found.push(Found { words, language: self.language, negated: false });
                }
            }
        }
        found
    }

    /// Refusals count only in a message without goods: "I don't read English, which laptop has Vietnamese?"
    fn refusals(&self, reading: &Reading<'_, '_>) -> Vec<Found> {
        if reading.speaks_of_goods() {
            return Vec::new();
        }
        let places = self.refused.iter().flat_map(|pattern| pattern.find_all(reading.stream, &[]));
        places.map(|words| Found { words, language: self.language, negated: true }).collect()
    }
}

impl Reading<'_, '_> {
    fn speaks_of_goods(&self) -> bool {
        self.goods.last() > Some(&0)
    }

    /// The wish together with the words right before it that turn it round. "You" may be the last of these and its first.
    fn with_its_negation(&self, found: Found) -> Found {
        let clause = self.stream.clause(found.words.start);
        let first = self.negated.partition_point(|no| no.end < found.words.start);
        let near = self.negated[first..].iter().take_while(|no| no.end < found.words.end);
        let before = near.map(|no| no.start).filter(|start| *start < found.words.start && clause.contains(start));
        match before.min() {
            Some(start) => Found { words: start..found.words.end, negated: true, ..found },
            None => found,
        }
    }

    fn allows(&self, tier: Tier, words: &Range<usize>) -> bool {
        let clause = self.stream.clause(words.start);
        let begins = || self.unpadded[clause.start] == self.unpadded[words.start];
        let ends = || self.unpadded[words.end] == self.unpadded[clause.end];
        let goods_earlier = || self.goods[clause.start] > 0;
        // A pattern never leaves its clause, so these words are in this one.
        let spoken_by_goods = words.start > clause.start && self.goods_before.contains(&words.start);
        let of_goods = words.end < clause.end && self.goods_after.contains(&words.end);
        if spoken_by_goods || of_goods {
            return false;
        }
        match tier {
            Tier::Sure => true,
            Tier::Verbs => self.goods[clause.start] == self.goods[words.start],
            Tier::Polite => begins(),
            Tier::Bare => begins() && !goods_earlier(),
            Tier::Alone => begins() && ends() && !goods_earlier(),
        }
    }
}

/// A customer who refuses a language asks for the first of the others.
fn instead(refused: &[Found], allowed: &[Language]) -> Option<Language> {
    let refused = refused.iter().max_by_key(|found| found.words.end)?.language;
    allowed.iter().copied().find(|language| *language != refused)
}

/// For each place, and the end, how many flags before it are set.
fn counts(flags: impl IntoIterator<Item = bool>) -> Vec<usize> {
    let mut count = 0;
    let after = flags.into_iter().map(|flag| {
        count += usize::from(flag);
        count
    });
    std::iter::once(0).chain(after.collect::<Vec<_>>()).collect()
}

/// The stretches of the message whose words stay, as typed, with the punctuation that ends them.
fn kept<'a>(stream: &TokenStream<'a>, gone: &[bool]) -> Vec<&'a str> {
    let tokens = stream.tokens();
    let text = stream.text();
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let end = (at..tokens.len()).find(|i| gone[*i]).unwrap_or(tokens.len());
        if end > at {
            let until = tokens.get(end).map_or(text.len(), |next| next.span.start);
            let piece = text[tokens[at].span.start..until].trim();
            pieces.push(piece.trim_end_matches([',', ';', ':', '-', ' ', '(']));
        }
        at = end.max(at) + 1;
    }
    pieces
}
