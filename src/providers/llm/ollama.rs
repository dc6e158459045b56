//! The language model backend for Ollama's HTTP API.
//!
//! Uses the request types of ollama-rs, but sends chat requests itself: the crate's stream drops letters that are split across
//! packets and ignores error lines, and its plain call hides the HTTP status, which distinguishes a busy server from a missing
//! model.

use std::io;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::TryStreamExt;
use ollama_rs::error::OllamaError;
use ollama_rs::generation::chat::request::ChatMessageRequest;
use ollama_rs::generation::parameters::ThinkType;
use ollama_rs::models::ModelOptions;
use reqwest::{Response, StatusCode, Url};
use serde_json::{Map, Value, json};

use super::lines::{self, Allowance, Progress};
use super::{
    ChatMessage, ChatModel, ChatRequest, Deltas, LlmConfig, LlmError, ModelStatus, Phase, Reply, Role, ToolCall,
    ToolSpec,
};
use crate::providers::address::{self, reason, shortened};
use crate::providers::{InvalidAddress, same_model};

/// The maximum size of an answer without streaming, in bytes.
const MAX_ANSWER: usize = 1024 * 1024;

/// How long a connection is kept for the next call of a turn. Servers keep theirs longer: a call fails if the server closes the connection
/// at the same moment.
const IDLE_TIMEOUT: Duration = Duration::from_secs(3);

/// A client of an Ollama server.
pub struct Ollama {
    api: ollama_rs::Ollama,
    http: reqwest::Client,
    base: Url,
    model: String,
    num_ctx: u32,
    max_tokens: u32,
    keep_alive: Option<Value>,
}

