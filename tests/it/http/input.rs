//! Invalid bodies: each has its status and code, and none changes anything.

use reqwest::Method;
use serde_json::json;

use super::problem::refused;
use super::raw;
use crate::support::app::TestApp;

const NO_JSON: (u16, &str) = (400, "invalid_json");
const UNFIT: (u16, &str) = (422, "invalid_request");

async fn refuse(app: &TestApp, path: &str, body: &[u8], (status, code): (u16, &str)) {
    let request = app.request(Method::POST, path).header("content-type", "application/json").body(body.to_vec());
    let answer = refused(request, status, code).await;
    let shown = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
    let detail = answer["detail"].as_str().unwrap();
    for leak in ["serde", "src/", "panick", "SQL", "Error("] {
        assert!(!detail.contains(leak), "{shown}: {detail}");
    }
}

/// Bodies that every route refuses.
fn bad_anywhere() -> Vec<(Vec<u8>, (u16, &'static str))> {
    let text = |body: &str, expected| (body.as_bytes().to_vec(), expected);
    let nested = |levels: usize| format!("{{\"text\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
    vec![
        text("hello", NO_JSON),
        text("{\"text\":\"hi\"", NO_JSON),
        text("{\"text\":\"hi\"}}", NO_JSON),
        text("{\"text\":\"hi\"} {\"text\":\"hi\"}", NO_JSON),
        text("{'text':'hi'}", NO_JSON),
        text("{\"text\":NaN}", NO_JSON),
        text("   ", NO_JSON),
        text("\u{feff}{\"text\":\"hi\"}", NO_JSON),
        text(r#"{"text":"\ud800"}"#, NO_JSON),
        text(r#"{"text":"\udc00\ud800"}"#, NO_JSON),
        text("{\"text\":\"a\u{1}b\"}", NO_JSON),
        (b"{\"text\":\"\xff\xfe\"}".to_vec(), NO_JSON),
        (b"{\"text\":\"\xed\xa0\x80\"}".to_vec(), NO_JSON),
        text("[]", UNFIT),
        text("[{\"text\":\"hi\"}]", UNFIT),
        text("\"hi\"", UNFIT),
        text("null", UNFIT),
        text("7", UNFIT),
        text("{\"text\":\"hi\",\"txet\":\"hi\"}", UNFIT),
        text("{\"text\":\"hi\",\"text\":\"ho\"}", UNFIT),
        text(r#"{"text":"hi","te\u0078t":"ho"}"#, UNFIT),
        text("{\"text\":1e400}", UNFIT),
        text(&nested(65), UNFIT),
        text(&nested(20_000), UNFIT),
    ]
}

#[tokio::test]
async fn every_route_refuses_invalid_bodies() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    for path in
        ["/conversations".to_owned(), format!("/conversations/{id}/messages"), format!("/conversations/{id}/stream")]
    {
        for (body, expected) in bad_anywhere() {
            refuse(&app, &path, &body, expected).await;
        }
    }
    assert_eq!(app.history(&id).await.len(), 1, "the greeting alone");
}

#[tokio::test]
async fn invalid_message_is_refused() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    let long = json!({"text": "ế".repeat(4001)}).to_string();
    for route in ["messages", "stream"] {
        refuse(&app, &format!("/conversations/{id}/{route}"), b"", NO_JSON).await;
    }
    for body in [
        "{}",
        r#"{"text":null}"#,
        r#"{"text":7}"#,
        r#"{"text":["hi"]}"#,
        r#"{"text":{"text":"hi"}}"#,
        r#"{"text":""}"#,
        r#"{"text":"   "}"#,
        "{\"text\":\" \\n\\t\u{a0}\u{3000} \"}",
        r#"{"text":"a\u0000b"}"#,
        r#"{"text":"hi","user_id":"u"}"#,
        r#"{"Text":"hi"}"#,
        &long,
    ] {
        for route in ["messages", "stream"] {
            refuse(&app, &format!("/conversations/{id}/{route}"), body.as_bytes(), UNFIT).await;
        }
    }
    assert_eq!(app.history(&id).await.len(), 1, "the greeting alone");
}

#[tokio::test]
async fn invisible_message_is_refused_as_empty() {
    let app = TestApp::builder().start().await;
    let id = app.open(&json!({})).await;
    for text in ["", "\u{200b}", " \u{2060}\u{feff}\n", "\u{ad}"] {
        let response =
            app.post(&format!("/conversations/{id}/messages"), &json!({ "text": text })).send().await.unwrap();
        assert_eq!(response.status(), 422, "{text:?}");
        let problem: serde_json::Value = response.json().await.unwrap();
        assert!(problem["detail"].as_str().unwrap().ends_with("this one has 0."), "{problem}");
    }
}

#[tokio::test]
async fn text_limit_counts_trimmed_characters() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    let most = "ế".repeat(4000);
    let events = app.ask(&id, &format!("  {most}\n ")).await;
    assert_eq!(events.first("turn.start")["text"], most);
    assert_eq!(app.history(&id).await[1]["text"], most);
}

#[tokio::test]
async fn invalid_conversation_is_refused() {
    let app = TestApp::start().await;
    for body in [
        json!({"user_id": 7}),
        json!({"user_id": ""}),
        json!({"user_id": "  "}),
        json!({"user_id": "ế".repeat(256)}),
        json!({"user_id": "a\0b"}),
        json!({"user_id": "a\u{7}b"}),
        json!({"user_id": "a\nb"}),
        json!({"user_id": "a\u{202e}b"}),
        json!({"user_id": "\u{feff}a"}),
        json!({"persona": "unknown"}),
        json!({"persona": "../prompts/system_persona_vi"}),
        json!({"persona": ""}),
        json!({"language": "fr"}),
        json!({"language": "Vietnamese"}),
        json!({"language": 1}),
        json!({"metadata": []}),
        json!({"metadata": "x"}),
        json!({"metadata": {"a": "x\0"}}),
        json!({"metadata": {"a": [{"b\0": 1}]}}),
        json!({"userid": "u"}),
        json!({"metadata": {}, "token": "t"}),
    ] {
        refuse(&app, "/conversations", body.to_string().as_bytes(), UNFIT).await;
    }
    let list: serde_json::Value = app.get("/conversations").send().await.unwrap().json().await.unwrap();
    assert_eq!(list, json!({"conversations": [], "next": null}));
}

#[tokio::test]
async fn body_must_be_json() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    let path = format!("/conversations/{id}/messages");
    for kind in
        [Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("multipart/form-data"), Some(""), None]
    {
        let mut request = app.request(Method::POST, &path).body(r#"{"text":"hi"}"#);
        if let Some(kind) = kind {
            request = request.header("content-type", kind);
        }
        refused(request, 415, "unsupported_media_type").await;
    }
    for kind in ["application/json; charset=utf-8", "APPLICATION/JSON", "application/problem+json"] {
        let request = app.request(Method::POST, &path).body(r#"{"text":"hi"}"#).header("content-type", kind);
        assert_eq!(request.send().await.unwrap().status(), 202, "{kind}");
    }
}

#[tokio::test]
async fn absent_body_counts_as_empty_object() {
    let app = TestApp::start().await;
    let bare = app.request(Method::POST, "/conversations");
    assert_eq!(bare.send().await.unwrap().status(), 201);
    let nulls = json!({"user_id": null, "persona": null, "language": null, "metadata": null});
    assert_eq!(app.post("/conversations", &nulls).send().await.unwrap().status(), 201);
}

#[tokio::test]
async fn body_over_64_kib_is_too_large() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    let path = format!("/conversations/{id}/messages");
    let body = json!({"text": "a".repeat(65 * 1024)}).to_string();
    let post = || app.request(Method::POST, &path).header("content-type", "application/json");
    assert_eq!(refused(post().body(body.clone()), 413, "too_large").await["limit"], 64 * 1024);
    let pieces: Vec<Result<Vec<u8>, std::io::Error>> =
        body.as_bytes().chunks(1000).map(|piece| Ok(piece.to_vec())).collect();
    let chunked = reqwest::Body::wrap_stream(futures_util::stream::iter(pieces));
    assert_eq!(refused(post().body(chunked), 413, "too_large").await["limit"], 64 * 1024);
    // A false `Content-Length`.
    let claim = format!("content-length: {}\r\ncontent-type: application/json\r\n", 10_u64.pow(12));
    raw::send(&app, &raw::request(&app, "POST", &path, &claim)).await.check(413, "too_large");
    // Exactly 64 KiB is accepted by the limit, and then refused by its content.
    let frame = json!({"text": ""}).to_string().len();
    let exact = json!({"text": "a".repeat(64 * 1024 - frame)}).to_string();
    assert_eq!(exact.len(), 64 * 1024);
    refused(post().body(exact), 422, "invalid_request").await;
}

#[tokio::test]
async fn malformed_http_body_is_invalid_json() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    let head = "transfer-encoding: chunked\r\ncontent-type: application/json\r\n";
    let mut bytes = raw::request(&app, "POST", &format!("/conversations/{id}/messages"), head);
    bytes.extend(b"zz\r\n{\"text\":\"hi\"}\r\n0\r\n\r\n");
    raw::send(&app, &bytes).await.check(400, "invalid_json");
    assert_eq!(app.history(&id).await.len(), 1, "the greeting alone");
}
