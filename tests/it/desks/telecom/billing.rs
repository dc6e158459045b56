//! Plans, invoices and refunds without a model.

use frontdesk::cli::seed::accounts::accounts;
use frontdesk::domain::TenantId;
use frontdesk::domain::telecom::{CaseStatus, Invoice, RefundReason, Subscription};
use serde_json::json;

use super::{Turns, cases_of, open_desk, open_desk_in, open_plain_desk, persona, talk};
use crate::support::app::TestApp;
use crate::support::dialogue::assert_dialogue;

#[tokio::test]
async fn refund_is_opened_from_the_customers_words() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat().await;
    let texts = [
        "I was overcharged PLN 100 on invoice INV-12345",
        "It's u123",
        "yes",
        "please refund invoice INV-12345, 20 PLN",
    ];
    let turns = talk(&mut chat, &texts).await;
    assert_dialogue!("telecom_refund_in_two_turns", Turns(turns));
    let cases = cases_of(&desk, "u123").await;
    let [case] = &cases[..] else { panic!("{cases:?}") };
    assert_eq!((case.amount.minor, case.reason, case.status), (10_000, RefundReason::Overcharge, CaseStatus::Opened));
    assert_eq!(case.invoice.as_str(), "INV-12345");
    assert_eq!(case.description.as_deref(), Some("I was overcharged PLN 100 on invoice INV-12345"));
}

#[tokio::test]
async fn missing_fields_are_asked_one_at_a_time() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat_with(json!({ "user_id": "u123" })).await;
    let texts = [
        "I want a refund",
        "INV-99999",
        "20251001",
        "1000.01 PLN",
        "150",
        "what is the refund policy?",
        "45.50",
        "the internet was down for a week",
        "yes",
        "what is my case status?",
    ];
    let turns = talk(&mut chat, &texts).await;
    assert_dialogue!("telecom_refund_slots", Turns(turns));
    let cases = cases_of(&desk, "u123").await;
    assert_eq!((cases.len(), cases[0].amount.minor, cases[0].reason), (1, 4_550, RefundReason::ServiceOutage));
}

#[tokio::test]
async fn withdrawal_waits_for_review() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat_with(json!({ "user_id": "u123" })).await;
    chat.say("Refund 145 PLN of INV-12345 please, I withdraw within the cooling-off period").await;
    let events = chat.say("yes").await;
    assert_eq!(events.first("message.end")["metadata"]["refund_case"]["status"], "pending_review");
    assert!(events.text("refund_case").contains("14-day cooling-off"), "{events:?}");
}

#[tokio::test]
async fn plan_is_shown_to_its_owner_only() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat().await;
    let texts = ["How much is my plan?", "u123", "INV-45601", "INV-20251001"];
    let turns = talk(&mut chat, &texts).await;
    assert_dialogue!("telecom_subscription", Turns(turns));
    let mut stranger = desk.chat().await;
    let wrong = talk(&mut stranger, &["How much is my plan?", "u123", "INV-45601"]).await;
    let mut unknown = desk.chat().await;
    let unknown = talk(&mut unknown, &["How much is my plan?", "u999", "INV-45601"]).await;
    assert_eq!(wrong[2].text("billing_prompt"), unknown[2].text("billing_prompt"), "wrong sounds like unknown");
}

#[tokio::test]
async fn fifth_wrong_attempt_locks_the_account() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat().await;
    talk(&mut chat, &["How much is my plan?", "u123"]).await;
    for n in 1..=5 {
        chat.say(&format!("INV-4560{n}0")).await;
    }
    // The lock holds in every conversation, and for the right invoice.
    let mut other = desk.chat().await;
    talk(&mut other, &["How much is my plan?", "u123"]).await;
    let events = other.say("INV-20251001").await;
    assert!(events.text("billing_prompt").starts_with("There were too many attempts"), "{events:?}");
}

#[tokio::test]
async fn question_is_no_reason_for_a_refund() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat_with(json!({ "user_id": "u123" })).await;
    talk(&mut chat, &["I want a refund for INV-12345", "45 PLN"]).await;
    for text in
        ["what do you mean?", "no", "what do you mean", "please speak Polish", "mów po angielsku", "hello", "hm"]
    {
        chat.say(text).await;
        assert_eq!(cases_of(&desk, "u123").await, [], "{text}");
    }
    talk(&mut chat, &["your colleague promised it to me", "yes"]).await;
    let cases = cases_of(&desk, "u123").await;
    assert_eq!(cases[0].reason, RefundReason::Other);
    assert_eq!(cases[0].description.as_deref(), Some("your colleague promised it to me"));
}

