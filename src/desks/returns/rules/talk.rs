//! What a message asks of the order, the return or the question in talk, by its likeness to examples
//! (`prompts/examples/returns_talk.LANG.tsv`). They count where there is such a thing and the patterns find nothing.

use super::{Intent, Topic, Utterance};
use crate::dialogue::Act;
use crate::nlu::examples::Classifier;

/// The probability from which the examples decide, and the one from which they know better than the patterns.
const LIKELY: f64 = 0.5;
const SURE: f64 = 0.8;
/// The share of known words from which they decide.
const KNOWN: f64 = 0.5;

/// What a conversation has that a message may ask about.
#[derive(Clone, Copy, Debug, Default)]
pub struct InTalk {
    /// An order of which no return was made.
    pub order: bool,
    /// A return that was made.
    pub made_return: bool,
    /// A question of the desk for a detail, such as the order number.
    pub asked_detail: bool,
}

impl InTalk {
    fn may_be_about(self, label: &str) -> bool {
        match label {
            "arrival" | "tracking" | "contents" | "price" => self.order,
            "amount" | "return_number" | "send_by" => self.made_return,
            "no_detail" | "purpose" => self.asked_detail,
            _ => true,
        }
    }
}

/// Returns a message with what it asks of the conversation, or `None` if the examples do not know.
pub(super) fn complete(utterance: &Utterance, text: &str, talk: &Classifier, in_talk: InTalk) -> Option<Utterance> {
    let least = least(utterance)?;
    let guess = talk.classify_where(text, |label| f64::from(u8::from(in_talk.may_be_about(label))))?;
    if guess.probability < least || guess.known < KNOWN {
        return None;
    }
    let ask = |topics: &[Topic]| {
        let mut asked = Utterance { intent: None, ..utterance.clone() };
        topics.iter().for_each(|topic| asked.set(Act::Ask(*topic), true));
        asked
    };
    Some(match guess.label {
        "arrival" => Utterance { intent: Some(Intent::OrderStatus), ..ask(&[Topic::Arrival]) },
        "tracking" => Utterance { intent: Some(Intent::OrderStatus), ..ask(&[Topic::Tracking]) },
        "contents" => Utterance { intent: Some(Intent::OrderStatus), ..utterance.clone() },
        "price" => ask(&[Topic::Price]),
        "amount" => ask(&[Topic::Policy, Topic::Amount]),
        "return_number" => ask(&[Topic::ReturnNumber]),
        "send_by" => ask(&[Topic::Policy, Topic::Deadline]),
        "no_detail" => utterance.clone().with(Act::Report(Topic::MissingDetail)),
        "purpose" => ask(&[Topic::Purpose]),
        _ => return None,
    })
}

/// Returns the probability from which a guess counts, or `None` if the patterns understand the message.
fn least(utterance: &Utterance) -> Option<f64> {
    let says_else =
        |act: &Act<Topic>| matches!(act, Act::WantPerson | Act::Leave | Act::Ask(_) | Act::Request(_) | Act::Report(_));
    let is_clear = utterance.answer.is_some()
        || utterance.names_order_or_contact()
        || utterance.only_answers()
        || utterance.acts.iter().any(says_else);
    match utterance.intent {
        _ if is_clear => None,
        None | Some(Intent::Other) => Some(LIKELY),
        // "Under which number is my return?" has the words of a wish.
        Some(Intent::OrderStatus | Intent::Return | Intent::Refund) if utterance.has_question() => Some(SURE),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::persona::Prompts;

    /// `tests/data/returns_talk.tsv`: kind and message, none of which the examples have.
    #[test]
    fn examples_understand_follow_ups() {
        let talk = Classifier::read(&Prompts::shipped(), "returns_talk").expect("the shipped examples");
        let lines: Vec<(&str, &str)> = include_str!("../../../../tests/data/returns_talk.tsv")
            .lines()
            .filter_map(|line| line.split_once('\t'))
            .collect();
        let mut right = 0;
        for (wanted, text) in &lines {
            let got = talk.classify(text).map_or("", |guess| guess.label);
            right += usize::from(got == *wanted);
            if got != *wanted {
                eprintln!("{text:?}: wanted {wanted}, got {got}");
            }
        }
        eprintln!("{right} of {}", lines.len());
        assert!(right * 100 >= lines.len() * 75, "{right} of {}", lines.len());
    }
}
