//! A server with a copy of the files that the console edits: documents, warranty lists, personas and evaluation
//! cases.

use std::path::{Path, PathBuf};

use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::app::{TestApp, TestAppBuilder};
use crate::support::copy;

/// A server with a copy of the files.
pub struct Desk {
    pub app: TestApp,
    pub files: TempDir,
}

impl Desk {
    /// Starts with the repository's prompts and these documents.
    pub async fn open(builder: TestAppBuilder, documents: &[(&str, &str)]) -> Self {
        let files = tempfile::tempdir().unwrap();
        let path = |name: &str| files.path().join(name);
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("prompts"), &path("prompts"));
        std::fs::create_dir(path("knowledge")).unwrap();
        for (name, text) in documents {
            std::fs::write(path("knowledge").join(name), text).unwrap();
        }
        let builder = builder
            .env("PROMPTS_PATH", path("prompts").display())
            .env("PERSONA_PATH", path("prompts/system_persona_vi.md").display())
            .env("KNOWLEDGE_PATH", path("knowledge").display())
            .env("EVALS_PATH", path("evals").display());
        Self { app: builder.start().await, files }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.files.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.app.request(method, &format!("/console/api{path}"))
    }

    pub async fn get(&self, path: &str) -> Value {
        answer(self.request(Method::GET, path), 200).await
    }

    pub fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.request(Method::POST, path).json(body)
    }

    /// Returns the greeting of a new conversation.
    pub async fn greeting(&self) -> String {
        let opened: Value = self.app.post("/conversations", &json!({})).send().await.unwrap().json().await.unwrap();
        opened["greeting"]["text"].as_str().unwrap().to_owned()
    }
}

/// Sends the request, asserts the status and returns the body.
pub async fn answer(request: RequestBuilder, status: u16) -> Value {
    let response = request.send().await.unwrap();
    let (actual, text) = (response.status(), response.text().await.unwrap());
    assert_eq!(actual, StatusCode::from_u16(status).unwrap(), "{text}");
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn server_files_are_hidden_from_other_shops() {
    let desk = Desk::open(TestApp::builder().env("X_API_KEYS", "key-of-the-shop-0,acme:key-of-the-shop-1"), &[]).await;
    let turn = format!("/conversations/{}/turns/1/wrong", uuid::Uuid::now_v7());
    let requests = || {
        [
            (desk.request(Method::GET, "/knowledge"), true),
            (desk.request(Method::GET, "/personas"), true),
            (desk.request(Method::GET, "/personas/system_persona_vi"), true),
            (desk.request(Method::GET, "/personas/system_persona_vi/versions/1"), true),
            (desk.post("/personas/system_persona_vi/check", &json!({"text": "x"})), true),
            (desk.request(Method::PUT, "/personas/system_persona_vi").json(&json!({"text": "x", "hash": "x"})), true),
            (desk.post(&turn, &json!({})), true),
            (desk.request(Method::GET, "/questions"), false),
            (desk.request(Method::POST, "/warranty-files").header("content-type", "text/csv").body("x"), false),
        ]
    };
    for (request, editors_alone) in requests() {
        let response = request.header("x-api-key", "key-of-the-shop-1").send().await.unwrap();
        let (status, path) = (response.status(), response.url().path().to_owned());
        assert_eq!(status == StatusCode::NOT_FOUND, editors_alone, "{path}: {status}");
    }
    for (request, _) in requests() {
        crate::http::problem::refused(request, 401, "unauthorized").await;
    }
    let answered =
        desk.request(Method::GET, "/personas").header("x-api-key", "key-of-the-shop-0").send().await.unwrap();
    assert_eq!(answered.status(), 200);
}
