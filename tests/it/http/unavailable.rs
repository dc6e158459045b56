//! A store that does not respond.

use std::path::PathBuf;

use reqwest::{RequestBuilder, Response};
use sea_orm::sqlx::{self, Connection, PgConnection, SqliteConnection};
use serde_json::{Value, json};

use super::problem::refused;
use crate::support::app::TestApp;
use crate::support::eventually_async;

/// Locks the database from another connection until it is dropped.
pub enum Held {
    Sqlite { _connection: SqliteConnection },
    Postgres { _connection: PgConnection },
}

impl Held {
    pub async fn by_somebody_else(app: &TestApp) -> Self {
        let url = &app.database_url;
        if url.starts_with("sqlite:") {
            let mut connection = SqliteConnection::connect(url).await.unwrap();
            sqlx::raw_sql("BEGIN EXCLUSIVE").execute(&mut connection).await.unwrap();
            Self::Sqlite { _connection: connection }
        } else {
            let mut connection = PgConnection::connect(url).await.unwrap();
            let lock = "BEGIN; LOCK TABLE conversations IN ACCESS EXCLUSIVE MODE";
            sqlx::raw_sql(lock).execute(&mut connection).await.unwrap();
            Self::Postgres { _connection: connection }
        }
    }
}

/// Sends a request until the store responds: on a busy machine, also a free one may miss the deadline of a request.
async fn until_available(request: impl Fn() -> RequestBuilder) -> Response {
    let mut response = None;
    eventually_async("the store responds", async || response.insert(request().send().await.unwrap()).status() != 503)
        .await;
    response.unwrap()
}

async fn open(app: &TestApp) -> String {
    let opened: Value = until_available(|| app.post("/conversations", &json!({}))).await.json().await.unwrap();
    opened["id"].as_str().unwrap().to_owned()
}

async fn read(app: &TestApp, path: &str) -> Value {
    until_available(|| app.get(path)).await.json().await.unwrap()
}

async fn status_at_end(app: &TestApp, id: &str) -> Value {
    let mut status = Value::Null;
    eventually_async("the turn has ended", async || {
        status = read(app, &format!("/conversations/{id}/turns/1")).await["status"].take();
        !["queued", "running"].contains(&status.as_str().unwrap())
    })
    .await;
    status
}

#[tokio::test]
async fn slow_store_fails_fast_and_retry_succeeds() {
    let app = TestApp::builder().env("REQUEST_STORE_TIMEOUT_SECONDS", 0.3).start().await;
    let id = open(&app).await;
    let say = || {
        let body = json!({"text": "kiểm tra bảo hành ABC123"});
        app.post(&format!("/conversations/{id}/messages"), &body).header("idempotency-key", "once")
    };
    let held = Held::by_somebody_else(&app).await;
    for _ in 0..3 {
        // The statement itself fails only after 600 seconds (STORE_TIMEOUT_SECONDS).
        refused(say(), 503, "unavailable").await;
    }
    refused(app.post("/conversations", &json!({})), 503, "unavailable").await;
    drop(held);

    // Earlier attempts may still be running. All of them are the same message.
    let answer = until_available(say).await;
    assert_eq!(answer.status(), 202);
    let accepted: Value = answer.json().await.unwrap();
    assert_eq!(accepted["turn"], 1);
    assert_eq!(status_at_end(&app, &id).await, "completed");
    let history =
        read(&app, &format!("/conversations/{id}/history?limit=200")).await["messages"].as_array().unwrap().clone();
    assert_eq!(history.iter().filter(|message| message["sender"] == "user").count(), 1, "{history:?}");
}

#[tokio::test]
async fn running_turn_survives_slow_store() {
    let app = TestApp::builder().env("REQUEST_STORE_TIMEOUT_SECONDS", 0.3).start().await;
    let id = open(&app).await;
    let body = json!({"text": "kiểm tra bảo hành ABC123"});
    let post = until_available(|| app.post(&format!("/conversations/{id}/messages"), &body)).await;
    assert_eq!(post.status(), 202);
    let held = Held::by_somebody_else(&app).await;
    refused(app.post("/conversations", &json!({})), 503, "unavailable").await;
    drop(held);
    assert_eq!(status_at_end(&app, &id).await, "completed");
}

#[tokio::test]
async fn deleted_database_file_refuses_messages() {
    let app = TestApp::start().await;
    let Some(path) = app.database_url.strip_prefix("sqlite://").map(PathBuf::from) else { return };
    let id = app.open(&json!({})).await;
    let messages = format!("/conversations/{id}/messages");
    let body = json!({"text": "kiểm tra bảo hành ABC123"});
    let away = path.with_extension("away");
    std::fs::rename(&path, &away).unwrap();
    refused(app.post(&messages, &body), 503, "unavailable").await;
    let ready = app.get("/readyz").send().await.unwrap();
    assert_eq!(ready.status(), 503);
    let ready: Value = ready.json().await.unwrap();
    assert_eq!((&ready["store"], &ready["store_outage"]), (&json!("down"), &json!("file_replaced")));
    std::fs::rename(&away, &path).unwrap();
    assert_eq!(app.post(&messages, &body).send().await.unwrap().status(), 202);
    assert_eq!(status_at_end(&app, &id).await, "completed");
}
