//! Corrects a serial number that was not found: "a 5 is missing at the end".

use super::Incoming;
use super::Retail;
use super::classify::Understood;
use super::intent::Intent;
use super::kind;
use crate::desks::Turn;
use crate::domain::serial::{Likeness, PossibleSerial};
use crate::domain::{Message, Sender};

/// The most characters that a correction adds.
const ADDED: usize = 4;

impl Retail {
    /// Completes the serial number of the last answer, if it was not found and the message adds characters. Returns whether it did.
    pub(super) fn correct_serial(&self, turn: &Turn, incoming: &mut Incoming, understood: &mut Understood) -> bool {
        let text = understood.utterance.text.as_str();
        let Some(is_at_end) = self.rules.lacks_at_end(text) else { return false };
        let last = turn.history.iter().rev().find(|message| message.sender != Sender::User && has_result(message));
        let meta = last.and_then(|last| last.metadata.0.get("warranty_meta"));
        let missed = meta.filter(|meta| meta["found"] == false).and_then(|meta| meta["serial"].as_str());
        let (Some(missed), Some(part)) = (missed, added(text, self.rules.single_letters())) else { return false };
        let text = if is_at_end { format!("{missed}{part}") } else { format!("{part}{missed}") };
        incoming.utterance.entities.serials = vec![PossibleSerial { text, looks: Likeness::Serial, known: None }];
        understood.settle(Intent::Warranty, "correction");
        true
    }
}

fn has_result(message: &Message) -> bool {
    message.metadata.kind() == Some(kind::WARRANTY_RESULT)
}

/// Returns the only characters of a message that may belong to a serial number: digits, or capital letters that are no word.
fn added<'t>(text: &'t str, single_letters: &[String]) -> Option<&'t str> {
    let is_part = |word: &&str| {
        let is_code = |c: char| c.is_ascii_digit() || c.is_ascii_uppercase();
        (1..=ADDED).contains(&word.len()) && word.chars().all(is_code)
    };
    let words = || text.split(|c: char| !c.is_alphanumeric());
    let mut digits = words().filter(is_part).filter(|word| word.contains(|c: char| c.is_ascii_digit()));
    let mut letters = words().filter(is_part).filter(|word| !single_letters.iter().any(|single| single == word));
    let found = digits.next().or_else(|| letters.next())?;
    digits.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::added;

    #[test]
    fn added_characters_are_found() {
        for (text, part) in [
            ("à thiếu số 5 ở cuối", Some("5")),
            ("sorry, I forgot 7K at the end", Some("7K")),
            ("I left out an X at the front", Some("X")),
            ("something is missing", None),
            ("5 or 6 is missing at the end", None),
        ] {
            assert_eq!(added(text, &["I".to_owned(), "A".to_owned()]), part, "{text}");
        }
    }
}
