//! The events of a turn, exactly as the wire contract defines them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::string_enum::string_enum;
use super::{Kind, Language, MessageId, Metadata, Sender};

/// The duration of each step of a turn in milliseconds, by the step's name.
pub type Timings = BTreeMap<String, u64>;

string_enum! {
    /// The state of a turn.
    pub enum TurnStatus {
        Queued = "queued",
        Running = "running",
        Completed = "completed",
        Cancelled = "cancelled",
        Failed = "failed",
        Interrupted = "interrupted",
    }
}

impl TurnStatus {
    pub fn has_ended(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

/// What determined an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntentSource {
    /// The desk's rules, with high confidence.
    Rules,
    /// The language model.
    Llm,
    /// The rules, because the model's answer was late or malformed.
    Fallback,
}

/// The kind of an error, for clients to act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    Timeout,
    Unavailable,
    Overloaded,
    Model,
    Internal,
}

string_enum! {
    /// Why a guard removed text from a message.
    pub enum GuardReason {
        /// A number that is not in the reply's sources.
        UnsupportedFact = "unsupported_fact",
        /// A link to a host that is not allowed.
        Link = "link",
        /// The language model began to repeat its instructions.
        PromptLeak = "prompt_leak",
        /// The language model claimed an action that no tool has performed.
        UnsupportedClaim = "unsupported_claim",
        /// The language model wrote markup for a machine.
        Markup = "markup",
    }
}

/// A passage that a reply is based on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SourceItem {
    pub title: String,
    pub section: String,
    /// The document's path below the knowledge folder.
    pub file: String,
    pub version: Option<String>,
    /// The relevance, from 0 to 1.
    pub score: f64,
}

/// An event of a turn, as clients receive it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub enum Event {
    /// The turn begins to run.
    #[serde(rename = "turn.start")]
    TurnStart { turn: u32, message_id: MessageId, sender: Sender, text: String },
    /// The turn waits for the language model at this position, counted from 1. Sent again when the position changes.
    #[serde(rename = "queued")]
    Queued { position: u32 },
    /// What the desk understood of the message.
    #[serde(rename = "intent")]
    Intent {
        intent: String,
        confidence: f64,
        source: IntentSource,
        #[schema(value_type = String)]
        language: Language,
        clarify_needed: bool,
        /// The part of the desk that answers, for desks that have several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        route: Option<String>,
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
    /// The sources of the reply.
    #[serde(rename = "sources")]
    Sources { items: Vec<SourceItem> },
    /// A guard removed text from the message. The event does not contain that text.
    #[serde(rename = "guard")]
    Guard { message_id: MessageId, reason: GuardReason },
    /// The language model has called a tool.
    #[serde(rename = "tool.start")]
    ToolStart { name: String },
    /// The tool has ended. `ok` is false if it returned an error to the model.
    #[serde(rename = "tool.end")]
    ToolEnd { name: String, ok: bool, ms: u64 },
    /// The turn failed. `message` is for the customer, in the customer's language.
    #[serde(rename = "error")]
    Error { code: ErrorCode, message: String, retryable: bool },
    /// The turn has ended. This is always its last event.
    #[serde(rename = "turn.done")]
    TurnDone { turn: u32, status: TurnStatus, timings_ms: Timings },
}
