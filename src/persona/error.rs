//! Errors in the files under `prompts/`.

use std::fmt;

/// An invalid file under `prompts/`, with the place and a hint how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptError {
    pub file: String,
    pub line: Option<usize>,
    pub hint: String,
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
