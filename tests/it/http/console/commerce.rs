//! What the console shows of a shop of the commerce desk.

use reqwest::Method;
use serde_json::{Value, json};

use crate::desks::commerce::{customer, open_desk, open_desk_with};
use crate::desks::retail::chat::Shop;
use crate::support::app::TestApp;

const KIJANI: &str = "0123456789abcdef-kijani";
const SAVANNA: &str = "0123456789abcdef-savanna";

/// Reads a list of the shop with this key.
async fn read(desk: &Shop, key: &str, path: &str) -> Value {
    let response = desk.app.get(&format!("/console/api/{path}")).header("x-api-key", key).send().await.unwrap();
    assert_eq!(response.status(), 200);
    response.json().await.unwrap()
}

#[tokio::test]
async fn panel_has_consent_orders_and_payments() {
    let desk = open_desk().await;
    let mut chat = customer(&desk, "+254700000001").await;
    let path = format!("/console/api/conversations/{}/panel", chat.id);
    let panel = async || {
        let read: Value = desk.app.get(&path).send().await.unwrap().json().await.unwrap();
        let rows = read["rows"].as_array().unwrap().clone();
        let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
        rows.iter().map(|row| (text(row, "name"), text(row, "value"))).collect::<Vec<_>>()
    };
    assert_eq!(panel().await, [], "no customer has written yet");
    for text in ["canvas shoes size 40 black", "pay", "1", "yes", "STOP"] {
        chat.say(text).await;
    }
    let rows = panel().await;
    let names: Vec<&str> = rows.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["marketing", "notifications", "last_seen", "tags", "consent_change", "order", "payment"]);
    let value = |name: &str| rows.iter().find(|(of, _)| of == name).unwrap().1.as_str();
    assert_eq!((value("marketing"), value("notifications")), ("off", "off"));
    assert!(
        value("consent_change")
            .contains("customer: marketing off, notifications on → marketing off, notifications off")
    );
    assert!(value("order").contains("draft, 1250.00 KES: 1 × Canvas shoes"), "{rows:?}");
    assert!(value("payment").contains("mpesa_stk (sandbox), pending, 1250.00 KES"), "{rows:?}");
}

#[tokio::test]
async fn tags_of_a_customer_are_replaced() {
    let keys = format!("savanna:{SAVANNA},kijani:{KIJANI}");
    let desk = open_desk_with(TestApp::builder().env("X_API_KEYS", keys)).await;
    let chat = desk.chat_as(SAVANNA, json!({ "user_id": "+254700000001" })).await;
    let path = format!("/console/api/conversations/{}", chat.id);
    let put = async |key: &str, tags: Value| {
        let body = json!({ "tags": tags });
        let request = desk.app.request(Method::PUT, &format!("{path}/tags")).header("x-api-key", key).json(&body);
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.json::<Value>().await.unwrap())
    };
    assert_eq!(put(SAVANNA, json!(["VIP"])).await.0, 404, "no customer has written yet");
    let mut chat = chat;
    chat.say("hello").await;
    assert_eq!(put(KIJANI, json!(["VIP"])).await.0, 404);
    assert_eq!(put(SAVANNA, json!(["a,b"])).await.0, 422);
    let (status, stored) = put(SAVANNA, json!([" wholesale ", "VIP", "VIP", ""])).await;
    assert_eq!((status, stored), (200, json!({ "tags": ["wholesale", "VIP"] })));
    let panel = read(&desk, SAVANNA, &format!("conversations/{}/panel", chat.id)).await;
    assert!(panel.to_string().contains("wholesale, VIP"), "{panel}");
    let audit = read(&desk, SAVANNA, "audit").await;
    assert!(audit.to_string().contains("customer_tagged"), "{audit}");
}

#[tokio::test]
async fn catalog_lists_only_goods_of_the_own_shop() {
    let keys = format!("kijani:{KIJANI}");
    let desk = open_desk_with(TestApp::builder().env("X_API_KEYS", keys)).await;
    let list = async |query: &str| read(&desk, KIJANI, &format!("catalog{query}")).await;
    let found = list("?q=canvas+shoes").await;
    assert_eq!(found["total"], 1, "{found}");
    let item = &found["items"][0];
    assert_eq!((&item["name"], &item["price"]["minor"]), (&json!("Canvas shoes"), &json!(145_000)), "{found}");
    assert!(item["stock"].as_u64().unwrap() > 0 && item["variants"]["size"].is_array(), "{found}");
    assert_eq!(list("?q=nothing+of+this").await, json!({ "items": [], "total": 0 }));
    let all = list("").await;
    assert_eq!(all["items"].as_array().unwrap().len() as u64, all["total"].as_u64().unwrap());
}

