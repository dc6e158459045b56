//! `GET /console/api/audit`

use chrono::{TimeDelta, Utc};
use frontdesk::turn::retention;
use reqwest::Method;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Browser, guarded};
use crate::desks::returns::shop;
use crate::http::problem::refused;

/// Who did what, oldest first.
async fn acts(lan: &Browser<'_>, query: &str) -> Vec<(String, String)> {
    let page = lan.json(&format!("/console/api/audit?limit=200{query}")).await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    page["entries"].as_array().unwrap().iter().rev().map(|entry| (text(&entry["who"]), text(&entry["what"]))).collect()
}

#[tokio::test]
async fn console_acts_are_audited_with_their_client() {
    let evals = tempfile::tempdir().unwrap();
    let builder = guarded().env("TRUSTED_PROXIES", "127.0.0.1").env("EVALS_PATH", evals.path().display());
    let app = shop::open(builder).await;
    let guess = app.post("/console/session", &json!({"key": "a guessed key", "name": "Mallory"}));
    refused(
        guess.header("sec-fetch-site", "same-origin").header("x-forwarded-for", "203.0.113.9"),
        401,
        "unauthorized",
    )
    .await;
    let lan = Browser::sign_in(&app, "key-of-the-shop-0", "Lan").await;
    let opened: Value =
        lan.post("/conversations", &json!({"language": "en"})).send().await.unwrap().json().await.unwrap();
    let id = opened["id"].as_str().unwrap();
    for text in ["return order 77893", "john.doe@example.com", "yes"] {
        let path = format!("/conversations/{id}/stream");
        lan.post(&path, &json!({ "text": text })).send().await.unwrap().text().await.unwrap();
    }
    let returns = lan.json(&format!("/console/api/conversations/{id}/returns")).await;
    let rma = returns["rmas"][0]["number"].as_str().unwrap();
    let step = lan.post(&format!("/console/api/rmas/{rma}/advance"), &json!({"to": "In_Transit"}));
    assert_eq!(step.send().await.unwrap().status(), 200);
    let illegal = lan.post(&format!("/console/api/rmas/{rma}/advance"), &json!({"to": "Refunded"}));
    refused(illegal, 409, "illegal_step").await;
    let wrong = lan.post(&format!("/console/api/conversations/{id}/turns/1/wrong"), &json!({"note": "Secret words"}));
    assert_eq!(wrong.send().await.unwrap().status(), 201);
    lan.hand(id, "take").await;
    lan.answer(id, "Secret words of an answer").await;
    for act in ["give-back", "close", "close", "reopen"] {
        lan.hand(id, act).await;
    }
    let list = |query: &str| {
        let request = lan.request(Method::POST, &format!("/console/api/warranty-files?{query}"));
        request
            .header("content-type", "text/csv")
            .body("serial,product_name,warranty_end_date\nSEEN-1,Loa,2027-01-05\n")
    };
    let seen: Value = list("dry_run=true").send().await.unwrap().json().await.unwrap();
    let written = list(&format!("dry_run=false&hash={}", seen["file_hash"].as_str().unwrap()));
    assert_eq!(written.send().await.unwrap().status(), 200);
    assert_eq!(lan.request(Method::DELETE, &format!("/conversations/{id}")).send().await.unwrap().status(), 204);
    assert_eq!(lan.request(Method::DELETE, "/console/session").send().await.unwrap().status(), 204);
    let minh = Browser::sign_in(&app, "key-of-the-shop-0", "Minh").await;

    let all = acts(&minh, "").await;
    let all: Vec<(&str, &str)> = all.iter().map(|(who, what)| (who.as_str(), what.as_str())).collect();
    let expected = [
        ("Mallory", "sign_in_refused"),
        ("Lan", "signed_in"),
        ("Lan", "rma_advanced"),
        ("Lan", "answer_reported"),
        ("Lan", "taken"),
        ("Lan", "answered"),
        ("Lan", "given_back"),
        ("Lan", "closed"),
        ("Lan", "closed"),
        ("Lan", "reopened"),
        ("Lan", "list_imported"),
        ("Lan", "deleted"),
        ("Lan", "signed_out"),
        ("Minh", "signed_in"),
    ];
    assert_eq!(all, expected, "refusals and dry runs change nothing");
    let page = minh.json("/console/api/audit?limit=200").await;
    let text = page.to_string();
    assert!(!text.contains("guessed key") && !text.contains("Secret words"), "{text}");
    let entry = |what: &str| page["entries"].as_array().unwrap().iter().find(|entry| entry["what"] == what).unwrap();
    assert_eq!(entry("sign_in_refused")["client"], "203.0.113.9");
    assert_eq!(entry("signed_in")["client"], "127.0.0.1");
    assert_eq!(entry("deleted")["conversation_id"], id);
    let advanced = entry("rma_advanced");
    assert_eq!((&advanced["subject"], &advanced["detail"]), (&json!(rma), &json!("In_Transit")));
    assert_eq!(entry("list_imported")["detail"], "1 new, 0 changed");

    assert_eq!(acts(&minh, "&who=Minh").await.len(), 1);
    let today = Utc::now().with_timezone(&app.inner.config.shops.time_zone).date_naive();
    let days = [today.pred_opt().unwrap(), today, today.succ_opt().unwrap()];
    let mut of_days = 0;
    for day in days {
        of_days += acts(&minh, &format!("&day={day}")).await.len();
    }
    assert_eq!(of_days, expected.len(), "midnight may have passed");
    assert_eq!(acts(&minh, "&day=2020-02-29").await, []);
    refused(minh.get("/console/api/audit?day=today"), 422, "invalid_request").await;
    let first = minh.json("/console/api/audit?limit=13").await;
    let rest = minh.json(&format!("/console/api/audit?after={}", first["next"].as_str().unwrap())).await;
    assert_eq!((rest["entries"].as_array().unwrap().len(), &rest["next"]), (1, &Value::Null));
    assert_eq!(
        acts(&Browser::sign_in(&app, "key-of-the-shop-1", "Kim").await, "").await.len(),
        1,
        "another shop sees only its entries"
    );

    let later = Utc::now() + TimeDelta::days(366);
    retention::forget(&app.inner.engine, &app.inner.config, later, &CancellationToken::new()).await.unwrap();
    assert_eq!(acts(&minh, "").await, []);
}

#[tokio::test]
async fn guessed_keys_do_not_fill_the_audit_log() {
    let app = guarded().env("TRUSTED_PROXIES", "127.0.0.1").start().await;
    for client in [["203.0.113.9"; 50].as_slice(), &["203.0.113.10"]].concat() {
        let guess = app.post("/console/session", &json!({"key": "a guessed key", "name": "Mallory"}));
        let guess = guess.header("sec-fetch-site", "same-origin").header("x-forwarded-for", client);
        refused(guess, 401, "unauthorized").await;
    }
    let lan = Browser::sign_in(&app, "key-of-the-shop-0", "Lan").await;
    let page = lan.json("/console/api/audit?limit=200").await;
    let refusals = page["entries"].as_array().unwrap().iter().filter(|entry| entry["what"] == "sign_in_refused");
    let clients: Vec<&Value> = refusals.map(|entry| &entry["client"]).collect();
    assert_eq!(clients, ["203.0.113.10", "203.0.113.9"]);
}
