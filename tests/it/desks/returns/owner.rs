//! Whose order is it?

use serde_json::json;

use super::shop::{Chat, open};
use crate::support::app::TestApp;

#[tokio::test]
async fn orders_stay_hidden_before_the_right_contact() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let asked = chat.say("where is order 77893?").await;
    assert_eq!(asked.kinds(), ["order_prompt"]);
    let wrong = chat.say("nobody@example.com").await.text("order_prompt");
    let mut other = Chat::open(&app).await;
    let none = other.say_all(&["where is order 55555?", "nobody@example.com"]).await.text("order_prompt");
    assert_eq!(wrong.replace("77893", "55555"), none);
    for text in [asked.text("order_prompt"), wrong] {
        assert!(!text.contains("Boots") && !text.contains("Delivered"), "{text}");
    }
}

#[tokio::test]
async fn five_wrong_contacts_lock_out_the_owner() {
    let app = open(TestApp::builder()).await;
    let mut guesser = Chat::open(&app).await;
    guesser.say("where is order 77893?").await;
    for guess in 0..5 {
        guesser.say(&format!("order 77893, guess{guess}@example.com")).await;
    }
    let locked = guesser.say("order 77893, john.doe@example.com").await;
    assert_eq!(locked.kinds(), ["order_prompt"]);
    let mut owner = Chat::open(&app).await;
    let locked = owner.say("where is order 77893? john.doe@example.com").await;
    assert_eq!(locked.kinds(), ["order_prompt"]);
    let mut another = Chat::open(&app).await;
    let shown = another.say("where is order 77895? buyer-77895@example.com").await;
    assert_eq!(shown.kinds(), ["order_status", "follow_up"], "another order of another conversation is not locked");
    let locked = another.say("where is order 77893?").await.text("order_prompt");
    assert!(locked.contains("minutes"), "{locked}");
}

#[tokio::test]
async fn named_customer_sees_only_own_orders() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open_with(&app, json!({"language": "en", "user_id": "u-1"})).await;
    let missed = chat.say("where is order 77893?").await;
    assert_eq!(missed.kinds(), ["order_prompt"]);
    assert!(!missed.text("order_prompt").contains("Boots"));
}

#[tokio::test]
async fn a_closed_shop_asks_for_no_contact() {
    let app = open(TestApp::builder().env("ORDER_VERIFICATION", "none")).await;
    let mut chat = Chat::open(&app).await;
    assert_eq!(chat.say("where is order 77893?").await.kinds(), ["order_status", "follow_up"]);
}

#[tokio::test]
async fn second_order_asks_contact_without_counting_misses() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    // More often than an hour allows misses.
    for _ in 0..7 {
        let first = chat.say("where is order 77893? john.doe@example.com").await;
        assert_eq!(first.kinds(), ["order_status", "follow_up"]);
        let second = chat.say("where is order 77895?").await;
        assert_eq!(second.kinds(), ["order_prompt"]);
        let none = chat.say("where is order 77795?").await;
        assert_eq!(none.kinds(), ["order_prompt"]);
        for text in [second.text("order_prompt"), none.text("order_prompt")] {
            assert!(text.contains("e-mail") && !text.contains("find"), "{text}");
        }
    }
    let shown = chat.say_all(&["where is order 77895?", "buyer-77895@example.com"]).await;
    assert_eq!(shown.kinds(), ["order_status", "follow_up"]);
}