#[tokio::test]
async fn payments_and_consent_are_listed_per_shop() {
    let keys = format!("savanna:{SAVANNA},kijani:{KIJANI}");
    let desk = open_desk_with(TestApp::builder().env("X_API_KEYS", keys)).await;
    let mut ids = Vec::new();
    for phone in ["+254700000001", "+254700000002", "+254700000003"] {
        let mut chat = desk.chat_as(SAVANNA, json!({ "user_id": phone })).await;
        for text in ["canvas shoes size 40 black", "pay", "1", "yes", "STOP"] {
            chat.say(text).await;
        }
        ids.push(chat.id.clone());
    }
    for (list, key) in [("payments", "payments"), ("consent-changes", "changes")] {
        let first = read(&desk, SAVANNA, &format!("{list}?limit=2")).await;
        let next = first["next"].as_str().unwrap();
        let rest = read(&desk, SAVANNA, &format!("{list}?limit=2&after={next}")).await;
        assert_eq!(rest["next"], Value::Null);
        let rows = [first, rest].map(|page| page[key].as_array().unwrap().clone()).concat();
        let listed: Vec<&Value> = rows.iter().map(|row| &row["conversation_id"]).collect();
        assert_eq!(listed, [&json!(ids[2]), &json!(ids[1]), &json!(ids[0])], "newest first, each once: {list}");
        assert_eq!(read(&desk, KIJANI, list).await, json!({ key: [], "next": null }), "another shop has none");
        let refused = desk.app.get(&format!("/console/api/{list}?after=x")).header("x-api-key", SAVANNA);
        assert_eq!(refused.send().await.unwrap().status(), 422);
    }
    let payment = &read(&desk, SAVANNA, "payments?limit=1").await["payments"][0];
    let shown = ["status", "method", "provider", "receipt"].map(|name| payment[name].clone());
    assert_eq!(json!(shown), json!(["pending", "mpesa_stk", "sandbox", null]), "{payment}");
    assert_eq!(payment["amount"], json!({ "minor": 125_000, "currency": "KES" }));
    let change = &read(&desk, SAVANNA, "consent-changes?limit=1").await["changes"][0];
    assert_eq!(
        json!([change["who"], change["customer"], change["message"]]),
        json!(["customer", "+254700000003", "STOP"])
    );
    let consents = json!([change["from"], change["to"]]);
    let of = |on: bool| json!({ "marketing": false, "notifications": on, "language": null });
    assert_eq!(consents, json!([of(true), of(false)]));
}

#[tokio::test]
async fn tickets_without_conversation_are_listed_and_decided() {
    let keys = format!("savanna:{SAVANNA},kijani:{KIJANI}");
    let desk = open_desk_with(TestApp::builder().env("X_API_KEYS", keys)).await;
    let mut chat = desk.chat_as(SAVANNA, json!({ "user_id": "+254700000001" })).await;
    chat.say("I was charged twice, I want my money back").await;
    assert_eq!(
        read(&desk, SAVANNA, "tickets").await,
        json!({ "tickets": [], "has_more": false }),
        "it is in the inbox"
    );
    let path = format!("/conversations/{}", chat.id);
    let deleted = desk.app.request(Method::DELETE, &path).header("x-api-key", SAVANNA).send().await.unwrap();
    assert_eq!(deleted.status(), 204);
    let found = read(&desk, SAVANNA, "tickets").await;
    let [ticket] = found["tickets"].as_array().unwrap().as_slice() else { panic!("{found}") };
    assert_eq!(read(&desk, KIJANI, "tickets").await["tickets"], json!([]), "another shop has none");
    let path = format!("/console/api/escalations/{}/resolve", ticket["id"].as_str().unwrap());
    let decision = json!({ "decision": "approve", "why": "called the customer" });
    let decided = desk.app.request(Method::POST, &path).header("x-api-key", SAVANNA).json(&decision);
    assert_eq!(decided.send().await.unwrap().status(), 200);
    assert_eq!(read(&desk, SAVANNA, "tickets").await["tickets"], json!([]));
}
