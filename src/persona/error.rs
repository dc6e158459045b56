//! Errors in the files under `prompts/`.

use std::fmt;

use crate::domain::string_enum;

/// An invalid file under `prompts/`, with the place and a hint how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptError {
    pub file: String,
    pub line: Option<usize>,
    pub hint: String,
    /// What is wrong with a persona's file, if it is one of the common mistakes.
    pub fault: Option<PersonaFault>,
}

string_enum! {
    /// Mistakes in a persona's file. The console translates them.
    pub enum PersonaFault {
        Unclosed = "unclosed",
        FrontMatter = "front_matter",
        NoLanguage = "no_language",
        Temperature = "temperature",
        NoGreeting = "no_greeting",
        NoText = "no_text",
        NoFolder = "no_folder",
        BadFolder = "bad_folder",
        MissingFolder = "missing_folder",
        EmptyLine = "empty_line",
        RepeatedLine = "repeated_line",
        UnknownLanguage = "unknown_language",
        UnknownDesk = "unknown_desk",
    }
}

impl fmt::Display for PromptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.hint),
            None => write!(f, "{}: {}", self.file, self.hint),
        }
    }
}

impl std::error::Error for PromptError {}

/// All errors that were found, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptErrors {
    pub first: PromptError,
    pub others: Vec<PromptError>,
}

impl fmt::Display for PromptErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.first.fmt(f)
    }
}

impl std::error::Error for PromptErrors {}

impl From<PromptError> for PromptErrors {
    fn from(first: PromptError) -> Self {
        Self { first, others: Vec::new() }
    }
}
