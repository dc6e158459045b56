//! Twelve scenarios and one whole conversation, without a model.

use frontdesk::domain::TenantId;
use serde_json::json;

use super::damage::two_items;
use super::shop::{Chat, mails, metadata, open};
use crate::support::app::TestApp;
use crate::support::dialogue::assert_dialogue;

const JOHN: &str = "john.doe@example.com";

#[tokio::test]
async fn return_without_model_runs_to_the_mail() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    assert_eq!(chat.say("I want to return my order").await.kinds(), ["order_prompt"]);
    assert_eq!(chat.say("77893").await.kinds(), ["order_prompt"]);
    let confirm = chat.say(JOHN).await;
    assert_eq!(confirm.kinds(), ["order_confirm"]);
    assert!(confirm.text("order_confirm").contains("Hiking Boots"), "{confirm:?}");
    let done = chat.say("yes").await;
    assert_eq!(done.kinds(), ["return_ticket", "follow_up"]);
    let reply = metadata(&done, "return_ticket");
    assert_eq!(reply["action_ticket"]["status"], "created");
    assert_eq!((&reply["eligibility"]["reason_code"], &reply["email_status"]), (&json!("APPROVED"), &json!("sent")));
    let text = done.text("return_ticket");
    assert!(text.contains("j***@example.com") && text.contains("$129.99") && !text.contains(JOHN), "{text}");
    assert_dialogue!("returns_happy_path", chat);
    let sent = mails(&app);
    assert_eq!(sent.len(), 1);
    let ticket = reply["action_ticket"]["id"].as_str().unwrap();
    assert!(sent[0].contains(ticket) && sent[0].contains("To: john.doe@example.com"), "{}", sent[0]);
}

#[tokio::test]
async fn refund_in_window_covers_unreturned_items() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let done = chat.say_all(&["I want a refund for order 77900", "buyer-77900@example.com", "yes"]).await;
    assert_eq!(done.kinds(), ["return_ticket", "follow_up"]);
    assert!(done.text("return_ticket").contains("$59.00"), "{done:?}");
    assert_dialogue!("returns_refund", chat);
}

#[tokio::test]
async fn other_open_window_is_offered() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let offered = chat.say_all(&["refund for 77893 please", JOHN]).await;
    assert_eq!(offered.kinds(), ["action_prompt"]);
    assert_eq!(metadata(&offered, "action_prompt")["eligibility"]["is_refund_eligible"], false);
    assert_eq!(chat.say("yes").await.kinds(), ["return_ticket", "follow_up"]);
    assert_dialogue!("returns_only_return", chat);
}

#[tokio::test]
async fn a_status_is_shown_without_a_question() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let shown = chat.say_all(&["Where's my order?", "77899", "buyer-77899@example.com"]).await;
    assert_eq!(shown.kinds(), ["order_status", "follow_up"]);
    let text = shown.text("order_status");
    for part in ["77899", "Shipped", "Hiking Boots", "Tracking"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_dialogue!("returns_status", chat);
}

#[tokio::test]
async fn corrected_order_number_is_found() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let missed = chat.say_all(&["Where's my order 77999?", JOHN]).await;
    assert!(missed.text("order_prompt").contains("77999"), "{missed:?}");
    let found = chat.say("sorry, it is 77893").await;
    assert_eq!(found.kinds(), ["order_status", "follow_up"]);
    assert_dialogue!("returns_not_found", chat);
}

#[tokio::test]
async fn duplicate_return_is_one_ticket_and_mail() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let first = chat.say_all(&["return order 77893", JOHN, "yes"]).await;
    let again = chat.say("I want to return order 77893").await;
    assert_eq!(again.kinds(), ["return_ticket", "follow_up"]);
    let (first, again) = (metadata(&first, "return_ticket"), metadata(&again, "return_ticket"));
    assert_eq!(again["action_ticket"], json!({"id": first["action_ticket"]["id"], "status": "duplicate"}));
    let mut other = Chat::open(&app).await;
    let third = other.say_all(&["return order 77893", JOHN]).await;
    assert_eq!(metadata(&third, "return_ticket")["action_ticket"], again["action_ticket"]);
    assert_eq!(mails(&app).len(), 1);
    assert_dialogue!("returns_duplicate", chat);
}

