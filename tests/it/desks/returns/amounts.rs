//! What a yes agrees to: the amount and the items in the question, as they are when the customer answers.

use frontdesk::domain::TenantId;
use frontdesk::domain::commerce::OrderItem;

use super::shop::{Chat, change, open};
use crate::support::app::TestApp;

const JOHN: &str = "john.doe@example.com";

#[tokio::test]
async fn changed_price_is_asked_about_again() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let asked = chat.say_all(&["return order 77893", JOHN]).await;
    assert!(asked.text("order_confirm").contains("$129.99"), "{asked:?}");
    change(&app, "77893", |order| {
        order.paid.minor = 9_999;
        order.items[0].unit_price.minor = 9_999;
    })
    .await;
    let again = chat.say("yes").await;
    assert_eq!(again.kinds(), ["order_confirm"]);
    assert!(again.text("order_confirm").contains("$99.99"), "{again:?}");
    assert_eq!(chat.say("yes").await.kinds(), ["return_ticket", "follow_up"]);

    let mut chat = Chat::open(&app).await;
    chat.say_all(&["cancel order ABC-100001", "an.nguyen@example.com"]).await;
    change(&app, "ABC-100001", |order| order.paid.minor -= 1).await;
    assert_eq!(chat.say("yes, cancel it").await.kinds(), ["action_prompt"]);
    assert_eq!(chat.say("yes, cancel it").await.kinds(), ["return_ticket", "follow_up"]);
}

#[tokio::test]
async fn cancelling_some_items_names_the_whole_order() {
    let app = open(TestApp::builder()).await;
    change(&app, "ABC-100001", |order| {
        let poles = OrderItem { line: 2, name: "Trekking Poles".to_owned(), ..order.items[0].clone() };
        order.paid.minor *= 2;
        order.items.push(poles);
    })
    .await;
    let mut chat = Chat::open(&app).await;
    let asked = chat.say_all(&["Cancel the poles of order ABC-100001", "an.nguyen@example.com"]).await;
    assert_eq!(asked.kinds(), ["action_prompt"]);
    let first = app.inner.store.tenant(&TenantId::default()).find_order(&"ABC-100001".parse().unwrap()).await.unwrap();
    let text = asked.text("action_prompt");
    for item in first.unwrap().items {
        assert!(text.contains(&item.name), "{text}");
    }
    assert!(text.contains("whole") || text.contains("all of it"), "{text}");
    assert_eq!(chat.say("yes, cancel it").await.kinds(), ["return_ticket", "follow_up"]);
}
