//! Events: what a turn tells the world. The shapes are the wire contract's, to the letter.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Kind, Language, MessageId, Metadata, Sender};

/// How long the steps of a turn took, in milliseconds, by the step's name.
pub type Timings = BTreeMap<String, u64>;

/// How a turn stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    Queued,
    Running,
    Completed,
    Cancelled,
    Failed,
    Interrupted,
}

impl TurnStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Queued, Self::Running, Self::Completed, Self::Cancelled, Self::Failed, Self::Interrupted]
            .into_iter()
            .find(|status| status.as_str() == text)
    }

    pub fn has_ended(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

/// Who decided on an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntentSource {
    /// The desk's rules, being sure.
    Rules,
    /// The language model.
    Llm,
    /// The rules, since the model did not answer in time or in form.
    Fallback,
}

/// What went wrong, in a word that a client can act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    Timeout,
    Unavailable,
    Overloaded,
    Model,
    Internal,
}

/// Why something was held back from a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GuardReason {
    /// A number that does not stand in what the reply was made from.
    UnsupportedFact,
    /// A link to a host that is not the shop's.
    Link,
    /// The language model began to read out its instructions.
    PromptLeak,
    /// The language model claimed something that no tool has done.
    UnsupportedClaim,
    /// What the language model wrote was meant for a machine.
    Markup,
}

impl GuardReason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnsupportedFact => "unsupported_fact",
            Self::Link => "link",
            Self::PromptLeak => "prompt_leak",
            Self::UnsupportedClaim => "unsupported_claim",
            Self::Markup => "markup",
        }
    }
}

/// A passage that a reply stands on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SourceItem {
    pub title: String,
    pub section: String,
    /// The document's path below the knowledge folder.
    pub file: String,
    pub version: Option<String>,
    /// How well it fits, 0 to 1.
    pub score: f64,
}

/// What a turn tells the world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub enum Event {
    /// The turn begins to run.
    #[serde(rename = "turn.start")]
    TurnStart { turn: u32, message_id: MessageId, sender: Sender, text: String },
    /// The turn waits for the language model at this place, counted from 1; sent again when it moves.
    #[serde(rename = "queued")]
    Queued { position: u32 },
    /// What was understood of the message.
    #[serde(rename = "intent")]
    Intent {
        intent: String,
        confidence: f64,
        source: IntentSource,
        #[schema(value_type = String)]
        language: Language,
        clarify_needed: bool,
    },
    /// An assistant message begins.
    #[serde(rename = "message.start")]
    MessageStart { message_id: MessageId, kind: Kind },
    /// The next piece of a message's text, never empty.
    #[serde(rename = "delta")]
    Delta { message_id: MessageId, text: String },
    /// The message is complete (or `cut`) and stored.
    #[serde(rename = "message.end")]
    MessageEnd { message_id: MessageId, kind: Kind, metadata: Metadata },
    /// What the reply stands on.
    #[serde(rename = "sources")]
    Sources { items: Vec<SourceItem> },
    /// Something was held back from the message; never what.
    #[serde(rename = "guard")]
    Guard { message_id: MessageId, reason: GuardReason },
    /// The language model has called a tool, and it begins to work.
    #[serde(rename = "tool.start")]
    ToolStart { name: String },
    /// The tool has ended, well or with something that the model is told.
    #[serde(rename = "tool.end")]
    ToolEnd { name: String, ok: bool, ms: u64 },
    /// Something went wrong; `message` is for the customer, in the customer's language.
    #[serde(rename = "error")]
    Error { code: ErrorCode, message: String, retryable: bool },
    /// The turn has ended: always its last event.
    #[serde(rename = "turn.done")]
    TurnDone { turn: u32, status: TurnStatus, timings_ms: Timings },
}
