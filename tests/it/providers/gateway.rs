//! The gateway's line, breaker and watch, in front of a real socket.

use std::sync::Arc;
use std::time::Duration;

use frontdesk::providers::llm::{ChatRequest, Gateway, LlmConfig, LlmError};
use futures_util::StreamExt;
use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use super::ollama::{gateway, question, read};
use crate::support::eventually;
use crate::support::ollama::{Play, ScriptedOllama};

/// Longer than any test.
const NEVER: Duration = Duration::from_secs(3600);

/// What a caller hears, as far as a test of the line cares.
async fn ask(gateway: &Arc<Gateway>, text: &str) -> Result<String, LlmError> {
    let (text, error) = read(gateway.stream(question(text)).await?).await;
    error.map_or(Ok(text), Err)
}

/// The last message of each chat, in order of arrival.
fn questions(ollama: &ScriptedOllama) -> Vec<String> {
    let text = |chat: &serde_json::Value| chat["messages"][0]["content"].as_str().unwrap_or_default().to_owned();
    ollama.chats().iter().map(text).collect()
}

#[tokio::test]
async fn callers_wait_in_order_see_their_position_and_are_refused_when_the_line_is_full() {
    let ollama = ScriptedOllama::start().await;
    let gateway = gateway(&ollama, LlmConfig { max_concurrent: 1, queue_max: 2, ..LlmConfig::default() }).await;
    ollama.play(Play::new().says("Dạ ").stalls());
    ollama.reply("hai");
    ollama.reply("ba");

    let first = gateway.stream(question("1")).await.expect("it begins");
    let mut second = gateway.enter().expect("room in the line");
    let mut third = gateway.enter().expect("room in the line");
    assert_eq!(gateway.enter().err(), Some(LlmError::Overloaded));
    assert_eq!((second.waiting().await, third.waiting().await), (Some(1), Some(2)));
    assert_eq!(questions(&ollama), ["1"]);

    drop(first);
    assert_eq!((second.waiting().await, third.waiting().await), (None, Some(1)));
    // Whoever shows no positions need not ask for them.
    let third = tokio::spawn(async move { third.stream(question("3")).await });
    let (said, error) = read(second.stream(question("2")).await.expect("it begins")).await;
    assert_eq!((said.as_str(), error), ("hai", None));
    let (said, error) = read(third.await.expect("no panic").expect("it begins")).await;
    assert_eq!((said.as_str(), error), ("ba", None));
    assert_eq!(questions(&ollama), ["1", "2", "3"]);
}

#[tokio::test]
async fn a_caller_who_leaves_the_line_lets_the_others_move_up() {
    let ollama = ScriptedOllama::start().await;
    let gateway = gateway(&ollama, LlmConfig { max_concurrent: 1, ..LlmConfig::default() }).await;
    let running = gateway.enter().expect("free");
    let leaving = gateway.enter().expect("room in the line");
    let mut last = gateway.enter().expect("room in the line");
    assert_eq!(last.waiting().await, Some(2));
    drop(leaving);
    assert_eq!(last.waiting().await, Some(1));
    drop(running);
    assert_eq!(last.waiting().await, None);
}

#[tokio::test]
async fn a_reply_that_has_ended_gives_its_place_back_even_if_it_is_kept() {
    let ollama = ScriptedOllama::start().await;
    let gateway = gateway(&ollama, LlmConfig { max_concurrent: 1, ..LlmConfig::default() }).await;
    for play in [Play::reply("Dạ"), Play::new().says("Dạ ").fails("out of memory")] {
        ollama.play(play);
        let mut kept = gateway.stream(question("1")).await.expect("it begins");
        while let Some(Ok(_)) = kept.next().await {}
        assert_eq!(gateway.enter().expect("free").waiting().await, None);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn there_are_never_more_calls_at_once_than_allowed_and_none_is_lost() {
    let ollama = ScriptedOllama::start().await;
    let gateway = gateway(&ollama, LlmConfig { max_concurrent: 3, ..LlmConfig::default() }).await;
    // Every caller gets its own question back; every fifth leaves after the first word, every seventh does not even begin.
    ollama.otherwise(|chat| Some(Play::reply(&format!("câu {}", chat["messages"][0]["content"].as_str()?))));
    let callers = (0..60).map(|n| {
        let gateway = Arc::clone(&gateway);
        tokio::spawn(async move {
            let ticket = gateway.enter().expect("room in the line");
            if n % 7 == 0 {
                return;
            }
            let mut deltas = ticket.stream(question(&n.to_string())).await.expect("it begins");
            if n % 5 == 0 {
                assert_eq!(deltas.next().await, Some(Ok("câu ".to_owned())));
                return;
            }
            assert_eq!(read(deltas).await, (format!("câu {n}"), None));
        })
    });
    for caller in join_all(callers).await {
        caller.expect("each caller hears its own answer");
    }
    assert_eq!(ollama.chats().len(), (0..60).filter(|n| n % 7 != 0).count());
    // A client who leaves early is noticed a moment after the next one has come, once for each.
    let leavers = (0..60).filter(|n| n % 7 != 0 && n % 5 == 0).count();
    assert!(ollama.most_at_once() <= 3 + leavers, "{}", ollama.most_at_once());
    assert_eq!(gateway.enter().expect("free").waiting().await, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_model_never_sees_more_calls_at_once_than_allowed() {
    let ollama = ScriptedOllama::start().await;
    let gateway = gateway(&ollama, LlmConfig { max_concurrent: 3, ..LlmConfig::default() }).await;
    ollama.otherwise(|_| Some(Play::reply("Dạ em nghe")));
    let answers = join_all((0..40).map(|_| ask(&gateway, "chào"))).await;
    assert_eq!(answers, vec![Ok("Dạ em nghe".to_owned()); 40]);
    assert_eq!(ollama.most_at_once(), 3);
}

#[tokio::test]
async fn failures_in_a_row_open_the_breaker_and_then_nobody_waits() {
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
    let behind = gateway.enter().expect("room in the line");
    assert!(failing.stream(question("4")).await.is_err());
    let open = LlmError::Unavailable("the circuit breaker is open".to_owned());
    assert_eq!(behind.stream(question("5")).await.err(), Some(open.clone()));
    assert_eq!((ask(&gateway, "6").await, gateway.is_up()), (Err(open), false));
    assert_eq!(questions(&ollama), ["1", "2", "3", "4"]);
}

#[tokio::test]
async fn the_breaker_lets_one_call_try_and_closes_when_it_speaks() {
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
async fn what_is_not_the_models_fault_does_not_open_the_breaker() {
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
async fn a_model_that_goes_and_comes_back_is_noticed() {
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
async fn a_call_that_finds_nobody_makes_the_watch_look_at_once() {
    let ollama = ScriptedOllama::start().await;
    let gateway = gateway(&ollama, LlmConfig { probe_every: NEVER, ..LlmConfig::default() }).await;
    let watch = tokio::spawn(Arc::clone(&gateway).watch(CancellationToken::new()));
    ollama.set_down(true);
    assert!(matches!(ask(&gateway, "chào").await, Err(LlmError::Unavailable(_))));
    eventually("it is found down", || !gateway.is_up()).await;
    watch.abort();
}

#[tokio::test]
async fn a_service_that_comes_back_begins_with_a_clean_slate() {
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
