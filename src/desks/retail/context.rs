//! What a message is about after the conversation before it: a product that was shown, a record that was looked up, or a question
//! that the documents answer.
//!
//! A question is answered before anything is asked back. The rules know few words for it, so examples
//! (`prompts/examples/retail.LANG.tsv`) help to tell questions about the shop's terms from wishes to look up a warranty.

use serde_json::Value;

use super::classify::Understood;
use super::intent::Intent;
use super::memory::Memory;
use super::{Incoming, Retail, kind};
use crate::desks::Turn;
use crate::dialogue::shown::Chosen;
use crate::dialogue::{Act, Social};
use crate::domain::serial::{Likeness, PossibleSerial};
use crate::domain::{IntentSource, Message};
use crate::replies::ReplyKey;
use crate::retrieval::Query;

/// The probability from which an example's kind decides where the rules say something else.
const LIKELY: f64 = 0.6;
/// The probability from which it decides where the rules say nothing.
const VERY_LIKELY: f64 = 0.8;

/// The score from which a question without a meaningful word is one that a page lists.
const LISTED: f64 = 0.85;

/// The kind of a message, by the examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guessed {
    Product,
    Shop,
    Warranty,
    Unclear,
    Chat(Social),
}

/// What a message is about.
#[derive(Debug, Default)]
pub(super) struct About {
    /// Products that were shown.
    pub chosen: Option<Chosen>,
    /// Whether catalogue rows answer it.
    pub pages_only: bool,
}

impl Retail {
    /// Completes what the classification understood.
    pub(super) fn in_conversation(
        &self,
        turn: &Turn,
        incoming: &mut Incoming,
        understood: &mut Understood,
        memory: &Memory,
    ) -> About {
        let utterance = &understood.utterance;
        let gives_serial = utterance.entities.serials.iter().any(|serial| serial.likeness() >= Likeness::Number);
        if incoming.is_only_switch() || gives_serial || utterance.social() == Some(Social::Person) {
            return About::default();
        }
        let text = utterance.text.clone();
        let guess = self.examples.classify(&text);
        let guessed = |least: f64| {
            guess.as_ref().filter(|guess| guess.probability >= least).and_then(|guess| kind_of(guess.label))
        };
        let is_shop = guessed(LIKELY) == Some(Guessed::Shop);
        let by_rules = understood.source != IntentSource::Llm;
        let is_unclear = understood.clarify_needed && utterance.social().is_none() && by_rules;
        let asks_for_serial = understood.intent() == Intent::Warranty;
        let folders = &turn.persona.knowledge;
        let query = Query { text: text.clone(), language: turn.language(), limit: 3, pages_only: false };
        let shown = memory.shown.as_ref().filter(|_| !is_shop && (is_unclear || !understood.clarify_needed));
        if let Some(chosen) =
            shown.and_then(|shown| shown.choose(&self.services.knowledge, folders, &self.picks, &query))
        {
            understood.settle(Intent::Shopping, "shown_products");
            return About { chosen: Some(chosen), pages_only: false };
        }
        let asks_again = asks_for_serial && guessed(LIKELY) == Some(Guessed::Warranty) && utterance.points_back();
        if let Some(serial) = last_serial(&turn.history).filter(|_| asks_again) {
            incoming.utterance.entities.serials = vec![serial];
            return About::default();
        }
        let asks = matches!(guessed(LIKELY), Some(Guessed::Shop | Guessed::Product));
        let may_be_answered = (is_unclear && !matches!(guessed(LIKELY), Some(Guessed::Chat(_) | Guessed::Unclear)))
            || (asks_for_serial && asks);
        let search = self.search(turn, &text, is_shop);
        // "What about this?" names nothing: only a question that a page lists nearly word for word is answered.
        let names_nothing = self.services.knowledge.names_nothing(folders, &search);
        let least = if names_nothing { LISTED } else { 0.0 };
        let is_answered = || {
            let found = self.services.knowledge.find_by_words(folders, &search);
            found.passages.first().is_some_and(|best| best.score >= least)
        };
        if may_be_answered && is_answered() {
            understood.settle(Intent::Shopping, "documents");
        } else if is_unclear {
            match guessed(VERY_LIKELY) {
                Some(Guessed::Chat(topic)) => understood.utterance.set(Act::Chat(topic), true),
                Some(Guessed::Warranty) => understood.settle(Intent::Warranty, "examples"),
                Some(Guessed::Shop | Guessed::Product) if !names_nothing => {
                    understood.settle(Intent::Shopping, "examples");
                }
                Some(Guessed::Shop | Guessed::Product | Guessed::Unclear) | None => {}
            }
        }
        About { chosen: None, pages_only: is_shop }
    }
}

fn kind_of(label: &str) -> Option<Guessed> {
    match label {
        "product" => Some(Guessed::Product),
        "shop" => Some(Guessed::Shop),
        "warranty" => Some(Guessed::Warranty),
        "unclear" => Some(Guessed::Unclear),
        topic => Social::ALL.iter().find(|known| known.as_str() == topic).map(|topic| Guessed::Chat(*topic)),
    }
}

/// Returns the serial number whose record was shown last.
fn last_serial(history: &[Message]) -> Option<PossibleSerial> {
    let serial = history.iter().rev().find_map(|message| {
        let meta = (message.metadata.kind() == Some(kind::WARRANTY_RESULT))
            .then(|| message.metadata.0.get("warranty_meta"))
            .flatten()?;
        (meta["found"] == Value::Bool(true)).then(|| meta["serial"].as_str().map(str::to_owned))?
    })?;
    Some(PossibleSerial { text: serial, looks: Likeness::Serial, known: None })
}