#[tokio::test]
async fn failed_mail_is_reported_then_resent() {
    let app = open(TestApp::builder().env("OUTBOX_BACK_OFF_SECONDS", 3600)).await;
    // Where the folder should be, there is a file.
    let in_the_way = app.folder().join("outbox");
    std::fs::write(&in_the_way, "").unwrap();
    let mut chat = Chat::open(&app).await;
    let failed = chat.say_all(&["return order 77893", JOHN, "yes"]).await;
    assert_eq!(failed.kinds(), ["return_ticket"]);
    assert_eq!(metadata(&failed, "return_ticket")["email_status"], "failed");
    std::fs::remove_file(&in_the_way).unwrap();
    let sent = chat.say("try again").await;
    assert_eq!(metadata(&sent, "return_ticket")["email_status"], "sent");
    assert_eq!(mails(&app).len(), 1);
    assert_dialogue!("returns_mail_failed", chat);
}

#[tokio::test]
async fn failed_mail_can_be_redirected_or_dropped() {
    let app = open(TestApp::builder().env("OUTBOX_BACK_OFF_SECONDS", 3600)).await;
    let in_the_way = app.folder().join("outbox");
    std::fs::write(&in_the_way, "").unwrap();
    let mut chat = Chat::open(&app).await;
    chat.say_all(&["return order 77893", JOHN, "yes"]).await;
    let left = chat.say("no, leave it").await;
    assert_eq!(left.kinds(), ["return_ticket", "follow_up"]);
    let mut other = Chat::open(&app).await;
    other.say_all(&["return order 77895", "buyer-77895@example.com", "yes"]).await;
    std::fs::remove_file(&in_the_way).unwrap();
    let sent = other.say("please use other@example.com").await;
    assert!(sent.text("return_ticket").contains("o***@example.com"), "{sent:?}");
    assert!(mails(&app)[0].contains("To: other@example.com"));
}

#[tokio::test]
async fn no_changes_nothing_and_ends_the_flow() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let other = chat.say_all(&["return order 77893", JOHN, "no, wrong order"]).await;
    assert_eq!(other.kinds(), ["order_prompt"]);
    assert_eq!(chat.say("77893").await.kinds(), ["order_confirm"]);
    assert_eq!(chat.say("no").await.kinds(), ["reply", "follow_up"]);
    assert_dialogue!("returns_declined", chat);
    assert_eq!(mails(&app), [] as [String; 0]);
}

#[tokio::test]
async fn status_return_status_in_one_conversation() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    chat.say_all(&["where is order 77893", JOHN]).await;
    let confirm = chat.say("Actually I want to return it").await;
    assert_eq!(confirm.kinds(), ["order_confirm"], "who the customer is was shown before");
    assert_eq!(chat.say("yes").await.kinds(), ["return_ticket", "follow_up"]);
    let status = chat.say_all(&["what's the status of order 77893?"]).await;
    assert!(status.text("order_status").contains("Return initiated"), "{status:?}");
    assert_dialogue!("returns_status_return_status", chat);
}

#[tokio::test]
async fn two_orders_in_sequence_get_two_tickets() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let first = chat.say_all(&["return ABC-100003", "julia.weber@example.com", "yes"]).await;
    let second = chat.say_all(&["I also want to return order ABC-100015", "yes"]).await;
    let ticket = |events| metadata(events, "return_ticket")["action_ticket"]["id"].clone();
    assert_ne!(ticket(&first), ticket(&second));
    assert_ne!(
        first.text("return_ticket").split(' ').next(),
        second.text("return_ticket").split(' ').next(),
        "variants"
    );
    assert_eq!(mails(&app).len(), 2);
    assert_dialogue!("returns_two_orders", chat);
}

