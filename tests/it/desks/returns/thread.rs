//! The thread of a conversation: what it is about, questions in between, and questions without an answer.

use frontdesk::domain::TenantId;
use serde_json::json;

use super::shop::{Chat, metadata, open};
use crate::support::app::TestApp;

const JOHN: &str = "john.doe@example.com";

#[tokio::test]
async fn order_stays_the_subject_after_its_status() {
    let app = open(TestApp::builder()).await;
    for (said, kind) in [
        ("when will it arrive?", "order_status"),
        ("I want a refund", "action_prompt"),
        ("I'd like to return it", "order_confirm"),
        ("cancel it", "action_prompt"),
    ] {
        let mut chat = Chat::open(&app).await;
        let answered = chat.say_all(&["where is order 77893?", JOHN, "thanks", said]).await;
        assert_eq!(answered.kinds()[0], kind, "{said}: {answered:?}");
        assert!(answered.text(kind).contains("77893"), "{said}: {answered:?}");
    }
    let mut chat = Chat::open_with(&app, json!({"language": "vi"})).await;
    let answered = chat.say_all(&["đơn 77893 đâu rồi?", JOHN, "mình muốn trả hàng"]).await;
    assert!(answered.text("order_confirm").contains("77893"), "{answered:?}");
}

#[tokio::test]
async fn another_number_changes_the_subject() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let other = chat.say_all(&["where is ABC-100003? julia.weber@example.com", "and ABC-100015?"]).await;
    assert!(other.text("order_status").contains("ABC-100015"), "the contact is not asked for again: {other:?}");
    let asked = chat.say("I want to return the other order").await;
    assert_eq!(asked.kinds(), ["order_prompt"], "which one is not known: {asked:?}");
}

#[tokio::test]
async fn named_orders_follow_one_after_the_other() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let first = chat.say_all(&["where are ABC-100010 and ABC-100022?", "emma.jones@example.com"]).await;
    assert!(first.text("order_status").contains("ABC-100010"), "{first:?}");
    let second = chat.say("and the other one?").await;
    assert!(second.text("order_status").contains("ABC-100022"), "{second:?}");
}

#[tokio::test]
async fn shipped_order_is_not_cancelled_and_says_so() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let reply = chat.say_all(&["where is 77899? buyer-77899@example.com", "hm too late for me. cancel it"]).await;
    assert_eq!(reply.kinds(), ["return_decision", "follow_up"]);
    assert!(reply.text("return_decision").contains("cancel"), "{reply:?}");
}

#[tokio::test]
async fn refusal_stands_and_a_person_is_offered() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let refused = chat.say_all(&["return order 77894", "buyer-77894@example.com"]).await;
    assert!(refused.text("return_decision").contains("45 days"), "{refused:?}");
    let held = chat.say("thats ridiculous, they never even left the box!!!").await;
    assert_eq!(held.kinds(), ["social", "clarify"]);
    assert!(held.text("clarify").contains("colleague"), "{held:?}");
    let handed = chat.say("yes").await;
    assert_eq!(handed.kinds(), ["escalation", "follow_up"]);
    let tenant = TenantId::default();
    let ticket = metadata(&handed, "escalation")["escalation"]["ticket_id"].as_str().unwrap().to_owned();
    let stored = app.inner.store.tenant(&tenant).find_ticket(&ticket).await.unwrap().unwrap();
    assert_eq!(stored.order.map(|order| order.to_string()).as_deref(), Some("77894"));
}

#[tokio::test]
async fn yes_with_a_question_acts_and_answers() {
    let app = open(TestApp::builder()).await;
    for (order, contact, said, answer) in [
        ("77893", JOHN, "yes. and who pays the shipping?", "free"),
        ("77895", "buyer-77895@example.com", "yes please. how long does a refund take?", "parcel"),
    ] {
        let mut chat = Chat::open(&app).await;
        let done = chat.say_all(&[&format!("return order {order}"), contact, said]).await;
        assert_eq!(done.kinds(), ["reply", "return_ticket", "follow_up"], "{said}");
        assert!(done.text("reply").contains(answer), "{done:?}");
    }
}

