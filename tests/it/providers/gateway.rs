//! The gateway's queue, breaker and probes on a real socket.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use frontdesk::providers::llm::{
    ChatModel, ChatRequest, Deltas, Gateway, LlmConfig, LlmError, ModelStatus, Phase, Reply, ToolSpec,
};
use futures_util::future::join_all;
use futures_util::{FutureExt, StreamExt, stream};
use serde_json::{Value, json};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::ollama::{SOON, gateway, question, read};
use crate::support::eventually;
use crate::support::ollama::{Play, ScriptedOllama};

/// Longer than any test.
const NEVER: Duration = Duration::from_secs(3600);

/// Returns the text of a reply, or its error.
async fn ask(gateway: &Arc<Gateway>, text: &str) -> Result<String, LlmError> {
    let (text, error) = read(gateway.stream(question(text)).await?).await;
    error.map_or(Ok(text), Err)
}

/// The last message of each chat, in order of arrival.
fn questions(ollama: &ScriptedOllama) -> Vec<String> {
    let text = |chat: &Value| chat["messages"][0]["content"].as_str().unwrap_or_default().to_owned();
    ollama.chats().iter().map(text).collect()
}

#[tokio::test]
async fn callers_queue_in_order_up_to_limit() {
    let ollama = ScriptedOllama::start().await;
    let gateway = gateway(&ollama, LlmConfig { max_concurrent: 1, queue_max: 2, ..LlmConfig::default() }).await;
    ollama.play(Play::new().says("Dạ ").stalls());
    ollama.reply("hai");
    ollama.reply("ba");

    let first = gateway.stream(question("1")).await.expect("it begins");
    let mut second = gateway.enter().expect("room in the queue");
    let mut third = gateway.enter().expect("room in the queue");
    assert_eq!(gateway.enter().err(), Some(LlmError::Overloaded));
    assert_eq!((second.waiting().await, third.waiting().await), (Some(1), Some(2)));
    assert_eq!(questions(&ollama), ["1"]);

    drop(first);
    assert_eq!((second.waiting().await, third.waiting().await), (None, Some(1)));
    // Reading the positions is optional.
    let third = tokio::spawn(async move { third.stream(question("3")).await });
    let (said, error) = read(second.stream(question("2")).await.expect("it begins")).await;
    assert_eq!((said.as_str(), error), ("hai", None));
    let (said, error) = read(third.await.expect("no panic").expect("it begins")).await;
    assert_eq!((said.as_str(), error), ("ba", None));
    assert_eq!(questions(&ollama), ["1", "2", "3"]);
}

#[tokio::test]
async fn ended_reply_frees_its_place() {
    let ollama = ScriptedOllama::start().await;
    let gateway = gateway(&ollama, LlmConfig { max_concurrent: 1, ..LlmConfig::default() }).await;
    for play in [Play::reply("Dạ"), Play::new().says("Dạ ").fails("out of memory")] {
        ollama.play(play);
        let mut kept = gateway.stream(question("1")).await.expect("it begins");
        while let Some(Ok(_)) = kept.next().await {}
        assert_eq!(gateway.enter().expect("free").waiting().await, None);
    }
}

/// A model that counts who is being answered, to the instant: what a socket tells only a moment later.
#[derive(Default)]
struct Counting {
    at_once: Arc<AtomicUsize>,
    most: AtomicUsize,
}

/// One caller being answered.
struct Answering(Arc<AtomicUsize>);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Counting {
    fn begin(&self) -> Answering {
        self.most.fetch_max(self.at_once.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        Answering(Arc::clone(&self.at_once))
    }
}

#[async_trait]
impl ChatModel for Counting {
    async fn stream(&self, request: ChatRequest) -> Result<Deltas, LlmError> {
        let answering = self.begin();
        tokio::task::yield_now().await;
        let words = ["câu ".to_owned(), request.messages[0].content.clone()];
        Ok(Box::pin(stream::iter(words).then(move |word| {
            let _being_answered = &answering;
            async { tokio::task::yield_now().await }.map(|()| Ok(word))
        })))
    }

    async fn answer(&self, _: ChatRequest, _: &Value) -> Result<Value, LlmError> {
        let _answering = self.begin();
        sleep(Duration::from_millis(2)).await;
        Ok(json!({}))
    }

