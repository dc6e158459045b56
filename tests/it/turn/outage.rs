//! Messages that the store accepts late, in part or not at all.

use std::time::Duration;

use frontdesk::desks::Caller;
use frontdesk::domain::{Author, ConversationId, TenantId};
use frontdesk::turn::{AcceptError, Accepted, Message};
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use sea_orm::sqlx::{self, AssertSqlSafe, Connection, PgConnection};
use serde_json::json;

use crate::http::live::{BEGINNING, Live, QUESTION, ended, meddle, stalled, turn};
use crate::http::unavailable::Held;
use crate::store;
use crate::support::app::TestApp;

/// Sends a customer's message to the engine, without the limits of an HTTP request.
async fn accept(app: &TestApp, conversation: ConversationId, text: &str) -> Result<Accepted, AcceptError> {
    let (text, author, caller) = (text.to_owned(), Author::Customer, Caller::default());
    let message = Message { author, text, idempotency: None, caller, new: true, act: None, inbound: None };
    app.inner.engine.accept(&TenantId::default(), conversation, message).await
}

/// Stores turns as a server does that never learns that its commit succeeded.
async fn store_turns(app: &TestApp, conversation: ConversationId, turns: u32) {
    store::accepted(&store::open(&app.database_url).await, &TenantId::default(), conversation, turns).await;
}

#[tokio::test]
async fn outage_fails_all_waiting_messages() {
    let app = TestApp::builder().env("STORE_TIMEOUT_SECONDS", 5).start().await;
    // On PostgreSQL, a lock is no outage.
    if !app.database_url.starts_with("sqlite:") {
        return;
    }
    let id = app.open(&json!({})).await.parse().unwrap();
    let held = Held::by_somebody_else(&app).await;
    // More than one batch, and all of them wait before the first one fails.
    let mut results: FuturesUnordered<_> = (0..200).map(|_| accept(&app, id, "a")).collect();
    assert!(matches!(results.next().await, Some(Err(AcceptError::Store(_)))));
    drop(held);
    while let Some(result) = results.next().await {
        assert!(matches!(result, Err(AcceptError::Store(_))), "{result:?}");
    }
}

#[tokio::test]
async fn callers_do_not_wait_for_later_messages() {
    const MESSAGES: u64 = 640;
    let app = TestApp::builder().env("TURNS_WAITING_MAX", MESSAGES).env("TURNS_PER_MINUTE", 0).start().await;
    let id = app.open(&json!({})).await.parse().unwrap();
    // All messages wait before the first batch of 64 is stored.
    let busy = app.inner.store.acceptor(Duration::from_secs(30)).await;
    let mut results: FuturesUnordered<_> = (0..MESSAGES).map(|_| accept(&app, id, "a")).collect();
    assert!(results.next().now_or_never().is_none());
    drop(busy);
    for _ in 0..40 {
        results.next().await.unwrap().unwrap();
    }
    let conversation = app.inner.store.tenant(&TenantId::default()).find_conversation(id).await.unwrap().unwrap();
    assert!(u64::from(conversation.last_turn) < MESSAGES, "the 40th caller waited for all messages");
}

#[tokio::test]
async fn unconfirmed_turns_run_after_an_outage() {
    let app = TestApp::builder().env("STORE_TIMEOUT_SECONDS", 5).start().await;
    let id = app.open(&json!({})).await;
    let conversation = id.parse().unwrap();
    store_turns(&app, conversation, 3).await;
    let held = Held::by_somebody_else(&app).await;
    assert!(matches!(accept(&app, conversation, "a").await, Err(AcceptError::Store(_))));
    drop(held);
    for turn in 1..=3 {
        assert_eq!(ended(&app, &id, turn).await, "completed");
    }
}

#[tokio::test]
async fn failed_deletion_runs_waiting_turns() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    let sqlite = "CREATE TRIGGER refuse BEFORE DELETE ON conversations BEGIN SELECT RAISE(ABORT, 'no'); END";
    let postgres = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$; \
                    CREATE TRIGGER refuse BEFORE DELETE ON conversations FOR EACH ROW EXECUTE FUNCTION refuse()";
    meddle(&app, sqlite, postgres).await;
    store_turns(&app, id.parse().unwrap(), 2).await;
    assert!(app.inner.engine.delete(&TenantId::default(), id.parse().unwrap(), None).await.is_err());
    for turn in 1..=2 {
        assert_eq!(ended(&app, &id, turn).await, "completed");
    }
}

