//! What Ollama can say, and what a caller of the gateway hears of it.

use std::sync::Arc;
use std::time::Duration;

use frontdesk::providers::llm::{
    Availability, ChatMessage, ChatModel, ChatRequest, Deltas, Gateway, LlmConfig, LlmError, LlmMode, Ollama, Phase,
    Reply, ToolCall,
};
use futures_util::StreamExt;
use serde_json::json;
use tokio::time::timeout;

use crate::support::ollama::{Play, ScriptedOllama};
use crate::support::{LIMIT, eventually, eventually_async};

/// Small enough to wait for, in tests where it must be over.
pub const SOON: Duration = Duration::from_millis(150);

/// Far above `SOON`, and below the HTTP client's own 65 s of silence: what takes longer was not ended by its deadline.
const BACKSTOP: Duration = Duration::from_secs(40);

/// A gateway to this server that has found it up.
pub async fn gateway(ollama: &ScriptedOllama, config: LlmConfig) -> Arc<Gateway> {
    let config = LlmConfig { host: ollama.url(), connect_timeout: LIMIT, probe_timeout: LIMIT, ..config };
    let gateway = Gateway::new(Arc::new(Ollama::new(&config).expect("a client")), config);
    assert!(gateway.look().await.expect("it answers").installed);
    gateway
}

pub fn question(text: &str) -> ChatRequest {
    ChatRequest { messages: vec![ChatMessage::user(text)], ..ChatRequest::default() }
}

/// Everything that is said, and the error that ended it.
pub async fn read(mut deltas: Deltas) -> (String, Option<LlmError>) {
    let mut text = String::new();
    while let Some(delta) = deltas.next().await {
        match delta {
            Ok(delta) => {
                assert!(!delta.is_empty(), "a delta is never empty");
                text.push_str(&delta);
            }
            Err(error) => {
                assert_eq!(deltas.next().await, None, "an error is the last item");
                return (text, Some(error));
            }
        }
    }
    (text, None)
}

/// What a caller hears of this play: text and error, or an error before any text.
async fn hears(play: Play, config: LlmConfig) -> Result<(String, Option<LlmError>), LlmError> {
    let ollama = ScriptedOllama::start().await;
    ollama.play(play);
    let gateway = gateway(&ollama, config).await;
    Ok(read(gateway.stream(question("chào")).await?).await)
}

fn whole(text: &str) -> Result<(String, Option<LlmError>), LlmError> {
    Ok((text.to_owned(), None))
}

fn cut(text: &str, error: LlmError) -> Result<(String, Option<LlmError>), LlmError> {
    Ok((text.to_owned(), Some(error)))
}

const REPLY: &str = "Dạ, ổ cứng này bảo hành 36 tháng ạ. 💖";

#[tokio::test]
async fn reply_arrives_unchanged_with_full_request() {
    let ollama = ScriptedOllama::start().await;
    ollama.reply(REPLY);
    let gateway = gateway(&ollama, LlmConfig::default()).await;
    let messages = vec![ChatMessage::system("Em là trợ lý"), ChatMessage::user("bảo hành bao lâu")];
    let request = ChatRequest { messages, temperature: Some(0.25), ..ChatRequest::default() };
    let deltas: Vec<_> = gateway.stream(request).await.expect("it begins").collect().await;
    let words: Vec<_> = REPLY.split_inclusive(' ').map(|word| Ok(word.to_owned())).collect();
    assert_eq!(deltas, words);
    assert_eq!(ollama.closed_early(), 0);
    let chats = ollama.chats();
    assert_eq!(chats.len(), 1);
    assert_eq!(chats[0]["messages"][0]["content"], "Em là trợ lý");
    assert_eq!(chats[0]["messages"][1]["role"], "user");
    assert_eq!(chats[0]["options"], json!({"num_ctx": 8192, "num_predict": 2048, "temperature": 0.25}));
    assert_eq!((&chats[0]["think"], &chats[0]["stream"]), (&json!("low"), &json!(true)));
}

#[tokio::test]
async fn reply_is_complete_across_packets() {
    let plays = [
        Play::reply(REPLY).torn_lines(),
        Play::reply(REPLY).torn_inside('ổ'),
        Play::reply(REPLY).torn_inside('💖'),
        Play::reply(REPLY).in_packets_of(1),
        Play::reply(REPLY).in_packets_of(50),
    ];
    for play in plays {
        assert_eq!(hears(play, LlmConfig::default()).await, whole(REPLY));
    }
}

