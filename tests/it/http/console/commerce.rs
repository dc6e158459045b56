//! What the console shows of a shop of the commerce desk.

use serde_json::{Value, json};

use crate::desks::commerce::{customer, open_desk, open_desk_with};
use crate::support::app::TestApp;

const KIJANI: &str = "0123456789abcdef-kijani";

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
    assert_eq!(names, ["marketing", "notifications", "consent_change", "order", "payment"]);
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
async fn catalog_lists_only_goods_of_the_own_shop() {
    let keys = format!("kijani:{KIJANI}");
    let desk = open_desk_with(TestApp::builder().env("X_API_KEYS", keys)).await;
    let list = async |query: &str| {
        let path = format!("/console/api/catalog{query}");
        let response = desk.app.get(&path).header("x-api-key", KIJANI).send().await.unwrap();
        assert_eq!(response.status(), 200);
        response.json::<Value>().await.unwrap()
    };
    let found = list("?q=canvas+shoes").await;
    assert_eq!(found["total"], 1, "{found}");
    let item = &found["items"][0];
    assert_eq!((&item["name"], &item["price"]["minor"]), (&json!("Canvas shoes"), &json!(145_000)), "{found}");
    assert!(item["stock"].as_u64().unwrap() > 0 && item["variants"]["size"].is_array(), "{found}");
    assert_eq!(list("?q=nothing+of+this").await, json!({ "items": [], "total": 0 }));
    let all = list("").await;
    assert_eq!(all["items"].as_array().unwrap().len() as u64, all["total"].as_u64().unwrap());
}
