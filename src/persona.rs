//! Personas and customer texts: the files under `prompts/`.
//!
//! - `prompts/*.md`: personas ([`Persona`])
//! - `prompts/*/`: texts, rules and instructions, which the desks read through [`Prompts`]

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::domain::Language;

mod error;
mod file;
mod prompts;
mod read;
mod rules;
pub mod texts;
pub mod watch;

pub use error::{PersonaFault, PromptError, PromptErrors};
pub(crate) use file::{cut_front_matter, line_of_key};
pub use prompts::Prompts;
pub use texts::cut_at_sentence;

/// How a desk picks its next step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// By the desk's decision table.
    #[default]
    Supervisor,
    /// By a language model with tools, or by the table if the model does not answer.
    Agent,
}

/// A persona: the speaker of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Persona {
    /// The file name without extension.
    pub id: String,
    /// The display name.
    pub name: String,
    /// The desk of its conversations.
    pub desk: String,
    /// The languages it speaks, never empty. The first one is the default.
    pub languages: Vec<Language>,
    /// The language model, if it differs from the server's.
    pub model: Option<String>,
    pub temperature: Option<f32>,
    pub mode: Mode,
    /// The folders of documents it searches, below the knowledge folder; never empty. An empty name is the knowledge folder itself.
    pub knowledge: Vec<String>,
    /// The file and line of `knowledge`, for errors.
    knowledge_place: (String, usize),
    /// The persona's text for the language model, without front matter, greeting and follow-up.
    pub text: String,
    greeting: Lines,
    follow_up: Lines,
}

/// A sentence in the persona's language, and in other languages if the file has them.
#[derive(Clone, Debug, Default, PartialEq)]
struct Lines {
    own: Option<String>,
    others: BTreeMap<Language, String>,
}

impl Lines {
    fn in_language(&self, language: Language) -> Option<&str> {
        self.others.get(&language).or(self.own.as_ref()).map(String::as_str)
    }
}

impl Persona {
    /// Returns the greeting of a new conversation.
    pub fn greeting(&self, language: Language) -> &str {
        self.greeting.in_language(language).unwrap_or_default()
    }

    /// Returns the sentence that follows an answer, if any. Variants of it are separated by ` | `.
    pub fn follow_up(&self, language: Language) -> Option<&str> {
        self.follow_up.in_language(language)
    }

    /// Returns the variants of the sentence that follows an answer.
    pub fn follow_ups(&self, language: Language) -> Vec<&str> {
        self.follow_up(language).map_or_else(Vec::new, |line| line.split(" | ").collect())
    }

    /// Returns the first of these languages that the persona speaks, else its default language.
    pub fn closest_language(&self, wanted: &[Language]) -> Language {
        wanted.iter().copied().find(|language| self.languages.contains(language)).unwrap_or(self.first_language())
    }

    /// Returns the default language.
    pub fn first_language(&self) -> Language {
        self.languages.first().copied().unwrap_or_default()
    }
}
