//! Parses a message: finds its serial numbers and adds up the evidence for each intent.

use std::collections::HashSet;
use std::ops::Range;

use super::{CHANGES_SUBJECT, Intent, RetailRules, SURE, Topic, Utterance};
use crate::dialogue::utterance::Entities;
use crate::dialogue::{Act, Answer, Social};
use crate::domain::Vocabulary;
use crate::domain::serial::{KnownWord, Likeness, PossibleSerial, find_candidates};
use crate::domain::text::{Pattern, TokenStream, any_match, match_mask};
use crate::replies::ReplyKey;

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
#[derive(Debug, Default)]
struct Evidence {
    /// For shopping, without the names of goods.
    wish: f64,
    /// The name of goods.
    goods: f64,
    warranty: f64,
    matched: Vec<String>,
    /// Whether the message mentions a warranty, so that a serial number in it is looked up.
    looks_up: bool,
}

/// A word that may be a serial number, and its tokens in the message.
struct Mention {
    serial: PossibleSerial,
    words: Range<usize>,
}

/// How a message gives a serial number.
#[derive(Debug, Default)]
struct Given {
    /// A possible serial number, and nothing else but polite words.
    bare: bool,
    /// A serial number that is a part of the sentence by itself.
    in_clause: bool,
}

impl RetailRules {
    /// Parses a message by itself. [`in_context`](super::in_context) considers the conversation before it.
    pub fn parse(&self, text: &str, vocabulary: &Vocabulary) -> Utterance {
        let stream = self.lexicon.tokenize(text);
        let filler = match_mask(&self.filler, &stream, &[]);
        let (topics, hidden) = self.social.find(&stream);
        let has = |patterns: &[Pattern]| any_match(patterns, &stream, &[]);
        let mut evidence = self.weigh(&stream, hidden);
        let mentions = self.mentions(&stream, vocabulary);
        if names_goods(&stream, &filler, &mentions, vocabulary) {
            evidence.matched.push("catalogue".to_owned());
            evidence.goods = evidence.goods.max(NAMED_GOODS);
        }
        let given = evidence.add_serials(&mentions, &stream, &filler);
        evidence.looks_up &= mentions.iter().any(|mention| mention.serial.likeness() == Likeness::Serial);
        let names_other_number = mentions.iter().any(|mention| mention.serial.known == Some(KnownWord::Named));
        let wants = match_mask(&self.wants, &stream, &[]);
        let names_nothing = evidence.wish > 0.0 && filler.iter().zip(wants).all(|(filler, wants)| *filler || wants);
        let is_polite = filler.iter().all(|filler| *filler);
        let wishes_goods = !names_other_number
            && evidence.wish >= CHANGES_SUBJECT
            && confidence(evidence.wish - AGAINST * evidence.warranty) >= SURE;
        let follows_up = has(&self.follow_up) && stream.tokens().len() <= FOLLOW_UP_WORDS;
        let utterance = Utterance {
            text: text.to_owned(),
            answer: has(&self.cancel).then_some(Answer::Cancel),
            entities: Entities {
                serials: mentions.into_iter().map(|mention| mention.serial).collect(),
                ..Entities::default()
            },
            ..evidence.decide(topics.first().copied(), is_polite)
        };
        let shops = utterance.wants(Intent::Shopping);
        // A defect counts as well where an earlier group has hidden its words.
        let has_defect = self.groups.iter().any(|group| group.defect && has(&group.patterns));
        let acts = [
            (Act::Complain, has_defect || has(&self.grievance) || topics.contains(&Social::Complaint)),
            (Act::Farewell, topics.contains(&Social::Goodbye)),
            (Act::PointBack, follows_up),
            (Act::Ask(Topic::Records), has(&self.compares)),
            (Act::Stall, !filler.is_empty() && (is_polite || has(&self.patience))),
            (Act::Provide(Topic::Serial), given.bare || given.in_clause),
            (Act::Request(Topic::Goods), wishes_goods),
            (Act::Request(Topic::UnnamedGoods), names_nothing && shops),
        ];
        acts.into_iter().filter(|(_, holds)| *holds).fold(utterance, |utterance, (act, _)| utterance.with(act))
    }

    /// Adds up the groups.
    fn weigh(&self, stream: &TokenStream<'_>, mut hidden: Vec<bool>) -> Evidence {
        let mut evidence = Evidence::default();
        for group in &self.groups {
            if group.unless.iter().any(|other| evidence.matched.contains(other)) {
                continue;
            }
            let covered = match_mask(&group.patterns, stream, &hidden);
            if !covered.contains(&true) {
                continue;
            }
            evidence.matched.push(group.name.clone());
            evidence.looks_up |= group.looks_up;
            match (group.speaks_for, group.weak) {
                (Intent::Warranty, _) => evidence.warranty += group.weight,
                (Intent::Shopping, true) => evidence.goods += group.weight,
                (Intent::Shopping, false) => evidence.wish += group.weight,
                (Intent::Unknown, _) => {}
            }
            if group.hides {
                hidden.iter_mut().zip(covered).for_each(|(hidden, covered)| *hidden |= covered);
            }
        }
        evidence
    }

