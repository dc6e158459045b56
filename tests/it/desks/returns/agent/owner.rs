//! Whose order it is: the session decides, never the model.

use serde_json::{Value, json};

use super::script::{Driven, call, check, create, driven, label, look, say};
use crate::desks::returns::shop::{Chat, change};
use crate::support::app::TestApp;

fn errors(shop: &Driven) -> Vec<Value> {
    shop.results().into_iter().map(|(_, result)| result["error"].clone()).collect()
}

fn by_email(address: &str) -> super::script::Step {
    call("get_order_details", json!({ "email": address }))
}

#[tokio::test]
async fn order_is_found_only_with_customers_contact() {
    let shop = driven(TestApp::builder()).await;
    let mut chat = Chat::open(&shop.app).await;
    // The model knows an address; the customer has named none.
    shop.then(vec![
        look("77893"),
        by_email("john.doe@example.com"),
        check("77893", &[1], "x"),
        say("Which e-mail was it placed with?"),
    ]);
    chat.say("where is order 77893?").await;
    assert_eq!(errors(&shop), ["NO_CONTACT", "NOT_ALLOWED", "NOT_LOOKED_UP"]);
    shop.then(vec![look("77893"), say("I can't find it with those details.")]);
    let wrong = chat.say("nobody@example.com").await;
    assert_eq!(errors(&shop), ["NOT_FOUND"]);
    assert!(!format!("{wrong:?}").contains("Boots"));
    // The contact is kept for the next number, and each look-up counts as a miss.
    shop.then(vec![look("77895"), say("Which e-mail was it placed with?")]);
    chat.say("then 77895?").await;
    assert_eq!(errors(&shop), ["NOT_FOUND"]);
    shop.then(vec![look("77893"), say("Order 77893 was delivered.")]);
    chat.say("john.doe@example.com, order 77893").await;
    assert_eq!(errors(&shop), [Value::Null]);
    let result = shop.results()[0].1.to_string();
    assert!(result.contains("j***@example.com") && !result.contains("john.doe"), "{result}");
    for chat in shop.ollama.chats() {
        let system = chat["messages"][0]["content"].as_str().unwrap();
        assert!(!system.contains("john.doe"), "{system}");
    }
}

#[tokio::test]
async fn wrong_contacts_lock_in_agent_mode() {
    let shop = driven(TestApp::builder()).await;
    let mut guesser = Chat::open(&shop.app).await;
    for guess in 0..5 {
        shop.then(vec![look("77893"), say("I can't find it with those details.")]);
        guesser.say(&format!("order 77893, guess{guess}@example.com")).await;
    }
    shop.then(vec![look("77893"), say("Here it is!")]);
    let locked = guesser.say("order 77893, john.doe@example.com").await;
    assert_eq!(errors(&shop), ["LOCKED"]);
    assert_eq!(locked.kinds(), ["order_prompt"], "the desk's own words say so");
    let mut owner = Chat::open(&shop.app).await;
    shop.then(vec![look("77893"), say("Here it is!")]);
    owner.say("where is order 77893? john.doe@example.com").await;
    assert_eq!(errors(&shop), ["LOCKED"]);
}

#[tokio::test]
async fn signed_in_customer_sees_only_own_orders() {
    let shop = driven(TestApp::builder()).await;
    change(&shop.app, "77893", |order| order.customer.user_id = Some("u-john".to_owned())).await;
    let mut chat = Chat::open_with(&shop.app, json!({"language": "en", "user_id": "u-john"})).await;
    shop.then(vec![
        look("77895"),
        by_email("buyer-77895@example.com"),
        check("77895", &[1], "x"),
        say("Which order is it?"),
    ]);
    chat.say("where is order 77895? buyer-77895@example.com").await;
    assert_eq!(errors(&shop), ["NOT_FOUND", "NOT_ALLOWED", "NOT_LOOKED_UP"]);
    shop.then(vec![by_email("john.doe@example.com"), say("You have one order, 77893.")]);
    chat.say("what have I ordered? john.doe@example.com").await;
    assert_eq!(shop.results()[0].1["orders"].as_array().unwrap().len(), 1, "{:?}", shop.results());
    shop.then(vec![create("77893", &[1], "too small"), say("Your return {rma} is set up.")]);
    assert_eq!(chat.say("return it, it is too small").await.kinds(), ["return_ticket", "follow_up"]);
    let mut stranger = Chat::open_with(&shop.app, json!({"language": "en", "user_id": "u-eve"})).await;
    shop.then(vec![look("77893"), by_email("john.doe@example.com"), say("I can't find it.")]);
    stranger.say("where is order 77893? john.doe@example.com").await;
    assert_eq!(errors(&shop), ["NOT_FOUND", "NOT_ALLOWED"]);
}

#[tokio::test]
async fn unverified_shop_lists_orders_by_address() {
    let shop = driven(TestApp::builder().env("ORDER_VERIFICATION", "none")).await;
    let mut chat = Chat::open(&shop.app).await;
    shop.then(vec![by_email("julia.weber@example.com"), say("I found your orders. Which one is it?")]);
    chat.say("my orders please, julia.weber@example.com").await;
    let orders = shop.results()[0].1["orders"].as_array().unwrap().clone();
    assert!(orders.len() > 1 && orders.len() <= 10, "{orders:?}");
    let days: Vec<&str> = orders.iter().map(|order| order["order_date"].as_str().unwrap()).collect();
    assert!(days.windows(2).all(|pair| pair[0] >= pair[1]), "the newest first: {days:?}");
    shop.then(vec![look("77893"), say("Order 77893 was delivered.")]);
    chat.say("where is order 77893").await;
    assert_eq!(errors(&shop), [Value::Null]);
}

#[tokio::test]
async fn return_of_another_order_gets_no_label() {
    let shop = driven(TestApp::builder()).await;
    let mut owner = Chat::open(&shop.app).await;
    shop.then(vec![look("77895"), create("77895", &[1], "too small"), say("Your return {rma} is set up.")]);
    owner.say("return order 77895, too small, buyer-77895@example.com").await;
    let rma = shop.rmas_of("77895").await[0].number.to_string();
    let mut chat = Chat::open(&shop.app).await;
    let of_rma = |name: &'static str, more: Value| {
        let mut arguments = json!({"order_id": "77893", "rma_number": rma});
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        call(name, arguments)
    };
    shop.then(vec![
        look("77893"),
        of_rma("generate_return_label", json!({})),
        of_rma("send_email", json!({"template_name": "return_approved"})),
        label("77895"),
        say("Which order is it?"),
    ]);
    chat.say(&format!("the label of {rma} please, order 77893, john.doe@example.com")).await;
    assert_eq!(errors(&shop)[1..], [json!("NO_RMA"), json!("NO_RMA"), json!("OTHER_ORDER")]);
}
