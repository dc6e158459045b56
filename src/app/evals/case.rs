//! A case: what was said up to a turn, what was answered in it, and what somebody of the shop thinks of that.

use std::io;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::{ConversationId, ConversationStatus, ErrorCode, Kind, Language, Message, Metadata, Sender};

/// The folder of the cases, below `EVALS_PATH`.
pub const FOLDER: &str = "conversations";

/// An answer that was called wrong. A file of its own, which people may read and change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    pub conversation: ConversationId,
    pub turn: u32,
    /// The shop.
    pub tenant: String,
    pub asked_at: DateTime<Utc>,
    /// The customer, as the shop's own system calls them; `None`: nobody named them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// A file's stem under `prompts/`.
    pub persona: String,
    /// The conversation's when the turn began, and why it was.
    pub language: Language,
    pub language_source: String,
    /// Who answered when the turn began: what may be said of a person depends on it.
    #[serde(default = "bot")]
    pub status: ConversationStatus,
    /// What the desk remembered when the turn began.
    #[serde(default)]
    pub state: Value,
    /// What was said, oldest first; the last one is the message that was answered.
    pub messages: Vec<CaseMessage>,
    pub answered: Answer,
    /// What is wrong with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Words that a good answer holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseMessage {
    pub turn: u32,
    pub sender: Sender,
    pub text: String,
    #[serde(default)]
    pub metadata: Metadata,
}

/// What a turn came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// `None`: not known, or nothing was understood.
    pub intent: Option<String>,
    pub messages: Vec<AnswerMessage>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorCode>,
}

/// A message of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerMessage {
    pub kind: Kind,
    pub text: String,
    /// The passages that it stands on, as `file > section`, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
}

/// Why a case's file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CaseFileError {
    #[error("{}: {cause}", file.display())]
    Unreadable { file: PathBuf, cause: io::Error },
    #[error("{}: {cause}; fix the file, or remove it", file.display())]
    NoCase { file: PathBuf, cause: serde_json::Error },
}

impl Case {
    /// What its file is called: one name for one turn.
    pub fn file_name(&self) -> String {
        // The end of a UUIDv7 is random; its beginning is the time, which the date says in words.
        let id = self.conversation.0.simple().to_string();
        let short = id.get(24..).unwrap_or_default();
        format!("{}-{short}-{}.json", self.asked_at.format("%Y-%m-%d"), self.turn)
    }

    /// The message that was answered.
    pub fn question(&self) -> &str {
        self.messages.last().map_or("", |message| &message.text)
    }

    /// Every case of the folder, with the file's name, by name; none where there is no folder.
    ///
    /// # Errors
    /// The first file that cannot be used.
    pub fn read_all(folder: &Path) -> Result<Vec<(String, Self)>, CaseFileError> {
        let unreadable = |file: &Path, cause| CaseFileError::Unreadable { file: file.to_owned(), cause };
        let entries = match std::fs::read_dir(folder) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|cause| unreadable(folder, cause))?,
        };
        let mut cases = Vec::new();
        for entry in entries {
            let path = entry.map_err(|cause| unreadable(folder, cause))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // Hidden: a file that is being written.
            if name.starts_with('.') || path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let bytes = std::fs::read(&path).map_err(|cause| unreadable(&path, cause))?;
            let case = serde_json::from_slice(&bytes).map_err(|cause| CaseFileError::NoCase { file: path, cause })?;
            cases.push((name, case));
        }
        cases.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(cases)
    }
}

/// Of cases that do not say.
fn bot() -> ConversationStatus {
    ConversationStatus::Bot
}

impl CaseMessage {
    pub(super) fn of(message: Message) -> Self {
        let Message { turn, sender, text, metadata, .. } = message;
        Self { turn, sender, text, metadata }
    }
}

impl AnswerMessage {
    /// From what is stored of it, or told of it at its end; `None`: the kind is not known any more.
    pub(super) fn of(text: String, metadata: &Metadata) -> Option<Self> {
        let sources = metadata.0.get("sources").and_then(Value::as_array).into_iter().flatten();
        Some(Self { kind: metadata.kind()?, text, sources: sources.map(place).collect() })
    }
}

fn place(source: &Value) -> String {
    let part = |name: &str| source.get(name).and_then(Value::as_str).unwrap_or_default();
    match part("section") {
        "" => part("file").to_owned(),
        section => format!("{} > {section}", part("file")),
    }
}
