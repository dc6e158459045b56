//! Settles which language a conversation uses.

use super::Turn;
use crate::domain::{Language, LanguageSource, Sender};
use crate::nlu::language::LanguageRules;

/// How surely a message has to be in another language: alone, and after one like it.
const CERTAIN: f64 = 0.9;
const CLEAR: f64 = 0.8;

/// The customer's message after the language was settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageWithoutSwitch {
    /// The language that the customer asked for, if they did.
    pub switched_to: Option<Language>,
    /// The message without that request; empty if it held nothing else.
    pub text: String,
}

/// Sets the conversation's language: the one that the customer asks for, else that of the first message whose language is clear. A
/// customer who then writes whole sentences in another language, or two messages in a row, is answered in that one.
///
/// `detectable` returns the text by which the language is detected. A desk removes names from it.
pub fn settle(turn: &mut Turn, rules: &LanguageRules, detectable: impl Fn(&str) -> String) -> MessageWithoutSwitch {
    let languages = &turn.persona.languages;
    let text = turn.message.text.clone();
    if let Some(switch) = rules.switch(&text, languages) {
        turn.set_language(switch.to, LanguageSource::Requested);
        return MessageWithoutSwitch { switched_to: Some(switch.to), text: switch.rest };
    }
    let detected = match turn.conversation.language_source {
        LanguageSource::Persona => rules.detect(&detectable(&text), languages),
        LanguageSource::Detected => {
            let other = |text: &str, least: f64| {
                let judged = rules.judge(&detectable(text), languages);
                judged
                    .filter(|(language, sure)| *language != turn.language() && *sure >= least)
                    .map(|(language, _)| language)
            };
            let before = turn.history.iter().rev().find(|message| message.sender == Sender::User);
            let is_second =
                |language: &Language| before.and_then(|message| other(&message.text, CLEAR)) == Some(*language);
            other(&text, CERTAIN).or_else(|| other(&text, CLEAR).filter(is_second))
        }
        LanguageSource::Requested => None,
    };
    if let Some(language) = detected {
        turn.set_language(language, LanguageSource::Detected);
    }
    MessageWithoutSwitch { switched_to: None, text }
}
