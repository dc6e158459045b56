//! Who speaks, and every word that customers see: the files under `prompts/`.
//!
//! - `prompts/*.md`: personas ([`Persona`])
//! - everything below in folders: texts, rules and instructions, which the desks read through [`Prompts`]

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::domain::Language;

mod cut;
mod file;
mod prompts;
mod rules;
pub mod texts;
pub mod watch;

pub use cut::cut_at_sentence;
pub use prompts::{PromptError, PromptErrors, Prompts};

/// Who decides on the next step of a desk that can be driven in several ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The desk's own table (seed 000).
    #[default]
    Supervisor,
    /// A language model with tools (seed 001); the table where none answers.
    Agent,
}

/// A persona: who speaks, and for which desk.
#[derive(Clone, Debug, PartialEq)]
pub struct Persona {
    /// The file's stem, by which a conversation names it.
    pub id: String,
    /// What the persona is called on a page.
    pub name: String,
    /// The desk that its conversations are for.
    pub desk: String,
    /// The languages it speaks, never empty; the first one is its own.
    pub languages: Vec<Language>,
    /// The language model it wants, where it is not the server's.
    pub model: Option<String>,
    pub temperature: Option<f32>,
    pub mode: Mode,
    /// The folders below the knowledge folder that it knows, never empty; an empty name is the files at the top.
    pub knowledge: Vec<String>,
    /// Where `knowledge` stands: the file as errors name it, and the line.
    knowledge_place: (String, usize),
    /// The persona's text for the language model, without the lines below and without front matter.
    pub text: String,
    greeting: Lines,
    follow_up: Lines,
}

/// A line of the persona in its own language, and in others where the file has them.
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
    /// What it says when a conversation opens. Every persona has one.
    pub fn greeting(&self, language: Language) -> &str {
        self.greeting.in_language(language).unwrap_or_default()
    }

    /// What it adds after an answer, if anything.
    pub fn follow_up(&self, language: Language) -> Option<&str> {
        self.follow_up.in_language(language)
    }

    /// The first of these languages that it speaks, else the language it begins in.
    pub fn closest_language(&self, wanted: &[Language]) -> Language {
        wanted.iter().copied().find(|language| self.languages.contains(language)).unwrap_or(self.first_language())
    }

    /// The language it begins in.
    pub fn first_language(&self) -> Language {
        self.languages.first().copied().unwrap_or_default()
    }
}
