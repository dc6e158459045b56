//! Shops, customers and consent.

use frontdesk::cli::seed::commerce::shops;
use frontdesk::domain::TenantId;
use frontdesk::domain::commerce::Money;
use frontdesk::domain::commerce::catalog::CATALOG_CURRENCY;
use frontdesk::domain::commerce::sale::{Discount, Offer};
use frontdesk::store::catalog::Unlisted;
use frontdesk::store::shoppers::ShopperKey;
use serde_json::json;

use super::{customer, open_desk, open_desk_with, say_all};
use crate::support::app::TestApp;

const SAVANNA: &str = "0123456789abcdef-savanna";
const KIJANI: &str = "0123456789abcdef-kijani";

// Feature: tulia-ai-v2-langgraph-refactor, Property 3: Tenant Isolation Enforcement
#[tokio::test]
async fn shops_share_neither_goods_nor_orders() {
    let keys = format!("savanna:{SAVANNA},kijani:{KIJANI}");
    let desk = open_desk_with(TestApp::builder().env("X_API_KEYS", keys)).await;
    let phone = json!({ "user_id": "+254700000001" });
    let mut savanna = desk.chat_as(SAVANNA, phone.clone()).await;
    let mut kijani = desk.chat_as(KIJANI, phone).await;
    let cart = say_all(&mut savanna, &["canvas shoes size 40 black"]).await;
    assert!(cart.contains("KSh 1,250"), "{cart}");
    let cart = say_all(&mut kijani, &["canvas shoes size 40 green"]).await;
    assert!(cart.contains("KSh 1,450"), "{cart}");
    let orders = say_all(&mut kijani, &["where is my order"]).await;
    assert!(orders.contains("KSh 1,450") && !orders.contains("KSh 1,250"), "{orders}");
}

#[tokio::test]
async fn customers_see_only_their_own_orders() {
    let desk = open_desk().await;
    let mut first = customer(&desk, "+254700000001").await;
    let cart = say_all(&mut first, &["gum boots size 41 black"]).await;
    let number = cart
        .split_whitespace()
        .find(|word| word.trim_end_matches(':').parse::<frontdesk::domain::commerce::SaleId>().is_ok());
    let number = number.unwrap().trim_end_matches(':').to_owned();
    let mut second = customer(&desk, "+254700000002").await;
    let said = say_all(&mut second, &[&format!("where is order {number}?")]).await;
    assert!(said.contains("no order of yours"), "{said}");
    let said = say_all(&mut first, &[&format!("where is order {number}?")]).await;
    assert!(said.contains(&number) && said.contains("Not paid yet"), "{said}");
}

#[tokio::test]
async fn last_piece_is_sold_once() {
    let desk = open_desk().await;
    let mut first = customer(&desk, "+254700000001").await;
    say_all(&mut first, &["leather boots size 41", "make it 6"]).await;
    let mut second = customer(&desk, "+254700000002").await;
    let said = say_all(&mut second, &["leather boots size 42"]).await;
    assert!(said.contains("sold out"), "{said}");
    say_all(&mut first, &["cancel my cart"]).await;
    let said = say_all(&mut second, &["leather boots size 42"]).await;
    assert!(said.contains("KSh 5,200") && said.contains("Total"), "{said}");
}

#[tokio::test]
async fn offer_ends_on_a_local_day() {
    for (zone, day) in [("UTC", "Dec 31, 2099"), ("Africa/Nairobi", "Jan 1, 2100")] {
        let desk = open_desk_with(TestApp::builder().env("SHOP_TIME_ZONE", zone)).await;
        let mut samples = shops(chrono::Utc::now()).unwrap();
        for offer in samples.iter_mut().flat_map(|sample| &mut sample.offers) {
            offer.ends_at = "2099-12-31T22:30:00Z".parse().unwrap();
        }
        desk.app.inner.store.make_sample_tenants(&samples).await.unwrap();
        let mut chat = customer(&desk, "+254700000001").await;
        let said = say_all(&mut chat, &["any offers today?"]).await;
        assert!(said.contains("KARIBU10") && said.contains(day), "{zone}: {said}");
    }
}

#[tokio::test]
async fn imported_offer_is_said_and_counts() {
    let desk = open_desk().await;
    let (tenant, now) = (TenantId::default(), chrono::Utc::now());
    let door = desk.app.inner.store.tenant(&tenant);
    let offer = Offer {
        code: "RAINY20".to_owned(),
        terms: "KSh 200 off boots".to_owned(),
        discount: Discount::Amount(Money::new(20_000, CATALOG_CURRENCY)),
        min_total: None,
        categories: vec!["Boots".to_owned()],
        ends_at: now + chrono::TimeDelta::days(1),
    };
    door.import_offers(&[offer], Unlisted::Remove, "Lan", now).await.unwrap();
    let mut chat = customer(&desk, "+254700000001").await;
    let said = say_all(&mut chat, &["any offers today?"]).await;
    assert!(said.contains("RAINY20") && !said.contains("KARIBU10"), "{said}");
    let said = say_all(&mut chat, &["gum boots size 41 black", "I have the code RAINY20"]).await;
    assert!(said.contains("KSh 200"), "{said}");
    let recorded = door.list_audit().await.unwrap();
    let imported = recorded.iter().find(|entry| entry.what == "offers.imported").unwrap();
    assert_eq!(imported.after, Some(json!({"new": 1, "changed": 0, "removed": 1})));
}