#[tokio::test]
async fn device_is_no_customer_id() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat().await;
    talk(&mut chat, &["How much is my plan?", "u123", "INV12345"]).await;
    // A proved account stays, whatever device or invoice is named.
    for text in
        ["show my invoices, is the HG8245 on one?", "how much is my plan with an AX3000?", "show my invoices, FV12345"]
    {
        let events = chat.say(text).await;
        assert!(!events.text("billing_info").is_empty(), "{text}: {events:?}");
    }
    // Another id that the customer calls one needs another proof.
    let events = chat.say("my customer id is u456, how much is my plan?").await;
    assert!(events.text("billing_prompt").starts_with("I show an account only to its owner"), "{events:?}");
    assert!(chat.say("INV-45601").await.text("billing_info").starts_with("You are on plan L"));
}

#[tokio::test]
async fn corrected_id_replaces_a_wrong_one() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat().await;
    let turns = talk(&mut chat, &["How much is my plan?", "u124", "20251001", "sorry, u123"]).await;
    assert!(turns[2].text("billing_prompt").starts_with("I couldn't match"), "{turns:?}");
    assert!(turns[3].text("billing_info").starts_with("You are on plan M"), "{turns:?}");
}

#[tokio::test]
async fn corrected_id_is_no_invoice_of_the_refund() {
    let desk = open_plain_desk().await;
    let mut samples = accounts();
    let (subscription, invoice) = (samples.subscriptions[0].clone(), samples.invoices[0].clone());
    samples.subscriptions.push(Subscription { user_id: "k124".to_owned(), ..subscription });
    let number = "INV-77777".parse().unwrap();
    samples.invoices.push(Invoice { number, user_id: "k124".to_owned(), ..invoice });
    desk.app.inner.store.tenant(&TenantId::default()).make_sample_accounts(&samples).await.unwrap();
    let mut chat = desk.chat().await;
    let texts = ["I want a refund", "k123", "INV-77777", "sorry, k124", "20 PLN, I was overcharged", "yes"];
    let turns = talk(&mut chat, &texts).await;
    assert!(turns[2].text("billing_prompt").starts_with("I couldn't match"), "{turns:?}");
    assert!(turns[3].text("billing_prompt").contains("How much should be refunded"), "{turns:?}");
    assert_eq!(cases_of(&desk, "k124").await[0].invoice.as_str(), "INV-77777");
}

#[tokio::test]
async fn wrong_proof_keeps_the_proved_account() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat().await;
    let texts = ["u123, INV-12345", "and u456, INV-99999?", "Which plan do I have?"];
    let turns = talk(&mut chat, &texts).await;
    assert!(turns[1].text("billing_prompt").starts_with("I couldn't match"), "{turns:?}");
    assert!(turns[2].text("billing_info").starts_with("You are on plan M"), "{turns:?}");
    // A corrected invoice proves the other account.
    let turns = talk(&mut chat, &["and u456, INV-99999?", "INV-45601"]).await;
    assert!(turns[1].text("billing_info").starts_with("You are on plan L"), "{turns:?}");
}

#[tokio::test]
async fn id_alone_replaces_an_account_without_verification() {
    let desk = open_desk(TestApp::builder().env("ACCOUNT_VERIFICATION", "none")).await;
    let mut chat = desk.chat().await;
    let turns =
        talk(&mut chat, &["How much is my plan?", "u123", "my customer id is u456, how much is my plan?"]).await;
    assert!(turns[1].text("billing_info").starts_with("You are on plan M"), "{turns:?}");
    assert!(turns[2].text("billing_info").starts_with("You are on plan L"), "{turns:?}");
}

#[tokio::test]
async fn technical_message_leaves_the_question_open() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat_with(json!({ "user_id": "u123" })).await;
    chat.say("I want a refund").await;
    for text in ["The PON light is blinking on 5GHz", "the PON LED of my Huawei HG8245 is red"] {
        assert_eq!(chat.say(text).await.first("intent")["route"], "technical", "{text}");
    }
    let events = chat.say("12345").await;
    assert!(events.text("billing_prompt").starts_with("How much should be refunded"), "{events:?}");
    let mut other = desk.chat().await;
    let turns = talk(&mut other, &["How much is my plan?", "The PON light is blinking on 5GHz", "u123"]).await;
    assert!(turns[2].text("billing_prompt").starts_with("Thank you."), "{turns:?}");
    // A part of a number is no invoice.
    let mut other = desk.chat_with(json!({ "user_id": "u123" })).await;
    other.say("I want a refund").await;
    let events = other.say("345").await;
    assert!(events.text("billing_prompt").starts_with("I can't find"), "{events:?}");
}

