//! `GET /console/api/conversations`

use serde_json::{Value, json};

use super::hand;
use crate::http::problem::refused;
use crate::support::app::TestApp;

async fn inbox(app: &TestApp, query: &str) -> Value {
    let response = app.get(&format!("/console/api/conversations{query}")).send().await.unwrap();
    assert_eq!(response.status(), 200, "{query}");
    response.json().await.unwrap()
}

fn ids(inbox: &Value) -> Vec<String> {
    let ids = inbox["conversations"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned());
    ids.collect()
}

#[tokio::test]
async fn inbox_shows_newest_activity_first() {
    let app = TestApp::start().await;
    let first = app.open(&json!({"user_id": "u-1"})).await;
    let second = app.open(&json!({})).await;
    assert_eq!(ids(&inbox(&app, "").await), [second.as_str(), &first]);
    app.ask(&first, "kiểm tra bảo hành ABC123").await;
    let page = inbox(&app, "").await;
    assert_eq!(ids(&page), [first.as_str(), &second]);
    assert_eq!(page["next"], Value::Null);
    let item = &page["conversations"][0];
    let last = app.history(&first).await.pop().unwrap();
    let said = json!({
        "sender": "assistant", "kind": "follow_up", "text": last["text"], "created_at": last["created_at"]
    });
    assert_eq!(item["last_message"], said);
    assert_eq!(item["last_customer_message"]["text"], "kiểm tra bảo hành ABC123");
    assert_eq!(page["conversations"][1]["last_customer_message"], Value::Null);
    let shown: Value = app.get(&format!("/conversations/{first}")).send().await.unwrap().json().await.unwrap();
    for (name, value) in shown.as_object().unwrap() {
        assert_eq!(&item[name], value, "{name}");
    }
    assert_eq!((&item["agent"], &item["waiting_since"]), (&Value::Null, &Value::Null));
    assert!(item["last_activity_at"].as_str().unwrap() >= item["created_at"].as_str().unwrap());
    assert_eq!(page["counts"], json!({"bot": 2, "waiting": 0, "taken": 0, "closed": 0}));
}

#[tokio::test]
async fn long_message_is_shortened() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    hand(&app, &id, "take").await;
    let long = "ế".repeat(300);
    app.ask(&id, &long).await;
    let page = inbox(&app, "").await;
    let last = &page["conversations"][0]["last_message"];
    assert_eq!((&last["sender"], &last["kind"]), (&json!("user"), &Value::Null));
    assert_eq!(last["text"].as_str().unwrap(), "ế".repeat(200));
}

#[tokio::test]
async fn inbox_filters_and_counts_by_status() {
    let app = TestApp::start().await;
    let mut opened = Vec::new();
    for _ in 0..5 {
        opened.push(app.open(&json!({})).await);
    }
    app.ask(&opened[0], "cho gặp nhân viên").await;
    hand(&app, &opened[1], "take").await;
    hand(&app, &opened[2], "take").await;
    hand(&app, &opened[3], "close").await;
    let expected = [
        ("bot", vec![opened[4].clone()]),
        ("waiting", vec![opened[0].clone()]),
        ("taken", vec![opened[2].clone(), opened[1].clone()]),
        ("closed", vec![opened[3].clone()]),
    ];
    for (status, expected) in expected {
        let page = inbox(&app, &format!("?status={status}")).await;
        assert_eq!(ids(&page), expected, "{status}");
        assert!(page["conversations"].as_array().unwrap().iter().all(|item| item["status"] == status));
        assert_eq!(page["counts"], json!({"bot": 1, "waiting": 1, "taken": 2, "closed": 1}), "whatever is listed");
    }
    assert_eq!(inbox(&app, "?q=gap+nhan+vien").await["counts"]["bot"], 0, "a search counts what it finds");
    // The longest waiting conversations come first on every page.
    app.ask(&opened[4], "cho gặp nhân viên").await;
    let expected = [0, 4, 3, 2, 1].map(|at: usize| opened[at].clone());
    let (mut seen, mut after) = (Vec::new(), String::new());
    for _ in 0..=expected.len() {
        let page = inbox(&app, &format!("?limit=1{after}")).await;
        seen.extend(ids(&page));
        let Some(next) = page["next"].as_str() else { break };
        after = format!("&after={next}");
    }
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn search_ignores_diacritics_and_case() {
    let app = TestApp::start().await;
    let other = app.open(&json!({"user_id": "khách-Đỗ"})).await;
    let id = app.open(&json!({"user_id": "100%_sure\\"})).await;
    hand(&app, &id, "take").await;
    app.ask(&id, "Đổi trả HÀNG ở đâu ạ? Giảm 50%_nhé").await;
    for q in [
        "doi tra hang",
        "ĐỔI TRẢ",
        "đổi",
        "trả hàng ở",
        "hàng trả",
        "50%25_nhe sure",
        "o dau a?",
        "50%25_nhe",
        "100%25_sure%5C",
        " Hàng ",
    ] {
        assert_eq!(ids(&inbox(&app, &format!("?q={q}")).await), [id.as_str()], "{q}");
    }
    for q in ["khach-do", "KHÁCH-ĐỖ"] {
        assert_eq!(ids(&inbox(&app, &format!("?q={q}")).await), [other.as_str()], "{q}");
    }
    // Characters of SQL patterns have no special meaning.
    for q in ["50%25%25nhe", "5__", "doi%25hang", "%5C%5C", "hàng trả xe"] {
        assert_eq!(ids(&inbox(&app, &format!("?q={q}")).await), [""; 0], "{q}");
    }
    assert_eq!(ids(&inbox(&app, "?q=doi&status=bot").await), [""; 0]);
    assert_eq!(ids(&inbox(&app, "?q=%20").await).len(), 2, "nothing to search for");
    app.request(reqwest::Method::DELETE, &format!("/conversations/{id}")).send().await.unwrap();
    assert_eq!(ids(&inbox(&app, "?q=doi").await), [""; 0]);
}

#[tokio::test]
async fn invalid_inbox_query_is_refused() {
    let app = TestApp::start().await;
    let long = format!("?q={}", "a".repeat(201));
    for query in ["?status=open", "?limit=0", "?limit=201", "?after=x", "?after=1_x", "?after=x_1", "?page=2", &long] {
        refused(app.get(&format!("/console/api/conversations{query}")), 422, "invalid_request").await;
    }
}