#[tokio::test]
async fn thinking_is_removed() {
    let table = [
        (Play::new().thinks("bí mật của em").says("Dạ vâng").done(), whole("Dạ vâng")),
        (Play::reply("<think>bí mật </think>\n\nDạ vâng"), whole("Dạ vâng")),
        (Play::new().thinks("chỉ nghĩ thôi").done(), Err(LlmError::Empty)),
        (Play::reply("<think>chỉ nghĩ thôi"), Err(LlmError::Empty)),
    ];
    for (play, expected) in table {
        assert_eq!(hears(play, LlmConfig::default()).await, expected);
    }
}

#[tokio::test]
async fn empty_answer_is_an_error() {
    for play in [Play::new().done(), Play::reply(" \n"), Play::new().done_because("load")] {
        assert_eq!(hears(play, LlmConfig::default()).await, Err(LlmError::Empty));
    }
}

#[tokio::test]
async fn failure_before_first_text_is_an_error() {
    let protocol = |what| Err(LlmError::Protocol(what));
    let table = [
        (Play::new().fails("out of memory"), Err(LlmError::Model("out of memory".into()))),
        (Play::new().thinks("em nghĩ").fails("out of memory"), Err(LlmError::Model("out of memory".into()))),
        (Play::new(), Err(LlmError::Truncated)),
        (Play::new().hangs_up(), Err(LlmError::Truncated)),
        (Play::new().line("<html>"), protocol("a line is not valid JSON")),
        (Play::new().line(&"a".repeat(300 * 1024)), protocol("a line is longer than the limit")),
        (Play::busy(), Err(LlmError::Overloaded)),
        (Play::no_such_model(), Err(LlmError::Refused("404 model 'gpt-oss' not found".into()))),
        (Play::refuses(500, "out of memory"), Err(LlmError::Model("500 out of memory".into()))),
        (Play::refuses(502, "bad gateway"), Err(LlmError::Unavailable("502 bad gateway".into()))),
    ];
    for (play, expected) in table {
        assert_eq!(hears(play, LlmConfig::default()).await, expected);
    }
}

#[tokio::test]
async fn failure_after_first_text_keeps_it() {
    let said = || Play::new().says("Dạ em ");
    let table = [
        (said().fails("out of memory"), cut("Dạ em ", LlmError::Model("out of memory".into()))),
        (said(), cut("Dạ em ", LlmError::Truncated)),
        (said().hangs_up(), cut("Dạ em ", LlmError::Truncated)),
        (said().line("{\"message\":{\"con"), cut("Dạ em ", LlmError::Truncated)),
        (said().line("<html>"), cut("Dạ em ", LlmError::Protocol("a line is not valid JSON"))),
        (said().done_because("length"), cut("Dạ em ", LlmError::TooLong)),
    ];
    for (play, expected) in table {
        assert_eq!(hears(play, LlmConfig::default()).await, expected);
    }
}

#[tokio::test]
async fn first_text_timeout_closes_the_connection() {
    // With thoughts too: the customer sees nothing of them.
    for play in [Play::new().stalls(), Play::new().thinks("em nghĩ").stalls()] {
        let ollama = ScriptedOllama::start().await;
        ollama.play(play);
        let gateway = gateway(&ollama, LlmConfig { first_token_timeout: SOON, ..LlmConfig::default() }).await;
        let error = timeout(BACKSTOP, gateway.stream(question("chào"))).await.expect("ended by its deadline").err();
        assert_eq!(error, Some(LlmError::Timeout(Phase::FirstToken)));
        eventually("the model's connection is closed", || ollama.closed_early() == 1).await;
    }
}

#[tokio::test]
async fn timeout_between_texts_closes_the_connection() {
    let ollama = ScriptedOllama::start().await;
    ollama.play(Play::new().says("Dạ em ").stalls());
    let gateway = gateway(&ollama, LlmConfig { between_tokens_timeout: SOON, ..LlmConfig::default() }).await;
    let mut deltas = gateway.stream(question("chào")).await.expect("it begins");
    assert_eq!(deltas.next().await, Some(Ok("Dạ ".into())));
    let mut last = None;
    while let Some(delta) = timeout(BACKSTOP, deltas.next()).await.expect("ended by its deadline") {
        last = Some(delta);
    }
    assert_eq!(last, Some(Err(LlmError::Timeout(Phase::BetweenTokens))));
    // The stream is still held here: its connection must not be.
    eventually("the model's connection is closed", || ollama.closed_early() == 1).await;
}

