//! Classifies messages by rules, without a model.
//!
//! The words are in `prompts/rules/retail.toml` and `prompts/rules/retail.LANG.toml`; this file adds up their evidence. Each group of words counts once for shopping or
//! for warranty. A serial number is evidence for warranty unless it could be a quantity or a model name: "SSD 1TB" is not a warranty
//! question.

use std::collections::HashMap;

use serde::Deserialize;

use super::intent::Intent;
use crate::domain::Vocabulary;
use crate::domain::text::{InvalidPattern, Lexicon, Pattern, match_mask};
use crate::persona::{PromptError, Prompts};
pub use candidates::{Candidate, Known};
use evidence::Evidence;

mod candidates;
mod evidence;
mod query;
#[cfg(test)]
mod tests;

/// The keywords of the retail desk.
#[derive(Debug)]
pub struct RetailRules {
    lexicon: Lexicon,
    social: Vec<(String, Vec<Pattern>)>,
    groups: Vec<Group>,
    filler: Vec<Pattern>,
    follow_up: Vec<Pattern>,
    cancel: Vec<Pattern>,
    /// Words that want goods without naming any.
    wants: Vec<Pattern>,
    /// Asks for a moment.
    patience: Vec<Pattern>,
    /// Words before a number that is not a serial number, such as "invoice".
    other_numbers: Vec<Pattern>,
    /// Spellings and the words that they mean.
    aliases: HashMap<String, String>,
}

/// The conversation before the message.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context {
    pub waiting_for_serial: bool,
    pub last_intent: Option<Intent>,
}

/// What a message is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    pub intent: Intent,
    /// 0 to 1; from 0.6 on the rules are sure.
    pub confidence: f64,
    /// The topic of small talk, a key of the desk's texts; only with [`Intent::Unknown`].
    pub social: Option<String>,
    /// Whether the desk waited for a serial number and the customer wrote about something else.
    pub changes_subject: bool,
    /// Whether the customer wants goods without naming any.
    pub names_nothing: bool,
    /// The evidence, for the receipt: names of groups and topics, never the customer's words.
    pub matched: Vec<String>,
}

