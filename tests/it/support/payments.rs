//! Stand-ins for payment providers: real servers on real sockets, which check what they are sent and remember it.

mod daraja;
mod pesapal;

use std::sync::{Arc, Mutex, MutexGuard};

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use daraja::{Daraja, Push, receipt_result};
pub use pesapal::Pesapal;

/// A request as a stand-in sees it.
pub struct Call {
    pub path: String,
    pub query: String,
    pub headers: HeaderMap,
    pub body: Value,
}

/// A stand-in with its state. It ends when dropped.
pub struct Standin<S> {
    url: String,
    state: Arc<Mutex<S>>,
    task: JoinHandle<()>,
}

impl<S: Send + 'static> Standin<S> {
    pub async fn start<F>(state: S, answer: fn(Arc<Mutex<S>>, Call) -> F) -> Self
    where
        F: Future<Output = Response> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(state));
        let shared = state.clone();
        let router = axum::Router::new().fallback(move |request: Request| {
            let shared = shared.clone();
            async move {
                let (parts, body) = request.into_parts();
                let body = axum::body::to_bytes(body, 1_000_000).await.unwrap();
                let call = Call {
                    path: parts.uri.path().to_owned(),
                    query: parts.uri.query().unwrap_or_default().to_owned(),
                    headers: parts.headers,
                    body: serde_json::from_slice(&body).unwrap_or_default(),
                };
                answer(shared, call).await
            }
        });
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, state, task }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn state(&self) -> MutexGuard<'_, S> {
        self.state.lock().unwrap()
    }
}

impl<S> Drop for Standin<S> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Call {
    pub fn bearer(&self) -> Option<&str> {
        self.headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
    }

    pub fn text(&self, field: &str) -> String {
        match &self.body[field] {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        }
    }
}

pub fn json(status: u16, body: Value) -> Response {
    (StatusCode::from_u16(status).unwrap(), Json(body)).into_response()
}

/// An answer that breaks off in the middle.
pub fn broken() -> Response {
    let parts = futures_util::stream::iter([Ok(Bytes::from_static(b"{")), Err(std::io::Error::other("cut"))]);
    Response::new(Body::from_stream(parts))
}

/// Returns the path of an address of the server.
pub fn path_of(url: &Value) -> String {
    let url = reqwest::Url::parse(url.as_str().unwrap()).unwrap();
    url.path().to_owned()
}
