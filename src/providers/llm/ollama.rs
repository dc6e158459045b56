//! Ollama, over its own HTTP API.
//!
//! The requests are ollama-rs's types. Both chat calls are posted here, though: its stream drops text that the network
//! cuts inside a letter and swallows error lines, and its plain call hides the HTTP status, without which "busy" cannot
//! be told from "no such model".

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
use crate::providers::address::{self, reason};
use crate::providers::{InvalidAddress, same_model};

/// The largest answer that is not streamed, in bytes.
const MAX_ANSWER: usize = 1024 * 1024;

/// How much of a provider's complaint goes into the log, in characters.
const MAX_COMPLAINT: usize = 300;

/// A client of one Ollama server.
pub struct Ollama {
    api: ollama_rs::Ollama,
    http: reqwest::Client,
    base: Url,
    model: String,
    num_ctx: u32,
    max_tokens: u32,
    keep_alive: Option<Value>,
}

/// Why there can be no client.
#[derive(Debug, thiserror::Error)]
pub enum InvalidOllama {
    #[error(transparent)]
    Address(#[from] InvalidAddress),
    #[error("no HTTP client can be made")]
    Client(#[from] reqwest::Error),
}

impl Ollama {
    /// Connects to nothing yet.
    pub fn new(config: &LlmConfig) -> Result<Self, InvalidOllama> {
        let base = address::base_url(&config.host, config.port)?;
        // A reader that hears nothing for longer than any deadline of the gateway is talking to a dead peer.
        let silence = config.first_token_timeout.max(config.between_tokens_timeout) + Duration::from_secs(5);
        let http = address::client(&base, config.connect_timeout)
            .read_timeout(silence)
            // Connecting is nothing beside an answer, and a kept connection may prove dead just when a customer waits.
            .pool_max_idle_per_host(0)
            .build()?;
        Ok(Self {
            api: ollama_rs::Ollama::builder().url(base.clone()).reqwest_client(http.clone()).build(),
            http,
            base,
            model: config.model.clone(),
            num_ctx: config.num_ctx,
            max_tokens: config.max_tokens,
            // Ollama takes seconds as a number and durations as text, and each only so.
            keep_alive: config.keep_alive.as_ref().map(|text| match text.trim().parse::<i64>() {
                Ok(seconds) => seconds.into(),
                Err(_) => text.trim().into(),
            }),
        })
    }

    /// Where the server is, to show to an operator: without a name and password that may be in it.
    pub fn address(&self) -> String {
        let origin = self.base.origin().ascii_serialization();
        format!("{origin}{}", self.base.path().trim_end_matches('/'))
    }

    /// The body of a chat call, streamed only if it asks for nothing but text.
    fn body(&self, request: ChatRequest, wanted: Wanted<'_>) -> Result<Map<String, Value>, LlmError> {
        let model = request.model.unwrap_or_else(|| self.model.clone());
        let mut options = ModelOptions::default()
            .num_ctx(u64::from(self.num_ctx))
            .num_predict(i32::try_from(self.max_tokens).unwrap_or(i32::MAX));
        if let Some(temperature) = request.temperature {
            options = options.temperature(temperature);
        }
        // gpt-oss cannot stop thinking (told to, it answers a schema with nothing), only think little. Other models are
        // left alone: those that cannot think refuse to be told how.
        let thinks_little = model.to_ascii_lowercase().starts_with("gpt-oss");
        let mut chat = ChatMessageRequest::new(model, Vec::new()).options(options);
        if thinks_little {
            chat = chat.think(ThinkType::Low);
        }
        let Ok(Value::Object(mut body)) = serde_json::to_value(chat) else {
            return Err(LlmError::Protocol("the request cannot be written as JSON"));
        };
        // ollama-rs's messages do not name the tool whose result they are.
        body.insert("messages".to_owned(), request.messages.iter().map(message).collect());
        body.insert("stream".to_owned(), matches!(wanted, Wanted::Text).into());
        match wanted {
            Wanted::Text => {}
            Wanted::Json(schema) => drop(body.insert("format".to_owned(), schema.clone())),
            // Asked without tools, a model has to answer.
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
            OllamaError::Other(body) => LlmError::Refused(complaint(body.as_bytes())),
            _ => LlmError::Protocol("the list of models is not understood"),
        })?;
        let models: Vec<String> = models.into_iter().map(|model| model.name).collect();
        let installed = models.iter().any(|name| same_model(name, &self.model));
        Ok(ModelStatus { model: self.model.clone(), installed, models })
    }
}

/// What a chat is to give.
#[derive(Clone, Copy)]
enum Wanted<'a> {
    Text,
    /// One object of this schema.
    Json(&'a Value),
    /// Calls of these tools, or text.
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
            // Ollama refuses arguments that are no object; that they were none, the tool's result says.
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

/// What was said, if it was said to its end.
fn whole<T>((said, progress): (T, Progress)) -> Result<T, LlmError> {
    match progress {
        Progress::Cut => Err(LlmError::TooLong),
        Progress::GoesOn => Err(LlmError::Truncated),
        Progress::Complete => Ok(said),
    }
}

/// The JSON object in a model's text, which may stand in a Markdown fence.
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

/// Why no response came, or no more of it.
fn unreachable(error: reqwest::Error, phase: Phase) -> LlmError {
    match (error.is_timeout(), error.is_connect()) {
        (true, true) => LlmError::Timeout(Phase::Connect),
        (true, false) => LlmError::Timeout(phase),
        (false, _) => LlmError::Unavailable(reason(&error.without_url())),
    }
}

/// What an HTTP error status means.
async fn refusal(response: Response) -> LlmError {
    let status = response.status();
    let body = read(response).await.unwrap_or_default();
    let words = format!("{} {}", status.as_u16(), complaint(&body));
    match status {
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => LlmError::Overloaded,
        StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT => LlmError::Unavailable(words),
        status if status.is_server_error() => LlmError::Model(words),
        status if status.is_redirection() => {
            LlmError::Refused(format!("{words}: redirects are not followed, set OLLAMA_HOST to the final address"))
        }
        _ => LlmError::Refused(words),
    }
}

/// The provider's words in an error's body: its `error` field, else the beginning of the text.
fn complaint(body: &[u8]) -> String {
    let json: Option<Value> = serde_json::from_slice(body).ok();
    let words = json.as_ref().and_then(|json| json.get("error")?.as_str());
    words.map_or_else(|| String::from_utf8_lossy(body), Into::into).chars().take(MAX_COMPLAINT).collect()
}

/// Reads a body of at most [`MAX_ANSWER`] bytes.
async fn read(response: Response) -> Result<Vec<u8>, LlmError> {
    match address::body(response, MAX_ANSWER).await {
        Ok(Some(body)) => Ok(body),
        Ok(None) => Err(LlmError::Protocol("the answer is longer than the limit")),
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
    fn a_request_says_what_ollama_would_otherwise_guess() {
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
    fn a_schema_is_sent_as_it_is_and_gpt_oss_still_thinks() {
        let schema = json!({"type": "object", "properties": {"z": {"type": "string"}, "a": {"type": "number"}}});
        let sent = body(LlmConfig::default(), ChatRequest::default(), Wanted::Json(&schema));
        assert_eq!(sent["format"].to_string(), schema.to_string(), "the order of its fields too");
        assert_eq!((&sent["think"], &sent["stream"], sent.get("keep_alive")), (&json!("low"), &json!(false), None));
    }

    #[test]
    fn tools_and_their_results_are_sent_as_ollama_names_them() {
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
    fn another_model_is_not_told_how_to_think() {
        let request = ChatRequest { model: Some("qwen3:8b".into()), ..ChatRequest::default() };
        let sent = body(LlmConfig { keep_alive: Some("-1".into()), ..LlmConfig::default() }, request, Wanted::Text);
        assert_eq!((&sent["model"], sent.get("think"), &sent["keep_alive"]), (&json!("qwen3:8b"), None, &json!(-1)));
    }

    #[test]
    fn an_answer_is_a_json_object_with_or_without_a_fence() {
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
    fn an_address_is_shown_without_its_password() {
        let host = "https://shop:secret@llm.shop.vn/ollama/".to_owned();
        let ollama = Ollama::new(&LlmConfig { host, ..LlmConfig::default() }).expect("a client");
        assert_eq!(ollama.address(), "https://llm.shop.vn/ollama");
    }

    #[test]
    fn a_complaint_is_short_and_in_the_providers_words() {
        assert_eq!(complaint(br#"{"error":"model 'x' not found"}"#), "model 'x' not found");
        assert_eq!(complaint("ế".repeat(1000).as_bytes()).chars().count(), MAX_COMPLAINT);
        assert_eq!(complaint(b"{\"error\":{}}"), "{\"error\":{}}");
    }
}
