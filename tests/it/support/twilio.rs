//! A stand-in for Twilio: a real server on a real socket that checks what it is asked, plays what a test wrote, and signs the
//! webhooks that it sends.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::body::Body;
use axum::extract::{Form, Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use futures_util::stream;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha1::Sha1;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::app::TestApp;
use super::eventually;

pub const PUBLIC_URL: &str = "https://shop.example";

/// What happens to the next message.
#[derive(Clone, Copy, Debug)]
pub enum Play {
    Accept,
    /// Twilio takes it, and the answer is lost.
    Lose,
    /// The connection ends before Twilio takes it.
    Drop,
    /// Twilio takes it, and does not answer.
    Stall,
    /// A status and Twilio's code.
    Refuse(u16, i64),
}

/// A message that Twilio took.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    pub sid: String,
    pub account: String,
    pub fields: BTreeMap<String, String>,
    at: DateTime<Utc>,
}

impl Sent {
    pub fn body(&self) -> &str {
        self.fields.get("Body").map_or("", String::as_str)
    }

    pub fn to(&self) -> &str {
        &self.fields["To"]
    }
}

#[derive(Default)]
struct Stage {
    /// The token of each account.
    tokens: BTreeMap<String, String>,
    plays: VecDeque<Play>,
    sent: Vec<Sent>,
    /// Requests to send, and requests for the list.
    asked: (usize, usize),
}

/// The server's handle. Dropping it ends the server.
pub struct ScriptedTwilio {
    pub url: String,
    stage: Arc<Mutex<Stage>>,
    task: JoinHandle<()>,
}

impl ScriptedTwilio {
    pub async fn start() -> Self {
        let stage = Arc::<Mutex<Stage>>::default();
        let path = "/2010-04-01/Accounts/{account}/Messages.json";
        let router = Router::new().route(path, get(list).post(create)).with_state(stage.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, stage, task }
    }

    /// Adds an account.
    pub fn has_account(&self, id: &str, token: &str) {
        self.stage().tokens.insert(id.to_owned(), token.to_owned());
    }

    /// Plays these for the next messages; later ones are accepted.
    pub fn play(&self, plays: &[Play]) {
        self.stage().plays.extend(plays);
    }

    pub fn sent(&self) -> Vec<Sent> {
        self.stage().sent.clone()
    }

    pub fn bodies(&self) -> Vec<String> {
        self.sent().iter().map(|sent| sent.body().to_owned()).collect()
    }

    /// Requests to send, and requests for the list of messages.
    pub fn asked(&self) -> (usize, usize) {
        self.stage().asked
    }

    /// Waits until so many messages were taken.
    pub async fn wait_for(&self, count: usize) -> Vec<Sent> {
        eventually("the messages are taken", || self.stage().sent.len() >= count).await;
        self.sent()
    }

    /// Reports a status of the message to the server.
    pub async fn report(&self, app: &TestApp, sent: &Sent, status: &str, error: Option<i64>) -> reqwest::Response {
        let mut fields = BTreeMap::from([
            ("MessageSid", sent.sid.clone()),
            ("MessageStatus", status.to_owned()),
            ("AccountSid", sent.account.clone()),
            ("From", sent.fields["From"].clone()),
            ("To", sent.fields["To"].clone()),
            ("ApiVersion", "2010-04-01".to_owned()),
        ]);
        fields.extend(error.map(|code| ("ErrorCode", code.to_string())));
        let fields: Vec<(String, String)> = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let token = self.stage().tokens[&sent.account].clone();
        let callback = sent.fields["StatusCallback"].strip_prefix(PUBLIC_URL).unwrap();
        let path = callback.strip_suffix("#rc=3&rp=all").unwrap();
        post(app, path, &fields, &sign(&token, &format!("{PUBLIC_URL}{path}"), &fields)).await
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap()
    }
}

