//! The language model: what a desk may ask of it, and every way in which it can fail.
//!
//! - [`ChatModel`] is what a backend does; [`Ollama`] is the one there is.
//! - [`Gateway`] stands between the desks and a backend: deadlines, circuit breaker, waiting line, availability.
//!   Desks call the gateway, never a backend.
//!
//! A new backend is one file here that implements [`ChatModel`], and one line where the server is wired.

mod admission;
mod gateway;
mod lines;
mod ollama;
mod spoken;
mod tool;

use std::fmt;
use std::pin::Pin;

use async_trait::async_trait;
use futures_util::Stream;
use serde_json::Value;

use crate::domain::ErrorCode;

pub use crate::config::{LlmConfig, LlmMode};

pub use gateway::{Availability, Gateway, Ticket};
pub use ollama::{InvalidOllama, Ollama};
pub use tool::{Reply, ToolCall, ToolSpec, json_schema, tool_schema};

/// Who says a [`ChatMessage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    System,
    User,
    Assistant,
    /// What came of a tool call.
    Tool,
}

/// One message of the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessage {
    pub role: Role,
    pub content: String,
    /// The tools that the assistant called with this message.
    pub calls: Vec<ToolCall>,
    /// Whose result it is, of a tool.
    pub tool: Option<String>,
}

impl ChatMessage {
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self { role, content: content.into(), calls: Vec::new(), tool: None }
    }

    pub fn system(content: impl Into<String>) -> Self {
        Self::new(Role::System, content)
    }

    pub fn user(content: impl Into<String>) -> Self {
        Self::new(Role::User, content)
    }

    pub fn assistant(content: impl Into<String>) -> Self {
        Self::new(Role::Assistant, content)
    }

    /// What the assistant said, and the tools that it called with it.
    pub fn called(reply: Reply) -> Self {
        Self { calls: reply.calls, ..Self::new(Role::Assistant, reply.text) }
    }

    /// What came of a call of that tool.
    pub fn result(tool: impl Into<String>, content: impl Into<String>) -> Self {
        Self { tool: Some(tool.into()), ..Self::new(Role::Tool, content) }
    }
}

/// What is asked of the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatRequest {
    /// Oldest first; the system message, if any, comes first.
    pub messages: Vec<ChatMessage>,
    /// The persona's own model; `None` means [`LlmConfig::model`].
    pub model: Option<String>,
    /// 0 (always the likeliest word) to about 2; `None` means the model's own default.
    pub temperature: Option<f32>,
}

/// The pieces of an answer as they are written, none of them empty. After an `Err` there is nothing more.
///
/// Dropping it closes the connection, and the model stops writing.
pub type Deltas = Pin<Box<dyn Stream<Item = Result<String, LlmError>> + Send>>;

/// A backend that talks to a language model.
///
/// A backend never yields what the model thinks. It has no deadlines of its own but the one for connecting: those
/// are the [`Gateway`]'s.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// Starts an answer. An error here means that nothing was said.
    async fn stream(&self, request: ChatRequest) -> Result<Deltas, LlmError>;

    /// Asks for one JSON object of this JSON schema. Only that it is an object is checked: models stray from schemas,
    /// so parse it into a type.
    async fn answer(&self, request: ChatRequest, schema: &Value) -> Result<Value, LlmError>;

    /// Asks for the next thing to do with these tools: calls of them, or, having called enough, an answer. Nothing of a call is
    /// checked: models invent tools and arguments.
    async fn call(&self, request: ChatRequest, tools: &[ToolSpec]) -> Result<Reply, LlmError>;

    /// Looks whether the service answers and has the model, without making it work.
    async fn probe(&self) -> Result<ModelStatus, LlmError>;
}

/// What a backend found out about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelStatus {
    /// The configured model.
    pub model: String,
    /// Whether the service has it.
    pub installed: bool,
    /// Every model that the service has, in its own order.
    pub models: Vec<String>,
}

/// What was being waited for when the time was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Connect,
    /// The first piece of text. Thinking is no text: the customer sees nothing of it.
    FirstToken,
    BetweenTokens,
    /// The whole of a structured answer, waiting in line included.
    Answer,
    Probe,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "connecting",
            Self::FirstToken => "first token",
            Self::BetweenTokens => "between tokens",
            Self::Answer => "structured answer",
            Self::Probe => "probe",
        })
    }
}

/// Why there is no answer, or no more of it.
///
/// `Display` is for the log: it can hold the provider's words, which no customer may see. A customer gets
/// [`LlmError::code`] and a text of the persona's language.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LlmError {
    #[error("the language model took too long ({0})")]
    Timeout(Phase),
    /// Nothing answers, the breaker is open, or the model is switched off.
    #[error("the language model is not available: {0}")]
    Unavailable(String),
    /// The waiting line is full, ours or the provider's.
    #[error("too many calls wait for the language model")]
    Overloaded,
    /// The connection ended before the answer did.
    #[error("the language model's answer broke off")]
    Truncated,
    /// The model wrote as much as it may ([`LlmConfig::max_tokens`], or its context is full).
    #[error("the language model's answer reached its length limit")]
    TooLong,
    /// The answer ended well and held no text.
    #[error("the language model said nothing")]
    Empty,
    /// What came is not what this provider sends.
    #[error("the language model's answer is not understood: {0}")]
    Protocol(&'static str),
    /// A structured answer that is no JSON object. Models do that; the service is well.
    #[error("the language model's answer is no JSON object")]
    NoObject,
    /// A JSON object that does not have the type that was asked for. Models do that; the service is well.
    #[error("the answer does not fit the schema")]
    WrongType,
    /// The provider does not take this request, for instance since it has no such model.
    #[error("the language model's provider refused the request: {0}")]
    Refused(String),
    /// The model itself failed.
    #[error("the language model failed: {0}")]
    Model(String),
}

impl LlmError {
    /// The word for it on the wire.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Timeout(_) => ErrorCode::Timeout,
            Self::Unavailable(_) => ErrorCode::Unavailable,
            Self::Overloaded => ErrorCode::Overloaded,
            Self::Truncated
            | Self::TooLong
            | Self::Empty
            | Self::Protocol(_)
            | Self::NoObject
            | Self::WrongType
            | Self::Refused(_)
            | Self::Model(_) => ErrorCode::Model,
        }
    }
}