/// What was said before a restart counts after it: details of a fault, and those of a refund.
#[tokio::test]
async fn slots_survive_a_restart() {
    for (language, before, after) in [
        (
            "en",
            ["How do I configure my router for gaming?", "I was overcharged 30 PLN"],
            ["It's a Huawei HG8245 over FTTH, I want bridge mode", "invoice INV-12345", "yes"],
        ),
        (
            "pl",
            ["nie działa", "Naliczono mi o 30 zł za dużo"],
            ["mam światłowód, lampka PON nie świeci", "faktura INV-12345", "tak"],
        ),
    ] {
        let desk = open_desk_in(language, TestApp::builder()).await;
        let mut fault = desk.chat_with(json!({ "user_id": "u456", "language": language })).await;
        let mut refund = desk.chat_with(json!({ "user_id": "u123", "language": language })).await;
        let mut turns = vec![fault.say(before[0]).await, refund.say(before[1]).await];
        let (fault, refund) = (fault.id.clone(), refund.id.clone());
        let app = desk.app.stop().await.env("PERSONA_PATH", persona(language).display()).start().await;
        turns.push(app.ask(&fault, after[0]).await);
        turns.push(app.ask(&refund, after[1]).await);
        turns.push(app.ask(&refund, after[2]).await);
        assert_dialogue!(format!("telecom_restart_{language}"), Turns(turns));
    }
}

#[tokio::test]
async fn given_up_refund_opens_nothing() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat_with(json!({ "user_id": "u123" })).await;
    let turns = talk(&mut chat, &["I want a refund for INV-12345", "never mind", "45 PLN"]).await;
    assert!(turns[1].text("billing_info").starts_with("All right"), "{turns:?}");
    assert_eq!(cases_of(&desk, "u123").await, []);
}

#[tokio::test]
async fn matter_out_of_scope_ends_the_thread() {
    let desk = open_desk(TestApp::builder()).await;
    let mut chat = desk.chat_with(json!({ "user_id": "u123" })).await;
    let events = chat.say("I want to change my plan to L").await;
    assert!(events.text("billing_info").starts_with("I can't do that here"), "{events:?}");
    assert_eq!(chat.say("???").await.first("intent")["route"], "fallback");
    chat.say("I want a refund").await;
    let events = chat.say("can I pay by card?").await;
    assert!(events.text("billing_info").starts_with("I can't do that here"), "{events:?}");
    assert!(!events.text("billing_prompt").is_empty(), "the open question is repeated: {events:?}");
    assert!(chat.say("12345").await.text("billing_prompt").starts_with("How much should be refunded"));
}

#[tokio::test]
async fn summary_is_confirmed_in_any_words() {
    let desk = open_plain_desk().await;
    for (yes, invoice) in [("yes open it", "INV-12345"), ("Yes, that is correct.", "INV-20251001")] {
        let mut chat = desk.chat_with(json!({ "user_id": "u123" })).await;
        let offer = chat.say(&format!("I was overcharged, I want the whole invoice {invoice} back")).await;
        let summary = format!("invoice {invoice}, 145.00 PLN, reason: overcharge?");
        assert!(offer.text("billing_prompt").contains(&summary), "{offer:?}");
        let opened = chat.say(yes).await;
        assert!(opened.text("refund_case").starts_with("I've opened refund case"), "{yes}: {opened:?}");
    }
}

#[tokio::test]
async fn invoice_of_the_proof_is_refunded() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat().await;
    let turns = talk(&mut chat, &["my id is u123, INV-20251001", "want 100 back, overcharged", "yes"]).await;
    assert!(turns[0].text("billing_info").starts_with("You are on plan M"), "{turns:?}");
    assert!(turns[2].text("refund_case").starts_with("I've opened refund case R10001"), "{turns:?}");
    assert_eq!(cases_of(&desk, "u123").await[0].invoice.as_str(), "INV-20251001");
    // The next claim is about another invoice.
    let next = chat.say("I want another 20 pln back, overcharged").await;
    assert!(next.text("billing_prompt").contains("Which invoice is it about?"), "{next:?}");
}

#[tokio::test]
async fn claim_for_an_outage_is_billing() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat_with(json!({ "user_id": "u456" })).await;
    let events = chat.say("your network was down for three days, I want 200 pln").await;
    assert_eq!(events.first("intent")["route"], "billing");
    assert!(events.text("billing_prompt").contains("Which invoice is it about?"), "{events:?}");
}

#[tokio::test]
async fn case_is_opened_after_a_yes() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat_with(json!({ "user_id": "u123" })).await;
    let turns =
        talk(&mut chat, &["I paid INV-12345 twice, I want 100 PLN back", "yes but 90 PLN", "no", "yes submit"]).await;
    assert!(turns[0].text("billing_prompt").contains("100.00 PLN, reason: other?"), "{turns:?}");
    assert!(turns[1].text("billing_prompt").contains("90.00 PLN, reason: other?"), "{turns:?}");
    assert!(turns[2].text("billing_prompt").starts_with("What should I change"), "{turns:?}");
    let case = &cases_of(&desk, "u123").await[0];
    assert_eq!((case.amount.minor, case.reason), (9_000, RefundReason::Other));
}