#[tokio::test]
async fn long_reply_may_exceed_every_timeout() {
    let text = "từ ".repeat(50);
    let mut heard = Err(LlmError::Empty);
    // On a slow machine, a single pause may exceed a short timeout.
    for deadline in [2, 20, 200].map(Duration::from_secs) {
        let config =
            LlmConfig { first_token_timeout: deadline, between_tokens_timeout: deadline, ..LlmConfig::default() };
        heard = hears(Play::reply(&text).paced(deadline / 40), config).await;
        if heard == whole(&text) {
            break;
        }
    }
    assert_eq!(heard, whole(&text));
}

#[tokio::test]
async fn dropping_a_reply_stops_the_model() {
    let ollama = ScriptedOllama::start().await;
    let gateway = gateway(&ollama, LlmConfig::default()).await;

    ollama.play(Play::new().says("Dạ ").stalls());
    let mut deltas = gateway.stream(question("một")).await.expect("it begins");
    assert_eq!(deltas.next().await, Some(Ok("Dạ ".into())));
    drop(deltas);
    eventually("left between words", || ollama.closed_early() == 1).await;

    ollama.play(Play::new().stalls());
    let waiting = tokio::spawn({
        let gateway = Arc::clone(&gateway);
        async move { gateway.stream(question("hai")).await.map(drop) }
    });
    eventually("it is asked", || ollama.chats().len() == 2).await;
    waiting.abort();
    eventually("left before the first word", || ollama.closed_early() == 2).await;
}

#[tokio::test]
async fn structured_answer_is_a_json_object() {
    let ollama = ScriptedOllama::start().await;
    let gateway = gateway(&ollama, LlmConfig::default()).await;
    let schema = json!({"type": "object", "properties": {"intent": {"type": "string"}}, "required": ["intent"]});
    let ask = || gateway.answer(question("bh ABC123"), &schema, Duration::from_secs(60));

    ollama.classify(&json!({"intent": "warranty"}));
    assert_eq!(ask().await, Ok(json!({"intent": "warranty"})));
    let chats = ollama.chats();
    assert_eq!((&chats[0]["format"], &chats[0]["stream"], &chats[0]["think"]), (&schema, &json!(false), &json!("low")));

    let table = [
        (Play::answer("```json\n{\"intent\":\"x\"}\n```"), Ok(json!({"intent": "x"}))),
        (Play::answer("{\"intent\":\"ổ cứng\"}").torn_inside('ổ'), Ok(json!({"intent": "ổ cứng"}))),
        (Play::answer("{\"in\\u0000tent\":[\"x\u{202e}\\u0007\"]}"), Ok(json!({"intent": ["x"]}))),
        (Play::answer("Dạ, đó là bảo hành"), Err(LlmError::NoObject)),
        (Play::answer("[1]"), Err(LlmError::NoObject)),
        (Play::answer(""), Err(LlmError::Empty)),
        (Play::new().thinks("hm").done_because("length"), Err(LlmError::Protocol("a line is not valid JSON"))),
        (Play::new().done_because("length"), Err(LlmError::TooLong)),
        (Play::new().line("{\"done\":false}"), Err(LlmError::Truncated)),
        (Play::new().hangs_up(), Err(LlmError::Truncated)),
        (Play::busy(), Err(LlmError::Overloaded)),
        (Play::refuses(200, "out of memory"), Err(LlmError::Model("out of memory".into()))),
        (Play::answer(&"a".repeat(2 * 1024 * 1024)), Err(LlmError::Protocol("the response is longer than the limit"))),
    ];
    for (play, expected) in table {
        ollama.play_answer(play);
        assert_eq!(ask().await, expected);
    }
}

#[tokio::test]
async fn structured_answer_timeout_is_not_a_failure() {
    let ollama = ScriptedOllama::start().await;
    let gateway = gateway(&ollama, LlmConfig { breaker_failures: 1, ..LlmConfig::default() }).await;
    ollama.play_answer(Play::new().stalls());
    let late = gateway.answer(question("chào"), &json!({"type": "object"}), SOON).await;
    assert_eq!(late, Err(LlmError::Timeout(Phase::Answer)));
    eventually("the model's connection is closed", || ollama.closed_early() == 1).await;
    assert!(gateway.is_up());
}

#[tokio::test]
async fn unreachable_ollama_is_unavailable() {
    let ollama = ScriptedOllama::start().await;
    let config = LlmConfig { host: ollama.url(), ..LlmConfig::default() };
    let found = gateway(&ollama, config).await;
    drop(ollama);
    // The listener goes with its task, which ends soon.
    eventually_async("the server is gone", async || matches!(found.look().await, Err(LlmError::Unavailable(_)))).await;
    assert_eq!(found.availability(), Availability::Down);
    assert!(matches!(found.stream(question("chào")).await.err(), Some(LlmError::Unavailable(_))));
}

