//! The evidence in a message, without the conversation around it.

use super::candidates::{Candidate, Known};
use super::{CHANGES_SUBJECT, Intent, RetailRules, SURE, Verdict};
use crate::domain::Vocabulary;
use crate::domain::serial::Likeness;
use crate::domain::text::{TokenStream, match_mask};

/// A serial number alone or with polite words.
const BARE_SERIAL: f64 = 2.5;
/// A serial number among other words.
const SERIAL: f64 = 1.2;
/// A name of the shop's catalogue; as strong as the name of a kind of goods.
const NAMED_GOODS: f64 = 1.1;
/// A longer message is not a follow-up, in words.
const FOLLOW_UP_WORDS: usize = 9;
/// How much the evidence for one intent reduces the other.
const AGAINST: f64 = 0.7;

/// The evidence for each intent.
#[derive(Debug)]
pub(super) struct Evidence {
    shopping: f64,
    /// The part of `shopping` that is more than the name of goods.
    wish: f64,
    warranty: f64,
    social: Option<String>,
    matched: Vec<String>,
    words: usize,
    /// Whether every word is polite, or there are none.
    empty: bool,
    /// Whether the message is a possible serial number with polite words.
    bare_candidate: bool,
    /// Whether one part of the sentence is a serial number with polite words.
    gives_serial: bool,
    /// Whether the message holds a serial number and asks about its warranty.
    looks_up: bool,
    /// Whether it holds the number of something else, such as an invoice.
    names_other_number: bool,
    /// Whether the customer wants goods without naming any.
    names_nothing: bool,
    follow_up: bool,
    cancel: bool,
}

impl Evidence {
    pub(super) fn gather(rules: &RetailRules, text: &str, vocabulary: &Vocabulary) -> Self {
        let stream = rules.lexicon.tokenize(text);
        let words = stream.tokens().len();
        let (social, hidden) = social(rules, &stream);
        let filler = match_mask(&rules.filler, &stream, &[]);
        let any = |patterns: &[_]| match_mask(patterns, &stream, &[]).contains(&true);
        let mut evidence = Self {
            shopping: 0.0,
            wish: 0.0,
            warranty: 0.0,
            social,
            matched: Vec::new(),
            words,
            empty: filler.iter().all(|filler| *filler),
            bare_candidate: false,
            gives_serial: false,
            looks_up: false,
            names_other_number: false,
            names_nothing: false,
            follow_up: any(&rules.follow_up),
            cancel: any(&rules.cancel),
        };
        let mut weak = evidence.weigh(rules, &stream, hidden);
        let candidates = rules.candidates_in(&stream, vocabulary);
        if names_goods(&stream, &filler, &candidates, vocabulary) {
            evidence.matched.push("catalogue".to_owned());
            weak = f64::max(weak, NAMED_GOODS);
        }
        evidence.add_serials(&candidates, &stream, &filler);
        evidence.looks_up &= candidates.iter().any(|candidate| candidate.likeness == Likeness::Serial);
        evidence.names_other_number = candidates.iter().any(|candidate| candidate.known == Some(Known::Named));
        let wants = match_mask(&rules.wants, &stream, &[]);
        evidence.names_nothing =
            evidence.wish > 0.0 && filler.iter().zip(wants).all(|(filler, wants)| *filler || wants);
        // "Màn hình bị sọc": a warranty question names goods, too.
        evidence.shopping = if evidence.warranty > 0.0 { evidence.wish } else { evidence.wish + weak };
        evidence
    }

    /// Adds up the groups. Returns the evidence for shopping that comes from names of goods alone.
    fn weigh(&mut self, rules: &RetailRules, stream: &TokenStream<'_>, mut hidden: Vec<bool>) -> f64 {
        let mut weak = 0.0;
        for group in &rules.groups {
            if group.unless.iter().any(|other| self.matched.contains(other)) {
                continue;
            }
            let covered = match_mask(&group.patterns, stream, &hidden);
            if !covered.contains(&true) {
                continue;
            }
            self.matched.push(group.name.clone());
            self.looks_up |= group.looks_up;
            match (group.speaks_for, group.weak) {
                (Intent::Warranty, _) => self.warranty += group.weight,
                (Intent::Shopping, true) => weak += group.weight,
                (Intent::Shopping, false) => self.wish += group.weight,
                (Intent::Unknown, _) => {}
            }
            if group.hides {
                hidden.iter_mut().zip(covered).for_each(|(hidden, covered)| *hidden |= covered);
            }
        }
        weak
    }