#[tokio::test]
async fn amount_next_to_the_id_is_no_invoice() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat().await;
    chat.say("I was overcharged on invoice INV-12345, I want a refund").await;
    let events = chat.say("u123, and wait, not 145 but 100").await;
    assert!(events.text("billing_prompt").contains("invoice INV-12345"), "{events:?}");
}

#[tokio::test]
async fn proof_gets_what_was_asked_before() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat().await;
    let turns = talk(&mut chat, &["which plan am i on? and since when?", "its u456, last bill was INV-45601"]).await;
    assert!(turns[1].text("billing_info").starts_with("You are on plan L Unlimited"), "{turns:?}");
    let mut chat = desk.chat().await;
    let turns = talk(&mut chat, &["Why is my bill so high?", "u123 and the invoice is INV-12345"]).await;
    assert!(turns[1].text("billing_info").contains("INV-12345: 145.00 PLN"), "{turns:?}");
    let mut chat = desk.chat().await;
    let events = chat.say("Hello, which invoices do I have? u456, INV-45601").await;
    assert!(events.text("billing_info").contains("INV-45601"), "{events:?}");
    let mut chat = desk.chat().await;
    chat.say("u123 and the invoice is INV-12345").await;
    // The account of another customer needs another proof.
    let turns =
        talk(&mut chat, &["cool. and my flatmate is u456, what's he on?", "ok, and which plan do I have?"]).await;
    assert!(turns[0].text("billing_prompt").starts_with("I show an account only to its owner"), "{turns:?}");
    assert!(turns[1].text("billing_info").starts_with("You are on plan M"), "{turns:?}");
}

#[tokio::test]
async fn amount_beside_a_corrected_invoice_counts() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat().await;
    let texts =
        ["I want a refund, the internet was down for days. u456, INV-12345", "oh sorry, INV-45601, and 6.50", "yes"];
    let turns = talk(&mut chat, &texts).await;
    assert!(turns[0].text("billing_prompt").starts_with("I couldn't match"), "{turns:?}");
    assert!(turns[1].text("billing_prompt").contains("INV-45601, 6.50 PLN"), "{turns:?}");
    assert_eq!(cases_of(&desk, "u456").await[0].amount.minor, 650);
}

#[tokio::test]
async fn corrected_amount_gives_nothing_up() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat_with(json!({ "user_id": "u123" })).await;
    let texts = [
        "You overcharged me 20 PLN on INV-12345, refund it please",
        "never mind, make it 22 PLN",
        "yes",
        "never mind, make it 25 PLN",
        "yes",
    ];
    let turns = talk(&mut chat, &texts).await;
    assert!(turns[1].text("billing_prompt").contains("22.00 PLN"), "{turns:?}");
    assert!(turns[3].text("refund_case").contains("ask me for a person"), "{turns:?}");
    assert!(!turns[4].text("social").is_empty(), "a person is called: {turns:?}");
    assert_eq!(cases_of(&desk, "u123").await[0].amount.minor, 2_200);
}

#[tokio::test]
async fn yes_with_another_claim_opens_the_first() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat_with(json!({ "user_id": "u123" })).await;
    let texts =
        ["overcharged 10 PLN on INV-12345, refund it", "Yes. And refund 20 PLN of INV-20251001, overcharged", "yes"];
    let turns = talk(&mut chat, &texts).await;
    assert!(turns[1].text("refund_case").contains("R10001"), "{turns:?}");
    assert!(turns[1].text("billing_prompt").contains("invoice INV-20251001, 20.00 PLN"), "{turns:?}");
    let mut opened: Vec<_> = cases_of(&desk, "u123")
        .await
        .iter()
        .map(|case| (case.invoice.as_str().to_owned(), case.amount.minor))
        .collect();
    opened.sort();
    assert_eq!(opened, [("INV-12345".to_owned(), 1_000), ("INV-20251001".to_owned(), 2_000)]);
    // A correction is no second claim.
    let mut chat = desk.chat_with(json!({ "user_id": "u456" })).await;
    let texts = ["overcharged 10 PLN on INV-45601, refund it", "Yes. Actually, refund 20 PLN of INV-12345 instead"];
    let turns = talk(&mut chat, &texts).await;
    assert!(turns[0].text("billing_prompt").contains("invoice INV-45601, 10.00 PLN"), "{turns:?}");
    assert_eq!(cases_of(&desk, "u456").await, []);
}
