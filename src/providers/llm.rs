//! The language model: requests, responses and errors.
//!
//! - [`ChatModel`] is the trait of backends, and [`Ollama`] implements it.
//! - [`Gateway`] wraps a backend with a queue, timeouts, a circuit breaker and availability. Desks call the gateway, never a
//!   backend.
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

/// The author of a [`ChatMessage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    System,
    User,
    Assistant,
    /// The result of a tool call.
    Tool,
}

/// One message of the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessage {
    pub role: Role,
    pub content: String,
    /// The assistant's tool calls.
    pub calls: Vec<ToolCall>,
    /// The tool, for a tool's result.
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

    /// Creates the assistant's message from its reply with tool calls.
    pub fn called(reply: Reply) -> Self {
        Self { calls: reply.calls, ..Self::new(Role::Assistant, reply.text) }
    }

    /// Creates the result of a tool call.
    pub fn result(tool: impl Into<String>, content: impl Into<String>) -> Self {
        Self { tool: Some(tool.into()), ..Self::new(Role::Tool, content) }
    }
}

/// A request to the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatRequest {
    /// Oldest first; the system message, if any, comes first.
    pub messages: Vec<ChatMessage>,
    /// The persona's model; `None` means [`LlmConfig::model`].
    pub model: Option<String>,
    /// 0 (deterministic) to about 2; `None` means the model's default.
    pub temperature: Option<f32>,
}

/// A stream of non-empty pieces of an answer. An `Err` is the last item.
///
/// Dropping it closes the connection, which stops the model.
pub type Deltas = Pin<Box<dyn Stream<Item = Result<String, LlmError>> + Send>>;

/// A language model backend.
///
/// A backend never yields the model's thinking. Apart from connecting, timeouts are up to the [`Gateway`].
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// Starts an answer. Fails if there is no text at all.
    async fn stream(&self, request: ChatRequest) -> Result<Deltas, LlmError>;

    /// Requests a JSON object. The result is not validated against the schema, which models may violate, so parse it into a type.
    async fn answer(&self, request: ChatRequest, schema: &Value) -> Result<Value, LlmError>;

    /// Requests tool calls or an answer. Calls are not validated: models may invent tools and arguments.
    async fn call(&self, request: ChatRequest, tools: &[ToolSpec]) -> Result<Reply, LlmError>;

    /// Checks whether the service answers and has the model, without loading it.
    async fn probe(&self) -> Result<ModelStatus, LlmError>;
}

/// The result of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelStatus {
    /// The configured model.
    pub model: String,
    /// Whether the service has it.
    pub installed: bool,
    /// All models of the service, in its order.
    pub models: Vec<String>,
}

/// What timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Connect,
    /// The first text for the customer. Thinking does not count.
    FirstToken,
    BetweenTokens,
    /// A complete structured answer, including waiting in the queue.
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

/// Why an answer failed or ended early.
///
/// `Display` is for the log, since it can contain the provider's error text. Customers get [`LlmError::code`] and a text in their
/// language.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LlmError {
    #[error("the language model took too long ({0})")]
    Timeout(Phase),
    /// The service does not answer, the breaker is open, or the model is disabled.
    #[error("the language model is not available: {0}")]
    Unavailable(String),
    /// The queue is full, here or at the provider.
    #[error("too many calls are waiting for the language model")]
    Overloaded,
    /// The connection ended before the answer.
    #[error("the language model's answer was interrupted")]
    Truncated,
    /// The answer reached [`LlmConfig::max_tokens`], or the context is full.
    #[error("the language model's answer reached its length limit")]
    TooLong,
    /// The answer is complete but has no text.
    #[error("the language model's answer is empty")]
    Empty,
    /// The response has an unexpected format.
    #[error("the language model's response is not valid: {0}")]
    Protocol(&'static str),
    /// A structured answer is not a JSON object, which is the model's error rather than the service's.
    #[error("the language model's answer is not a JSON object")]
    NoObject,
    /// The answer is a JSON object of another type than requested, which is the model's error.
    #[error("the answer does not fit the schema")]
    WrongType,
    /// The answer is in another language than the customer's, which is the model's error.
    #[error("the language model's answer is in another language")]
    WrongLanguage,
    /// The provider refuses the request, for example because it does not have the model.
    #[error("the language model's provider refused the request: {0}")]
    Refused(String),
    /// The model itself failed.
    #[error("the language model failed: {0}")]
    Model(String),
}

impl LlmError {
    /// Returns the error code on the wire.
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
            | Self::WrongLanguage
            | Self::Refused(_)
            | Self::Model(_) => ErrorCode::Model,
        }
    }
}
