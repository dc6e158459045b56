//! Billing with a model that calls tools.

use serde_json::{Value, json};

use super::{Turns, cases_of, open_desk, talk};
use crate::desks::retail::chat::Shop;
use crate::support::app::TestApp;
use crate::support::dialogue::assert_dialogue;
use crate::support::ollama::{Play, ScriptedOllama};

const CLAIM: &str = "I was overcharged PLN 100 on invoice INV-12345, please refund it";

async fn open() -> (Shop, ScriptedOllama) {
    let ollama = ScriptedOllama::start().await;
    (open_desk(TestApp::builder().ollama(&ollama)).await, ollama)
}

fn claim(changes: &Value) -> Value {
    let mut claim = json!({ "reason": "overcharge", "amount_pln": 100.0, "invoice_id": "INV-12345" });
    for (name, value) in changes.as_object().unwrap() {
        claim[name] = value.clone();
    }
    claim
}

/// The last tool result that the model was shown.
fn last_result(ollama: &ScriptedOllama) -> Value {
    let chats = ollama.chats();
    let messages = chats.last().unwrap()["messages"].as_array().unwrap().clone();
    let result = messages.iter().rfind(|message| message["role"] == "tool").unwrap();
    serde_json::from_str(result["content"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn desk_adds_next_steps_to_models_case() {
    let (desk, ollama) = open().await;
    let mut chat = desk.chat_with(json!({ "user_id": "u123" })).await;
    ollama.play_call(Play::calls(&[("open_refund_case", claim(&json!({})))]));
    ollama.play_call(Play::answer(
        "I've opened case R10001 for 100.00 PLN. A specialist will check it within 5 business days.\nNext steps:\n- We call you.",
    ));
    let mut turns = vec![chat.say(CLAIM).await];
    assert_eq!(last_result(&ollama)["next_steps"][0], "The case is about invoice INV-12345.");
    ollama.play_call(Play::calls(&[("get_subscription", json!({}))]));
    ollama.play_call(Play::answer(
        "You are on M 100 GB for 45.00 PLN a month. It is active. One. Two. Three. Four. Five.",
    ));
    turns.push(chat.say("And what plan do I have?").await);
    assert_dialogue!("telecom_billing_with_a_model", Turns(turns));
    assert_eq!(cases_of(&desk, "u123").await.len(), 1);
}

#[tokio::test]
async fn refused_call_is_explained_and_stores_nothing() {
    let (desk, ollama) = open().await;
    for (changes, code) in [
        (json!({ "user_id": "u456" }), "NOT_ALLOWED"),
        (json!({ "amount_pln": 99.0 }), "NOT_SAID"),
        (json!({ "invoice_id": "INV-20251001" }), "NOT_SAID"),
        (json!({ "reason": "bad_mood" }), "BAD_ARGUMENTS"),
        (json!({ "amount_pln": 0 }), "BAD_ARGUMENTS"),
        (json!({ "amount_pln": 1000.01 }), "BAD_ARGUMENTS"),
        (json!({ "amount_pln": 100.005 }), "BAD_ARGUMENTS"),
        (json!({ "description": "x".repeat(501) }), "BAD_ARGUMENTS"),
        (json!({ "amount_pln": 150.0 }), "ABOVE_INVOICE"),
        (json!({ "invoice_id": "INV-45601" }), "UNKNOWN_INVOICE"),
    ] {
        // The customer's message has what the model names.
        let said = match code {
            "ABOVE_INVOICE" => "I was overcharged PLN 150 on invoice INV-12345, please refund it",
            "UNKNOWN_INVOICE" => "I was overcharged PLN 100 on invoice INV-45601, please refund it",
            _ => CLAIM,
        };
        let mut chat = desk.chat_with(json!({ "user_id": "u123" })).await;
        ollama.play_call(Play::calls(&[("open_refund_case", claim(&changes))]));
        ollama.play_call(Play::answer("Which invoice do you mean?"));
        let events = chat.say(said).await;
        assert_eq!(last_result(&ollama)["error"], code, "{changes}");
        assert_eq!(events.text("billing_info"), "Which invoice do you mean?", "{changes}");
    }
    assert_eq!(cases_of(&desk, "u123").await, []);
    assert_eq!(cases_of(&desk, "u456").await, []);
}

#[tokio::test]
async fn account_without_subscription_gets_no_case() {
    let (desk, ollama) = open().await;
    let mut chat = desk.chat_with(json!({ "user_id": "u999" })).await;
    ollama.play_call(Play::calls(&[("get_subscription", json!({}))]));
    ollama.play_call(Play::answer("I can't find a subscription for you."));
    chat.say("And what plan do I have?").await;
    assert_eq!(last_result(&ollama), json!({ "user_id": "u999", "status": "not_found" }));
    ollama.play_call(Play::calls(&[("open_refund_case", claim(&json!({})))]));
    ollama.play_call(Play::answer("I can't find this invoice."));
    chat.say(CLAIM).await;
    assert_eq!(last_result(&ollama)["error"], "UNKNOWN_INVOICE");
    let desk = open_desk(TestApp::builder()).await;
    let mut chat = desk.chat_with(json!({ "user_id": "u999" })).await;
    let turns = talk(&mut chat, &[CLAIM, "yes"]).await;
    assert!(turns[0].text("billing_info").starts_with("I can't find a subscription"), "{turns:?}");
    assert!(turns.iter().all(|turn| !turn.kinds().contains(&"refund_case".to_owned())), "{turns:?}");
}

#[tokio::test]
async fn model_reads_the_last_twelve_messages() {
    let (desk, ollama) = open().await;
    let mut chat = desk.chat_with(json!({ "user_id": "u123" })).await;
    const TIMES: [&str; 7] = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh"];
    for time in TIMES {
        ollama.play_call(Play::answer(&format!("Your plan is M, as I say for the {time} time.")));
        chat.say(&format!("What plan do I have? I ask for the {time} time.")).await;
    }
    let last = ollama.chats().last().unwrap()["messages"].to_string();
    let has = |said: &str| TIMES.map(|time| last.contains(&format!("{said} for the {time} time")));
    assert_eq!(has("I ask"), [false, true, true, true, true, true, true], "{last}");
    assert_eq!(has("as I say"), [true, true, true, true, true, true, false], "{last}");
}

#[tokio::test]
async fn models_false_claims_reach_no_customer() {
    let (desk, ollama) = open().await;
    for claim in ["I have refunded you in full.", "Please give me your card PIN."] {
        let mut chat = desk.chat_with(json!({ "user_id": "u123" })).await;
        let asked = ollama.chats().len();
        ollama.play_call(Play::answer(claim));
        let events = chat.say("And what plan do I have?").await;
        assert!(ollama.chats().len() > asked, "{claim}");
        assert!(!format!("{events:?}").contains(claim), "{events:?}");
    }
}

#[tokio::test]
async fn unknown_customer_gets_no_account() {
    let (desk, ollama) = open().await;
    let mut chat = desk.chat().await;
    ollama.play_call(Play::calls(&[("get_subscription", json!({ "user_id": "u123" }))]));
    ollama.play_call(Play::answer("What is your customer ID?"));
    chat.say("How much is my plan?").await;
    assert_eq!(last_result(&ollama)["error"], "NO_ACCOUNT");
    ollama.play_call(Play::answer("Thank you. Which invoice number do you have?"));
    chat.say("It's u123").await;
    ollama.play_call(Play::calls(&[("get_subscription", json!({}))]));
    ollama.play_call(Play::answer("Your plan is M 100 GB for 45.00 PLN a month."));
    let events = chat.say("INV-12345").await;
    assert_eq!(events.text("billing_info"), "Your plan is M 100 GB for 45.00 PLN a month.");
}

#[tokio::test]
async fn model_gets_the_policy_of_the_texts() {
    let (desk, ollama) = open().await;
    ollama.play_call(Play::calls(&[("get_refund_policy", json!({}))]));
    ollama.play_call(Play::answer("You can withdraw within 14 days."));
    desk.chat().await.say("What is the refund policy?").await;
    let policy = last_result(&ollama);
    let items = [
        "- One-time activation fees, once the service is active",
        "- Usage outside your plan, such as premium services",
    ];
    assert_eq!(policy["non_refundable_items"], json!(items), "{policy}");
    let notes = policy["notes"].as_array().unwrap();
    assert_eq!(notes.len(), 1, "{policy}");
    assert!(notes[0].as_str().unwrap().starts_with("Refunds go to the original payment method."), "{policy}");
}

#[tokio::test]
async fn bare_numbers_answer_the_models_questions() {
    let (desk, ollama) = open().await;
    let mut chat = desk.chat().await;
    ollama.play_call(Play::answer("What is your customer ID?"));
    chat.say("I was overcharged, I want a refund").await;
    ollama.play_call(Play::answer("Which invoice?"));
    assert_eq!(chat.say("u123").await.first("intent")["intent"], "billing");
    ollama.play_call(Play::answer("How much should come back?"));
    assert_eq!(chat.say("20251001").await.first("intent")["intent"], "billing");
    // The desk has understood every answer, so it asks for a yes without the model.
    ollama.play_call(Play::refuses(500, "out of memory"));
    let asked = chat.say("45.50").await;
    assert!(asked.text("billing_prompt").contains("45.50 PLN, reason: overcharge"), "{asked:?}");
    ollama.play_call(Play::refuses(500, "out of memory"));
    let events = chat.say("yes").await;
    assert!(events.text("refund_case").contains("R10001"), "{events:?}");
    let cases = cases_of(&desk, "u123").await;
    assert_eq!((cases[0].amount.minor, cases[0].invoice.as_str()), (4_550, "INV-20251001"));
}

#[tokio::test]
async fn model_ends_the_thread_out_of_scope() {
    let (desk, ollama) = open().await;
    let mut chat = desk.chat_with(json!({ "user_id": "u123" })).await;
    ollama.play_call(Play::calls(&[("out_of_scope", json!({}))]));
    ollama.play_call(Play::answer("I can't do that here."));
    chat.say("please add a second subscription to my invoice").await;
    ollama.classify(&json!({"category": "unknown", "confidence": 0.5, "reasoning": "Unclear."}));
    assert_eq!(chat.say("???").await.first("intent")["route"], "fallback");
}

#[tokio::test]
async fn message_opens_one_case() {
    let (desk, ollama) = open().await;
    let mut chat = desk.chat_with(json!({ "user_id": "u123" })).await;
    let other = claim(&json!({ "invoice_id": "INV-20251001" }));
    ollama.play_call(Play::calls(&[("open_refund_case", claim(&json!({})))]));
    ollama.play_call(Play::calls(&[("open_refund_case", claim(&json!({})))]));
    ollama.play_call(Play::calls(&[("open_refund_case", other)]));
    ollama.play_call(Play::answer("Done."));
    let events = chat.say("I was overcharged PLN 100 on invoice INV-12345 and on INV-20251001").await;
    assert_eq!(last_result(&ollama)["error"], "ONE_CASE");
    assert!(events.text("refund_case").starts_with("I've opened refund case R10001."), "{events:?}");
    assert_eq!(cases_of(&desk, "u123").await.len(), 1);
}

#[tokio::test]
async fn invented_price_is_removed() {
    let (desk, ollama) = open().await;
    let mut chat = desk.chat_with(json!({ "user_id": "u123" })).await;
    ollama.play_call(Play::calls(&[("get_subscription", json!({}))]));
    ollama.play_call(Play::answer("Your plan costs 39.00 PLN a month."));
    let events = chat.say("How much is my plan?").await;
    assert!(!events.text("billing_info").contains("39"), "{events:?}");
    assert_eq!(events.first("guard")["reason"], "unsupported_fact");
}

#[tokio::test]
async fn reply_without_the_case_is_replaced() {
    let (desk, ollama) = open().await;
    let mut chat = desk.chat_with(json!({ "user_id": "u123" })).await;
    ollama.play_call(Play::calls(&[("open_refund_case", claim(&json!({})))]));
    ollama.play_call(Play::refuses(500, "out of memory"));
    let events = chat.say(CLAIM).await;
    assert!(events.text("refund_case").starts_with("I've opened refund case R10001."), "{events:?}");
    ollama.play_call(Play::calls(&[("open_refund_case", claim(&json!({})))]));
    ollama.play_call(Play::answer("Done."));
    let events = chat.say("open it again, please: overcharged PLN 100 on invoice INV-12345").await;
    assert!(
        events.text("refund_case").starts_with("There is already a case for invoice INV-12345: R10001"),
        "{events:?}"
    );
    assert_eq!(cases_of(&desk, "u123").await.len(), 1);
}

#[tokio::test]
async fn desk_answers_by_rules_where_the_model_fails() {
    let (desk, ollama) = open().await;
    let mut chat = desk.chat_with(json!({ "user_id": "u123" })).await;
    ollama.play_call(Play::refuses(500, "out of memory"));
    let events = chat.say("How much is my plan?").await;
    assert!(events.text("billing_info").starts_with("You are on plan M 100 GB for 45.00 PLN a month"), "{events:?}");
}

#[tokio::test]
async fn customer_pivots_to_billing_with_a_model() {
    let (desk, ollama) = open().await;
    let mut chat = desk.chat_with(json!({ "user_id": "u123" })).await;
    ollama.reply("The ONT is synchronizing, which takes up to 2 minutes.");
    let mut turns = talk(&mut chat, &["The PON LED is blinking, what does it mean?"]).await;
    ollama.play_call(Play::answer("What is the reason, and how much should come back?"));
    turns.extend(talk(&mut chat, &["I want to request a refund for invoice INV-20251001"]).await);
    let case = claim(&json!({ "invoice_id": "INV-20251001" }));
    ollama.play_call(Play::calls(&[("open_refund_case", case)]));
    ollama.play_call(Play::answer("Your refund case R10001 has been opened. We validate it within 5 business days."));
    turns.extend(talk(&mut chat, &["Reason: overcharge. Amount: PLN 100"]).await);
    assert_dialogue!("telecom_pivot_with_a_model", Turns(turns));
    assert_eq!(cases_of(&desk, "u123").await.len(), 1);
}