#[tokio::test]
async fn no_text_is_said_twice_in_a_row() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    chat.say_all(&["where is order 77893", JOHN]).await;
    let mut said = Vec::new();
    for _ in 0..4 {
        let events = chat.say("where is order 77893").await;
        said.push((events.text("order_status").lines().next().unwrap().to_owned(), events.text("follow_up")));
    }
    assert!(said.windows(2).all(|pair| pair[0].0 != pair[1].0 && pair[0].1 != pair[1].1), "{said:?}");
}

#[tokio::test]
async fn every_refusal_says_why_and_carries_the_decision() {
    let app = open(TestApp::builder()).await;
    for (number, code, kind) in [
        ("77894", "TIME_EXP", "return_decision"),
        ("77896", "ITEM_EXCL", "return_decision"),
        ("77899", "DATA_ERR", "return_decision"),
        ("77897", "RISK_MANUAL", "escalation"),
        ("77898", "RISK_MANUAL", "escalation"),
    ] {
        let mut chat = Chat::open(&app).await;
        let contact = format!("buyer-{number}@example.com");
        let ended = chat.say_all(&[&format!("return order {number}"), &contact]).await;
        assert_eq!(ended.kinds(), [kind, "follow_up"], "{number}");
        assert_eq!(metadata(&ended, kind)["eligibility"]["reason_code"], code, "{number}");
        // Why a person looks is the shop's matter, and no browser's.
        let reply = format!("{ended:?}").to_lowercase();
        assert!(!reply.contains("fraud") && !reply.contains("frequen"), "{reply}");
    }
    let mut vip = Chat::open(&app).await;
    let done = vip.say_all(&["return order 77895", "buyer-77895@example.com", "yes"]).await;
    assert_eq!(metadata(&done, "return_ticket")["eligibility"]["policy_applied"], "vip");
}

#[tokio::test]
async fn unshipped_order_is_cancelled_instead() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let offered = chat.say_all(&["cancel order ABC-100001", "an.nguyen@example.com"]).await;
    assert_eq!(offered.kinds(), ["action_prompt"]);
    let done = chat.say("yes, cancel it").await;
    assert_eq!(done.kinds(), ["return_ticket", "follow_up"]);
    assert!(metadata(&done, "return_ticket")["action_ticket"]["id"].as_str().unwrap().starts_with("TICKET-"));
    assert_eq!(chat.status().await, "waiting", "a person must stop the order");
    assert_dialogue!("returns_cancelled", chat);
}

#[tokio::test]
async fn delivered_order_needs_confirmation_to_be_returned() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let offered = chat.say_all(&["cancel order 77893", JOHN]).await;
    assert_eq!(offered.kinds(), ["action_prompt"]);
    let tenant = TenantId::default();
    let store = app.inner.store.tenant(&tenant);
    let order = "77893".parse().unwrap();
    assert_eq!(store.list_rmas_of(&order).await.unwrap(), []);
    assert_eq!(chat.say("yes, return it").await.kinds(), ["return_ticket", "follow_up"]);
    assert_eq!(store.list_rmas_of(&order).await.unwrap().len(), 1);
}

#[tokio::test]
async fn partial_returns_are_listed_in_the_status() {
    let app = open(TestApp::builder()).await;
    let tenant = TenantId::default();
    let store = app.inner.store.tenant(&tenant);
    let order = two_items(&app).await;
    let mut chat = Chat::open(&app).await;
    let both = chat.say_all(&["return order 77901", "buyer-77900@example.com"]).await.text("order_confirm");
    assert!(both.contains("Boots") && both.contains("Poles"), "{both}");
    let only = chat.say("yes, only the poles").await.text("order_confirm");
    assert!(!only.contains("Boots") && only.contains("Poles"), "{only}");
    assert!(chat.say("yes").await.text("return_ticket").contains("$59.00"));
    let made = store.list_rmas_of(&order).await.unwrap();
    assert_eq!(made.iter().map(|rma| rma.lines[0].line).collect::<Vec<_>>(), [2]);
    assert_eq!(made[0].reason, "return order 77901\nyes, only the poles", "answers are no reasons");
    chat.say_all(&["return the boots of order 77901 as well", "yes"]).await;
    let status = chat.say("where is order 77901?").await.text("order_status");
    assert_eq!(status.matches("RMA-").count(), 2, "{status}");
    assert!(!status.contains('_'), "{status}");
}

