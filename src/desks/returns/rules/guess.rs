//! What a message means by its likeness to examples (`prompts/examples/returns.LANG.tsv`). The patterns decide where they
//! understand a message; the examples where they do not.

use super::{CHATS, Intent, Topic, Utterance};
use crate::dialogue::{Act, Answer, Social};
use crate::nlu::examples::{Classifier, Guess};
use crate::replies::ReplyKey;

/// The probability from which a guess counts where the patterns understand nothing.
const LIKELY: f64 = 0.5;
/// The probability from which it counts against the patterns, names a wish, stops what is going on, or calls a person.
const VERY_LIKELY: f64 = 0.6;

/// The share of a message's words that the examples must know before a guess counts where the patterns understand nothing.
const KNOWN: f64 = 0.6;
/// The probability from which a question about the shop's terms is none about an order.
const SURE: f64 = 0.8;

/// The examples of a question about a ticket.
const TICKET: &str = "ticket";

/// Completes a message that the patterns do not understand, or that they take for something more common.
pub(super) fn complete(utterance: Utterance, text: &str, examples: &Classifier) -> Utterance {
    if utterance.reports(Topic::Damage) || utterance.answer.is_some() || utterance.only_answers() {
        return utterance;
    }
    let Some(guess) = examples.classify(text).filter(|guess| guess.probability >= LIKELY) else { return utterance };
    let is_very_likely = guess.probability >= VERY_LIKELY;
    if !is_understood(&utterance) {
        if guess.known < KNOWN { utterance } else { apply(utterance, guess.label, is_very_likely) }
    } else if guess.label == "policy" && guess.probability >= SURE && asks_for_no_order(&utterance) {
        apply(without_findings(utterance), guess.label, true)
    } else if guess.label == TICKET && is_very_likely && names_nothing(&utterance) && !utterance.wants_person() {
        // Without a ticket, what the patterns found counts.
        utterance.with(Act::Ask(Topic::Ticket))
    } else if is_very_likely && may_overrule(guess.label, &utterance) {
        let guessed = apply(without_findings(utterance.clone()), guess.label, true);
        if is_understood(&guessed) { guessed } else { utterance }
    } else {
        utterance
    }
}

/// Completes a message after a ticket or a refusal that the patterns do not understand, by what begins no flow.
pub(super) fn continue_talk(utterance: Utterance, text: &str, examples: &Classifier) -> Utterance {
    if asks_for_no_order(&utterance) {
        // "How long does it take?" is about the ticket.
        let guess = examples.classify(text).filter(|guess| guess.probability >= LIKELY);
        return match guess.map(|guess| guess.label) {
            Some(label @ ("policy" | TICKET)) => apply(without_findings(utterance), label, true),
            _ => utterance,
        };
    }
    if is_understood(&utterance) || utterance.reports(Topic::Damage) || utterance.answer.is_some() {
        return utterance;
    }
    let is_known = |guess: &Guess<'_>| guess.probability >= VERY_LIKELY && guess.known >= KNOWN;
    match examples.classify(text).filter(is_known).map(|guess| guess.label) {
        Some("policy") if !utterance.has_question() => utterance,
        Some(label @ ("policy" | "person" | "goodbye" | "thanks" | "human_or_bot" | TICKET)) => {
            apply(utterance, label, true)
        }
        _ => utterance,
    }
}

/// Whether the patterns found what the message is about.
fn is_understood(utterance: &Utterance) -> bool {
    // "Hi, did you get my parcel?" does more than greet.
    let only_greets = utterance.greets() && names_nothing(utterance) && !utterance.has_question();
    let has_act = utterance.acts.iter().any(|act| {
        matches!(act, Act::WantPerson | Act::Leave | Act::Chat(_) | Act::Request(_))
            || matches!(act, Act::Ask(_) | Act::Report(Topic::MissingMail))
    });
    has_act || only_greets || utterance.intent.is_some_and(|intent| intent != Intent::Other || !utterance.greets())
}

/// Whether examples of this kind know better than the patterns, which take its messages for something more common.
fn may_overrule(label: &str, utterance: &Utterance) -> bool {
    // A wish for a person is clear, and so is the question where an order is.
    let is_common = matches!(utterance.intent, None | Some(Intent::Return | Intent::Refund | Intent::Other));
    // "Only one arrived, I want to return it" is a return.
    let wins_over_return = !matches!(label, "missing_item" | "invoice" | "address_change");
    let is_request = Intent::ALL.iter().any(|intent| intent.is_request() && intent.as_str() == label);
    match label {
        _ if utterance.wants_person() => false,
        "label" => true,
        "human_or_bot" => names_nothing(utterance),
        "person" => utterance.intent == Some(Intent::Other),
        _ if utterance.mentions(Topic::Return) && !wins_over_return => false,
        _ => is_request && is_common && !utterance.asks(Topic::Policy) && !utterance.requests(Topic::Label),
    }
}

/// Whether a message that the patterns take for a question about an order names none: "where can I drop the return?".
fn asks_for_no_order(utterance: &Utterance) -> bool {
    utterance.wants(Intent::OrderStatus) && utterance.has_question() && names_nothing(utterance)
}

/// Returns the message without what the patterns took it for.
fn without_findings(mut utterance: Utterance) -> Utterance {
    utterance.intent = None;
    utterance.acts.retain(|act| {
        !matches!(act, Act::WantPerson | Act::Chat(_) | Act::Ask(_) | Act::Request(_) | Act::Report(Topic::MissingMail))
    });
    utterance
}

fn names_nothing(utterance: &Utterance) -> bool {
    !utterance.names_order_or_contact()
}

/// Adds what the examples of this kind mean. The other findings stay.
fn apply(mut utterance: Utterance, label: &str, is_very_likely: bool) -> Utterance {
    let names_nothing = names_nothing(&utterance);
    match label {
        "cancel_order" => {
            utterance.intent = Some(Intent::Return);
            utterance.with(Act::Request(Topic::Cancellation))
        }
        "damage" => utterance.with(Act::Report(Topic::Damage)),
        "policy" if is_very_likely && names_nothing => utterance.with(Act::Ask(Topic::Policy)),
        TICKET if names_nothing => utterance.with(Act::Ask(Topic::Ticket)),
        "mail_missing" if names_nothing => {
            utterance.with(Act::Ask(Topic::Policy)).with(Act::Report(Topic::MissingMail))
        }
        "label" => {
            utterance.intent = Some(Intent::OrderStatus);
            utterance.with(Act::Request(Topic::Label))
        }
        "person" if is_very_likely => utterance.with(Act::WantPerson),
        "call_off" if is_very_likely && names_nothing => {
            utterance.answer = Some(Answer::Cancel);
            utterance.with(Act::Hesitate)
        }
        "hesitate" => utterance.with(Act::Hesitate),
        "complaint" => utterance.with(Act::Complain),
        "greet" | "thanks" if names_nothing => Utterance { intent: Some(Intent::Other), ..utterance },
        "goodbye" if names_nothing => Utterance { intent: Some(Intent::Other), ..utterance }.with(Act::Leave),
        label => {
            let is_label = |intent: &Intent| intent.as_str() == label && *intent != Intent::Other;
            let guessed = Intent::ALL.into_iter().find(|intent| is_very_likely && is_label(intent));
            utterance.intent = guessed.or(utterance.intent);
            let topic = CHATS.into_iter().find(|topic: &Social| topic.as_str() == label && names_nothing);
            topic.map_or(utterance.clone(), |topic| utterance.with(Act::Chat(topic)))
        }
    }
}

#[cfg(test)]
mod tests;
