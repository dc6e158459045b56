//! Corrects a serial number that was not found: "a 5 is missing at the end", "it's a 2, not a Z".

use super::Incoming;
use super::Retail;
use super::classify::Understood;
use super::intent::Intent;
use super::kind;
use crate::desks::Turn;
use crate::domain::serial::{Likeness, PossibleSerial};
use crate::domain::{Kind, Message, Sender};

/// The most characters that a correction adds.
const ADDED: usize = 4;

impl Retail {
    /// Corrects the serial number of the last answer, if it was not found and the message adds or replaces characters. Returns whether
    /// it did.
    pub(super) fn correct_serial(&self, turn: &Turn, incoming: &mut Incoming, understood: &mut Understood) -> bool {
        let text = understood.utterance.text.as_str();
        let last = turn.history.iter().rev().find(|message| message.sender != Sender::User && has_result(message));
        let meta = last.and_then(|last| last.metadata.0.get("warranty_meta"));
        let missed = meta.filter(|meta| meta["found"] == false).and_then(|meta| meta["serial"].as_str());
        let (Some(missed), single_letters) = (missed, self.rules.single_letters()) else { return false };
        let corrected = match self.rules.lacks_at_end(text) {
            Some(true) => added(text, single_letters).map(|part| format!("{missed}{part}")),
            Some(false) => added(text, single_letters).map(|part| format!("{part}{missed}")),
            None if self.rules.replaces(text) && was_last(turn) => replaced(missed, text, single_letters),
            None => None,
        };
        let Some(text) = corrected else { return false };
        incoming.utterance.entities.serials = vec![PossibleSerial { text, looks: Likeness::Serial, known: None }];
        understood.settle(Intent::Warranty, "correction");
        true
    }
}

fn has_result(message: &Message) -> bool {
    message.metadata.kind() == Some(kind::WARRANTY_RESULT)
}

/// Whether the last answer was about a warranty.
fn was_last(turn: &Turn) -> bool {
    let is_answer =
        |message: &&Message| message.sender != Sender::User && message.metadata.kind() != Some(Kind::FollowUp);
    turn.history.iter().rev().find(is_answer).is_some_and(has_result)
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

/// Returns a serial number with another character, if the message has two single characters of which only one is in it: the last one
/// of its kind is replaced.
fn replaced(missed: &str, text: &str, single_letters: &[String]) -> Option<String> {
    let is_word = |word: &str| single_letters.iter().any(|single| single.eq_ignore_ascii_case(word));
    let is_single = |word: &&str| word.len() == 1 && !is_word(word);
    // "It's" is one word.
    let words = text.split(|c: char| !c.is_alphanumeric() && !"'’".contains(c)).filter(is_single);
    let mut characters: Vec<char> = words.filter_map(|word| Some(word.chars().next()?.to_ascii_uppercase())).collect();
    characters.dedup();
    let [one, other] = characters[..] else { return None };
    let missed = missed.to_ascii_uppercase();
    let (old, new) = match (missed.rfind(one), missed.rfind(other)) {
        (Some(at), None) => (at, other),
        (None, Some(at)) => (at, one),
        _ => return None,
    };
    Some(format!("{}{new}{}", &missed[..old], &missed[old + 1..]))
}

#[cfg(test)]
mod tests {
    use super::{added, replaced};

    #[test]
    fn character_is_replaced_by_the_other() {
        let single_letters = ["I".to_owned(), "A".to_owned()];
        for (text, corrected) in [
            ("sorry thats a 2 at the end not a Z", Some("L96MUK2")),
            ("it's a 2, not Z", Some("L96MUK2")),
            ("số cuối là 2 chứ không phải z", Some("L96MUK2")),
            ("it begins with I, not with L", None),
            ("is it 6 or 9?", None),
            ("I have 2 of them", None),
        ] {
            assert_eq!(replaced("L96MUKZ", text, &single_letters).as_deref(), corrected, "{text}");
        }
    }

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
