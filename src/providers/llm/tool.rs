//! Tools, as a language model sees them.

use serde_json::Value;

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    /// What it does and when to call it, for the model.
    pub description: String,
    /// The JSON Schema of its arguments: an object.
    pub parameters: Value,
}

/// A model wants a tool called. Neither the name nor the arguments need be any that there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    pub name: String,
    /// An object, unless the model sent something that is none.
    pub arguments: Value,
}

/// What a model says where it may call tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Without thoughts; often empty beside calls.
    pub text: String,
    /// In the model's order.
    pub calls: Vec<ToolCall>,
}
