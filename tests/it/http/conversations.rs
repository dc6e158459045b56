//! Listing, reading, paging and deleting conversations.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::live::{BEGINNING, Live, QUESTION, count_rows, delete, stalled};
use super::problem::refused;
use super::raw;
use crate::support::app::TestApp;
use crate::support::eventually_async;

async fn get(app: &TestApp, path: &str) -> Value {
    let response = app.get(path).send().await.unwrap();
    assert_eq!(response.status(), 200, "{path}");
    response.json().await.unwrap()
}

async fn ids(app: &TestApp, query: &str) -> (Vec<String>, Option<String>) {
    let list = get(app, &format!("/conversations?{query}")).await;
    let ids = list["conversations"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned());
    (ids.collect(), list["next"].as_str().map(str::to_owned))
}

#[tokio::test]
async fn conversations_are_paged_newest_first() {
    let app = TestApp::start().await;
    let mut opened = Vec::new();
    for n in 0..7 {
        opened.push(app.open(&json!({"user_id": format!("u-{}", n % 2)})).await);
    }
    opened.reverse();
    assert_eq!(ids(&app, "").await, (opened.clone(), None));
    let (first, next) = ids(&app, "limit=3").await;
    assert_eq!(first, opened[..3]);
    let (second, next) = ids(&app, &format!("limit=3&after={}", next.unwrap())).await;
    assert_eq!(second, opened[3..6]);
    // A conversation that opens in between does not shift the pages.
    app.open(&json!({})).await;
    let (third, next) = ids(&app, &format!("limit=3&after={}", next.unwrap())).await;
    assert_eq!((third.as_slice(), next), (&opened[6..], None));
    let of_one: Vec<String> = opened.iter().step_by(2).cloned().collect();
    assert_eq!(ids(&app, "user_id=u-0").await, (of_one.clone(), None));
    let (page, next) = ids(&app, "user_id=u-0&limit=4").await;
    assert_eq!((page, next), (of_one, None), "a full last page has no next");
    assert_eq!(ids(&app, "user_id=unknown").await, (vec![], None));
    assert_eq!(ids(&app, "user_id=").await, (vec![], None));
}

#[tokio::test]
async fn history_is_paged_oldest_first() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    for text in ["hello", "kiểm tra bảo hành ABC123", "kiểm tra bảo hành XYZ789"] {
        app.ask(&id, text).await;
    }
    let whole = get(&app, &format!("/conversations/{id}/history?limit=200")).await;
    assert_eq!(whole["next"], Value::Null);
    let all = whole["messages"].as_array().unwrap();
    assert!(all.len() > 6);
    for limit in [1, 2, 3, all.len() - 1, all.len()] {
        let (mut paged, mut after): (Vec<Value>, String) = (Vec::new(), String::new());
        while paged.len() <= all.len() {
            let page = get(&app, &format!("/conversations/{id}/history?limit={limit}{after}")).await;
            assert_eq!(page["conversation"], whole["conversation"]);
            let messages = page["messages"].as_array().unwrap();
            assert!(messages.len() <= limit && !messages.is_empty());
            paged.extend(messages.iter().cloned());
            match page["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => break,
            }
        }
        assert_eq!(&paged, all, "by {limit}");
    }
    let order: Vec<(u64, bool)> =
        all.iter().map(|m| (m["turn"].as_u64().unwrap(), m["sender"] == "assistant")).collect();
    assert!(order.is_sorted(), "by turns, the customer first in each: {order:?}");
    let ids: std::collections::HashSet<&str> = all.iter().map(|message| message["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), all.len());
}

#[tokio::test]
async fn last_event_id_belongs_to_last_ended_turn() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    for turn in 1..=2 {
        let events = app.ask(&id, "kiểm tra bảo hành ABC123").await;
        let last = events.0.last().unwrap().0.clone().unwrap();
        assert!(last.starts_with(&format!("{turn}.")));
        assert_eq!(get(&app, &format!("/conversations/{id}")).await["last_event_id"], last);
        let history = get(&app, &format!("/conversations/{id}/history")).await;
        assert_eq!(history["last_event_id"], last);
        assert_eq!(history["conversation"]["last_event_id"], last);
        let turn: Value = get(&app, &format!("/conversations/{id}/turns/{turn}")).await;
        assert_eq!(turn["status"], "completed");
        assert!(turn["started_at"].as_str() <= turn["ended_at"].as_str());
        assert_eq!(turn["timings_ms"], events.first("turn.done")["timings_ms"]);
    }
}