    /// Finds a message's distinct possible serial numbers in order, ignoring case.
    fn mentions(&self, stream: &TokenStream<'_>, vocabulary: &Vocabulary) -> Vec<Mention> {
        let (text, tokens) = (stream.text(), stream.tokens());
        let labels = self.other_numbers.iter().flat_map(|pattern| pattern.find_all(stream, &[]));
        let labels: HashSet<usize> = labels.map(|words| words.end).collect();
        let mut mentions = Vec::new();
        let mut seen = HashSet::new();
        for found in find_candidates(text) {
            if !seen.insert(found.text.to_ascii_uppercase()) {
                continue;
            }
            let first = tokens.partition_point(|token| token.span.start < found.span.start);
            let end = tokens.partition_point(|token| token.span.end <= found.span.end).max(first);
            // A candidate may be the end of a longer word; then they share a token.
            let before = first.checked_sub(1).and_then(|last| text.get(tokens[last].span.end..found.span.start));
            let is_named = labels.contains(&first)
                && before.is_some_and(|before| !before.contains([',', '.', ';', '!', '?', '\n']));
            let known = match () {
                () if vocabulary.is_code(&found.text) => Some(KnownWord::Goods),
                () if is_named => Some(KnownWord::Named),
                () => None,
            };
            let looks = self.likeness(&found.text);
            let serial = PossibleSerial { text: found.text.into_owned(), looks, known };
            mentions.push(Mention { serial, words: first..end });
        }
        mentions
    }
}

impl Evidence {
    fn add_serials(&mut self, mentions: &[Mention], stream: &TokenStream<'_>, filler: &[bool]) -> Given {
        // A word that the catalogue or the customer uses for something else is not a serial number.
        let mentions: Vec<&Mention> = mentions.iter().filter(|mention| mention.serial.known.is_none()).collect();
        let Some(likeness) = mentions.iter().map(|mention| mention.serial.looks).max() else { return Given::default() };
        let tokens = stream.tokens();
        let mut says_nothing_else = filler.to_vec();
        for mention in &mentions {
            says_nothing_else[mention.words.clone()].fill(true);
        }
        let bare = says_nothing_else.iter().all(|nothing| *nothing);
        let mut clauses_with_more: Vec<usize> = tokens
            .iter()
            .zip(&says_nothing_else)
            .filter(|(_, nothing)| !**nothing)
            .map(|(token, _)| token.clause)
            .collect();
        clauses_with_more.dedup();
        let in_clause = mentions.iter().any(|mention| {
            !mention.words.is_empty()
                && mention.serial.looks == Likeness::Serial
                && clauses_with_more.binary_search(&tokens[mention.words.start].clause).is_err()
        });
        if likeness == Likeness::Serial {
            self.matched.push("serial".to_owned());
            self.warranty += if bare { BARE_SERIAL } else { SERIAL };
        }
        Given { bare, in_clause }
    }

    /// Decides on the message by itself.
    fn decide(&self, social: Option<Social>, is_polite: bool) -> Utterance {
        // "Màn hình bị sọc": a warranty question names goods, too.
        let shopping = if self.warranty > 0.0 { self.wish } else { self.wish + self.goods };
        let (intent, mine, other) = if self.looks_up || self.warranty >= shopping {
            (Intent::Warranty, self.warranty, shopping)
        } else {
            (Intent::Shopping, shopping, self.warranty)
        };
        let decided = |intent, confidence| Utterance {
            intent,
            confidence,
            matched: self.matched.clone(),
            ..Utterance::default()
        };
        if self.looks_up {
            return decided(Some(intent), confidence(mine).max(SURE));
        }
        // "Cảm ơn shop, máy chạy tốt": thanks that name goods are not a question.
        if mine >= 1.0 && (social.is_none() || self.warranty > 0.0 || self.wish > 0.0) {
            return decided(Some(intent), confidence(mine - AGAINST * other));
        }
        match social {
            Some(topic) => {
                let matched = vec![format!("social.{}", topic.as_str())];
                Utterance { matched, ..decided(None, 0.9) }.with(Act::Chat(topic))
            }
            None if is_polite => Utterance { matched: Vec::new(), ..decided(None, 0.8) },
            None => decided(None, 0.3),
        }
    }
}

/// Turns evidence into a confidence: 1.0 is just sure, 3.0 nearly certain.
fn confidence(net: f64) -> f64 {
    (1.0 - (-net.max(0.0)).exp()).min(0.98)
}

/// Returns whether the message contains a name of the shop's catalogue.
fn names_goods(stream: &TokenStream<'_>, filler: &[bool], mentions: &[Mention], vocabulary: &Vocabulary) -> bool {
    let tokens = stream.tokens();
    let says = |at: usize| !filler[at];
    let together = |at: usize| {
        (says(at) || says(at + 1)) && vocabulary.names_goods_together(tokens[at].folded(), tokens[at + 1].folded())
    };
    mentions.iter().any(|mention| mention.serial.known == Some(KnownWord::Goods))
        || (0..tokens.len()).any(|at| says(at) && vocabulary.names_goods(tokens[at].folded()))
        || (1..tokens.len()).any(|at| together(at - 1))
}
