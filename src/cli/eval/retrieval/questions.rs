//! Reads files of questions.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context;
use serde::Deserialize;

use super::rankers::stem;
use crate::cli::output::explain;
use crate::domain::Language;
use crate::domain::language::LanguageProfile;
use crate::retrieval::document::guess_language;
use crate::retrieval::{Query, Shelf};

/// A question and the documents that answer it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Question {
    /// Required, so that a line without an id is refused.
    #[expect(dead_code, reason = "required by the file format, but not used in the figures")]
    pub id: String,
    pub query: String,
    /// File names without extension.
    #[serde(default)]
    pub documents: BTreeSet<String>,
    #[serde(default)]
    language: Option<Language>,
}

impl Question {
    /// Reads questions that documents answer. Skips empty lines.
    pub fn read(path: &Path) -> anyhow::Result<Vec<Self>> {
        Self::read_with(path, |question| {
            anyhow::ensure!(
                !question.documents.is_empty(),
                "documents is empty: name the documents that answer the question, or remove the line"
            );
            Ok(())
        })
    }

    /// Reads questions that no document answers.
    pub fn read_unanswerable(path: &Path) -> anyhow::Result<Vec<Self>> {
        Self::read_with(path, |question| {
            anyhow::ensure!(
                question.documents.is_empty(),
                "documents is not empty: move the line to the file of --questions"
            );
            Ok(())
        })
    }

    fn read_with(path: &Path, check: fn(&Self) -> anyhow::Result<()>) -> anyhow::Result<Vec<Self>> {
        let text = std::fs::read_to_string(path).map_err(explain).with_context(|| path.display().to_string())?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let questions: Vec<Self> = lines
            .map(|(n, line)| {
                let question = Self::parse(line).and_then(|question| check(&question).map(|()| question));
                question.with_context(|| format!("{}:{}", path.display(), n + 1))
            })
            .collect::<anyhow::Result<_>>()?;
        anyhow::ensure!(!questions.is_empty(), "{} has no questions", path.display());
        Ok(questions)
    }

    fn parse(line: &str) -> anyhow::Result<Self> {
        serde_json::from_str(line)
            .context(r#"expected {"id":"…","query":"…","documents":["file name without extension", …]} on one line"#)
    }

    /// Returns the search for it.
    pub fn to_query(&self, languages: &[LanguageProfile]) -> Query {
        Query { text: self.query.clone(), language: self.language(languages), limit: usize::MAX, pages_only: false }
    }

    /// Returns the language of the line, else the detected language, else the first of these languages.
    pub fn language(&self, languages: &[LanguageProfile]) -> Language {
        let first = || languages.first().map(|language| language.code);
        self.language.or_else(|| guess_language(&self.query, languages)).or_else(first).unwrap_or_default()
    }
}

/// Warns about documents that questions name and the folder does not contain. They count as not found.
pub(super) fn unknown_documents(questions: &[Question], shelf: &Shelf) -> Vec<String> {
    let existing: BTreeSet<&str> = shelf.chunks.iter().map(|chunk| stem(&chunk.path)).collect();
    let named: BTreeSet<&str> = questions.iter().flat_map(|question| &question.documents).map(String::as_str).collect();
    let unknown: Vec<&str> = named.difference(&existing).copied().collect();
    if unknown.is_empty() {
        return Vec::new();
    }
    vec![format!("{} documents of the questions are not in the folder: {}", unknown.len(), unknown.join(", "))]
}
