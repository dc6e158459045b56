//! What applies to every request: request id, CORS, compression and the OpenAPI document.

use reqwest::Method;
use serde_json::{Value, json};

use super::raw;
use crate::support::app::TestApp;

#[tokio::test]
async fn every_response_has_a_request_id() {
    let app = TestApp::start().await;
    let id_of = async |sent: Option<&str>, path: &str| {
        let mut request = app.get(path);
        if let Some(sent) = sent {
            request = request.header("x-request-id", sent);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.headers()["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(response.headers()["cache-control"], "no-store", "{path}");
        response.headers()["x-request-id"].to_str().unwrap().to_owned()
    };
    for path in ["/healthz", "/conversations", "/nothing", "/openapi.json", "/docs"] {
        assert_ne!(id_of(None, path).await, id_of(None, path).await);
        assert_eq!(id_of(Some("shop-7_a.b"), path).await, "shop-7_a.b");
        for odd in ["", "a b", "<script>", "a\"b", &"x".repeat(65), "ế"] {
            let id = id_of(Some(odd), path).await;
            assert_eq!(uuid::Uuid::parse_str(&id).unwrap().get_version_num(), 7, "{odd:?}: {id}");
        }
    }
}

#[tokio::test]
async fn cors_allows_only_listed_origins() {
    let app = TestApp::builder().env("CORS_ORIGINS", "https://a.example, https://b.example/").start().await;
    let preflight = async |origin: &str| {
        let request = app
            .request(Method::OPTIONS, "/conversations")
            .header("origin", origin)
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "content-type,authorization,idempotency-key");
        request.send().await.unwrap()
    };
    for origin in ["https://a.example", "https://b.example"] {
        let response = preflight(origin).await;
        assert!(response.status().is_success());
        assert_eq!(response.headers()["access-control-allow-origin"], origin);
        let allowed = response.headers()["access-control-allow-headers"].to_str().unwrap().to_owned();
        for name in ["content-type", "authorization", "x-api-key", "idempotency-key", "last-event-id"] {
            assert!(allowed.contains(name), "{allowed}");
        }
        let response = app.post("/conversations", &json!({})).header("origin", origin).send().await.unwrap();
        assert_eq!(response.status(), 201);
        assert_eq!(response.headers()["access-control-allow-origin"], origin);
        let exposed = response.headers()["access-control-expose-headers"].to_str().unwrap().to_owned();
        for name in ["location", "retry-after", "x-request-id"] {
            assert!(exposed.contains(name), "{exposed}");
        }
        // Pages can read error responses as well.
        let refused = app.get("/conversations/x").header("origin", origin).send().await.unwrap();
        assert_eq!(refused.headers()["access-control-allow-origin"], origin);
    }
    for origin in ["https://evil.example", "null", "https://a.example.evil.example", "http://a.example"] {
        assert!(!preflight(origin).await.headers().contains_key("access-control-allow-origin"), "{origin}");
    }
    for method in [Method::OPTIONS, Method::HEAD] {
        assert_eq!(app.request(method, "/nothing").send().await.unwrap().status(), 404);
    }
    let plain = app.request(Method::OPTIONS, "/conversations").send().await.unwrap();
    assert!(plain.status().is_success() && plain.headers().contains_key("x-request-id"));
}

#[tokio::test]
async fn json_is_compressed_if_accepted() {
    let app = TestApp::start().await;
    for coding in ["gzip", "br"] {
        let response = app.get("/openapi.json").header("accept-encoding", coding).send().await.unwrap();
        assert_eq!(response.headers()["content-encoding"], coding);
    }
    let plain = app.get("/openapi.json").send().await.unwrap();
    assert!(!plain.headers().contains_key("content-encoding"));
    let refused = app.get("/conversations/x").header("accept-encoding", "gzip");
    super::problem::refused(refused, 404, "not_found").await;
}

#[tokio::test]
async fn huge_head_is_refused() {
    let app = TestApp::start().await;
    let header = format!("x-long: {}\r\n", "a".repeat(1 << 20));
    let answer = raw::send(&app, &raw::request(&app, "GET", "/healthz", &header)).await;
    assert_eq!(answer.status, 431);
    // `host` and `connection` count as well.
    let with_headers = |count: usize| -> String { (2..count).map(|n| format!("x-{n}: a\r\n")).collect() };
    let full = raw::send(&app, &raw::request(&app, "GET", "/healthz", &with_headers(100))).await;
    assert_eq!(full.status, 200);
    for count in [101, 500] {
        let many = raw::request(&app, "GET", "/healthz", &with_headers(count));
        raw::send(&app, &many).await.check(431, "invalid_request");
    }
    for (bytes, status, code) in [(8 * 1024, 404, "not_found"), (8 * 1024 + 1, 414, "invalid_request")] {
        let target = format!("/{}", "a".repeat(bytes - 1));
        raw::send(&app, &raw::request(&app, "GET", &target, "")).await.check(status, code);
    }
}

#[tokio::test]
async fn docs_page_loads_only_our_files() {
    let app = TestApp::start().await;
    let response = app.get("/docs").send().await.unwrap();
    assert!(response.headers()["content-security-policy"].to_str().unwrap().starts_with("default-src 'none'"));
    let page = response.text().await.unwrap();
    assert!(page.contains("name=\"viewport\"") && !page.contains("<script"), "{page}");
    let references: Vec<&str> = page.split("href=\"/").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(page.matches("href=\"").count(), references.len() + page.matches("href=\"#").count());
    for reference in references {
        assert_eq!(app.get(&format!("/{reference}")).send().await.unwrap().status(), 200, "{reference}");
    }
}

#[tokio::test]
async fn openapi_lists_every_route_and_response() {
    let app = TestApp::start().await;
    let openapi: Value = app.get("/openapi.json").send().await.unwrap().json().await.unwrap();
    let mut described: Vec<String> = Vec::new();
    for (path, methods) in openapi["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let statuses: Vec<&str> = operation["responses"].as_object().unwrap().keys().map(String::as_str).collect();
            described.push(format!("{method} {path} {}", statuses.join(" ")));
        }
    }
    described.sort();
    insta::assert_snapshot!(described.join("\n"));
    let types = openapi["components"]["schemas"]["Event"].to_string();
    for name in [
        "turn.start",
        "queued",
        "intent",
        "message.start",
        "delta",
        "message.end",
        "sources",
        "guard",
        "error",
        "turn.done",
    ] {
        assert!(types.contains(&format!("\"{name}\"")), "{name}");
    }
}
