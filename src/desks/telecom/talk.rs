//! What a message says about what the conversation came to: the case, the claim, the invoices that were shown, or the page that was
//! quoted. The patterns decide where they understand it; else its likeness to examples (`prompts/examples/telecom_talk.LANG.tsv`).

use super::Telecom;
use super::memory::Memory;
use super::rules::{Parsed, Topic};
use crate::dialogue::{Act, Answer};

/// The probability from which the examples decide, and the one from which they take something back.
const LIKELY: f64 = 0.7;
const SURE: f64 = 0.8;
/// The share of known words from which they decide.
const KNOWN: f64 = 0.5;

/// What the patterns know of a message about the account.
const UNDERSTOOD: [Topic; 9] = [
    Topic::Subscription,
    Topic::Invoices,
    Topic::Refund,
    Topic::CaseStatus,
    Topic::Correction,
    Topic::Total,
    Topic::Difference,
    Topic::Allowance,
    Topic::OutOfScope,
];

impl Telecom {
    /// Completes a message that the patterns do not understand.
    pub(super) fn in_talk(&self, mut parsed: Parsed, memory: &Memory) -> Parsed {
        let utterance = &parsed.utterance;
        let asks = |topic: &Topic| utterance.asks(*topic);
        let is_understood = utterance.answer.is_some()
            || utterance.wants_person()
            || parsed.is_small_talk()
            || UNDERSTOOD.iter().any(asks);
        // "How do I block it?" is about the line.
        let is_technical = parsed.technical > parsed.billing;
        if is_understood || is_technical || parsed.said.is_concrete() || parsed.said.names_account() {
            return parsed;
        }
        // A guess about what is not there means nothing.
        let times = |label: &str| {
            let may_be_meant = match label {
                "case" | "withdraw" => memory.has_open_request(),
                "total" | "invoices" | "account" | "cases" => memory.account.verified.is_some(),
                "tried" => memory.has_page(),
                _ => true,
            };
            f64::from(u8::from(may_be_meant))
        };
        let Some(guess) = self.talk.classify_where(&utterance.text, times) else { return parsed };
        if guess.probability < LIKELY || guess.known < KNOWN {
            return parsed;
        }
        let asked = match guess.label {
            "case" => Topic::Progress,
            "total" => Topic::Total,
            "invoices" => Topic::Invoices,
            "account" => Topic::Subscription,
            "cases" => Topic::CaseStatus,
            "tried" if !utterance.has_question() => Topic::Tried,
            "withdraw" if guess.probability >= SURE && !utterance.has_question() => {
                parsed.utterance.answer = Some(Answer::Cancel);
                return parsed;
            }
            _ => return parsed,
        };
        parsed.utterance = parsed.utterance.with(Act::Ask(asked));
        parsed
    }
}

#[cfg(test)]
mod tests {
    use crate::nlu::examples::Classifier;
    use crate::persona::Prompts;

    /// `tests/data/telecom/talk.tsv`: kind and message, none of which the examples have.
    #[test]
    fn examples_understand_follow_ups() {
        let talk = Classifier::read(&Prompts::shipped(), "telecom_talk").expect("the shipped examples");
        let lines: Vec<(&str, &str)> = include_str!("../../../tests/data/telecom/talk.tsv")
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
