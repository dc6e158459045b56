//! What the log must not contain.

use std::io::Write;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tracing_subscriber::fmt::MakeWriter;

use crate::desks::commerce::{TENANT_KEY, give_credentials, open_desk_with};
use crate::desks::retail::chat::Shop;
use crate::support::alone::run_alone;
use crate::support::app::TestApp;
use crate::support::payments::Daraja;

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[test]
fn trace_log_contains_no_secrets_or_messages() {
    run_alone("http::logs::trace_log_contains_no_secrets_or_messages", listen());
}

#[test]
fn untrusted_proxy_is_logged_once() {
    run_alone("http::logs::untrusted_proxy_is_logged_once", async {
        let (lines, _guard) = logged();
        let proxied = async |app: &TestApp| {
            for _ in 0..2 {
                let request = app.get("/conversations").header("x-forwarded-for", "203.0.113.9");
                request.header("x-api-key", "a-very-secret-api-key").send().await.unwrap();
            }
        };
        let builder = || TestApp::builder().env("X_API_KEYS", "a-very-secret-api-key");
        proxied(&builder().env("TRUSTED_PROXIES", "127.0.0.1").start().await).await;
        assert_eq!(lines.count("TRUSTED_PROXIES"), 0);
        proxied(&builder().start().await).await;
        assert_eq!(lines.count("A proxy that is not in TRUSTED_PROXIES passes requests on"), 1);
        assert_eq!(lines.count("proxy.address=127.0.0.1"), 1);
    });
}

#[test]
fn refused_public_address_is_logged_at_start() {
    run_alone("http::logs::refused_public_address_is_logged_at_start", async {
        let (lines, _guard) = logged();
        let desk = open_desk_with(TestApp::builder().env("TENANT_SECRET_KEY", TENANT_KEY)).await;
        give_credentials(&desk.app, "default", &Daraja::credentials("a")).await;
        let Shop { app, .. } = desk;
        let builder = app.stop().await.env("TENANT_SECRET_KEY", TENANT_KEY);
        let _app = builder.env("PUBLIC_URL", "https://mpesa.shop.example").start().await;
        assert_eq!(lines.count("Daraja refuses callbacks at PUBLIC_URL"), 1);
    });
}

#[test]
fn log_of_one_shop_names_no_other() {
    run_alone("http::logs::log_of_one_shop_names_no_other", async {
        let (lines, _guard) = logged();
        let shops = [("savanna", "a-very-secret-key-of-savanna"), ("kijani", "a-very-secret-key-of-kijani")];
        let keys = shops.map(|(shop, key)| format!("{shop}:{key}")).join(",");
        let desk = open_desk_with(TestApp::builder().env("X_API_KEYS", keys)).await;
        let mut ids = Vec::new();
        for (_, key) in shops {
            let mut chat = desk.chat_as(key, json!({ "user_id": "+254700000001" })).await;
            chat.say("canvas shoes").await;
            ids.push(chat.id.clone());
        }
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        let is_ours = |line: &&str| !line.contains("hyper_util::client") && !line.contains("reqwest");
        for (own, other) in [(0, 1), (1, 0)] {
            let lines = text.lines().filter(is_ours);
            let of_shop: Vec<&str> = lines.filter(|line| line.contains(&ids[own])).collect();
            assert!(of_shop.iter().any(|line| line.contains("Turn ended")), "the log was heard");
            let crosses = |line: &&&str| line.contains(shops[other].0) || line.contains(&ids[other]);
            assert_eq!(of_shop.iter().find(crosses), None);
        }
        assert_eq!(text.lines().filter(is_ours).find(|line| line.contains("254700000001")), None);
    });
}

impl Lines {
    /// Counts the lines with this text.
    fn count(&self, text: &str) -> usize {
        let log = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        log.lines().filter(|line| line.contains(text)).count()
    }
}

/// Captures the log from now on, at the finest level.
fn logged() -> (Lines, tracing::subscriber::DefaultGuard) {
    let lines = Lines::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_span_events(tracing_subscriber::fmt::format::FmtSpan::FULL)
        .with_writer(lines.clone())
        .finish();
    (lines, tracing::subscriber::set_default(subscriber))
}

async fn listen() {
    let (lines, _guard) = logged();
    let (key, secret) = ("a-very-secret-api-key", "a-token-secret-that-is-long-enough-to-be-one");
    let app = TestApp::builder().env("X_API_KEYS", key).env("TOKEN_SECRET", secret).start().await;
    let opened = app.post("/conversations", &json!({"user_id": "nguyen@example.com"})).header("x-api-key", key);
    let opened: Value = opened.send().await.unwrap().json().await.unwrap();
    let (id, token) = (opened["id"].as_str().unwrap(), opened["token"].as_str().unwrap());
    let text = "số của tôi là 0901234567, kiểm tra bảo hành ABC123";
    let path = format!("/conversations/{id}");
    let stream = app.post(&format!("{path}/stream"), &json!({"text": text})).bearer_auth(token);
    assert!(stream.send().await.unwrap().text().await.unwrap().contains("turn.done"));
    app.get(&format!("{path}?token={token}")).send().await.unwrap();
    let renewed = app.post(&format!("{path}/token"), &json!({})).header("cookie", format!("fd_conversation={token}"));
    let renewed = renewed.header("sec-fetch-site", "same-origin").send().await.unwrap();
    assert!(renewed.headers().contains_key("set-cookie"), "the renewed token goes into a cookie as well");
    let renewed: Value = renewed.json().await.unwrap();
    let renewed = renewed["token"].as_str().unwrap();
    let events = app.get(&format!("{path}/events?last_event_id=0.0&token={token}")).send().await.unwrap();
    assert_eq!(events.status(), 200);
    drop(events);
    app.get(&format!("{path}/history")).bearer_auth("wrong-token-of-somebody").send().await.unwrap();
    app.get("/conversations").header("x-api-key", "wrong-key-of-somebody").send().await.unwrap();
    let log = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    // Lines of the HTTP client of this test do not count.
    let ours: Vec<&str> =
        log.lines().filter(|line| !line.contains("hyper_util::client") && !line.contains("reqwest")).collect();
    assert!(ours.iter().any(|line| line.contains("Turn ended")), "the log was heard");
    for credential in ["api_key", "token"] {
        let refused = |line: &&str| line.contains("WARN") && line.contains(credential) && line.contains("127.0.0.1");
        assert!(ours.iter().any(refused), "no failed authentication with {credential} in the log");
    }
    for hidden in
        [key, secret, token, renewed, "wrong-token", "wrong-key", "0901234567", "kiểm tra", "nguyen@example.com"]
    {
        let found = ours.iter().find(|line| line.contains(hidden));
        assert_eq!(found, None, "{hidden}");
    }
}