#[tokio::test]
async fn unaccepted_connection_times_out() {
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.bind("127.0.0.1:0".parse().expect("an address")).expect("a free port");
    let listener = socket.listen(1).expect("it listens");
    let address = listener.local_addr().expect("an address");
    // Nobody accepts; once the kernel's own queue is full, a connection attempt hears nothing.
    let mut held = Vec::new();
    while let Ok(Ok(stream)) = timeout(Duration::from_secs(2), tokio::net::TcpStream::connect(address)).await {
        held.push(stream);
    }
    let config = LlmConfig { host: address.to_string(), connect_timeout: SOON, ..LlmConfig::default() };
    let ollama = Ollama::new(&config).expect("a client");
    // The kernel itself gives up after half a minute.
    let tried = timeout(Duration::from_secs(20), ollama.stream(question("chào"))).await.expect("ended by its deadline");
    assert_eq!(tried.err(), Some(LlmError::Timeout(Phase::Connect)));
}

#[tokio::test]
async fn missing_model_is_not_up() {
    let ollama = ScriptedOllama::start().await;
    ollama.has_models(&["llama3:8b", "gpt-oss:120b"]);
    let config = LlmConfig { host: ollama.url(), probe_timeout: LIMIT, ..LlmConfig::default() };
    let gateway = Gateway::new(Arc::new(Ollama::new(&config).expect("a client")), config);
    let status = gateway.look().await.expect("it answers");
    assert_eq!((status.installed, status.models.len()), (false, 2));
    assert_eq!((gateway.availability(), gateway.is_up()), (Availability::ModelMissing, false));
    assert!(matches!(gateway.enter().err(), Some(LlmError::Unavailable(_))));
}

#[tokio::test]
async fn offline_mode_sends_no_requests() {
    let ollama = ScriptedOllama::start().await;
    let config = LlmConfig { host: ollama.url(), mode: LlmMode::Offline, ..LlmConfig::default() };
    let gateway = Gateway::new(Arc::new(Ollama::new(&config).expect("a client")), config);
    assert!(matches!(gateway.look().await, Err(LlmError::Unavailable(_))));
    assert!(matches!(gateway.stream(question("chào")).await.err(), Some(LlmError::Unavailable(_))));
    Arc::clone(&gateway).watch(Default::default()).await;
    assert_eq!((gateway.availability(), gateway.is_up()), (Availability::Offline, false));
    assert_eq!(ollama.asked(), []);
}

#[tokio::test]
async fn every_tool_call_outcome_is_handled() {
    let call = |arguments| ToolCall { name: "find".to_owned(), arguments };
    let reply = |text: &str, calls| Reply { text: text.to_owned(), calls };
    for (play, expected) in [
        (Play::calls(&[("find", json!({"id": 1}))]), Ok(reply("", vec![call(json!({"id": 1}))]))),
        (
            Play::calls(&[("fi\0nd", json!({"i\u{7}d": ["\u{202e}7"]}))]),
            Ok(reply("", vec![call(json!({"id": ["7"]}))])),
        ),
        (Play::answer("<think>which one?</think>\nHere it is."), Ok(reply("Here it is.", vec![]))),
        (Play::answer("<think>never said"), Ok(reply("", vec![]))),
        (Play::refuses(500, "out of memory"), Err(LlmError::Model("500 out of memory".to_owned()))),
        (
            Play::refuses(400, "gemma does not support tools"),
            Err(LlmError::Refused("400 gemma does not support tools".to_owned())),
        ),
        (Play::busy(), Err(LlmError::Overloaded)),
        (Play::new().hangs_up(), Err(LlmError::Truncated)),
        (
            Play::new().line("{\"message\":{\"content\":\"cut\"},\"done\":true,\"done_reason\":\"length\"}"),
            Err(LlmError::TooLong),
        ),
        (Play::new().stalls(), Err(LlmError::Timeout(Phase::Answer))),
    ] {
        let ollama = ScriptedOllama::start().await;
        ollama.play_call(play.clone());
        let gateway = gateway(&ollama, LlmConfig::default()).await;
        let within = if expected == Err(LlmError::Timeout(Phase::Answer)) { SOON } else { BACKSTOP };
        let heard = gateway.enter().expect("it is up").call(question("77893?"), &[], within).await;
        assert_eq!(heard, expected, "{play:?}");
    }
}