/// Why a well-formed rule file cannot be used.
#[derive(Debug, thiserror::Error)]
enum InvalidRules {
    #[error(transparent)]
    Pattern(#[from] InvalidPattern),
    #[error("the group {group:?} names {missing:?} in `unless`, but no group before it has that name")]
    Unless { group: String, missing: String },
    #[error("{0:?} is neither a topic nor a group: add it to `topics` or [[groups]] of retail.toml")]
    Unknown(String),
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RuleFile {
    plain_words: Vec<String>,
    aliases: HashMap<String, String>,
    classes: HashMap<String, Vec<String>>,
    filler: Vec<String>,
    follow_up: Vec<String>,
    cancel: Vec<String>,
    wants: Vec<String>,
    patience: Vec<String>,
    other_numbers: Vec<String>,
    /// The topics of small talk, in order.
    topics: Vec<String>,
    /// The patterns of each topic.
    social: HashMap<String, Vec<String>>,
    /// The groups of business patterns, in order.
    groups: Vec<GroupFile>,
    /// The patterns of each group.
    patterns: HashMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupFile {
    name: String,
    speaks_for: Intent,
    weight: f64,
    #[serde(default)]
    hides: bool,
    #[serde(default)]
    weak: bool,
    #[serde(default)]
    looks_up: bool,
    #[serde(default)]
    unless: Vec<String>,
}

/// Keywords that say the same thing.
#[derive(Debug)]
struct Group {
    name: String,
    speaks_for: Intent,
    weight: f64,
    /// Whether later groups ignore its words.
    hides: bool,
    /// Whether it names goods. Naming goods neither contradicts a warranty question nor changes the subject.
    weak: bool,
    /// Whether it mentions a warranty. A serial number in the same message is then always looked up.
    looks_up: bool,
    /// Groups that exclude this one.
    unless: Vec<String>,
    patterns: Vec<Pattern>,
}

/// The confidence from which the rules are sure.
const SURE: f64 = 0.6;
/// The evidence of the last intent for a follow-up without keywords.
const FOLLOW_UP: f64 = 0.7;
/// The evidence for shopping that ends the wait for a serial number: more than the name of goods.
const CHANGES_SUBJECT: f64 = 1.5;

impl RetailRules {
    /// Reads `rules/common.*.toml`, `rules/retail.toml` and `rules/retail.*.toml`.
    pub fn read(prompts: &Prompts) -> Result<Self, PromptError> {
        prompts.rules(&["common", "retail"], Self::new)
    }

    fn new(mut file: RuleFile) -> Result<Self, InvalidRules> {
        let lexicon = Lexicon::new(file.aliases.clone(), file.classes).with_plain_words(&file.plain_words);
        for (at, group) in file.groups.iter().enumerate() {
            let earlier = |name: &String| file.groups[..at].iter().any(|other| other.name == *name);
            if let Some(missing) = group.unless.iter().find(|name| !earlier(name)) {
                return Err(InvalidRules::Unless { group: group.name.clone(), missing: missing.clone() });
            }
        }
        let mut social = Vec::new();
        for topic in file.topics {
            let written = file.social.remove(&topic).unwrap_or_default();
            social.push((topic, lexicon.patterns(&written)?));
        }
        let mut groups = Vec::new();
        for group in file.groups {
            let written = file.patterns.remove(&group.name).unwrap_or_default();
            groups.push(Group::new(group, lexicon.patterns(&written)?));
        }
        if let Some(name) = file.social.into_keys().chain(file.patterns.into_keys()).next() {
            return Err(InvalidRules::Unknown(name));
        }
        Ok(Self {
            social,
            groups,
            filler: lexicon.patterns(&file.filler)?,
            follow_up: lexicon.patterns(&file.follow_up)?,
            cancel: lexicon.patterns(&file.cancel)?,
            wants: lexicon.patterns(&file.wants)?,
            patience: lexicon.patterns(&file.patience)?,
            other_numbers: lexicon.patterns(&file.other_numbers)?,
            aliases: file.aliases,
            lexicon,
        })
    }

    /// Classifies a message, given the conversation and the documents' vocabulary.
    pub fn classify(&self, text: &str, context: &Context, vocabulary: &Vocabulary) -> Verdict {
        let evidence = Evidence::gather(self, text, vocabulary);
        if context.waiting_for_serial {
            return self.while_waiting(evidence);
        }
        let verdict = evidence.verdict();
        match context.last_intent {
            Some(last) if verdict.is_unsure() && evidence.follows_up() => {
                Verdict { matched: named("follow_up", verdict.matched), ..Verdict::sure(last, FOLLOW_UP) }
            }
            _ => verdict,
        }
    }

    /// Returns whether the message holds only polite words or asks for a moment.
    pub fn says_nothing(&self, text: &str) -> bool {
        let stream = self.lexicon.tokenize(text);
        let filler = match_mask(&self.filler, &stream, &[]);
        !filler.is_empty()
            && (filler.iter().all(|filler| *filler) || match_mask(&self.patience, &stream, &[]).contains(&true))
    }

    /// Classifies an answer to the question for a serial number: warranty, unless its words say otherwise.
    fn while_waiting(&self, evidence: Evidence) -> Verdict {
        let verdict = evidence.verdict();
        if evidence.gives_serial() {
            return Verdict { matched: named("serial", verdict.matched), ..Verdict::sure(Intent::Warranty, 0.95) };
        }
        let shops = verdict.intent == Intent::Shopping && evidence.wishes_to_shop();
        let chats = verdict.social.is_some() || evidence.cancels();
        if shops || (chats && verdict.intent == Intent::Unknown) {
            return Verdict { changes_subject: true, ..verdict };
        }
        let confidence = if verdict.intent == Intent::Warranty { verdict.confidence.max(0.9) } else { 0.8 };
        Verdict { matched: named("waiting_for_serial", verdict.matched), ..Verdict::sure(Intent::Warranty, confidence) }
    }
}

impl Group {
    fn new(file: GroupFile, patterns: Vec<Pattern>) -> Self {
        Self {
            name: file.name,
            speaks_for: file.speaks_for,
            weight: file.weight,
            hides: file.hides,
            weak: file.weak,
            looks_up: file.looks_up,
            unless: file.unless,
            patterns,
        }
    }
}

impl Verdict {
    fn sure(intent: Intent, confidence: f64) -> Self {
        Self { intent, confidence, social: None, changes_subject: false, names_nothing: false, matched: Vec::new() }
    }

    fn is_unsure(&self) -> bool {
        self.social.is_none() && (self.intent == Intent::Unknown || self.confidence < SURE)
    }
}

fn named(first: &str, mut rest: Vec<String>) -> Vec<String> {
    rest.insert(0, first.to_owned());
    rest
}