#[tokio::test]
async fn damage_after_an_existing_return_is_escalated() {
    let app = open(TestApp::builder()).await;
    let mut first = Chat::open(&app).await;
    let made = first.say_all(&["return order 77895", "buyer-77895@example.com", "yes"]).await;
    let rma = metadata(&made, "return_ticket")["action_ticket"]["id"].as_str().unwrap().to_owned();
    let contact = "buyer-77895@example.com";
    for (text, escalates) in [
        ("return order 77895", false),
        ("return order 77895, they arrived shattered", true),
        ("refund for order 77895, they arrived shattered", true),
    ] {
        let mut chat = Chat::open(&app).await;
        let ended = chat.say_all(&[text, contact]).await;
        let kind = if escalates { "escalation" } else { "return_ticket" };
        assert_eq!(ended.kinds(), [kind, "follow_up"], "{text}");
        assert!(ended.text(kind).contains(&rma), "{ended:?}");
        let stored = app.inner.store.tenant(&TenantId::default()).find_rma(&rma.parse().unwrap()).await.unwrap();
        assert_eq!(stored.unwrap().escalated, escalates, "{text}");
    }
}

#[tokio::test]
async fn damaged_return_is_escalated_and_locked() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let said = "I want to return my hiking boots from order 77893. They're too small.";
    let done = chat.say_all(&[said, JOHN, "yes"]).await;
    let rma = metadata(&done, "return_ticket")["action_ticket"]["id"].as_str().unwrap().to_owned();
    let handed = chat.say("Actually, the boots are shattered. Can I get expedited processing?").await;
    assert_eq!(handed.kinds(), ["escalation", "follow_up"]);
    assert!(handed.text("escalation").contains(&rma), "{handed:?}");
    assert_eq!(metadata(&handed, "escalation")["escalation"]["priority"], "HIGH");
    let store = &app.inner.store;
    let locked = store.tenant(&TenantId::default()).find_rma(&rma.parse().unwrap()).await.unwrap();
    assert!(locked.unwrap().escalated);
    assert_eq!(chat.status().await, "waiting");
    assert_dialogue!("returns_damage_later", chat);
}

#[tokio::test]
async fn damage_is_escalated_before_any_return() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open_with(&app, json!({"language": "vi"})).await;
    let ended = chat.say_all(&["tôi muốn trả đơn 77893, giày bị rách", JOHN]).await;
    assert_eq!(ended.kinds(), ["escalation", "follow_up"]);
    assert_eq!(metadata(&ended, "escalation")["eligibility"]["reason_code"], "DAMAGED_MANUAL");
    assert_eq!(mails(&app), [] as [String; 0]);
    assert_dialogue!("returns_damaged_vi", chat);
}

#[tokio::test]
async fn vietnamese_return_works_with_and_without_diacritics() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open_with(&app, json!({})).await;
    let done = chat.say_all(&["toi muon tra hang", "đơn 77893", JOHN, "đúng rồi em"]).await;
    assert_eq!(done.kinds(), ["return_ticket", "follow_up"]);
    assert!(done.text("return_ticket").starts_with("Dạ"), "{done:?}");
    assert!(mails(&app)[0].contains("Subject: =?utf-8?"), "{:?}", mails(&app));
    assert_dialogue!("returns_happy_path_vi", chat);
}