#[tokio::test]
async fn deleted_conversation_is_not_found_on_every_route() {
    let app = TestApp::start().await;
    let (id, other) = (app.open(&json!({})).await, app.open(&json!({})).await);
    app.ask(&id, "hello").await;
    let path = format!("/conversations/{id}");
    let response = app.request(Method::DELETE, &path).send().await.unwrap();
    assert_eq!(response.status(), 204);
    assert_eq!(response.text().await.unwrap(), "");
    for path in [path.clone(), format!("{path}/history"), format!("{path}/turns/1")] {
        refused(app.get(&path), 404, "not_found").await;
    }
    for route in ["messages", "stream"] {
        refused(app.post(&format!("{path}/{route}"), &json!({"text": "hi"})), 404, "not_found").await;
    }
    refused(app.request(Method::DELETE, &path), 404, "not_found").await;
    assert_eq!(ids(&app, "").await.0, [other]);
    for table in ["messages", "turns", "events", "idempotency_keys"] {
        let rows = count_rows(&app, table, &id).await;
        assert_eq!(rows, 0, "{table}");
    }
}

#[tokio::test]
async fn deletion_cancels_running_turn_and_ends_streams() {
    let (app, _ollama) = stalled(TestApp::builder()).await;
    let (id, other) = (app.open(&json!({})).await, app.open(&json!({})).await);
    let stream = Live::follow(&app, &id, None).await;
    let mut elsewhere = Live::follow(&app, &other, None).await;
    let mut running = Live::say(&app, &id, QUESTION, None).await;
    running.until(BEGINNING).await;
    let second = Live::say(&app, &id, "còn hàng không", None).await;
    let third = Live::say(&app, &id, "kiểm tra bảo hành ABC123", None).await;
    assert_eq!(delete(&app, &id).await, 204);
    let events = running.events().await;
    assert_eq!(events.status(), "cancelled");
    assert_eq!(
        events.data().iter().find(|event| event["type"] == "message.end" && event["kind"] == "reply").unwrap()["metadata"]
            ["cut"],
        true
    );
    for waiting in [second, third] {
        let events = waiting.events().await;
        assert!(events.data().is_empty(), "a turn that never ran: {events:?}");
    }
    assert_eq!(stream.events().await.ids()[0], "1.1");
    for path in ["", "/events"] {
        refused(app.get(&format!("/conversations/{id}{path}")), 404, "not_found").await;
    }
    app.ask(&other, "kiểm tra bảo hành ABC123").await;
    elsewhere.until_done(1).await;
}

#[tokio::test]
async fn disconnect_during_deletion_leaves_consistent_conversation() {
    let (app, _ollama) = stalled(TestApp::builder()).await;
    for _ in 0..20 {
        let id = app.open(&json!({})).await;
        let path = format!("/conversations/{id}");
        Live::say(&app, &id, QUESTION, None).await.until(BEGINNING).await;
        let mut leaving = raw::connect(&app).await;
        leaving.write_all(&raw::request(&app, "DELETE", &path, "")).await.unwrap();
        drop(leaving);
        // Either the deletion never began and nothing has changed, or it completes.
        let said = app.post(&format!("{path}/messages"), &json!({"text": "hello"})).send().await.unwrap().status();
        let known = app.get(&path).send().await.unwrap().status();
        if said == 404 && known == 200 {
            let is_gone = async || app.get(&path).send().await.unwrap().status() == 404;
            eventually_async("the deletion completes", is_gone).await;
        }
    }
}
