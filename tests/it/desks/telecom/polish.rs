//! The desk in Polish.

use serde_json::json;

use super::{Turns, cases_of, open_desk_in, talk};
use crate::support::app::TestApp;
use crate::support::dialogue::assert_dialogue;
use crate::support::ollama::{Play, ScriptedOllama};

#[tokio::test]
async fn refund_is_opened_in_polish() {
    let desk = open_desk_in("pl", TestApp::builder()).await;
    let mut chat = desk.chat_with(json!({ "user_id": "u123" })).await;
    let plan = chat.say("jaki mam abonament?").await.text("billing_info");
    assert!(plan.contains("za 45,00 zł miesięcznie, od 15.08.2025"), "{plan}");
    let asked = chat.say("chcę zwrot, naliczono mi za dużo").await.text("billing_prompt");
    assert!(asked.contains("Której faktury to dotyczy?"), "{asked}");
    assert!(chat.say("INV-20251001").await.text("billing_prompt").starts_with("Jaka kwota ma zostać zwrócona"));
    assert!(chat.say("100,50 zł").await.text("billing_prompt").contains("100,50 zł, powód: zawyżona opłata"));
    let opened = chat.say("tak").await.text("refund_case");
    assert!(opened.starts_with("Sprawa o zwrot ma numer R10001."), "{opened}");
    assert!(opened.contains("- Powód: zawyżona opłata.") && opened.contains("100,50 zł wróci"), "{opened}");
    assert_eq!(cases_of(&desk, "u123").await[0].amount.minor, 10_050);
}

#[tokio::test]
async fn small_talk_and_languages_in_polish() {
    let desk = open_desk_in("pl", TestApp::builder()).await;
    let mut chat = desk.chat().await;
    assert!(chat.say("dzień dobry").await.messages()[0].1.starts_with("Dzień dobry!"));
    assert_eq!(chat.say("dzieki, do widzenia").await.first("intent")["intent"], "unknown");
    assert_eq!(chat.say("please speak English").await.first("intent")["language"], "en");
    let back = chat.say("czy możemy rozmawiać po polsku?").await;
    assert_eq!(back.messages(), [("language_ack".to_owned(), "Oczywiście, możemy rozmawiać po polsku.".to_owned())]);
}

#[tokio::test]
async fn polish_customer_pivots_from_fault_to_refund() {
    let desk = open_desk_in("pl", TestApp::builder()).await;
    let mut chat = desk.chat().await;
    let texts = [
        "Cześć",
        "Internet nie działa",
        "miga lampka PON",
        "Naliczono mi o 100 zł za dużo na fakturze INV-12345",
        "u123",
        "tak",
        "dziękuję",
    ];
    let turns = talk(&mut chat, &texts).await;
    assert_dialogue!("telecom_polish", Turns(turns));
    assert_eq!(cases_of(&desk, "u123").await[0].amount.minor, 10_000);
}

#[tokio::test]
async fn polish_model_answers_and_opens_a_case() {
    let ollama = ScriptedOllama::start().await;
    let desk = open_desk_in("pl", TestApp::builder().ollama(&ollama)).await;
    let mut chat = desk.chat_with(json!({ "user_id": "u123", "language": "pl" })).await;
    ollama.reply("ONT się synchronizuje. To trwa do 2 minut.");
    let mut turns = talk(&mut chat, &["co oznacza migająca lampka PON?"]).await;
    ollama.play_call(Play::answer("Jaka kwota ma zostać zwrócona?"));
    turns.extend(talk(&mut chat, &["Naliczono mi za dużo na fakturze INV-12345, chcę zwrot"]).await);
    let claim = json!({ "reason": "overcharge", "amount_pln": 100.0, "invoice_id": "INV-12345" });
    ollama.play_call(Play::calls(&[("open_refund_case", claim)]));
    ollama
        .play_call(Play::answer("Sprawa R10001 na 100,00 zł jest otwarta. Decyzja zapadnie w ciągu 5 dni roboczych."));
    turns.extend(talk(&mut chat, &["100 zł"]).await);
    assert_dialogue!("telecom_pivot_with_a_model_pl", Turns(turns));
    assert_eq!(cases_of(&desk, "u123").await[0].amount.minor, 10_000);
}

#[tokio::test]
async fn english_answers_reach_no_polish_customer() {
    let ollama = ScriptedOllama::start().await;
    let desk = open_desk_in("pl", TestApp::builder().ollama(&ollama)).await;
    let mut chat = desk.chat_with(json!({ "user_id": "u123", "language": "pl" })).await;
    ollama.play_call(Play::answer("Please tell me how much of this invoice should be refunded to your account."));
    let asked = chat.say("Naliczono mi za dużo na fakturze INV-12345, chcę zwrot").await;
    assert!(asked.text("billing_prompt").contains("kwota"), "{asked:?}");
    let claim = json!({ "reason": "overcharge", "amount_pln": 100.0, "invoice_id": "INV-12345" });
    ollama.play_call(Play::calls(&[("open_refund_case", claim)]));
    ollama.play_call(Play::answer("Your case R10001 is open, and a specialist will check it as soon as possible."));
    let opened = chat.say("100 zł").await.text("refund_case");
    assert!(opened.starts_with("Sprawa o zwrot ma numer R10001."), "{opened}");
}

#[tokio::test]
async fn double_payment_is_another_reason_in_polish() {
    let desk = open_desk_in("pl", TestApp::builder()).await;
    let mut chat = desk.chat_with(json!({ "user_id": "u123" })).await;
    let texts =
        ["zapłaciłem fakturę INV-20251001 dwa razy, chcę odzyskać pieniądze", "145 zł", "nie", "Tak, zgadza się."];
    let turns = talk(&mut chat, &texts).await;
    assert!(turns[1].text("billing_prompt").contains("145,00 zł, powód: inny"), "{turns:?}");
    assert!(turns[2].text("billing_prompt").starts_with("Co zmienić"), "{turns:?}");
    assert_eq!(cases_of(&desk, "u123").await[0].reason, frontdesk::domain::telecom::RefundReason::Other);
}

#[tokio::test]
async fn customer_who_changes_language_is_followed() {
    let desk = open_desk_in("pl", TestApp::builder()).await;
    let mut chat = desk.chat().await;
    for (text, language) in [
        ("Cześć, nie działa mi internet", "pl"),
        ("what should I do when the light is red and there is no signal?", "en"),
        ("ok", "en"),
        ("a co mam zrobić, jeśli to nie pomoże i nadal nie ma sieci?", "pl"),
    ] {
        assert_eq!(chat.say(text).await.first("intent")["language"], language, "{text}");
    }
}
