//! Renders conversations for snapshots: sender, intent, kind and text of each message.

use std::path::PathBuf;

use frontdesk::domain::text::clean;
use serde_json::{Value, json};

use super::sse::Events;

/// What a line says about its message besides the text: members of the metadata.
const DETAILS: [&str; 9] = [
    "/eligibility/reason_code",
    "/eligibility/policy_applied",
    "/action_ticket/status",
    "/email_status",
    "/escalation/priority",
    "/order/status",
    "/warranty_meta/kind",
    "/warranty_meta/serial",
    "/cut_reason",
];

/// What a snapshot can show.
pub trait Dialogue {
    fn dialogue(&self) -> String;
}

impl Dialogue for Events {
    fn dialogue(&self) -> String {
        render(self)
    }
}

/// Renders a turn, one line for the customer and one for each message, tool call, guard, error and list of sources:
///
/// ```text
/// user (return 1.0 by rules, en): I want to return order 77893
/// tool get_order_details: ok
/// order_confirm: Is it order #77893?
/// ```
fn render(events: &Events) -> String {
    let data = events.data();
    let mut lines: Vec<String> = Vec::new();
    // The line of the open message.
    let mut message = 0;
    for (at, event) in data.iter().enumerate() {
        let text = |name: &str| event[name].as_str().unwrap();
        match text("type") {
            "turn.start" => {
                let next = data[at + 1];
                let intent = if next["type"] == "intent" { format!(" ({})", intent(next)) } else { String::new() };
                lines.push(format!("{}{intent}: {}", text("sender"), indent(text("text"))));
            }
            "intent" if data[at - 1]["type"] == "turn.start" => {}
            "intent" => lines.push(format!("intent: {}", intent(event))),
            "message.start" => {
                message = lines.len();
                lines.push(String::new());
            }
            "delta" => lines[message].push_str(&indent(text("text"))),
            "message.end" => {
                let details = details(&event["metadata"]);
                lines[message].insert_str(0, &format!("{}{details}: ", text("kind")));
            }
            "sources" => {
                let titles = event["items"].as_array().unwrap().iter().map(|item| item["title"].as_str().unwrap());
                lines.push(format!("sources: {}", titles.collect::<Vec<_>>().join(", ")));
            }
            "tool.start" => lines.push(format!("tool {}", text("name"))),
            "tool.end" => {
                let line = lines.iter_mut().rfind(|line| **line == format!("tool {}", text("name"))).unwrap();
                line.push_str(if event["ok"] == true { ": ok" } else { ": error" });
            }
            "guard" => lines.push(format!("guard: {}", text("reason"))),
            "queued" => lines.push(format!("queued: {}", event["position"])),
            "error" => {
                let retryable = if event["retryable"] == true { ", retryable" } else { "" };
                lines.push(format!("error ({}{retryable}): {}", text("code"), text("message")));
            }
            "turn.done" if event["status"] == "completed" => {}
            "turn.done" => lines.push(format!("turn {}", text("status"))),
            other => panic!("no line for {other}"),
        }
    }
    lines.join("\n") + "\n"
}

fn intent(event: &Value) -> String {
    let text = |name: &str| event[name].as_str().unwrap();
    let unclear = if event["clarify_needed"] == true { ", unclear" } else { "" };
    let route = event["route"].as_str().map(|route| format!(" to {route}")).unwrap_or_default();
    let (intent, source, language) = (text("intent"), text("source"), text("language"));
    format!("{intent} {} by {source}{route}, {language}{unclear}", event["confidence"])
}

/// The details in brackets, or nothing.
fn details(metadata: &Value) -> String {
    let mut shown: Vec<&str> = DETAILS.iter().filter_map(|path| metadata.pointer(path)?.as_str()).collect();
    for flag in ["no_context", "cut"] {
        shown.extend(metadata[flag].as_bool().filter(|set| *set).map(|_| flag));
    }
    if metadata.pointer("/warranty_meta/found") == Some(&json!(true)) {
        shown.push("found");
    }
    if shown.is_empty() { String::new() } else { format!(" ({})", shown.join(", ")) }
}

fn indent(text: &str) -> String {
    text.replace('\n', "\n  ")
}

/// Fails if the stream of a turn is malformed. It is numbered from 1 without gaps, messages follow one another, each has
/// text and an end, and `turn.done` is last.
pub fn assert_well_formed(events: &Events, turn: u64, text: &str) {
    let context = || format!("{text:?}: {events:?}");
    assert_eq!(events.0[0], (None, json!({"debug": "stream-open"})), "{}", context());
    let ids: Vec<Option<String>> = events.0[1..].iter().map(|(id, _)| id.clone()).collect();
    let expected: Vec<Option<String>> = (1..events.0.len()).map(|n| Some(format!("{turn}.{n}"))).collect();
    assert_eq!(ids, expected, "{}", context());
    let data = events.data();
    let first = json!({"type": "turn.start", "turn": turn, "message_id": data[0]["message_id"], "sender": "user",
        "text": clean(text).trim()});
    assert_eq!(*data[0], first, "{}", context());
    let last = data.last().unwrap();
    assert_eq!((&last["type"], &last["turn"]), (&json!("turn.done"), &json!(turn)), "{}", context());
    assert_eq!(data.iter().filter(|event| event["type"] == "turn.done").count(), 1, "{}", context());
    assert!(data.iter().filter(|event| event["type"] == "error").count() <= 1, "{}", context());
    let mut open: Option<(&Value, &Value, bool)> = None;
    for event in data {
        let id = &event["message_id"];
        match event["type"].as_str().unwrap() {
            "message.start" => {
                assert_eq!(open, None, "{}", context());
                open = Some((id, &event["kind"], false));
            }
            "delta" => {
                assert!(!event["text"].as_str().unwrap().is_empty(), "{}", context());
                let (of, kind, _) = open.unwrap();
                assert_eq!(of, id, "{}", context());
                open = Some((of, kind, true));
            }
            "message.end" => {
                assert_eq!(open, Some((id, &event["kind"], true)), "{}", context());
                assert_eq!(event["kind"], event["metadata"]["type"], "{}", context());
                open = None;
            }
            "sources" => {
                let scores = event["items"].as_array().unwrap().iter().map(|item| item["score"].as_f64().unwrap());
                assert!(scores.into_iter().all(|score| score > 0.0 && score <= 1.0), "{}", context());
            }
            "turn.done" => assert_eq!(open, None, "{}", context()),
            _ => {}
        }
    }
}

/// The folder of the accepted snapshots.
pub fn snapshots() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "it", "snapshots"].iter().collect()
}

/// Compares a turn or a conversation with the accepted snapshot of this name.
macro_rules! assert_dialogue {
    ($name:expr, $dialogue:expr) => {{
        let shown = $crate::support::dialogue::Dialogue::dialogue(&$dialogue);
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path($crate::support::dialogue::snapshots());
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!($name, shown));
    }};
}
pub(crate) use assert_dialogue;
