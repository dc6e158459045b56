//! Reading event streams while turns run.

use reqwest::header::HeaderMap;
use reqwest::{RequestBuilder, Response};
use sea_orm::sqlx::{self, Connection, PgConnection, SqliteConnection};
use serde_json::{Value, json};

use crate::support::app::{TestApp, TestAppBuilder};
use crate::support::eventually_async;
use crate::support::ollama::{Play, ScriptedOllama};
use crate::support::sse::{Events, parse};

/// An event stream that is read frame by frame.
pub struct Live {
    response: Response,
    bytes: Vec<u8>,
}

impl Live {
    /// Sends a message to `…/stream`, with an `Idempotency-Key` if given.
    pub async fn say(app: &TestApp, conversation: &str, text: &str, key: Option<&str>) -> Self {
        let mut request = app.post(&format!("/conversations/{conversation}/stream"), &json!({ "text": text }));
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        Self::open(request).await
    }

    /// Opens the conversation's event stream, after an event if given.
    pub async fn follow(app: &TestApp, conversation: &str, after: Option<&str>) -> Self {
        let request = app.get(&format!("/conversations/{conversation}/events"));
        let stream = Self::open(match after {
            Some(id) => request.header("last-event-id", id),
            None => request,
        });
        stream.await.opened().await
    }

    pub async fn open(request: RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        Self { response, bytes: Vec::new() }
    }

    /// Reads the opening frame.
    pub async fn opened(mut self) -> Self {
        self.until("stream-open\"}\n\n").await;
        self
    }

    /// Reads until this turn has ended.
    pub async fn until_done(&mut self, turn: u32) {
        self.until(&format!(r#"{{"type":"turn.done","turn":{turn},"#)).await;
        self.until_blank().await;
    }

    /// Reads to the end of a frame.
    async fn until_blank(&mut self) {
        while !self.bytes.ends_with(b"\n\n") {
            self.bytes.extend(self.response.chunk().await.unwrap().expect("the rest of a frame"));
        }
    }

    /// Returns the complete frames so far.
    pub async fn so_far(&mut self) -> Events {
        self.until_blank().await;
        parse(std::str::from_utf8(&self.bytes).unwrap())
    }

    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// Reads until this text has arrived.
    pub async fn until(&mut self, text: &str) {
        while !String::from_utf8_lossy(&self.bytes).contains(text) {
            let chunk = self.response.chunk().await.unwrap();
            self.bytes.extend(chunk.unwrap_or_else(|| panic!("the stream ended without {text:?}")));
        }
    }

    /// Reads the next chunk, up to the end of a frame.
    pub async fn more(&mut self) {
        self.bytes.extend(self.response.chunk().await.unwrap().expect("more to come"));
        self.until_blank().await;
    }

    /// Reads to the end and returns everything.
    pub async fn text(mut self) -> String {
        while let Some(chunk) = self.response.chunk().await.unwrap() {
            self.bytes.extend(chunk);
        }
        String::from_utf8(self.bytes).unwrap()
    }

    pub async fn events(self) -> Events {
        parse(&self.text().await)
    }
}

/// A message that the scripted model answers.
pub const QUESTION: &str = "SSD 1TB giá bao nhiêu";
/// The start of the model's reply in [`stalled`].
pub const BEGINNING: &str = "Vâng";

/// A server whose model begins every reply and never ends it.
pub async fn stalled(builder: TestAppBuilder) -> (TestApp, ScriptedOllama) {
    let ollama = ScriptedOllama::start().await;
    ollama.otherwise(|_| Some(Play::new().says(&format!("{BEGINNING} shop có hàng ")).stalls()));
    (builder.env("LLM_MAX_CONCURRENT", 100).ollama(&ollama).start().await, ollama)
}

pub async fn delete(app: &TestApp, conversation: &str) -> u16 {
    let path = format!("/conversations/{conversation}");
    app.request(reqwest::Method::DELETE, &path).send().await.unwrap().status().as_u16()
}

/// Returns the turn.
pub async fn turn(app: &TestApp, conversation: &str, turn: u32) -> Value {
    app.get(&format!("/conversations/{conversation}/turns/{turn}")).send().await.unwrap().json().await.unwrap()
}

/// Waits until the turn has ended and returns its status.
pub async fn ended(app: &TestApp, conversation: &str, number: u32) -> String {
    let mut status = String::new();
    eventually_async("the turn has ended", async || {
        status = turn(app, conversation, number).await["status"].as_str().unwrap().to_owned();
        !["queued", "running"].contains(&status.as_str())
    })
    .await;
    status
}

/// Counts the rows of the table that belong to the conversation.
pub async fn count_rows(app: &TestApp, table: &str, conversation: &str) -> i64 {
    let id: uuid::Uuid = conversation.parse().unwrap();
    let query = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table} WHERE conversation_id = $1"));
    if app.database_url.starts_with("sqlite:") {
        let mut connection = SqliteConnection::connect(&app.database_url).await.unwrap();
        sqlx::query_scalar(query).bind(id).fetch_one(&mut connection).await.unwrap()
    } else {
        let mut connection = PgConnection::connect(&app.database_url).await.unwrap();
        sqlx::query_scalar(query).bind(id).fetch_one(&mut connection).await.unwrap()
    }
}

/// Changes the database directly, without the server.
pub async fn meddle(app: &TestApp, sqlite: &'static str, postgres: &'static str) {
    if app.database_url.starts_with("sqlite:") {
        let mut connection = SqliteConnection::connect(&app.database_url).await.unwrap();
        sqlx::raw_sql(sqlite).execute(&mut connection).await.unwrap();
    } else {
        let mut connection = PgConnection::connect(&app.database_url).await.unwrap();
        sqlx::raw_sql(postgres).execute(&mut connection).await.unwrap();
    }
}