impl Drop for ScriptedTwilio {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Posts a form with a signature.
pub async fn post(app: &TestApp, path: &str, fields: &[(String, String)], signature: &str) -> reqwest::Response {
    let request = app.request(reqwest::Method::POST, path).header("x-twilio-signature", signature);
    request.header("host", "shop.example").form(fields).send().await.unwrap()
}

/// Returns Twilio's signature of a request.
pub fn sign(token: &str, url: &str, fields: &[(String, String)]) -> String {
    let mut sorted = fields.to_vec();
    sorted.sort();
    let text = sorted.into_iter().fold(url.to_owned(), |text, (name, value)| text + &name + &value);
    let mut mac = Hmac::<Sha1>::new_from_slice(token.as_bytes()).unwrap();
    mac.update(text.as_bytes());
    STANDARD.encode(mac.finalize().into_bytes())
}

type Shared = State<Arc<Mutex<Stage>>>;

/// Checks the basic authentication.
fn refusal(stage: &Stage, account: &str, headers: &HeaderMap) -> Option<Response> {
    let expected = STANDARD.encode(format!("{account}:{}", stage.tokens.get(account)?));
    let sent = headers.get("authorization").and_then(|value| value.to_str().ok());
    let is_right = sent == Some(&format!("Basic {expected}"));
    (!is_right).then(|| (StatusCode::UNAUTHORIZED, Json(json!({"code": 20003}))).into_response())
}

fn shown(sent: &Sent) -> Value {
    json!({
        "sid": sent.sid, "status": "queued", "error_code": null, "body": sent.body(), "to": sent.fields["To"],
        "from": sent.fields["From"], "date_created": sent.at.to_rfc2822(), "date_sent": null,
    })
}

async fn create(
    State(stage): Shared,
    Path(account): Path<String>,
    headers: HeaderMap,
    Form(fields): Form<BTreeMap<String, String>>,
) -> Response {
    let (play, answer) = take(&mut stage.lock().unwrap(), account, &headers, fields);
    match play {
        Play::Lose | Play::Drop => cut(),
        Play::Stall => std::future::pending().await,
        Play::Accept | Play::Refuse(..) => answer,
    }
}

/// Stores the message, unless the play refuses or drops it. Returns the answer.
fn take(stage: &mut Stage, account: String, headers: &HeaderMap, fields: BTreeMap<String, String>) -> (Play, Response) {
    stage.asked.0 += 1;
    if let Some(refusal) = refusal(stage, &account, headers) {
        return (Play::Accept, refusal);
    }
    let known = ["Body", "ContentSid", "ContentVariables", "From", "StatusCallback", "To"];
    assert!(fields.keys().all(|name| known.contains(&name.as_str())), "{fields:?}");
    assert!(fields["To"].starts_with("whatsapp:+") && fields["From"].starts_with("whatsapp:+"), "{fields:?}");
    let is_too_long = fields.get("Body").is_some_and(|body| body.encode_utf16().count() > 1600);
    let mut play = stage.plays.pop_front().unwrap_or(Play::Accept);
    if is_too_long {
        play = Play::Refuse(400, 21617);
    }
    if let Play::Refuse(status, code) = play {
        let status = StatusCode::from_u16(status).unwrap();
        return (play, (status, Json(json!({"code": code, "message": "no"}))).into_response());
    }
    let sid = format!("SM{:032}", stage.sent.len() + 1);
    let sent = Sent { sid, account, fields, at: Utc::now() };
    let answer = (StatusCode::CREATED, Json(shown(&sent))).into_response();
    if !matches!(play, Play::Drop) {
        stage.sent.push(sent);
    }
    (play, answer)
}

/// An answer that breaks off.
fn cut() -> Response {
    let broken = stream::iter([Err::<Vec<u8>, _>(std::io::Error::other("cut"))]);
    (StatusCode::CREATED, Body::from_stream(broken)).into_response()
}

async fn list(
    State(stage): Shared,
    Path(account): Path<String>,
    headers: HeaderMap,
    Query(query): Query<BTreeMap<String, String>>,
) -> Response {
    let mut stage = stage.lock().unwrap();
    stage.asked.1 += 1;
    if let Some(refusal) = refusal(&stage, &account, &headers) {
        return refusal;
    }
    let is_wanted =
        |sent: &&Sent| sent.account == account && ["To", "From"].iter().all(|name| sent.fields[*name] == query[*name]);
    let messages: Vec<Value> = stage.sent.iter().rev().filter(is_wanted).map(shown).collect();
    Json(json!({ "messages": messages })).into_response()
}
