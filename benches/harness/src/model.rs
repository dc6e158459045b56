//! A language model that costs next to nothing: Ollama's API, and a chat that always streams the same pieces.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use axum::Json;
use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use futures_util::stream;
use serde_json::{Value, json};

use crate::http;

const NAME: &str = "gpt-oss:latest";
/// What an assistant might say. It has no numbers, so the server replaces nothing.
const REPLY: &str = "Thank you for your question. For studying, a light laptop with a long battery life is a sound choice. \
    Please tell me which size of screen suits you, and whether you carry it every day; then we compare the models together. ";

#[derive(clap::Args)]
pub struct Args {
    /// How many pieces a reply has.
    #[arg(long, default_value_t = 64)]
    pieces: usize,
    /// How long to wait before each piece, in microseconds.
    #[arg(long, default_value_t = 0)]
    pause: u64,
}

pub async fn run(args: Args) -> Result<()> {
    let words = REPLY.split_inclusive(' ').cycle().take(args.pieces);
    let lines: Arc<[Bytes]> = words.map(|word| line(word, false)).chain([line("", true)]).collect();
    let pause = Duration::from_micros(args.pause);
    let chat = move |Json(asked): Json<Value>| {
        let lines = lines.clone();
        async move { if asked["stream"] == false { classified() } else { streamed(lines, pause) } }
    };
    let app = axum::Router::new()
        .route("/", get(|| async { "Ollama is running" }))
        .route("/api/version", get(|| async { Json(json!({"version": "0.9.0"})) }))
        .route("/api/tags", get(|| async { Json(json!({"models": [{"name": NAME, "model": NAME, "modified_at": "2025-01-01T00:00:00Z", "size": 1}]})) }))
        .route("/api/chat", post(chat));
    let listener = http::listen().await?.tap_io(|socket| drop(socket.set_nodelay(true)));
    Ok(axum::serve(listener, app).await?)
}

/// The answer to a question about what a message means.
fn classified() -> Response {
    let intent = json!({"intent": "shopping", "confidence": 0.9, "rationale": "scripted"}).to_string();
    let message = json!({"role": "assistant", "content": intent});
    Json(json!({"model": NAME, "created_at": "2025-01-01T00:00:00Z", "message": message, "done": true, "done_reason": "stop"})).into_response()
}

/// Each piece is a packet: between two, the connection gets a turn to write.
fn streamed(lines: Arc<[Bytes]>, pause: Duration) -> Response {
    let pieces = stream::unfold(0, move |at| {
        let lines = lines.clone();
        async move {
            let line = lines.get(at)?.clone();
            if pause.is_zero() {
                tokio::task::yield_now().await
            } else {
                tokio::time::sleep(pause).await
            }
            Some((Ok::<_, Infallible>(line), at + 1))
        }
    });
    ([("content-type", "application/x-ndjson")], Body::from_stream(pieces)).into_response()
}

fn line(text: &str, done: bool) -> Bytes {
    let mut line = json!({"model": NAME, "created_at": "2025-01-01T00:00:00Z", "message": {"role": "assistant", "content": text}, "done": done});
    if done {
        line["done_reason"] = json!("stop");
    }
    format!("{line}\n").into()
}
