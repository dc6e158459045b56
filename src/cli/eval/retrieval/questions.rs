//! The file of the questions.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context;
use serde::Deserialize;

use super::rankers::stem;
use crate::domain::Language;
use crate::domain::language::LanguageProfile;
use crate::retrieval::Shelf;
use crate::retrieval::document::guess_language;

/// A question and the documents that answer it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Question {
    /// Read so that a line without one is refused.
    #[expect(dead_code, reason = "the file's format demands it; the figures are means over all lines")]
    pub id: String,
    pub query: String,
    /// Stems of files, each once.
    #[serde(default)]
    pub documents: BTreeSet<String>,
    #[serde(default)]
    language: Option<Language>,
}

impl Question {
    /// Reads the file of questions that documents answer. Empty lines do not count.
    pub fn read(path: &Path) -> anyhow::Result<Vec<Self>> {
        Self::read_with(path, |question| {
            anyhow::ensure!(
                !question.documents.is_empty(),
                "documents is empty: name what answers, or remove the line"
            );
            Ok(())
        })
    }

    /// Reads the file of questions that no document answers.
    pub fn read_unanswerable(path: &Path) -> anyhow::Result<Vec<Self>> {
        Self::read_with(path, |question| {
            anyhow::ensure!(
                question.documents.is_empty(),
                "documents names what answers: move the line to --questions"
            );
            Ok(())
        })
    }

    fn read_with(path: &Path, check: fn(&Self) -> anyhow::Result<()>) -> anyhow::Result<Vec<Self>> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let questions: Vec<Self> = lines
            .map(|(n, line)| {
                let question = Self::parse(line).and_then(|question| check(&question).map(|()| question));
                question.with_context(|| format!("{}:{}", path.display(), n + 1))
            })
            .collect::<anyhow::Result<_>>()?;
        anyhow::ensure!(!questions.is_empty(), "{} holds no questions", path.display());
        Ok(questions)
    }

    fn parse(line: &str) -> anyhow::Result<Self> {
        serde_json::from_str(line)
            .context(r#"write {"id":"…","query":"…","documents":["stem of a file", …]} on one line"#)
    }

    /// The language that the line names, else a guess, else the first of these languages.
    pub fn language(&self, languages: &[LanguageProfile]) -> Language {
        let first = || languages.first().map(|language| language.code);
        self.language.or_else(|| guess_language(&self.query, languages)).or_else(first).unwrap_or_default()
    }
}

/// One remark on documents that questions name and the folder does not hold, if there are any: they count as not found.
pub(super) fn unknown_documents(questions: &[Question], shelf: &Shelf) -> Vec<String> {
    let there: BTreeSet<&str> = shelf.chunks.iter().map(|chunk| stem(&chunk.path)).collect();
    let named: BTreeSet<&str> = questions.iter().flat_map(|question| &question.documents).map(String::as_str).collect();
    let unknown: Vec<&str> = named.difference(&there).copied().collect();
    if unknown.is_empty() {
        return Vec::new();
    }
    vec![format!("{} documents that questions name are not in the folder: {}", unknown.len(), unknown.join(", "))]
}