#[tokio::test]
async fn question_names_action_items_and_money() {
    let app = open(TestApp::builder()).await;
    for (wish, contact, kind) in [
        ("return 77893", JOHN, "order_confirm"),
        ("refund for 77893", JOHN, "action_prompt"),
        ("cancel ABC-100005", "marie.dubois@example.com", "action_prompt"),
    ] {
        let mut chat = Chat::open(&app).await;
        let asked = chat.say_all(&[wish, contact]).await;
        let text = asked.text(kind);
        let (items, money) =
            if wish.contains("77893") { ("Hiking Boots", "$129.99") } else { ("Energy Bars", "$48.00") };
        assert!(text.contains(items) && text.contains(money), "{wish}: {text}");
    }
}

#[tokio::test]
async fn missing_details_are_explained_then_a_person_offered() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let explained = chat.say_all(&["I want to return something", "I don't have the number"]).await;
    assert!(explained.text("order_prompt").contains("confirmation e-mail"), "{explained:?}");
    chat.say("77893").await;
    let why = chat.say("why do you need that?").await;
    assert!(
        why.text("order_prompt").contains("nobody else") || why.text("order_prompt").contains("protects"),
        "{why:?}"
    );
    let mut stuck = Chat::open(&app).await;
    let offered = stuck.say_all(&["I want to return something", "well", "well well"]).await;
    assert!(offered.text("order_prompt").contains("colleague"), "{offered:?}");
    assert_eq!(stuck.say("yes").await.kinds(), ["escalation", "follow_up"]);
}

#[tokio::test]
async fn no_reply_is_given_twice_in_a_row() {
    let app = open(TestApp::builder()).await;
    for before in [&["I want to return something"][..], &["return order 77893"], &["return order 77893", JOHN]] {
        let mut chat = Chat::open(&app).await;
        let mut last = format!("{:?}", chat.say_all(before).await.kinds());
        let mut kinds = Vec::new();
        for _ in 0..4 {
            let said = chat.say("hmm well").await;
            let text = said.text(&said.kinds()[0]);
            assert_ne!(text, last, "{before:?}");
            last = text;
            kinds.push(said.kinds()[0].clone());
        }
        assert!(kinds.contains(&"escalation".to_owned()), "nothing loops: {before:?}: {kinds:?}");
    }
}

#[tokio::test]
async fn wish_beside_an_open_ticket_is_not_decided() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let handed = chat.say_all(&["77894 arrived broken", "buyer-77894@example.com"]).await;
    let ticket = metadata(&handed, "escalation")["escalation"]["ticket_id"].as_str().unwrap().to_owned();
    let reply = chat.say("can't you just refund it?").await;
    assert_eq!(reply.kinds(), ["escalation", "follow_up"]);
    assert!(reply.text("escalation").contains(&ticket), "{reply:?}");
}

#[tokio::test]
async fn item_of_an_earlier_order_names_that_order() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    chat.say_all(&["please cancel ABC-100017", "marie.dubois@example.com", "no, i meant ABC-100005"]).await;
    let done = chat.say("yes, cancel it").await;
    assert_eq!(done.kinds()[0], "return_ticket", "{done:?}");
    let status = chat.say("so the shoes are still coming, right?").await;
    assert!(status.text("order_status").contains("ABC-100017"), "{status:?}");
}

#[tokio::test]
async fn reason_given_before_the_yes_keeps_the_return() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    chat.say_all(&["want to send my boots back, order 77893", JOHN]).await;
    let asked = chat.say("half a size too small, i only tried them on in the hallway").await;
    assert_eq!(asked.kinds(), ["order_confirm"], "{asked:?}");
    assert_eq!(chat.say("yes please").await.kinds()[0], "return_ticket");
}
