//! Questions in the middle of a request: alone, or next to what the desk asked for.

use crate::desks::telecom::Telecom;
use crate::desks::telecom::memory::{Asked, Memory};
use crate::desks::telecom::rules::{Parsed, TelecomRules, Topic};
use crate::desks::telecom::texts::Text;
use crate::dialogue::{DeskError, Turn};
use crate::nlu::long_text::read_text;
use crate::replies::MissingValue;

impl Telecom {
    /// Answers a question that a message asks besides what it gives: "20 PLN. And when do I get it?"
    pub(super) async fn answer_besides(
        &self,
        turn: &mut Turn,
        parsed: &Parsed,
        asked: Option<Asked>,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        let Some(question) = question_besides(&self.rules, &parsed.utterance.text) else { return Ok(()) };
        let besides = self.rules.parse(&question);
        // What the account answers needs no page.
        let of_account =
            [Topic::Refund, Topic::Invoices, Topic::Total, Topic::Subscription, Topic::CaseStatus, Topic::Progress];
        let is_part = asked.is_some_and(|asked| besides.gives(asked, true))
            || of_account.iter().any(|topic| besides.utterance.asks(*topic));
        if !is_part {
            let besides = self.about_refund(turn, &besides)?;
            self.answer_aside(turn, &besides, true, memory).await?;
        }
        Ok(())
    }

    /// Returns a question of a refund with its subject, if it names nothing: "how long does it take?"
    pub(super) fn about_refund(&self, turn: &Turn, parsed: &Parsed) -> Result<Parsed, MissingValue> {
        let question = &parsed.utterance.text;
        Ok(match self.strong_words(turn, question) {
            0 => self.rules.parse(&self.text(turn, Text::OfRefund, &[("question", question)])?),
            _ => parsed.clone(),
        })
    }

    /// Whether the customer asks where to find what the desk asked for. The desk's next question says it.
    pub(super) fn asks_where(&self, turn: &Turn, parsed: &Parsed, asked: Option<Asked>) -> bool {
        let is_number = matches!(asked, Some(Asked::UserId | Asked::Proof | Asked::Invoice));
        is_number && parsed.utterance.asks(Topic::Place) && self.strong_words(turn, &parsed.utterance.text) == 0
    }

    /// Whether the customer asks something of their own instead of answering.
    pub(super) fn is_unanswered(&self, turn: &Turn, parsed: &Parsed, asked: Option<Asked>) -> bool {
        let utterance = &parsed.utterance;
        asked.is_some_and(Asked::is_of_account)
            && utterance.has_question()
            && utterance.answer.is_none()
            && self.strong_words(turn, &utterance.text) > 0
    }
}

/// Returns the clauses of a message that ask, if others do not.
fn question_besides(rules: &TelecomRules, text: &str) -> Option<String> {
    // "Sorry?" asks nothing.
    let asks = |clause: &&str| clause.contains(' ') && rules.parse(clause).utterance.has_question();
    let (questions, others): (Vec<&str>, Vec<&str>) =
        read_text(text.len(), || clauses(text).into_iter().partition(asks));
    (!questions.is_empty() && !others.is_empty()).then(|| questions.join(" "))
}

/// Splits a text after punctuation. "6.50" has none.
pub(super) fn clauses(text: &str) -> Vec<&str> {
    let mut clauses = Vec::new();
    let mut start = 0;
    for (at, mark) in text.match_indices(['.', '?', '!', ';', ',', '\n']) {
        let end = at + mark.len();
        if text[end..].chars().next().is_none_or(char::is_whitespace) {
            clauses.push(text[start..end].trim());
            start = end;
        }
    }
    clauses.push(text[start..].trim());
    clauses.retain(|clause| clause.chars().any(char::is_alphanumeric));
    clauses
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::persona::Prompts;

    #[test]
    fn question_next_to_an_answer_is_found() {
        let rules = TelecomRules::read(&Prompts::shipped()).unwrap();
        for (text, question) in [
            ("6.50 PLN. And when do I get it?", Some("And when do I get it?")),
            ("INV-12345, how long does it take", Some("how long does it take")),
            ("tak, a kiedy dostanę pieniądze?", Some("a kiedy dostanę pieniądze?")),
            ("u123, INV-12345", None),
            ("Sorry, not 80, I meant 50.", None),
            ("how long does it take?", None),
        ] {
            assert_eq!(question_besides(&rules, text).as_deref(), question, "{text}");
        }
    }
}
