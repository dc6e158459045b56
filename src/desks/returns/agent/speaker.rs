//! Decides who speaks at the end of a turn that a model ran.
//!
//! A list of forbidden claims is never complete. So the desk announces every refusal, review, return, refund and ticket, and
//! asks every question, with the shop's texts. The model's text is sent in small talk, and for the status of an order that
//! has no return, unless the customer or the model uses a word of a decision (`prompts/rules/agent.LANG.toml`).

use std::collections::HashMap;

use serde::Deserialize;

use crate::desks::returns::kind;
use crate::desks::returns::route::{Handler, Step, route};
use crate::desks::returns::state::{Ending, State};
use crate::domain::Kind;
use crate::domain::commerce::OrderStatus;
use crate::domain::text::{InvalidPattern, Lexicon, Pattern, any_match};
use crate::nlu::long_text::read_text;
use crate::persona::{PromptError, Prompts};

/// Returns the kind of the message that the model's text replaces at the desk's next step, or `None` if the desk speaks.
pub(super) fn models_message(state: &State) -> Option<Kind> {
    if state.case.damage_reported || has_announced_decision(state) {
        return None;
    }
    match route(state) {
        Step::Finish(Ending::Other) => Some(Kind::Reply),
        Step::Run(Handler::ShowStatus) if !has_return(state) => Some(kind::ORDER_STATUS),
        _ => None,
    }
}

fn has_return(state: &State) -> bool {
    let is_returned = |status| matches!(status, OrderStatus::ReturnInitiated | OrderStatus::Returned);
    state.order().is_none_or(|order| is_returned(order.status))
}

/// Returns whether the desk has announced a decision in this conversation, since a later message may be about it.
fn has_announced_decision(state: &State) -> bool {
    state.meta.said.keys().any(|scenario| scenario.is_decision())
}

/// Words that are used for decisions.
#[derive(Debug)]
pub(in crate::desks::returns) struct DecisionWords {
    lexicon: Lexicon,
    stems: Vec<String>,
    subjects: Vec<Pattern>,
    promises: Vec<Pattern>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct WordFile {
    plain_words: Vec<String>,
    stems: Vec<String>,
    subjects: Vec<String>,
    promises: Vec<String>,
}

impl DecisionWords {
    /// Reads `rules/agent.*.toml`.
    pub fn read(prompts: &Prompts) -> Result<Self, PromptError> {
        prompts.rules(&["agent"], Self::new)
    }

    fn new(file: WordFile) -> Result<Self, InvalidPattern> {
        let lexicon = Lexicon::new(HashMap::new(), HashMap::new()).with_plain_words(&file.plain_words);
        Ok(Self {
            stems: file.stems,
            subjects: lexicon.patterns(&file.subjects)?,
            promises: lexicon.patterns(&file.promises)?,
            lexicon,
        })
    }

    /// Returns whether a customer's message contains a word of a decision.
    pub fn are_in_message(&self, text: &str) -> bool {
        self.has(text, &self.subjects)
    }

    /// Returns whether a model's reply contains a word of a decision, or commits the shop to anything. So does a reply with
    /// letters that are not Latin, in which the words are not recognized.
    pub fn are_in_reply(&self, text: &str) -> bool {
        // Marks inside a word hide it.
        let plain: String = text.chars().filter(|c| !matches!(c, '*' | '_' | '~' | '`') && !is_invisible(*c)).collect();
        plain.chars().any(|c| c.is_alphabetic() && !is_latin(c))
            || self.has(&plain, &self.subjects)
            || self.has(&plain, &self.promises)
    }

    fn has(&self, text: &str, patterns: &[Pattern]) -> bool {
        let has_stem = |word: &str| self.stems.iter().any(|stem| word.starts_with(stem.as_str()));
        read_text(text.len(), || {
            let stream = self.lexicon.tokenize(text);
            text.contains(['$', '€', '£', '₫', '%'])
                || stream.tokens().iter().any(|token| has_stem(token.folded()))
                || any_match(patterns, &stream, &[])
        })
    }
}

fn is_latin(c: char) -> bool {
    matches!(c, '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desks::returns::advance::{Event, next_state};
    use crate::desks::returns::scenario::Scenario;
    use crate::desks::returns::state::{HandoffReason, HandoffStatus, Intent};
    use crate::desks::returns::tests::sample;
    use crate::domain::returns::Cause;

    fn words() -> DecisionWords {
        DecisionWords::read(&Prompts::shipped()).expect("the words")
    }

    /// The rows of `tests/data/agent_replies.tsv`: situation and reply.
    fn replies() -> Vec<(String, String)> {
        let file = std::fs::read_to_string("tests/data/agent_replies.tsv").expect("the file");
        let rows = file.lines().skip(1).map(|row| {
            let mut fields = row.split('\t').map(str::to_owned);
            let (situation, reply) = (fields.next(), fields.nth(1));
            (situation.expect("a situation"), reply.expect("a reply"))
        });
        rows.collect()
    }

    #[test]
    fn promises_alone_are_recognized_and_harmless_words_pass() {
        let words = words();
        let is_harmless = |situation: &str| matches!(situation, "chat" | "status");
        let wrong = replies();
        let wrong: Vec<_> = wrong.iter().filter(|(of, reply)| words.are_in_reply(reply) == is_harmless(of)).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        for hidden in
            ["Your r**e**fund is fine.", "Your re\u{200b}fund is fine.", "Your rеfund is fine.", "返金します。"]
        {
            assert!(words.are_in_reply(hidden), "{hidden}");
        }
    }

    #[test]
    fn model_speaks_only_where_nothing_is_decided() {
        let wants = sample::wants;
        let status = sample::found(Intent::OrderStatus);
        let asked = sample::found(Intent::Return);
        let decided = |why| next_state(asked.clone(), Event::Decided(sample::refused(why), vec![1], sample::refund()));
        let mut apologized = wants(Intent::Other);
        apologized.meta.said.insert(Scenario::Acknowledge, 0);
        let mut announced = wants(Intent::Other);
        announced.meta.said.insert(Scenario::RefusedTime, 0);
        let mut returned = status.clone();
        returned.subject_mut().expect("an order").order.status = OrderStatus::ReturnInitiated;
        let (mut unclear, mut damaged) = (State::default(), status.clone());
        unclear.case.message.is_unclear = true;
        damaged.case.damage_reported = true;
        for (what, state, expected) in [
            ("small talk", wants(Intent::Other), Some(Kind::Reply)),
            ("an unclear message", unclear, None),
            ("a status", status, Some(kind::ORDER_STATUS)),
            ("a status whose order is not looked up", wants(Intent::OrderStatus), None),
            ("the status of a return", returned, None),
            ("a status with damage", damaged, None),
            ("small talk after an apology", apologized, Some(Kind::Reply)),
            ("small talk after a refusal", announced, None),
            ("a return without a number", wants(Intent::Return), None),
            ("a refund without a number", wants(Intent::Refund), None),
            ("a return", asked.clone(), None),
            (
                "an approval",
                next_state(asked.clone(), Event::Decided(sample::approved(), vec![1], sample::refund())),
                None,
            ),
            ("a refusal", decided(Cause::WindowOver), None),
            ("a review", decided(Cause::FraudFlag), None),
            ("damage", decided(Cause::Damaged), None),
            ("a ticket", State { handoff: HandoffStatus::Due(HandoffReason::Assistant), ..wants(Intent::Other) }, None),
        ] {
            assert_eq!(models_message(&state), expected, "{what}");
        }
    }
}