/// Why a client cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum InvalidOllama {
    #[error(transparent)]
    Address(#[from] InvalidAddress),
    #[error("cannot create an HTTP client")]
    Client(#[from] reqwest::Error),
}

impl Ollama {
    /// Does not connect yet.
    pub fn new(config: &LlmConfig) -> Result<Self, InvalidOllama> {
        let base = address::base_url(&config.host, config.port)?;
        let http = address::client(&base, config.connect_timeout).pool_idle_timeout(IDLE_TIMEOUT).build()?;
        Ok(Self {
            api: ollama_rs::Ollama::builder().url(base.clone()).reqwest_client(http.clone()).build(),
            http,
            base,
            model: config.model.clone(),
            num_ctx: config.num_ctx,
            max_tokens: config.max_tokens,
            // Ollama requires seconds as a number and durations as a string.
            keep_alive: config.keep_alive.as_ref().map(|text| match text.trim().parse::<i64>() {
                Ok(seconds) => seconds.into(),
                Err(_) => text.trim().into(),
            }),
        })
    }

    /// Returns the server's address for display, without credentials.
    pub fn address(&self) -> String {
        let origin = self.base.origin().ascii_serialization();
        format!("{origin}{}", self.base.path().trim_end_matches('/'))
    }

    /// Creates the body of a chat request. Only text is streamed.
    fn body(&self, request: ChatRequest, wanted: Wanted<'_>) -> Result<Map<String, Value>, LlmError> {
        let model = request.model.unwrap_or_else(|| self.model.clone());
        let mut options = ModelOptions::default()
            .num_ctx(u64::from(self.num_ctx))
            .num_predict(i32::try_from(self.max_tokens).unwrap_or(i32::MAX));
        if let Some(temperature) = request.temperature {
            options = options.temperature(temperature);
        }
        // gpt-oss cannot turn thinking off: with `think: false` it answers a schema with an empty text. Models that cannot think
        // reject the option.
        let thinks_little = model.to_ascii_lowercase().starts_with("gpt-oss");
        let mut chat = ChatMessageRequest::new(model, Vec::new()).options(options);
        if thinks_little {
            chat = chat.think(ThinkType::Low);
        }
        let Ok(Value::Object(mut body)) = serde_json::to_value(chat) else {
            return Err(LlmError::Protocol("cannot serialize the request"));
        };
        // The messages of ollama-rs lack the tool's name.
        body.insert("messages".to_owned(), request.messages.iter().map(message).collect());
        body.insert("stream".to_owned(), matches!(wanted, Wanted::Text).into());
        match wanted {
            Wanted::Text => {}
            Wanted::Json(schema) => drop(body.insert("format".to_owned(), schema.clone())),
            // Without tools, the model must answer.
            Wanted::Calls([]) => {}
            Wanted::Calls(tools) => drop(body.insert("tools".to_owned(), tools.iter().map(tool).collect())),
        }
        if let Some(keep_alive) = &self.keep_alive {
            body.insert("keep_alive".to_owned(), keep_alive.clone());
        }
        Ok(body)
    }

    fn allowance(&self) -> Allowance {
        Allowance::of_tokens(self.max_tokens)
    }

    async fn chat(&self, request: ChatRequest, wanted: Wanted<'_>, phase: Phase) -> Result<Response, LlmError> {
        let body = self.body(request, wanted)?;
        let url = format!("{}api/chat", self.base);
        let sent = self.http.post(url).json(&body).send().await;
        let response = sent.map_err(|error| unreachable(error, phase))?;
        if response.status().is_success() { Ok(response) } else { Err(refusal(response).await) }
    }
}

#[async_trait]
impl ChatModel for Ollama {
    async fn stream(&self, request: ChatRequest) -> Result<Deltas, LlmError> {
        let response = self.chat(request, Wanted::Text, Phase::FirstToken).await?;
        let body = response.bytes_stream().map_err(|error| match error.is_timeout() {
            true => io::Error::new(io::ErrorKind::TimedOut, error),
            false => io::Error::other(error),
        });
        Ok(lines::deltas(body, self.allowance()))
    }

    async fn answer(&self, request: ChatRequest, schema: &Value) -> Result<Value, LlmError> {
        let response = self.chat(request, Wanted::Json(schema), Phase::Answer).await?;
        let body = read(response).await?;
        object(&whole(lines::parse(&body, &mut self.allowance())?)?)
    }

    async fn call(&self, request: ChatRequest, tools: &[ToolSpec]) -> Result<Reply, LlmError> {
        let response = self.chat(request, Wanted::Calls(tools), Phase::Answer).await?;
        let body = read(response).await?;
        whole(lines::parse_reply(&body, &mut self.allowance())?)
    }

    async fn probe(&self) -> Result<ModelStatus, LlmError> {
        let models = self.api.list_local_models().await.map_err(|error| match error {
            OllamaError::ReqwestError(error) => unreachable(error, Phase::Probe),
            OllamaError::Other(body) => LlmError::Refused(error_text(body.as_bytes())),
            _ => LlmError::Protocol("the list of models has an unknown format"),
        })?;
        let models: Vec<String> = models.into_iter().map(|model| model.name).collect();
        let installed = models.iter().any(|name| same_model(name, &self.model));
        Ok(ModelStatus { model: self.model.clone(), installed, models })
    }
}

/// The kind of answer that is requested.
#[derive(Clone, Copy)]
enum Wanted<'a> {
    Text,
    /// A JSON object.
    Json(&'a Value),
    /// Tool calls or text.
    Calls(&'a [ToolSpec]),
}

fn message(message: &ChatMessage) -> Value {
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    let mut body = json!({ "role": role, "content": message.content });
    if !message.calls.is_empty() {
        let call = |call: &ToolCall| {
            // Ollama rejects arguments that are not an object. The tool's result reports the error to the model.
            let arguments = if call.arguments.is_object() { call.arguments.clone() } else { json!({}) };
            json!({ "function": { "name": call.name, "arguments": arguments } })
        };
        body["tool_calls"] = message.calls.iter().map(call).collect();
    }
    if let Some(tool) = &message.tool {
        body["tool_name"] = tool.as_str().into();
    }
    body
}

fn tool(tool: &ToolSpec) -> Value {
    let ToolSpec { name, description, parameters } = tool;
    json!({
        "type": "function",
        "function": { "name": name, "description": description, "parameters": parameters },
    })
}

/// Returns a complete answer, or the error of an incomplete one.
fn whole<T>((said, progress): (T, Progress)) -> Result<T, LlmError> {
    match progress {
        Progress::Cut => Err(LlmError::TooLong),
        Progress::Incomplete => Err(LlmError::Truncated),
        Progress::Complete => Ok(said),
    }
}

/// Parses the JSON object in a model's text, with or without a Markdown fence.
fn object(text: &str) -> Result<Value, LlmError> {
    let text = text.trim();
    let inside = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let json = inside.map_or(text, |inside| inside.trim_start_matches(|c: char| c.is_ascii_alphanumeric()));
    if json.trim().is_empty() {
        return Err(LlmError::Empty);
    }
    match serde_json::from_str(json) {
        Ok(Value::Object(object)) => Ok(Value::Object(object)),
        _ => Err(LlmError::NoObject),
    }
}

/// Maps a failed request to an error.
fn unreachable(error: reqwest::Error, phase: Phase) -> LlmError {
    match (error.is_timeout(), error.is_connect()) {
        (true, true) => LlmError::Timeout(Phase::Connect),
        (true, false) => LlmError::Timeout(phase),
        (false, _) => LlmError::Unavailable(reason(error)),
    }
}

/// Maps an HTTP error status to an error.
async fn refusal(response: Response) -> LlmError {
    let status = response.status();
    let body = read(response).await.unwrap_or_default();
    let text = format!("{} {}", status.as_u16(), error_text(&body));
    match status {
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => LlmError::Overloaded,
        StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT => LlmError::Unavailable(text),
        status if status.is_server_error() => LlmError::Model(text),
        status if status.is_redirection() => {
            LlmError::Refused(format!("{text}: redirects are not followed, set OLLAMA_HOST to the final address"))
        }
        _ => LlmError::Refused(text),
    }
}

/// Returns the `error` field of an error's body, else the start of the body.
fn error_text(body: &[u8]) -> String {
    let json: Option<Value> = serde_json::from_slice(body).ok();
    let error = json.as_ref().and_then(|json| json.get("error")?.as_str());
    shortened(&error.map_or_else(|| String::from_utf8_lossy(body), Into::into))
}

/// Reads a body of at most [`MAX_ANSWER`] bytes.
async fn read(response: Response) -> Result<Vec<u8>, LlmError> {
    match address::body(response, MAX_ANSWER).await {
        Ok(Some(body)) => Ok(body),
        Ok(None) => Err(LlmError::Protocol("the response is longer than the limit")),
        Err(error) if error.is_timeout() => Err(LlmError::Timeout(Phase::Answer)),
        Err(_) => Err(LlmError::Truncated),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::providers::llm::ChatMessage;

    fn body(config: LlmConfig, request: ChatRequest, wanted: Wanted<'_>) -> Value {
        Ollama::new(&config).expect("a client").body(request, wanted).expect("a body").into()
    }

    #[test]
    fn request_sets_explicit_options() {
        let messages =
            vec![ChatMessage::system("Em là trợ lý"), ChatMessage::user("Chào"), ChatMessage::assistant("Dạ")];
        let request = ChatRequest { messages, model: None, temperature: Some(0.5) };
        let sent = body(LlmConfig { keep_alive: Some("30m".into()), ..LlmConfig::default() }, request, Wanted::Text);
        let roles: Vec<_> = sent["messages"].as_array().expect("messages").iter().map(|m| &m["role"]).collect();
        assert_eq!(roles, ["system", "user", "assistant"]);
        assert_eq!(sent["messages"][0]["content"], "Em là trợ lý");
        assert_eq!(sent["options"], json!({"num_ctx": 8192, "num_predict": 2048, "temperature": 0.5}));
        assert_eq!((&sent["model"], &sent["stream"]), (&json!("gpt-oss"), &json!(true)));
        assert_eq!((&sent["think"], &sent["keep_alive"], sent.get("format")), (&json!("low"), &json!("30m"), None));
    }

    #[test]
    fn schema_is_sent_unchanged() {
        let schema = json!({"type": "object", "properties": {"z": {"type": "string"}, "a": {"type": "number"}}});
        let sent = body(LlmConfig::default(), ChatRequest::default(), Wanted::Json(&schema));
        assert_eq!(sent["format"].to_string(), schema.to_string(), "the order of its fields too");
        assert_eq!((&sent["think"], &sent["stream"], sent.get("keep_alive")), (&json!("low"), &json!(false), None));
    }

    #[test]
    fn tools_and_results_use_ollamas_format() {
        let call = |arguments| ToolCall { name: "find".into(), arguments };
        let calls = vec![call(json!({"id": "77893"})), call(json!("77893"))];
        let messages = vec![
            ChatMessage::called(Reply { text: String::new(), calls }),
            ChatMessage::result("find", "{\"found\":true}"),
        ];
        let request = ChatRequest { messages, model: None, temperature: Some(0.0) };
        let parameters = json!({"type": "object", "properties": {"id": {"type": "string"}}});
        let spec = ToolSpec { name: "find".into(), description: "Finds.".into(), parameters: parameters.clone() };
        let sent = body(LlmConfig::default(), request.clone(), Wanted::Calls(&[spec]));
        let function = |arguments: Value| json!({"function": {"name": "find", "arguments": arguments}});
        assert_eq!(
            sent["messages"],
            json!([
                {"role": "assistant", "content": "", "tool_calls": [function(json!({"id": "77893"})), function(json!({}))]},
                {"role": "tool", "content": "{\"found\":true}", "tool_name": "find"},
            ])
        );
        let function = json!({"name": "find", "description": "Finds.", "parameters": parameters});
        assert_eq!(sent["tools"], json!([{"type": "function", "function": function}]));
        assert_eq!((&sent["stream"], &sent["options"]["temperature"]), (&json!(false), &json!(0.0)));
        let last = body(LlmConfig::default(), request, Wanted::Calls(&[]));
        assert_eq!((last.get("tools"), &last["stream"]), (None, &json!(false)));
    }

    #[test]
    fn other_models_get_no_think_option() {
        let request = ChatRequest { model: Some("qwen3:8b".into()), ..ChatRequest::default() };
        let sent = body(LlmConfig { keep_alive: Some("-1".into()), ..LlmConfig::default() }, request, Wanted::Text);
        assert_eq!((&sent["model"], sent.get("think"), &sent["keep_alive"]), (&json!("qwen3:8b"), None, &json!(-1)));
    }

    #[test]
    fn answer_is_an_object_with_optional_fence() {
        for text in
            ["{\"a\":1}", " {\"a\":1}\n", "```json\n{\"a\":1}\n```", "```\n{\"a\":1}```", "```JSON {\"a\":1} ```\n"]
        {
            assert_eq!(object(text), Ok(json!({"a": 1})), "{text:?}");
        }
        for text in ["[1]", "1", "null", "{\"a\":1", "Dạ {\"a\":1}", "```{\"a\":1}"] {
            assert_eq!(object(text), Err(LlmError::NoObject), "{text:?}");
        }
        for text in ["", " \n", "```json\n```"] {
            assert_eq!(object(text), Err(LlmError::Empty), "{text:?}");
        }
    }

    #[test]
    fn address_omits_credentials() {
        let host = "https://shop:secret@llm.shop.vn/ollama/".to_owned();
        let ollama = Ollama::new(&LlmConfig { host, ..LlmConfig::default() }).expect("a client");
        assert_eq!(ollama.address(), "https://llm.shop.vn/ollama");
    }

    #[test]
    fn provider_errors_are_shortened() {
        assert_eq!(error_text(br#"{"error":"model 'x' not found"}"#), "model 'x' not found");
        assert_eq!(error_text("ế".repeat(1000).as_bytes()).chars().count(), address::MAX_ERROR);
        assert_eq!(error_text(b"{\"error\":{}}"), "{\"error\":{}}");
    }
}
