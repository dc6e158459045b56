//! The console's API.

mod accounts;
mod answers;
mod audit;
mod commerce;
pub mod desk;
mod figures;
mod inbox;
mod knowledge;
mod live;
mod personas;
mod questions;
mod returns;
mod session;
mod warranty_files;
mod wrong;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::support::app::{TestApp, TestAppBuilder};

/// A server with keys of two shops and `WEB_CHAT=on`.
pub fn guarded() -> TestAppBuilder {
    TestApp::builder().env("X_API_KEYS", "key-of-the-shop-0, acme:key-of-the-shop-1").env("WEB_CHAT", "on")
}

/// A browser with a console session.
pub struct Browser<'a> {
    pub app: &'a TestApp,
    pub cookie: String,
}

impl<'a> Browser<'a> {
    /// Signs in with the key under this name.
    pub async fn sign_in(app: &'a TestApp, key: &str, name: &str) -> Self {
        let request = app.post("/console/session", &json!({"key": key, "name": name}));
        let response = request.header("sec-fetch-site", "same-origin").send().await.unwrap();
        assert_eq!(response.status(), 204);
        let cookie = response.headers()["set-cookie"].to_str().unwrap().to_owned();
        Self { app, cookie: cookie.split(';').next().unwrap().to_owned() }
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        self.request(Method::GET, path)
    }

    /// Sends the request as one of our own pages.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.app.request(method, path).header("cookie", &self.cookie);
        request.header("sec-fetch-site", "same-origin").header("x-console", "1")
    }

    pub fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.request(Method::POST, path).json(body)
    }

    /// Sends `POST /console/api/conversations/{id}/{what}`, asserts 200 and returns the conversation.
    pub async fn hand(&self, id: &str, what: &str) -> Value {
        handed(self.request(Method::POST, &format!("/console/api/conversations/{id}/{what}"))).await
    }

    /// Answers as a person and returns the turn.
    pub async fn answer(&self, id: &str, text: &str) -> u32 {
        answered(self.post(&format!("/console/api/conversations/{id}/answers"), &json!({"text": text}))).await
    }

    pub async fn json(&self, path: &str) -> Value {
        let response = self.get(path).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        response.json().await.unwrap()
    }
}

/// In development: sends `POST /console/api/conversations/{id}/{what}`, asserts 200 and returns the conversation.
pub async fn hand(app: &TestApp, id: &str, what: &str) -> Value {
    handed(app.request(Method::POST, &format!("/console/api/conversations/{id}/{what}"))).await
}

/// In development: answers as a person and returns the turn.
pub async fn answer(app: &TestApp, id: &str, text: &str) -> u32 {
    answered(app.post(&format!("/console/api/conversations/{id}/answers"), &json!({"text": text}))).await
}

async fn handed(request: RequestBuilder) -> Value {
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 200);
    response.json::<Value>().await.unwrap()["conversation"].clone()
}

async fn answered(request: RequestBuilder) -> u32 {
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 202);
    let body: Value = response.json().await.unwrap();
    assert_eq!(body["status"], "queued");
    u32::try_from(body["turn"].as_u64().unwrap()).unwrap()
}

/// Every console route of this conversation.
fn routes(app: &TestApp, id: &str) -> Vec<RequestBuilder> {
    let path = format!("/console/api/conversations/{id}");
    let acts = ["take", "give-back", "close", "reopen"].map(|act| app.request(Method::POST, &format!("{path}/{act}")));
    acts.into_iter().chain([app.post(&format!("{path}/answers"), &json!({"text": "hi"}))]).collect()
}