#[tokio::test]
async fn refused_message_fails_only_its_caller() {
    let app = TestApp::start().await;
    let sqlite = "CREATE TRIGGER refuse BEFORE INSERT ON messages WHEN NEW.text = 'refused' \
                  BEGIN SELECT RAISE(ABORT, 'no'); END";
    let postgres = "ALTER TABLE messages ADD CONSTRAINT refuse CHECK (text != 'refused') NOT VALID";
    meddle(&app, sqlite, postgres).await;
    let mut ids = Vec::new();
    for _ in 0..10 {
        ids.push(app.open(&json!({})).await);
    }
    let texts = (0..10).map(|at| if at == 5 { "refused" } else { "a" });
    let results = join_all(ids.iter().zip(texts).map(|(id, text)| accept(&app, id.parse().unwrap(), text))).await;
    for (at, (id, result)) in ids.iter().zip(results).enumerate() {
        assert_eq!(result.is_err(), at == 5, "{at}: {result:?}");
        if at != 5 {
            assert_eq!(ended(&app, id, 1).await, "completed");
        }
    }
}

#[tokio::test]
async fn unreadable_conversation_accepts_messages() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await.parse().unwrap();
    let unreadable = "UPDATE conversations SET language_source = 'unknown'";
    meddle(&app, unreadable, unreadable).await;
    assert_eq!(accept(&app, id, "a").await.unwrap().turn, 1);
}

/// Locks the conversation's row on PostgreSQL, as long as the connection is open.
async fn lock(app: &TestApp, conversation: &str) -> PgConnection {
    let mut connection = PgConnection::connect(&app.database_url).await.unwrap();
    let lock = format!("BEGIN; SELECT 1 FROM conversations WHERE id = '{conversation}' FOR UPDATE");
    sqlx::raw_sql(AssertSqlSafe(lock)).execute(&mut connection).await.unwrap();
    connection
}

#[tokio::test]
async fn locked_turn_ends_without_the_others() {
    let (app, _ollama) = stalled(TestApp::builder().env("STORE_TIMEOUT_SECONDS", 5)).await;
    if app.database_url.starts_with("sqlite:") {
        return;
    }
    let (locked, free) = (app.open(&json!({})).await, app.open(&json!({})).await);
    Live::say(&app, &locked, QUESTION, None).await.until(BEGINNING).await;
    let lock = lock(&app, &locked).await;
    let cancel = app.request(reqwest::Method::POST, &format!("/conversations/{locked}/turns/1/cancel"));
    assert_eq!(cancel.send().await.unwrap().status(), 202);
    // The journal has one writer, which now waits for the locked row.
    accept(&app, free.parse().unwrap(), "kiểm tra bảo hành ABC123").await.unwrap();
    assert_eq!(ended(&app, &free, 1).await, "completed");
    assert_eq!(turn(&app, &locked, 1).await["status"], "running");
    drop(lock);
    // Its own end could not be stored in time.
    assert_eq!(ended(&app, &locked, 1).await, "interrupted");
}

#[tokio::test]
async fn locked_conversation_stops_no_other() {
    let app = TestApp::builder().env("MESSAGE_LOCK_SECONDS", 1).start().await;
    // SQLite locks no single rows.
    if app.database_url.starts_with("sqlite:") {
        return;
    }
    let (locked, free) = (app.open(&json!({})).await, app.open(&json!({})).await);
    let (locked_id, free_id) = (locked.parse().unwrap(), free.parse().unwrap());
    let erasure = lock(&app, &locked).await;
    // The first message is a batch, and the others are another one.
    let sent = [free_id, locked_id, free_id, locked_id].map(|id| accept(&app, id, "a"));
    let results = join_all(sent).await;
    let accepted: Vec<bool> = results.iter().map(Result::is_ok).collect();
    assert_eq!(accepted, [true, false, true, false], "{results:?}");
    assert!(results.iter().flat_map(|result| result.as_ref().err()).all(|cause| match cause {
        AcceptError::Store(cause) => cause.is_unavailable(),
        _ => false,
    }));
    assert_eq!(ended(&app, &free, 2).await, "completed");
    drop(erasure);
}
