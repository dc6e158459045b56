//! Settles which language a conversation uses.

use super::Turn;
use crate::domain::{Language, LanguageSource, Sender};
use crate::nlu::language::LanguageRules;

/// The words of a first message that decides the language.
const DECIDING_WORDS: usize = 3;
/// How surely a whole sentence has to be in another language, and a shorter message after one like it.
const SENTENCE: f64 = 0.75;
const CLEAR: f64 = 0.8;
/// The words of a whole sentence, and of a shorter message that counts: "ok thank you" is said in every language.
const SENTENCE_WORDS: usize = 7;
const MESSAGE_WORDS: usize = 4;

/// The customer's message after the language was settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageWithoutSwitch {
    /// The language that the customer asked for, if they did.
    pub switched_to: Option<Language>,
    /// The message without that request; empty if it held nothing else.
    pub text: String,
}

/// Sets the conversation's language: the one that the customer asks for, else that of the first message whose language is
/// clear, else that of a whole sentence, or of two messages in a row. If the very first message has one or two words, the next one may
/// change it. After a request, only another request does.
///
/// `detectable` returns the text by which the language is detected. A desk removes names from it.
pub fn settle(turn: &mut Turn, rules: &LanguageRules, detectable: impl Fn(&str) -> String) -> MessageWithoutSwitch {
    let languages = turn.persona.languages.clone();
    let message = requested(turn, rules, &languages);
    if turn.conversation.language_source == LanguageSource::Persona
        && let Some(language) = rules.detect(&detectable(&message.text), &languages)
    {
        // "Hello shop" is said in every language: the next message may still decide.
        let words = message.text.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count();
        let is_first = !turn.history.iter().any(|message| message.sender == Sender::User);
        let is_open = is_first && words < DECIDING_WORDS;
        turn.set_language(language, if is_open { LanguageSource::Persona } else { LanguageSource::Detected });
    }
    follow(turn, rules, detectable);
    message
}

/// Sets the language that the customer asks for, if it is allowed.
pub fn requested(turn: &mut Turn, rules: &LanguageRules, allowed: &[Language]) -> MessageWithoutSwitch {
    match rules.switch(&turn.message.text, allowed) {
        Some(switch) => {
            turn.set_language(switch.to, LanguageSource::Requested);
            MessageWithoutSwitch { switched_to: Some(switch.to), text: switch.rest }
        }
        None => MessageWithoutSwitch { switched_to: None, text: turn.message.text.clone() },
    }
}

/// Follows a customer who continues in another language than the detected one.
fn follow(turn: &mut Turn, rules: &LanguageRules, detectable: impl Fn(&str) -> String) {
    if turn.conversation.language_source != LanguageSource::Detected {
        return;
    }
    let other = |text: &str, least: f64| {
        let (language, sure) = rules.judge(&detectable(&own_words(text)), &turn.persona.languages)?;
        (language != turn.language() && sure >= least).then_some(language)
    };
    let words =
        |text: &str| own_words(text).split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count();
    let short = |text: &str| other(text, CLEAR).filter(|_| words(text) >= MESSAGE_WORDS);
    let text = turn.message.text.as_str();
    let before = turn.history.iter().rev().find(|message| message.sender == Sender::User);
    let found = match words(text) >= SENTENCE_WORDS {
        true => other(text, SENTENCE),
        false => short(text).filter(|_| before.is_some_and(|before| short(&before.text).is_some())),
    };
    if let Some(language) = found {
        turn.set_language(language, LanguageSource::Detected);
    }
}

/// Returns a text without quotations and names (words with a capital, except for the first): an address in another language changes
/// nothing.
fn own_words(text: &str) -> String {
    let unquoted: String = text.split(['"', '“', '”']).step_by(2).collect();
    let is_name = |word: &str| word.chars().find(|c| c.is_alphanumeric()).is_some_and(char::is_uppercase);
    let words = unquoted.split_whitespace().enumerate().filter(|(at, word)| *at == 0 || !is_name(word));
    words.map(|(_, word)| word).collect::<Vec<_>>().join(" ")
}