    async fn call(&self, _: ChatRequest, _: &[ToolSpec]) -> Result<Reply, LlmError> {
        let _answering = self.begin();
        Ok(Reply::default())
    }

    async fn probe(&self) -> Result<ModelStatus, LlmError> {
        Ok(ModelStatus { model: "counting".to_owned(), installed: true, models: Vec::new() })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_calls_never_exceed_the_limit() {
    let model = Arc::new(Counting::default());
    let config = LlmConfig { max_concurrent: 3, queue_max: 1000, ..LlmConfig::default() };
    let gateway = Gateway::new(model.clone(), config);
    gateway.look().await.expect("it is up");
    let callers = (0..500).map(|n| {
        let gateway = Arc::clone(&gateway);
        tokio::spawn(async move {
            let ticket = gateway.enter().expect("room in the queue");
            match n % 5 {
                // Leaves the line.
                0 => drop(ticket),
                // Leaves after the first word.
                1 => {
                    let mut deltas = ticket.stream(question("x")).await.expect("it begins");
                    assert_eq!(deltas.next().await, Some(Ok("câu ".to_owned())));
                }
                // Wants JSON, and some have less patience than it takes.
                2 => drop(ticket.answer(question("x"), &json!({}), Duration::from_millis(n)).await),
                _ => {
                    let deltas = ticket.stream(question(&n.to_string())).await.expect("it begins");
                    assert_eq!(read(deltas).await, (format!("câu {n}"), None));
                }
            }
        })
    });
    for caller in join_all(callers).await {
        caller.expect("each caller gets its answer");
    }
    let most = model.most.load(Ordering::SeqCst);
    assert!((1..=3).contains(&most), "{most}");
    assert_eq!(model.at_once.load(Ordering::SeqCst), 0);
    let mut places = [(); 3].map(|()| gateway.enter().expect("free"));
    for place in &mut places {
        assert_eq!(place.waiting().await, None, "every place came back");
    }
}

#[tokio::test]
async fn waiting_call_fails_when_model_goes_down() {
    let ollama = ScriptedOllama::start().await;
    let gateway = gateway(&ollama, LlmConfig { max_concurrent: 1, ..LlmConfig::default() }).await;
    let running = gateway.enter().expect("free");
    let waiting = gateway.enter().expect("room in the queue");
    ollama.has_models(&[]);
    assert!(!gateway.look().await.expect("it answers").installed);
    drop(running);
    assert!(matches!(waiting.stream(question("chào")).await.err(), Some(LlmError::Unavailable(_))));
    assert_eq!(questions(&ollama), [""; 0]);
}

#[tokio::test]
async fn structured_answer_timeout_includes_the_queue() {
    let ollama = ScriptedOllama::start().await;
    let gateway = gateway(&ollama, LlmConfig { max_concurrent: 1, ..LlmConfig::default() }).await;
    let _running = gateway.enter().expect("free");
    let late = gateway.answer(question("chào"), &json!({}), SOON).await;
    assert_eq!(late, Err(LlmError::Timeout(Phase::Answer)));
    assert_eq!(questions(&ollama), [""; 0]);
}

#[tokio::test]
async fn consecutive_failures_open_the_breaker() {
    let ollama = ScriptedOllama::start().await;
    let config = LlmConfig { breaker_failures: 2, breaker_cool_down: NEVER, max_concurrent: 1, ..LlmConfig::default() };
    let gateway = gateway(&ollama, config).await;
    // One before the first word, one after it; a success between would have begun the count again.
    for play in [Play::new().fails("x"), Play::reply("Dạ"), Play::new().says("Dạ ").hangs_up(), Play::new().fails("x")]
    {
        ollama.play(play);
    }
    assert!(ask(&gateway, "1").await.is_err());
    assert_eq!(ask(&gateway, "2").await, Ok("Dạ".to_owned()));
    assert!(ask(&gateway, "3").await.is_err());
    assert!(gateway.is_up());

    // Somebody waits in line while the last straw falls: it must not be their turn then.
    let failing = gateway.enter().expect("free");
    let waiting = gateway.enter().expect("room in the queue");
    assert!(failing.stream(question("4")).await.is_err());
    let open = LlmError::Unavailable("the circuit breaker is open".to_owned());
    assert_eq!(waiting.stream(question("5")).await.err(), Some(open.clone()));
    assert_eq!((ask(&gateway, "6").await, gateway.is_up()), (Err(open), false));
    assert_eq!(questions(&ollama), ["1", "2", "3", "4"]);
}

#[tokio::test]
async fn successful_trial_closes_the_breaker() {
    let ollama = ScriptedOllama::start().await;
    let config = LlmConfig { breaker_failures: 2, breaker_cool_down: Duration::from_millis(1), ..LlmConfig::default() };
    let gateway = gateway(&ollama, config).await;
    for _ in 0..2 {
        ollama.play(Play::new().fails("x"));
        assert!(ask(&gateway, "fails").await.is_err());
    }
    eventually("it has cooled down", || gateway.is_up()).await;
    ollama.play(Play::new().says("Dạ ").stalls());
    let trial = gateway.enter().expect("one may try");
    let rival = gateway.enter().expect("so it looks to another");
    let mut trial = trial.stream(question("trial")).await.expect("it begins");
    assert_eq!(trial.next().await, Some(Ok("Dạ ".to_owned())));
    // Closed by the first word, while the trial still speaks; and with a clean slate: one failure does not open it.
    ollama.play(Play::new().fails("x"));
    assert_eq!(rival.stream(question("rival")).await.err(), Some(LlmError::Model("x".to_owned())));
    ollama.reply("Dạ");
    assert_eq!(ask(&gateway, "last").await, Ok("Dạ".to_owned()));
}

#[tokio::test]
async fn other_errors_do_not_open_the_breaker() {
    let ollama = ScriptedOllama::start().await;
    let config = LlmConfig { breaker_failures: 1, breaker_cool_down: NEVER, ..LlmConfig::default() };
    let gateway = gateway(&ollama, config).await;
    for play in [Play::no_such_model(), Play::busy(), Play::new().done(), Play::new().says("Dạ").done_because("length")]
    {
        ollama.play(play);
        let request = ChatRequest { model: Some("mistyped".to_owned()), ..question("chào") };
        if let Ok(deltas) = gateway.stream(request).await {
            assert_eq!(read(deltas).await.1, Some(LlmError::TooLong));
        }
        assert!(gateway.is_up());
    }
    ollama.play(Play::new().says("Dạ ").stalls());
    drop(gateway.stream(question("chào")).await);
    assert!(gateway.is_up(), "nor does a caller who leaves");
}

#[tokio::test]
async fn watch_notices_model_going_and_coming() {
    let ollama = ScriptedOllama::start().await;
    let config = LlmConfig { probe_every: Duration::from_millis(10), ..LlmConfig::default() };
    let gateway = gateway(&ollama, config).await;
    let shutdown = CancellationToken::new();
    let watch = tokio::spawn(Arc::clone(&gateway).watch(shutdown.clone()));
    for _ in 0..2 {
        ollama.set_down(true);
        eventually("it is found down", || !gateway.is_up()).await;
        ollama.set_down(false);
        eventually("it is found up", || gateway.is_up()).await;
    }
    shutdown.cancel();
    watch.await.expect("the watch ends");
}

#[tokio::test]
async fn unreachable_model_triggers_a_probe() {
    let ollama = ScriptedOllama::start().await;
    let gateway = gateway(&ollama, LlmConfig { probe_every: NEVER, ..LlmConfig::default() }).await;
    let watch = tokio::spawn(Arc::clone(&gateway).watch(CancellationToken::new()));
    ollama.set_down(true);
    assert!(matches!(ask(&gateway, "chào").await, Err(LlmError::Unavailable(_))));
    eventually("it is found down", || !gateway.is_up()).await;
    watch.abort();
}

#[tokio::test]
async fn recovered_service_resets_the_breaker() {
    let ollama = ScriptedOllama::start().await;
    let config = LlmConfig { breaker_failures: 1, breaker_cool_down: NEVER, ..LlmConfig::default() };
    let gateway = gateway(&ollama, config).await;
    ollama.set_down(true);
    assert!(ask(&gateway, "chào").await.is_err());
    assert!(gateway.look().await.is_err());
    ollama.set_down(false);
    assert!(gateway.look().await.is_ok());
    ollama.reply("Dạ");
    assert_eq!(ask(&gateway, "chào").await, Ok("Dạ".to_owned()), "though the breaker was open for an hour");
}
