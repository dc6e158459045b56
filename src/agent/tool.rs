//! Tools that a language model may call.
//!
//! A tool is the type of its arguments. Its JSON Schema, with the doc comments as descriptions, is what the model sees, and
//! [`Tool::run`] is what it does.
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::providers::llm::{ToolSpec, tool_schema};

/// Everything that a desk's tools need to run.
pub trait ToolContext: Send {
    /// Why a call fails.
    type Error: CallError;
}

/// A failed call: either the model is shown a result and may try something else, or the turn ends.
pub trait CallError: Send {
    /// The error that ends the turn.
    type Fatal;

    /// Returns the result that the model is shown.
    ///
    /// # Errors
    /// The turn cannot continue.
    fn into_result(self) -> Result<Value, Self::Fatal>;
}

/// A tool, which is the type of its arguments.
pub trait Tool<C: ToolContext>: DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// The name that the model uses.
    const NAME: &'static str;
    /// Whether the tool changes anything outside the conversation.
    const ACTS: bool;

    /// Returns the arguments for the audit log: no free text and no contact data.
    fn recorded(&self) -> Value;

    /// Runs the tool and returns the result for the model. `"success": false` in it marks a failed call.
    fn run(&self, context: &mut C) -> impl Future<Output = Result<Value, C::Error>> + Send;
}

/// A call with valid arguments: a [`Tool`] without its type.
pub trait ToolCallable<C: ToolContext>: Send + Sync {
    fn name(&self) -> &'static str;
    fn acts(&self) -> bool;
    fn recorded(&self) -> Value;
    fn run<'a>(&'a self, context: &'a mut C) -> BoxFuture<'a, Result<Value, C::Error>>;
}

impl<C: ToolContext, T: Tool<C>> ToolCallable<C> for T {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn acts(&self) -> bool {
        T::ACTS
    }

    fn recorded(&self) -> Value {
        Tool::recorded(self)
    }

    fn run<'a>(&'a self, context: &'a mut C) -> BoxFuture<'a, Result<Value, C::Error>> {
        Box::pin(Tool::run(self, context))
    }
}

/// A call that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum InvalidCall {
    #[error("there is no such tool; call one of {0}")]
    UnknownTool(String),
    #[error("{0}; send one JSON object that fits the tool's schema")]
    Arguments(String),
}

impl InvalidCall {
    /// Returns the code that the model and the receipt see.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownTool(_) => "UNKNOWN_TOOL",
            Self::Arguments(_) => "BAD_ARGUMENTS",
        }
    }

    /// Returns the result that the model is shown.
    pub fn to_tool_result(&self) -> Value {
        json!({ "success": false, "error": self.code(), "message": self.to_string() })
    }
}

type Parse<C> = fn(&Value) -> Result<Box<dyn ToolCallable<C>>, serde_json::Error>;

struct Entry<C> {
    name: &'static str,
    spec: fn() -> ToolSpec,
    parse: Parse<C>,
}

/// The tools that a desk offers.
pub struct ToolSet<C> {
    entries: Vec<Entry<C>>,
}

impl<C> Default for ToolSet<C> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<C: ToolContext> ToolSet<C> {
    /// Adds a tool.
    #[must_use]
    pub fn with<T: Tool<C>>(mut self) -> Self {
        self.entries.push(Entry {
            name: T::NAME,
            spec: || spec::<C, T>(),
            parse: |arguments| Ok(Box::new(T::deserialize(arguments)?)),
        });
        self
    }

    /// Returns the names, in the order in which the tools were added.
    pub fn names(&self) -> Vec<&'static str> {
        self.entries.iter().map(|entry| entry.name).collect()
    }

    /// Returns the descriptions for the model.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.entries.iter().map(|entry| (entry.spec)()).collect()
    }

    /// Parses a call of the model.
    pub fn parse(&self, name: &str, arguments: &Value) -> Result<Box<dyn ToolCallable<C>>, InvalidCall> {
        let entry = self.entries.iter().find(|entry| entry.name == name);
        let entry = entry.ok_or_else(|| InvalidCall::UnknownTool(self.names().join(", ")))?;
        if !arguments.is_object() {
            return Err(InvalidCall::Arguments("the arguments are not a JSON object".to_owned()));
        }
        (entry.parse)(arguments).map_err(|cause| InvalidCall::Arguments(cause.to_string()))
    }
}

fn spec<C: ToolContext, T: Tool<C>>() -> ToolSpec {
    let mut parameters = tool_schema::<T>();
    let description = parameters.as_object_mut().and_then(|fields| fields.remove("description"));
    let description = description.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
    ToolSpec { name: T::NAME.to_owned(), description, parameters }
}
