//! Settles which language a conversation uses.

use super::Turn;
use crate::domain::{Language, LanguageSource};
use crate::nlu::language::LanguageRules;

/// The customer's message after the language was settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageWithoutSwitch {
    /// The language that the customer asked for, if they did.
    pub switched_to: Option<Language>,
    /// The message without that request; empty if it held nothing else.
    pub text: String,
}

/// Sets the conversation's language: the one that the customer asks for, else, once, that of the first message
/// whose language is clear.
///
/// `detectable` returns the text by which the language is detected. A desk removes names from it.
pub fn settle(turn: &mut Turn, rules: &LanguageRules, detectable: impl FnOnce(&str) -> String) -> MessageWithoutSwitch {
    let languages = &turn.persona.languages;
    let text = turn.message.text.clone();
    if let Some(switch) = rules.switch(&text, languages) {
        turn.set_language(switch.to, LanguageSource::Requested);
        return MessageWithoutSwitch { switched_to: Some(switch.to), text: switch.rest };
    }
    if turn.conversation.language_source == LanguageSource::Persona
        && let Some(language) = rules.detect(&detectable(&text), languages)
    {
        turn.set_language(language, LanguageSource::Detected);
    }
    MessageWithoutSwitch { switched_to: None, text }
}
