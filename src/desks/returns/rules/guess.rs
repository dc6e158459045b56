//! What a message means by its likeness to examples (`prompts/examples/returns.LANG.tsv`). The patterns decide where they
//! understand a message; the examples where they do not.

use super::{Intent, Topic, Utterance, is_chat, without_contact};
use crate::dialogue::{Act, Answer, Social};
use crate::domain::text::words;
use crate::nlu::examples::{Classifier, Guess};
use crate::replies::ReplyKey;

/// The probability from which a guess counts where the patterns understand nothing.
const LIKELY: f64 = 0.5;
/// The probability from which it counts against the patterns, names a wish, or calls a person.
const VERY_LIKELY: f64 = 0.6;

/// The share of a message's words that the examples must know before a guess counts where the patterns understand nothing.
const KNOWN: f64 = 0.6;
/// The probability from which a question about the shop's terms is none about an order, an agreement may call a person, and a guess
/// stops what is going on.
const SURE: f64 = 0.8;

/// The most words with which a contact is corrected.
const FEW: usize = 4;

/// The examples of a question about a ticket, or what the desk has done.
const TICKET: &str = "ticket";
/// The examples of a question how long an order may still come back.
const DEADLINE: &str = "deadline";
/// The examples of an agreement in other words than a yes.
const AGREE: &str = "agree";
/// The examples of what means nothing to the desk.
const UNCLEAR: &str = "unclear";

/// Completes a message that the patterns do not understand, or that they take for something more common.
pub(super) fn complete(utterance: Utterance, text: &str, examples: &Classifier) -> Utterance {
    let is_clear = utterance.reports(Topic::Damage) || utterance.answer.is_some() || utterance.only_answers();
    if is_clear || asks_for_fact(&utterance) {
        return utterance;
    }
    let Some(guess) = examples.classify(text).filter(|guess| guess.probability >= LIKELY) else { return utterance };
    let is_very_likely = guess.probability >= VERY_LIKELY;
    // "Only 1 of the pairs" looks like many other wishes.
    let is_other = matches!(guess.label, "address_change" | "exchange" | "invoice");
    if names_pieces(&utterance) && (is_other || (guess.label == "policy" && !utterance.has_question())) {
        return utterance;
    }
    // "Tất cả trừ đôi tất" shares a word with money that was taken ("trừ tiền").
    if guess.label == "double_charge" && utterance.entities.kept_goods.is_some() {
        return utterance;
    }
    // "Oops, wrong one: john@example.com" corrects what was typed.
    let is_correction = guess.label == "wrong_item" && words(&without_contact(text, utterance.contact())).len() <= FEW;
    if utterance.contact().is_some() && is_correction && !is_understood(&utterance) {
        return utterance;
    }
    if !is_understood(&utterance) {
        return if guess.known < KNOWN { utterance } else { apply(utterance, guess.label, guess.probability) };
    }
    if guess.label == TICKET && is_very_likely && names_nothing(&utterance) && !utterance.wants_person() {
        // Without a ticket, what the patterns found counts.
        return utterance.with(Act::Ask(Topic::Ticket));
    }
    if is_very_likely && guess.label == UNCLEAR && only_looks_like_status(&utterance) {
        return without_findings(utterance);
    }
    if !is_very_likely || !may_overrule(&guess, &utterance) {
        return utterance;
    }
    let guessed = apply(without_findings(utterance.clone()), guess.label, guess.probability);
    if is_understood(&guessed) { guessed } else { utterance }
}

/// Completes a message after a ticket or a refusal that the patterns do not understand, by what begins no flow.
pub(super) fn continue_talk(utterance: Utterance, text: &str, examples: &Classifier) -> Utterance {
    if asks_for_fact(&utterance) {
        return utterance;
    }
    if asks_for_no_order(&utterance) {
        // "How long does it take?" is about the ticket.
        let guess = examples.classify(text).filter(|guess| guess.probability >= LIKELY);
        return match guess.map(|guess| guess.label) {
            Some(label @ ("policy" | DEADLINE | TICKET)) => apply(without_findings(utterance), label, SURE),
            _ => utterance,
        };
    }
    if is_understood(&utterance) || utterance.reports(Topic::Damage) || utterance.answer.is_some() {
        return utterance;
    }
    let is_known = |guess: &Guess<'_>| guess.probability >= VERY_LIKELY && guess.known >= KNOWN;
    match examples.classify(text).filter(is_known).map(|guess| (guess.label, guess.probability)) {
        Some(("policy", _)) if !utterance.has_question() => utterance,
        Some((
            label @ ("policy" | DEADLINE | "person" | "goodbye" | "thanks" | "human_or_bot" | AGREE | TICKET),
            probability,
        )) => apply(utterance, label, probability),
        _ => utterance,
    }
}

