//! Tools and JSON Schemas as a language model sees them.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    /// What it does and when to call it.
    pub description: String,
    /// The JSON Schema of its arguments: an object.
    pub parameters: Value,
}

/// A tool call that a model asks for. Neither the name nor the arguments are checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    pub name: String,
    /// Usually an object; models also send other values.
    pub arguments: Value,
}

/// A model's reply to a request that offers tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The text without thoughts; often empty when there are calls.
    pub text: String,
    /// In the model's order.
    pub calls: Vec<ToolCall>,
}

/// Returns the JSON Schema of a tool's arguments. Every value has one type: older Ollama versions refuse `["string", "null"]` there.
pub fn tool_schema<T: JsonSchema>() -> Value {
    let mut schema = json_schema::<T>();
    remove_null(&mut schema);
    schema
}

/// Returns the JSON Schema of a type, with its doc comments as descriptions.
pub fn json_schema<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft07();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("title");
    }
    schema
}

/// Removes `null` from the types of optional values, and defaults.
fn remove_null(schema: &mut Value) {
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
            fields.values_mut().for_each(remove_null);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_null),
        _ => {}
    }
}
