//! One evaluation case and its file.

use std::io;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::desks::AskedTurn;
use crate::domain::{
    ConversationId, ConversationStatus, ErrorCode, Kind, Language, Message, Metadata, Sender, TenantId,
};

/// The folder of the cases, below `EVALS_PATH`.
pub const FOLDER: &str = "conversations";

/// An answer that was marked as wrong, with everything needed to replay it. Each case is one JSON file, which people may edit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    pub conversation: ConversationId,
    pub turn: u32,
    /// The shop.
    pub tenant: String,
    pub asked_at: DateTime<Utc>,
    /// The customer, as named by the shop's own system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The persona's file under `prompts/`, without `.md`.
    pub persona: String,
    /// The conversation's language at the start of the turn, and where it came from.
    pub language: Language,
    pub language_source: String,
    /// The conversation's status at the start of the turn. Replies that mention a person depend on it.
    #[serde(default = "bot")]
    pub status: ConversationStatus,
    /// The desk's state at the start of the turn.
    #[serde(default)]
    pub state: Value,
    /// The messages up to the turn, oldest first. The last one is the question.
    pub messages: Vec<CaseMessage>,
    pub answered: Answer,
    /// What the shop says is wrong with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Words that a good answer contains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The rows that the desk copied as of the question. `None`: it reads them from the shop's database at each replay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Value>,
}

/// A message of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseMessage {
    pub turn: u32,
    pub sender: Sender,
    pub text: String,
    #[serde(default)]
    pub metadata: Metadata,
}

/// What a turn answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// `None` if no intent was recognized or its event is no longer stored.
    pub intent: Option<String>,
    pub messages: Vec<AnswerMessage>,
    /// The error that ended the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorCode>,
}

/// A message of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerMessage {
    pub kind: Kind,
    pub text: String,
    /// The cited passages as `file > section`, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
}

/// Why a case's file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CaseFileError {
    #[error("cannot read {}: {cause}", file.display())]
    Unreadable { file: PathBuf, cause: io::Error },
    #[error("{} is not an evaluation case: {cause}. Fix the file or remove it", file.display())]
    Invalid { file: PathBuf, cause: serde_json::Error },
}

impl Case {
    /// Returns the file name, which is the same for every case of the same turn.
    pub fn file_name(&self) -> String {
        // The end of a UUIDv7 is random; its beginning is the time, which the date already gives.
        let id = self.conversation.0.simple().to_string();
        let short = id.get(24..).unwrap_or_default();
        format!("{}-{short}-{}.json", self.asked_at.format("%Y-%m-%d"), self.turn)
    }

    /// Describes the question for the desk's copy of rows.
    pub(super) fn asked_turn(&self, tenant: &TenantId) -> AskedTurn {
        AskedTurn {
            tenant: tenant.clone(),
            conversation: self.conversation,
            asked_at: self.asked_at,
            user_id: self.user_id.clone(),
            state: self.state.clone(),
            texts: self.messages.iter().map(|message| message.text.clone()).collect(),
        }
    }

    /// Returns the text of the question.
    pub fn question(&self) -> &str {
        self.messages.last().map_or("", |message| &message.text)
    }

    /// Reads every case of the folder with its file name, sorted by name. A missing folder has no cases.
    ///
    /// # Errors
    /// Fails at the first file that cannot be read or is not a case.
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
            // Hidden files are being written.
            if name.starts_with('.') || path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let bytes = std::fs::read(&path).map_err(|cause| unreadable(&path, cause))?;
            let case = serde_json::from_slice(&bytes).map_err(|cause| CaseFileError::Invalid { file: path, cause })?;
            cases.push((name, case));
        }
        cases.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(cases)
    }
}

/// The status in files of earlier versions.
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
    /// Returns `None` if the metadata names no known kind.
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
