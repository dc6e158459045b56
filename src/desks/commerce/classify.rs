//! Decides what a message wants, by rules and examples, without a model.

use serde::Serialize;

use super::said::Said;
use crate::domain::commerce::policy::{Intent, Journey};
use crate::nlu::examples::{Classifier, Guess};

/// Confidences of the rules.
const CLEAR: f64 = 0.9;
const ONE_OF_SEVERAL: f64 = 0.75;
const CONFIRMED: f64 = 0.85;
const WEAK: f64 = 0.6;
const BY_EXAMPLES: f64 = 0.8;
/// The probability from which examples choose among the intents that the words show.
const CHOOSES: f64 = 0.3;
/// The probabilities from which examples decide alone: against the name of goods, surely, and so that a question is asked.
const AGAINST_GOODS: f64 = 0.9;
const SURE: f64 = 0.7;
const LIKELY: f64 = 0.5;
/// The share of known words without which examples do not decide.
const KNOWN: f64 = 0.5;
/// The confidence of a search from which the words name goods.
const NAMES_GOODS: f64 = 0.5;
/// Below this confidence, the catalogue is asked whether the words name goods.
pub(super) const ASK_CATALOG: f64 = 0.85;

/// A classified message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Verdict {
    pub intent: Intent,
    pub confidence: f64,
    /// What decided. Never the customer's words.
    pub reason: &'static str,
}

fn verdict(intent: Intent, confidence: f64, reason: &'static str) -> Verdict {
    Verdict { intent, confidence, reason }
}

/// Classifies a message. `goods`: how surely its words name goods of the shop.
pub(super) fn classify(said: &Said, examples: &Classifier, goods: f64) -> Verdict {
    if said.utterance.wants_person() {
        return verdict(Intent::HumanRequest, CLEAR, "asks for a person");
    }
    let guess = examples.classify(&said.rest);
    let probable =
        |intent: Intent| guess.as_ref().is_some_and(|guess| of(guess) == intent && guess.probability >= CHOOSES);
    let mut clear = said.clear_intents();
    // "How much is it if you send it to Kisii?" names no goods.
    if goods < NAMES_GOODS && clear.contains(&Intent::SupportQuestion) {
        clear.retain(|intent| intent.journey() != Journey::Sales);
    }
    match clear.as_slice() {
        [] => {}
        // "Brown sandals 40, deliver to Westlands" orders, and asks nothing.
        [Intent::SupportQuestion]
            if goods >= NAMES_GOODS && !said.utterance.has_question() && !said.details.sizes().is_empty() =>
        {
            return verdict(Intent::SalesDiscovery, CONFIRMED, "names goods with a size");
        }
        [only] => return verdict(*only, CLEAR, "clear words"),
        // "Send me your offers" is a wish about messages, not a question about offers.
        [.., _] if clear.contains(&Intent::PreferencesConsent) && said.says_preference() => {
            return verdict(Intent::PreferencesConsent, CLEAR, "a wish about messages");
        }
        [first, ..] => {
            let asks_shop = said.utterance.has_question() && clear.contains(&Intent::SupportQuestion);
            let likely = if asks_shop { &Intent::SupportQuestion } else { first };
            // "Will it be here tomorrow if I pay now?" asks about the delivery.
            let may_pay = |intent: &Intent| matches!(intent, Intent::SupportQuestion | Intent::PaymentHelp);
            let is_delivery = said.is_about("delivery");
            let chosen = match asks_shop && is_delivery && clear.iter().all(may_pay) {
                true => likely,
                false => clear.iter().find(|intent| probable(**intent)).unwrap_or(likely),
            };
            let is_one_journey = clear.iter().all(|intent| intent.journey() == first.journey());
            let confidence = if is_one_journey { CLEAR } else { ONE_OF_SEVERAL };
            return verdict(*chosen, confidence, "clear words of several intents");
        }
    }
    let weak = said.intents.iter().map(|(intent, _)| *intent);
    if let Some(confirmed) = weak.clone().find(|intent| probable(*intent)) {
        return verdict(confirmed, CONFIRMED, "weak words and examples");
    }
    // "Have you shipped the boots I bought on Tuesday?" names goods that are no longer wished for.
    let known = guess.as_ref().filter(|guess| guess.known >= KNOWN && !said.utterance.stalls());
    let is_else =
        known.is_some_and(|guess| guess.probability >= AGAINST_GOODS && of(guess).journey() != Journey::Sales);
    if goods >= NAMES_GOODS && said.describes_goods() && !is_else {
        return verdict(Intent::SalesDiscovery, CONFIRMED, "names goods");
    }
    // "My budget is 3k."
    if said.intents.iter().all(|(intent, _)| intent.journey() == Journey::Sales)
        && (said.most.is_some() || said.least.is_some())
    {
        return verdict(Intent::SalesDiscovery, CONFIRMED, "names a price");
    }
    if said.utterance.social().is_some() {
        return verdict(Intent::SpamCasual, CLEAR, "small talk");
    }
    match known {
        Some(guess) if guess.probability >= SURE => verdict(of(guess), BY_EXAMPLES, "examples"),
        Some(guess) if guess.probability >= LIKELY => verdict(of(guess), WEAK, "examples"),
        _ => match weak.clone().next() {
            Some(intent) => verdict(intent, WEAK, "weak words"),
            None => verdict(Intent::Unknown, 0.0, "nothing"),
        },
    }
}

fn of(guess: &Guess<'_>) -> Intent {
    Intent::parse(guess.label).unwrap_or(Intent::Unknown)
}

#[cfg(test)]
mod tests;