/// Whether the examples take a message for a question about the shop's terms, or, with `is_open`, for nothing else for certain.
pub(super) fn may_ask_terms(text: &str, is_open: bool, examples: &Classifier) -> bool {
    let guess = examples.classify(text);
    guess.is_some_and(|guess| guess.label == "policy" || (is_open && guess.probability < SURE))
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

/// Whether the examples know better than the patterns, which take such messages for something more common.
fn may_overrule(guess: &Guess<'_>, utterance: &Utterance) -> bool {
    let (label, is_sure) = (guess.label, guess.probability >= SURE);
    // A wish for a person is clear, and so is the question where an order is.
    let is_common = matches!(utterance.intent, None | Some(Intent::Return | Intent::Refund | Intent::Other));
    // "Only one arrived, I want to return it" is a return.
    let wins_over_return = !matches!(label, "missing_item" | "invoice" | "address_change");
    let is_request = Intent::ALL.iter().any(|intent| intent.is_request() && intent.as_str() == label);
    let found_request = utterance.intent.is_some_and(Intent::is_request);
    match label {
        _ if utterance.wants_person() => false,
        "label" => !utterance.greets(),
        "policy" | DEADLINE if is_sure && asks_for_no_order(utterance) => true,
        _ if only_chats(utterance) => is_sure && !matches!(label, UNCLEAR | "other") && guess.known >= KNOWN,
        "human_or_bot" => names_nothing(utterance),
        "person" => utterance.intent == Some(Intent::Other),
        "damage" => is_sure && found_request && !utterance.asks(Topic::Policy),
        _ if utterance.mentions(Topic::Return) && !wins_over_return => false,
        _ => {
            is_request
                && (is_common || (found_request && is_sure))
                && !utterance.asks(Topic::Policy)
                && !utterance.requests(Topic::Label)
        }
    }
}

/// Whether the patterns found nothing but small talk, whose words occur in other messages as well.
fn only_chats(utterance: &Utterance) -> bool {
    utterance.social().is_some() && utterance.intent.is_none()
}

/// Whether a statement without an order has the words of the question where one is: "this one hasn't been opened".
fn only_looks_like_status(utterance: &Utterance) -> bool {
    utterance.wants(Intent::OrderStatus) && !utterance.has_question() && names_nothing(utterance)
}

/// Whether a message that the patterns take for a question about an order names none: "where can I drop the return?".
fn asks_for_no_order(utterance: &Utterance) -> bool {
    utterance.wants(Intent::OrderStatus) && utterance.has_question() && names_nothing(utterance)
}

/// Whether the message asks what the shop's data answer, or what no document does.
fn asks_for_fact(utterance: &Utterance) -> bool {
    [Topic::Arrival, Topic::Tracking, Topic::Changes, Topic::Assortment].iter().any(|topic| utterance.asks(*topic))
}

/// Returns the message without what the patterns took it for.
fn without_findings(mut utterance: Utterance) -> Utterance {
    utterance.intent = None;
    utterance.acts.retain(|act| {
        !matches!(act, Act::WantPerson | Act::Chat(_) | Act::Ask(_) | Act::Request(_) | Act::Report(Topic::MissingMail))
    });
    utterance
}

fn names_pieces(utterance: &Utterance) -> bool {
    utterance.mentions(Topic::SomePieces) || !utterance.entities.pieces.is_empty()
}

fn names_nothing(utterance: &Utterance) -> bool {
    !utterance.names_order_or_contact()
}

/// Adds what the examples of this kind mean. The other findings stay.
fn apply(mut utterance: Utterance, label: &str, probability: f64) -> Utterance {
    let names_nothing = names_nothing(&utterance);
    let (is_very_likely, is_sure) = (probability >= VERY_LIKELY, probability >= SURE);
    match label {
        "cancel_order" => {
            utterance.intent = Some(Intent::Return);
            utterance.with(Act::Request(Topic::Cancellation))
        }
        "damage" if is_very_likely => utterance.with(Act::Report(Topic::Damage)),
        "policy" if is_very_likely && names_nothing => utterance.with(Act::Ask(Topic::Policy)),
        DEADLINE if names_nothing => utterance.with(Act::Ask(Topic::Policy)).with(Act::Ask(Topic::Deadline)),
        // The rules decide about the order that the message names.
        DEADLINE if is_very_likely => Utterance { intent: Some(Intent::Return), ..utterance },
        TICKET if names_nothing => utterance.with(Act::Ask(Topic::Ticket)),
        "mail_missing" if names_nothing => {
            utterance.with(Act::Ask(Topic::Policy)).with(Act::Report(Topic::MissingMail))
        }
        "label" => {
            utterance.intent = Some(Intent::OrderStatus);
            utterance.with(Act::Request(Topic::Label))
        }
        "person" if is_very_likely => utterance.with(Act::WantPerson),
        "call_off" if is_sure && names_nothing && !utterance.has_question() && !utterance.stalls() => {
            utterance.answer = Some(Answer::Cancel);
            utterance.with(Act::Hesitate)
        }
        // Nothing is done on a guess, but a person may be called.
        AGREE if is_sure && names_nothing => {
            utterance.answer_to_ticket = Some(Answer::Yes);
            utterance.with(Act::Acknowledge)
        }
        "hesitate" => utterance.with(Act::Hesitate).with(Act::Stall),
        "complaint" => utterance.with(Act::Complain),
        "greet" | "thanks" if names_nothing => Utterance { intent: Some(Intent::Other), ..utterance },
        "goodbye" if is_very_likely && names_nothing => {
            Utterance { intent: Some(Intent::Other), ..utterance }.with(Act::Leave)
        }
        label => {
            let is_label = |intent: &Intent| intent.as_str() == label && *intent != Intent::Other;
            let guessed = Intent::ALL.iter().copied().find(|intent| is_very_likely && is_label(intent));
            utterance.intent = guessed.or(utterance.intent);
            let is_topic = |topic: &&Social| is_chat(**topic) && topic.as_str() == label && names_nothing;
            let topic = Social::ALL.iter().find(is_topic).copied();
            topic.map_or(utterance.clone(), |topic| utterance.with(Act::Chat(topic)))
        }
    }
}

#[cfg(test)]
mod tests;
