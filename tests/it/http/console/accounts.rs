//! `GET /console/api/conversations/{id}/account`, and decisions on refund cases.

use frontdesk::cli::seed::accounts::accounts;
use frontdesk::domain::TenantId;
use reqwest::Method;
use serde_json::{Value, json};

use super::desk::answer;
use super::{Browser, guarded};
use crate::http::live::Live;
use crate::http::problem::refused;
use crate::support::app::TestApp;

const KEY: &str = "key-of-the-shop-0";

async fn open() -> TestApp {
    let app = guarded().every_desk().start().await;
    app.inner.store.tenant(&TenantId::default()).make_sample_accounts(&accounts()).await.unwrap();
    app
}

/// Opens a conversation in which u123 has opened the case R10001.
async fn opened<'a>(app: &'a TestApp) -> (Browser<'a>, String) {
    let lan = Browser::sign_in(app, KEY, "Lan").await;
    let wish = json!({"persona": "telecom_en"});
    let body: Value = lan.post("/conversations", &wish).send().await.unwrap().json().await.unwrap();
    let id = body["id"].as_str().unwrap().to_owned();
    for text in ["I was overcharged PLN 100 on invoice INV-12345", "It's u123", "yes"] {
        let path = format!("/conversations/{id}/stream");
        let events = lan.post(&path, &json!({ "text": text })).send().await.unwrap().text().await.unwrap();
        assert!(events.contains("turn.done"), "{events}");
    }
    (lan, id)
}

fn decide(id: &str) -> String {
    format!("/console/api/refund-cases/{id}/decide")
}

#[tokio::test]
async fn account_is_shown_once_it_is_known() {
    let app = open().await;
    let (lan, id) = opened(&app).await;
    let account = lan.json(&format!("/console/api/conversations/{id}/account")).await;
    assert_eq!((&account["has_accounts"], &account["user_id"]), (&json!(true), &json!("u123")));
    assert_eq!(account["subscription"]["price_monthly"], json!({"minor": 4500, "currency": "PLN"}));
    assert_eq!(account["invoices"].as_array().unwrap().len(), 2);
    let case = &account["cases"][0];
    assert_eq!((&case["id"], &case["status"], &case["is_open"]), (&json!("R10001"), &json!("opened"), &json!(true)));
    let new: Value =
        lan.post("/conversations", &json!({"persona": "telecom_en"})).send().await.unwrap().json().await.unwrap();
    let unknown = lan.json(&format!("/console/api/conversations/{}/account", new["id"].as_str().unwrap())).await;
    let nothing = json!({"has_accounts": true, "user_id": null, "subscription": null, "invoices": [], "cases": []});
    assert_eq!(unknown, nothing);
    let shop: Value = lan.post("/conversations", &json!({})).send().await.unwrap().json().await.unwrap();
    let retail = lan.json(&format!("/console/api/conversations/{}/account", shop["id"].as_str().unwrap())).await;
    assert_eq!(retail["has_accounts"], false);
    refused(lan.request(Method::GET, "/console/api/conversations/x/account"), 404, "not_found").await;
}

#[tokio::test]
async fn customer_reads_the_decision_in_the_chat() {
    let app = open().await;
    let (lan, id) = opened(&app).await;
    let mut events = Live::open(lan.get(&format!("/conversations/{id}/events"))).await.opened().await;
    let body = json!({"decision": "approve", "why": " charged twice "});
    let done = answer(lan.post(&decide("r10001"), &body), 200).await;
    let case = &done["case"];
    assert_eq!(
        (&case["status"], &case["decided"]["by"], &case["decided"]["why"]),
        (&json!("approved"), &json!("Lan"), &json!("charged twice"))
    );
    events.until("turn.done").await;
    let history = app.request(Method::GET, &format!("/conversations/{id}/history")).header("x-api-key", KEY);
    let history: Value = history.send().await.unwrap().json().await.unwrap();
    let last = history["messages"].as_array().unwrap().last().unwrap();
    let text = last["text"].as_str().unwrap();
    assert!(text.contains("R10001") && text.contains("100.00"), "{text}");
    assert_eq!(last["metadata"]["decision"], json!({"case_id": "R10001", "decision": "approved"}));
    assert_eq!(last["metadata"]["name"], "Lan");
    // The same decision again changes nothing; another one is refused.
    assert_eq!(answer(lan.post(&decide("R10001"), &body), 200).await, done);
    let minh = Browser::sign_in(&app, KEY, "Minh").await;
    let other = minh.post(&decide("R10001"), &json!({"decision": "reject", "why": "no"}));
    let detail = refused(other, 409, "already_resolved").await["detail"].clone();
    assert_eq!(detail, "R10001 was already decided: approved, by Lan.");
    for (path, body, status) in [
        (decide("R10002"), json!({"decision": "approve", "why": "x"}), 404),
        (decide("x"), json!({"decision": "approve", "why": "x"}), 404),
        (decide("R10001"), json!({"decision": "more_info", "why": "x"}), 422),
        (decide("R10001"), json!({"decision": "approve", "why": " "}), 422),
    ] {
        assert_eq!(lan.post(&path, &body).send().await.unwrap().status(), status, "{path} {body}");
    }
    let audit = lan.json("/console/api/audit?limit=200").await;
    let decided: Vec<&Value> =
        audit["entries"].as_array().unwrap().iter().filter(|entry| entry["what"] == "refund_decided").collect();
    let [entry] = decided[..] else { panic!("{audit}") };
    assert_eq!(
        (&entry["who"], &entry["subject"], &entry["detail"]),
        (&json!("Lan"), &json!("R10001"), &json!("approve"))
    );
    let chat = json!({"text": "what is my case status?"});
    let said = lan.post(&format!("/conversations/{id}/stream"), &chat).send().await.unwrap().text().await.unwrap();
    assert!(said.contains("approved"), "{said}");
}

#[tokio::test]
async fn joined_conversation_reads_the_decision_too() {
    let app = open().await;
    opened(&app).await;
    // The second claim joins the case of the first one.
    let (lan, joined) = opened(&app).await;
    let mut events = Live::open(lan.get(&format!("/conversations/{joined}/events"))).await.opened().await;
    let body = json!({"decision": "approve", "why": "charged twice"});
    answer(lan.post(&decide("R10001"), &body), 200).await;
    events.until("turn.done").await;
    let history = app.request(Method::GET, &format!("/conversations/{joined}/history")).header("x-api-key", KEY);
    let history: Value = history.send().await.unwrap().json().await.unwrap();
    let last = history["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["metadata"]["decision"], json!({"case_id": "R10001", "decision": "approved"}));
}
