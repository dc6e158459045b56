//! Parses messages by rules, without a model.
//!
//! The words are in `prompts/rules/retail.toml` and `prompts/rules/retail.LANG.toml`; `evidence.rs` adds up their evidence. Each group of
//! words counts once for shopping or for warranty. A serial number is evidence for warranty unless it could be a quantity or a model
//! name: "SSD 1TB" is not a warranty question.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;

use super::intent::Intent;
use crate::dialogue::social::{Social, SocialRules};
use crate::dialogue::{self, Act};
use crate::domain::serial::{Likeness, SerialWords};
use crate::domain::text::{InvalidPattern, Lexicon, Pattern};
use crate::persona::{PromptError, Prompts};

mod evidence;
mod query;
#[cfg(test)]
mod tests;

/// The keywords of the retail desk.
#[derive(Debug)]
pub struct RetailRules {
    lexicon: Lexicon,
    social: SocialRules,
    groups: Vec<Group>,
    filler: Vec<Pattern>,
    follow_up: Vec<Pattern>,
    cancel: Vec<Pattern>,
    /// Words that want goods without naming any.
    wants: Vec<Pattern>,
    /// Asks for a moment.
    patience: Vec<Pattern>,
    /// Compares the records that were shown.
    compares: Vec<Pattern>,
    /// Begins a part of a clause about what the customer owns, or about what happened to it.
    owned: Vec<Pattern>,
    /// Ends such a part: "and", "need".
    after_owned: Vec<Pattern>,
    /// Asks how to reach the shop.
    contact: Vec<Pattern>,
    /// Reports that something went wrong: a rude colleague, a fraud, a parcel that is lost.
    grievance: Vec<Pattern>,
    /// Words before a number that is not a serial number, such as "invoice".
    other_numbers: Vec<Pattern>,
    /// Reports what a serial number lacks at its beginning or end.
    lacks_start: Vec<Pattern>,
    lacks_end: Vec<Pattern>,
    /// Names a character of it in place of another.
    replaces: Vec<Pattern>,
    single_letters: Vec<String>,
    /// Asks for goods that most computer shops do not sell.
    unsold: Vec<Pattern>,
    /// Spellings and the words that they mean.
    aliases: HashMap<String, String>,
}

/// The conversation before the message.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context {
    pub waiting_for_serial: bool,
    pub last_intent: Option<Intent>,
}

/// A parsed message of this desk's customer. [`Utterance::intent`](dialogue::Utterance) is `None` for [`Intent::Unknown`].
pub type Utterance = dialogue::Utterance<Intent, Topic>;

/// What customers of this desk request and provide besides their intents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// Goods, whatever else the message says.
    Goods,
    /// Goods that the message does not name.
    UnnamedGoods,
    /// The serial number that the desk asked for.
    Serial,
    /// Several records, such as which of them ends first.
    Records,
}

/// Why a well-formed rule file cannot be used.
#[derive(Debug, thiserror::Error)]
enum InvalidRules {
    #[error(transparent)]
    Pattern(#[from] InvalidPattern),
    #[error("the group {group:?} names {missing:?} in `unless`, but no group before it has that name")]
    Unless { group: String, missing: String },
    #[error("{0:?} is not a group: add it to [[groups]] of retail.toml")]
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
    compares: Vec<String>,
    owned: Vec<String>,
    after_owned: Vec<String>,
    contact: Vec<String>,
    grievance: Vec<String>,
    other_numbers: Vec<String>,
    lacks_start: Vec<String>,
    lacks_end: Vec<String>,
    replaces: Vec<String>,
    /// Words of one letter: "I".
    single_letters: Vec<String>,
    unsold: Vec<String>,
    /// The topics of small talk, in order.
    topics: Vec<Social>,
    /// The patterns of each topic.
    social: HashMap<Social, Vec<String>>,
    /// The groups of business patterns, in order.
    groups: Vec<Group>,
    /// The patterns of each group.
    patterns: HashMap<String, Vec<String>>,
}

/// Keywords that say the same thing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    name: String,
    speaks_for: Intent,
    weight: f64,
    /// Whether later groups ignore its words.
    #[serde(default)]
    hides: bool,
    /// Whether it names goods. Naming goods neither contradicts a warranty question nor changes the subject.
    #[serde(default)]
    weak: bool,
    /// Whether it mentions a warranty. A serial number in the same message is then always looked up.
    #[serde(default)]
    looks_up: bool,
    /// Whether it says that something is broken. The desk then leaves out its cheerful greeting.
    #[serde(default)]
    defect: bool,
    /// Groups that exclude this one.
    #[serde(default)]
    unless: Vec<String>,
    /// Of the file's `patterns`, those under its name.
    #[serde(skip)]
    patterns: Vec<Pattern>,
}

