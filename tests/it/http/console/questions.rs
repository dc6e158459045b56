//! Unanswered questions.

use reqwest::Method;
use serde_json::{Value, json};

use super::desk::{Desk, answer};
use crate::http::problem::refused;
use crate::support::app::TestApp;

const DOCUMENTS: [(&str, &str); 1] = [("giao-hang.md", "# Giao hàng\n\nPhí giao hàng nội thành là 30.000đ.\n")];

/// Question, kind and count of each group.
fn seen(told: &Value) -> Vec<(String, String, u64)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let group = |group: &Value| (text(&group["question"]), text(&group["kind"]), group["count"].as_u64().unwrap());
    told["groups"].as_array().unwrap().iter().map(group).collect()
}

#[tokio::test]
async fn similar_unanswered_questions_form_one_group() {
    let desk = Desk::open(TestApp::builder(), &DOCUMENTS).await;
    desk.app.ask_once("cái này thế nào").await;
    let id = desk.app.open(&json!({})).await;
    for text in [
        "shop có bán máy in HP không ạ?",
        "Phí giao hàng bao nhiêu",
        "Co ban MAY IN hp ko",
        "Shop ơi, cho mình hỏi có bán máy in HP không!",
    ] {
        desk.app.ask(&id, text).await;
    }
    let told = desk.get("/questions").await;
    assert_eq!(
        seen(&told),
        [
            ("Shop ơi, cho mình hỏi có bán máy in HP không!".to_owned(), "no_context".to_owned(), 3),
            ("cái này thế nào".to_owned(), "clarify".to_owned(), 1),
        ]
    );
    let newest = &told["groups"][0];
    assert_eq!(newest["language"], "vi");
    assert!(newest["last_at"].as_str().unwrap().ends_with('Z'));
    let turns: Vec<u64> =
        newest["examples"].as_array().unwrap().iter().map(|example| example["turn"].as_u64().unwrap()).collect();
    assert_eq!(turns, [4, 3, 1]);
    assert_eq!(newest["examples"][0]["conversation_id"], id);
    assert_eq!(newest["examples"][2]["text"], "shop có bán máy in HP không ạ?");
    assert_eq!(seen(&desk.get("/questions?kind=clarify").await).len(), 1);
    assert_eq!(seen(&desk.get("/questions?kind=no_context&days=1").await)[0].2, 3);
    assert_eq!(seen(&desk.get("/questions?kind=all&limit=1").await).len(), 1);
    let gone = desk.app.request(Method::DELETE, &format!("/conversations/{id}")).send().await.unwrap();
    assert_eq!(gone.status(), 204);
    assert_eq!(seen(&desk.get("/questions").await).len(), 1, "what is deleted is not told");
}

#[tokio::test]
async fn other_shops_questions_are_hidden() {
    let desk =
        Desk::open(TestApp::builder().env("X_API_KEYS", "key-of-the-shop-0,acme:key-of-the-shop-1"), &DOCUMENTS).await;
    let opened =
        desk.app.post("/conversations", &json!({})).header("x-api-key", "key-of-the-shop-1").send().await.unwrap();
    let opened: Value = opened.json().await.unwrap();
    let path = format!("/conversations/{}/stream", opened["id"].as_str().unwrap());
    let asked = desk.app.post(&path, &json!({"text": "cái này thế nào"})).header("x-api-key", "key-of-the-shop-1");
    asked.send().await.unwrap().text().await.unwrap();
    for (key, groups) in [("key-of-the-shop-0", 0), ("key-of-the-shop-1", 1)] {
        let request = desk.request(Method::GET, "/questions").header("x-api-key", key);
        assert_eq!(seen(&answer(request, 200).await).len(), groups, "{key}");
    }
}

#[tokio::test]
async fn invalid_questions_query_is_refused() {
    let desk = Desk::open(TestApp::builder(), &[]).await;
    for query in ["kind=x", "days=0", "days=367", "days=x", "limit=0", "limit=201", "since=1"] {
        refused(desk.request(Method::GET, &format!("/questions?{query}")), 422, "invalid_request").await;
    }
}