#[tokio::test]
async fn stop_and_start_change_the_consent() {
    let desk = open_desk().await;
    let mut chat = customer(&desk, "+254700000001").await;
    say_all(&mut chat, &["I want to get your offers"]).await;
    let consent = async || {
        let (store, tenant) = (&desk.app.inner.store, TenantId::default());
        let door = store.tenant(&tenant);
        let key = ShopperKey::Phone("+254700000001".parse().unwrap());
        let (shopper, _) = door.find_or_create_shopper(&key, chrono::Utc::now()).await.unwrap();
        let changes = door.list_consent_changes(shopper.id).await.unwrap();
        (shopper.consent.marketing, shopper.consent.notifications, changes.len())
    };
    assert_eq!(consent().await, (true, true, 1));
    let said = say_all(&mut chat, &["STOP"]).await;
    assert!(said.contains("START"), "{said}");
    assert_eq!(consent().await, (false, false, 2));
    say_all(&mut chat, &["stop"]).await;
    assert_eq!(consent().await, (false, false, 2));
    say_all(&mut chat, &["start"]).await;
    assert_eq!(consent().await, (true, true, 3));
}

#[tokio::test]
async fn each_message_says_when_a_customer_was_seen() {
    let desk = open_desk().await;
    let mut chat = customer(&desk, "+254700000001").await;
    let (tenant, key) = (TenantId::default(), ShopperKey::Phone("+254700000001".parse().unwrap()));
    let door = desk.app.inner.store.tenant(&tenant);
    let mut seen = Vec::new();
    for text in ["hello", "canvas shoes", "STOP"] {
        say_all(&mut chat, &[text]).await;
        seen.push(door.find_shopper(&key).await.unwrap().unwrap().last_seen);
    }
    assert!(seen.is_sorted_by(|earlier, later| earlier < later), "{seen:?}");
}

#[tokio::test]
async fn unreadable_state_begins_again() {
    let desk = open_desk().await;
    let mut chat = customer(&desk, "+254700000001").await;
    say_all(&mut chat, &["sandals"]).await;
    let (store, tenant) = (&desk.app.inner.store, TenantId::default());
    let id = chat.id.parse().unwrap();
    store.tenant(&tenant).save_state(id, &json!({ "version": 0, "stage": "?" })).await.unwrap();
    // A restart forgets the copy in memory.
    let id = chat.id.clone();
    let super::Shop { app, .. } = desk;
    let app = app.stop().await.start().await;
    let events = app.ask(&id, "2").await;
    let said: String = events.messages().into_iter().map(|(_, text)| text).collect();
    assert!(said.contains("lost track"), "{said}");
}

#[tokio::test]
async fn shops_own_introduction_names_the_ai() {
    let desk = open_desk().await;
    let mut samples = shops(chrono::Utc::now()).unwrap();
    for sample in &mut samples {
        sample.settings.bot_intro = Some("Hi, I'm Zuri!".parse().unwrap());
    }
    desk.app.inner.store.make_sample_tenants(&samples).await.unwrap();
    let mut chat = customer(&desk, "+254700000001").await;
    let said = say_all(&mut chat, &["hi"]).await;
    assert!(said.contains("Hi, I'm Zuri! I'm an AI assistant."), "{said}");
}

#[tokio::test]
async fn shop_without_settings_says_so() {
    let desk = open_desk_with(TestApp::builder().env("X_API_KEYS", format!("empty:{SAVANNA}"))).await;
    let mut chat = desk.chat_as(SAVANNA, json!({})).await;
    let said = say_all(&mut chat, &["hi"]).await;
    assert!(said.contains("not open yet"), "{said}");
}

#[tokio::test]
async fn each_tool_call_names_its_request() {
    let desk = open_desk().await;
    let mut chat = customer(&desk, "+254700000001").await;
    say_all(&mut chat, &["canvas shoes size 40 black"]).await;
    let history = desk.app.history(&chat.id).await;
    let request = &history.iter().find(|message| message["sender"] == "user").unwrap()["id"];
    let calls = history.last().unwrap()["receipt"]["tools"].as_array().cloned().unwrap_or_default();
    assert!(calls.len() > 2 && calls.iter().all(|call| call["request_id"] == *request), "{request}: {calls:?}");
}