/// The confidence from which the rules are sure.
const SURE: f64 = 0.6;
/// The evidence of the last intent for a follow-up without keywords.
const FOLLOW_UP: f64 = 0.7;
/// The evidence for shopping that ends the wait for a serial number: more than the name of goods.
const CHANGES_SUBJECT: f64 = 1.5;

impl RetailRules {
    /// Reads `rules/common.*.toml`, `rules/serials*.toml`, `rules/social*.toml` and `rules/retail*.toml`.
    pub fn read(prompts: &Prompts) -> Result<Arc<Self>, PromptError> {
        prompts.shared(&prompts.files_of_rules(&["common", "serials", "social", "retail"])?, || {
            let serial_words = prompts.serial_words()?;
            prompts.rules(&["common", "social", "retail"], |file| Self::new(file, serial_words))
        })
    }

    fn new(mut file: RuleFile, serial_words: SerialWords) -> Result<Self, InvalidRules> {
        let lexicon = Lexicon::new(file.aliases.clone(), file.classes)
            .with_plain_words(&file.plain_words)
            .with_serial_words(serial_words);
        for (at, group) in file.groups.iter().enumerate() {
            let earlier = |name: &String| file.groups[..at].iter().any(|other| other.name == *name);
            if let Some(missing) = group.unless.iter().find(|name| !earlier(name)) {
                return Err(InvalidRules::Unless { group: group.name.clone(), missing: missing.clone() });
            }
        }
        for group in &mut file.groups {
            let written = file.patterns.remove(&group.name).unwrap_or_default();
            group.patterns = lexicon.patterns(&written)?;
        }
        if let Some(name) = file.patterns.into_keys().next() {
            return Err(InvalidRules::Unknown(name));
        }
        Ok(Self {
            social: SocialRules::new(&file.topics, &file.social, &lexicon)?,
            groups: file.groups,
            filler: lexicon.patterns(&file.filler)?,
            follow_up: lexicon.patterns(&file.follow_up)?,
            cancel: lexicon.patterns(&file.cancel)?,
            wants: lexicon.patterns(&file.wants)?,
            patience: lexicon.patterns(&file.patience)?,
            compares: lexicon.patterns(&file.compares)?,
            owned: lexicon.patterns(&file.owned)?,
            after_owned: lexicon.patterns(&file.after_owned)?,
            contact: lexicon.patterns(&file.contact)?,
            grievance: lexicon.patterns(&file.grievance)?,
            other_numbers: lexicon.patterns(&file.other_numbers)?,
            lacks_start: lexicon.patterns(&file.lacks_start)?,
            lacks_end: lexicon.patterns(&file.lacks_end)?,
            replaces: lexicon.patterns(&file.replaces)?,
            single_letters: file.single_letters,
            unsold: lexicon.patterns(&file.unsold)?,
            aliases: file.aliases,
            lexicon,
        })
    }

    /// Returns how much a word looks like a serial number.
    pub fn likeness(&self, word: &str) -> Likeness {
        self.lexicon.serial_words().likeness(word)
    }
}

/// Decides on a message after the conversation before it.
#[must_use]
pub fn in_context(utterance: Utterance, context: &Context) -> Utterance {
    if context.waiting_for_serial {
        return while_waiting(utterance);
    }
    let is_unsure = utterance.social().is_none() && (utterance.intent.is_none() || utterance.confidence < SURE);
    match context.last_intent {
        Some(last) if is_unsure && utterance.points_back() => settled(utterance, last, FOLLOW_UP, "follow_up"),
        _ => utterance,
    }
}

/// Decides on an answer to the question for a serial number: warranty, unless its words say otherwise.
fn while_waiting(utterance: Utterance) -> Utterance {
    if utterance.provides(Topic::Serial) {
        return settled(utterance, Intent::Warranty, 0.95, "serial");
    }
    let shops = utterance.wants(Intent::Shopping) && utterance.requests(Topic::Goods);
    let chats = utterance.intent.is_none() && (utterance.social().is_some() || utterance.cancels());
    if shops || chats {
        return utterance;
    }
    let confidence = if utterance.wants(Intent::Warranty) { utterance.confidence.max(0.9) } else { 0.8 };
    settled(utterance, Intent::Warranty, confidence, "waiting_for_serial")
}

/// Returns the utterance with this intent, and what decided on it.
fn settled(mut utterance: Utterance, intent: Intent, confidence: f64, because: &str) -> Utterance {
    utterance.acts.retain(|act| !matches!(act, Act::Chat(_) | Act::Request(Topic::UnnamedGoods)));
    utterance.matched.insert(0, because.to_owned());
    Utterance { intent: Some(intent), confidence, ..utterance }
}
