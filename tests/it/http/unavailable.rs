//! A store that does not respond.

use std::path::PathBuf;

use sea_orm::sqlx::{self, Connection, PgConnection, SqliteConnection};
use serde_json::{Value, json};

use super::live::ended;
use super::problem::refused;
use crate::support::app::TestApp;

/// Locks the database from another connection until it is dropped.
enum Held {
    Sqlite { _connection: SqliteConnection },
    Postgres { _connection: PgConnection },
}

impl Held {
    async fn by_somebody_else(app: &TestApp) -> Self {
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

#[tokio::test]
async fn slow_store_fails_fast_and_retry_succeeds() {
    let app = TestApp::builder().env("REQUEST_STORE_TIMEOUT_SECONDS", 0.3).start().await;
    let id = app.open(&json!({})).await;
    let say = || {
        let body = json!({"text": "kiểm tra bảo hành ABC123"});
        app.post(&format!("/conversations/{id}/messages"), &body).header("idempotency-key", "once")
    };
    let held = Held::by_somebody_else(&app).await;
    for _ in 0..3 {
        // The statement itself fails only after 30 seconds (STORE_TIMEOUT_SECONDS).
        refused(say(), 503, "unavailable").await;
    }
    refused(app.post("/conversations", &json!({})), 503, "unavailable").await;
    drop(held);

    // Earlier attempts may still be running. All of them are the same message.
    let mut answer = say().send().await.unwrap();
    while answer.status() == 503 {
        answer = say().send().await.unwrap();
    }
    assert_eq!(answer.status(), 202);
    let accepted: Value = answer.json().await.unwrap();
    assert_eq!(accepted["turn"], 1);
    assert_eq!(ended(&app, &id, 1).await, "completed");
    let history = app.history(&id).await;
    assert_eq!(history.iter().filter(|message| message["sender"] == "user").count(), 1, "{history:?}");
}

#[tokio::test]
async fn running_turn_survives_slow_store() {
    let app = TestApp::builder().env("REQUEST_STORE_TIMEOUT_SECONDS", 0.3).start().await;
    let id = app.open(&json!({})).await;
    let body = json!({"text": "kiểm tra bảo hành ABC123"});
    let post = app.post(&format!("/conversations/{id}/messages"), &body).send().await.unwrap();
    assert_eq!(post.status(), 202);
    let held = Held::by_somebody_else(&app).await;
    refused(app.post("/conversations", &json!({})), 503, "unavailable").await;
    drop(held);
    assert_eq!(ended(&app, &id, 1).await, "completed");
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
    assert_eq!(ended(&app, &id, 1).await, "completed");
}
