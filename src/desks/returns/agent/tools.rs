//! The tools that a language model may call (seed 001).
//!
//! A tool is the type of its arguments: its JSON Schema, with the doc comments as descriptions, is what the model is shown,
//! and [`Tool::run`] is what it does. A new tool is one file here and one line in [`TOOLS`].
//!
//! Whose order it is, where mails go and what is decided never comes out of the arguments.

use async_trait::async_trait;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::bench::Bench;
use crate::providers::llm::ToolSpec;

mod check_eligibility;
mod create_rma;
mod escalate_to_human;
mod generate_return_label;
mod get_order_details;
mod order_id;
mod send_email;
mod told;

pub(super) use order_id::OrderId;
use told::shown;
pub(super) use told::{Mistake, ToolError};

/// The list.
const TOOLS: [Entry; 6] = [
    entry::<get_order_details::GetOrderDetails>(),
    entry::<check_eligibility::CheckEligibility>(),
    entry::<create_rma::CreateRma>(),
    entry::<generate_return_label::GenerateReturnLabel>(),
    entry::<send_email::SendEmail>(),
    entry::<escalate_to_human::EscalateToHuman>(),
];

/// A tool, which is the type of its arguments.
#[async_trait]
pub(super) trait Tool: DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// What the model calls it.
    const NAME: &'static str;
    /// Whether it changes anything.
    const ACTS: bool;

    /// The arguments as the record keeps them: nothing in free words, and no contact data.
    fn recorded(&self) -> Value;

    /// Does it. What the model is told comes back, with seed 001's field names.
    async fn run(&self, bench: &mut Bench<'_>) -> Result<Value, ToolError>;
}

/// A call whose arguments fit.
#[async_trait]
pub(super) trait Call: Send + Sync {
    fn name(&self) -> &'static str;
    fn acts(&self) -> bool;
    fn recorded(&self) -> Value;
    async fn run(&self, bench: &mut Bench<'_>) -> Result<Value, ToolError>;
}

#[async_trait]
impl<T: Tool> Call for T {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn acts(&self) -> bool {
        T::ACTS
    }

    fn recorded(&self) -> Value {
        Tool::recorded(self)
    }

    async fn run(&self, bench: &mut Bench<'_>) -> Result<Value, ToolError> {
        Tool::run(self, bench).await
    }
}

/// What every tool does for the list.
struct Entry {
    name: &'static str,
    spec: fn() -> ToolSpec,
    parse: fn(&Value) -> Result<Box<dyn Call>, serde_json::Error>,
}

const fn entry<T: Tool>() -> Entry {
    Entry {
        name: T::NAME,
        spec: spec::<T>,
        parse: |arguments| Ok(Box::new(T::deserialize(arguments)?) as Box<dyn Call>),
    }
}

/// The names, in the order of the list.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().map(|tool| tool.name)
}

/// What the model is told of them.
pub(super) fn specs() -> Vec<ToolSpec> {
    TOOLS.iter().map(|tool| (tool.spec)()).collect()
}

/// The call that a model means.
pub(super) fn parse(name: &str, arguments: &Value) -> Result<Box<dyn Call>, Mistake> {
    let tool = TOOLS.iter().find(|tool| tool.name == name).ok_or(Mistake::UnknownTool)?;
    if !arguments.is_object() {
        return Err(Mistake::Arguments("the arguments are no JSON object".to_owned()));
    }
    (tool.parse)(arguments).map_err(|cause| Mistake::Arguments(cause.to_string()))
}

fn spec<T: Tool>() -> ToolSpec {
    let mut settings = SchemaSettings::draft07();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut parameters = settings.into_generator().into_root_schema_for::<T>().to_value();
    let description = parameters["description"].as_str().unwrap_or_default().to_owned();
    if let Some(fields) = parameters.as_object_mut() {
        fields.remove("title");
        fields.remove("description");
    }
    without_null(&mut parameters);
    ToolSpec { name: T::NAME.to_owned(), description, parameters }
}

/// Where a value may be left out, schemas allow null as well. Older Ollamas take one type only.
fn without_null(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.remove("default");
            if let Some(Value::Array(types)) = fields.get("type") {
                let only: Vec<Value> = types.iter().filter(|of| **of != "null").cloned().collect();
                if let [one] = &only[..] {
                    fields.insert("type".to_owned(), one.clone());
                }
            }
            if let Some(Value::Array(any)) = fields.get("anyOf") {
                let only: Vec<Value> = any.iter().filter(|of| of["type"] != "null").cloned().collect();
                if let [Value::Object(one)] = &only[..] {
                    let one = one.clone();
                    fields.remove("anyOf");
                    for (name, value) in one {
                        fields.entry(name).or_insert(value);
                    }
                }
            }
            if let Some(Value::Array(values)) = fields.get_mut("enum") {
                values.retain(|value| !value.is_null());
            }
            fields.values_mut().for_each(without_null);
        }
        Value::Array(items) => items.iter_mut().for_each(without_null),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