    fn add_serials(&mut self, candidates: &[Candidate<'_>], stream: &TokenStream<'_>, filler: &[bool]) {
        // A word that the catalogue or the customer uses for something else is not a serial number.
        let candidates: Vec<&Candidate<'_>> = candidates.iter().filter(|candidate| candidate.known.is_none()).collect();
        let Some(likeness) = candidates.iter().map(|candidate| candidate.likeness).max() else { return };
        let tokens = stream.tokens();
        let mut says_nothing_else = filler.to_vec();
        for candidate in &candidates {
            says_nothing_else[candidate.words.clone()].fill(true);
        }
        self.bare_candidate = says_nothing_else.iter().all(|nothing| *nothing);
        let mut clauses_with_more: Vec<usize> = tokens
            .iter()
            .zip(&says_nothing_else)
            .filter(|(_, nothing)| !**nothing)
            .map(|(token, _)| token.clause)
            .collect();
        clauses_with_more.dedup();
        self.gives_serial = candidates.iter().any(|candidate| {
            !candidate.words.is_empty()
                && candidate.likeness == Likeness::Serial
                && clauses_with_more.binary_search(&tokens[candidate.words.start].clause).is_err()
        });
        if likeness == Likeness::Serial {
            self.matched.push("serial".to_owned());
            self.warranty += if self.bare_candidate { BARE_SERIAL } else { SERIAL };
        }
    }

    /// Classifies the message alone.
    pub(super) fn verdict(&self) -> Verdict {
        if self.looks_up {
            let confidence = confidence(self.warranty).max(SURE);
            return Verdict { matched: self.matched.clone(), ..Verdict::sure(Intent::Warranty, confidence) };
        }
        let (intent, mine, other) = if self.warranty >= self.shopping {
            (Intent::Warranty, self.warranty, self.shopping)
        } else {
            (Intent::Shopping, self.shopping, self.warranty)
        };
        let confidence = confidence(mine - AGAINST * other);
        // "Cảm ơn shop, máy chạy tốt": thanks that name goods are not a question.
        let business = mine >= 1.0 && (self.social.is_none() || self.warranty > 0.0 || self.wish > 0.0);
        if business {
            let names_nothing = intent == Intent::Shopping && self.names_nothing;
            return Verdict { matched: self.matched.clone(), names_nothing, ..Verdict::sure(intent, confidence) };
        }
        match &self.social {
            Some(topic) => Verdict {
                social: Some(topic.clone()),
                matched: vec![format!("social.{topic}")],
                ..Verdict::sure(Intent::Unknown, 0.9)
            },
            None if self.empty => Verdict::sure(Intent::Unknown, 0.8),
            None => Verdict { matched: self.matched.clone(), ..Verdict::sure(Intent::Unknown, 0.3) },
        }
    }

    pub(super) fn follows_up(&self) -> bool {
        self.follow_up && self.words <= FOLLOW_UP_WORDS
    }

    /// Whether the message answers the question for a serial number.
    pub(super) fn gives_serial(&self) -> bool {
        self.bare_candidate || self.gives_serial
    }

    /// Whether the message answers that question with another number, such as "Hóa đơn số HD00123".
    pub(super) fn wishes_to_shop(&self) -> bool {
        !self.names_other_number
            && self.wish >= CHANGES_SUBJECT
            && confidence(self.wish - AGAINST * self.warranty) >= SURE
    }

    pub(super) fn cancels(&self) -> bool {
        self.cancel
    }
}

/// Turns evidence into a confidence: 1.0 is just sure, 3.0 nearly certain.
fn confidence(net: f64) -> f64 {
    (1.0 - (-net.max(0.0)).exp()).min(0.98)
}

/// Returns whether the message contains a name of the shop's catalogue.
fn names_goods(
    stream: &TokenStream<'_>,
    filler: &[bool],
    candidates: &[Candidate<'_>],
    vocabulary: &Vocabulary,
) -> bool {
    let tokens = stream.tokens();
    let says = |at: usize| !filler[at];
    let together = |at: usize| {
        (says(at) || says(at + 1)) && vocabulary.names_goods_together(tokens[at].folded(), tokens[at + 1].folded())
    };
    candidates.iter().any(|candidate| candidate.known == Some(Known::Goods))
        || (0..tokens.len()).any(|at| says(at) && vocabulary.names_goods(tokens[at].folded()))
        || (1..tokens.len()).any(|at| together(at - 1))
}

/// Returns the first topic of small talk in the message, and its words.
fn social(rules: &RetailRules, stream: &TokenStream<'_>) -> (Option<String>, Vec<bool>) {
    let mut found = None;
    let mut covered = vec![false; stream.tokens().len()];
    for (topic, patterns) in &rules.social {
        for (at, said) in match_mask(patterns, stream, &[]).into_iter().enumerate() {
            if said {
                found.get_or_insert_with(|| topic.clone());
                covered[at] = true;
            }
        }
    }
    (found, covered)
}
