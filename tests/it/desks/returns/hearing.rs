//! What customers say, and what is done on it: nothing that cannot be undone without a clear yes, and no way that leads
//! nowhere.

use frontdesk::domain::TenantId;
use serde_json::json;

use super::shop::{Chat, mails, metadata, open};
use crate::support::app::TestApp;

const JOHN: &str = "john.doe@example.com";

/// Whether the order is in a return.
async fn has_return(app: &TestApp, number: &str) -> bool {
    let tenant = TenantId::default();
    !app.inner.store.tenant(&tenant).list_rmas_of(&number.parse().unwrap()).await.unwrap().is_empty()
}

#[tokio::test]
async fn unclear_yes_returns_nothing_and_asks_again() {
    let app = open(TestApp::builder()).await;
    for said in [
        "I'm not sure that's right",
        "ok wait",
        "is that the right order?",
        "did you say yes?",
        "ok but first let me ask my wife",
        "ok thanks",
        "that's my order",
        "ask her",
        "dạ khoan",
        "đúng không ta",
        "dạ để em xem lại đã",
    ] {
        let mut chat = Chat::open(&app).await;
        let first = chat.say_all(&["return order 77893", JOHN]).await;
        let again = chat.say(said).await;
        assert_eq!(again.kinds(), ["order_confirm"], "{said}");
        assert_ne!(first.text("order_confirm"), again.text("order_confirm"), "{said}");
    }
    for said in ["absolutely not", "of course not", "dạ không", "not exactly"] {
        let mut chat = Chat::open(&app).await;
        let declined = chat.say_all(&["return order 77893", JOHN, said]).await;
        assert_eq!(declined.kinds(), ["reply", "follow_up"], "{said}");
    }
    assert!(!has_return(&app, "77893").await);
    assert_eq!(mails(&app), [] as [String; 0]);
}

#[tokio::test]
async fn order_is_cancelled_only_on_clear_yes() {
    let app = open(TestApp::builder()).await;
    for (said, kind) in [
        ("absolutely not", "reply"),
        ("dạ không", "reply"),
        ("don't cancel it", "reply"),
        ("đừng hủy", "reply"),
        ("ok wait", "action_prompt"),
        ("is that final?", "action_prompt"),
        ("dung", "action_prompt"),
        ("and the status?", "action_prompt"),
    ] {
        let mut chat = Chat::open(&app).await;
        let answered = chat.say_all(&["return order ABC-100001", "an.nguyen@example.com", said]).await;
        // A document may answer first; then the question is repeated.
        let kinds: Vec<String> = answered.kinds().into_iter().filter(|kind| kind != "follow_up").collect();
        assert_eq!(kinds.last().map(String::as_str), Some(kind), "{said}");
    }
    let mut chat = Chat::open(&app).await;
    let done = chat.say_all(&["cancel order ABC-100001", "an.nguyen@example.com", "đúng, huỷ đi"]).await;
    assert_eq!(done.kinds(), ["return_ticket", "follow_up"]);
    assert_eq!(metadata(&done, "return_ticket")["action_ticket"]["status"], "created");
}

#[tokio::test]
async fn yes_with_harmless_additions_counts() {
    let app = open(TestApp::builder()).await;
    for (number, contact, said) in [
        ("77893", JOHN, "yes, no problem"),
        ("77895", "buyer-77895@example.com", "đúng đơn đó, không vấn đề gì"),
        ("ABC-100004", "kenji.sato@example.com", "👍"),
        ("ABC-100003", "julia.weber@example.com", "yes, they are too small"),
    ] {
        let mut chat = Chat::open(&app).await;
        let done = chat.say_all(&[&format!("return order {number}"), contact, said]).await;
        assert_eq!(done.kinds(), ["return_ticket", "follow_up"], "{said}");
    }
}

#[tokio::test]
async fn another_order_is_asked_for_not_the_end() {
    let app = open(TestApp::builder()).await;
    for (language, turns) in [
        ("en", ["return order 77893", JOHN, "no, the other order"]),
        ("en", ["return order 77893", JOHN, "that's not my order"]),
        ("vi", ["trả hàng đơn 77893", JOHN, "không phải đơn này"]),
        ("vi", ["trả hàng đơn 77893", JOHN, "không, đơn khác cơ"]),
    ] {
        let mut chat = Chat::open_with(&app, json!({ "language": language })).await;
        assert_eq!(chat.say_all(&turns).await.kinds(), ["order_prompt"], "{turns:?}");
    }
}

#[tokio::test]
async fn goodbye_ends_without_another_question() {
    let app = open(TestApp::builder()).await;
    for (language, turns) in [
        ("en", &["I want to return something", "ok bye"][..]),
        ("en", &["I want to return something", "thanks, bye"]),
        ("en", &["return order 77893", "goodbye"]),
        ("en", &["return order 77893", JOHN, "no", "bye"]),
        ("en", &["return order 77893", JOHN, "ok bye"]),
        ("en", &["return order 77893", JOHN, "no thanks, have a nice day"]),
        ("en", &["bye"]),
        ("en", &["I want to return something", "how long do I have?", "cheers"]),
        ("vi", &["tôi muốn trả hàng", "thôi cảm ơn, tạm biệt"]),
        ("vi", &["tôi muốn trả hàng", "ok bye"]),
        ("vi", &["trả hàng đơn 77893", JOHN, "bai bai shop nhé"]),
    ] {
        let mut chat = Chat::open_with(&app, json!({ "language": language })).await;
        let ended = chat.say_all(turns).await;
        assert_eq!(ended.kinds(), ["reply"], "{turns:?}");
        assert!(!ended.text("reply").contains('?'), "{turns:?}: {ended:?}");
    }
}

#[tokio::test]
async fn question_about_the_refund_names_the_last_return() {
    let app = open(TestApp::builder()).await;
    for (language, question) in [("en", "where is my refund?"), ("vi", "tiền hoàn tới đâu rồi ạ?")] {
        let order = if language == "en" {
            ["return order 77893", JOHN]
        } else {
            ["trả đơn 77895", "buyer-77895@example.com"]
        };
        let mut chat = Chat::open_with(&app, json!({ "language": language })).await;
        chat.say_all(&order).await;
        chat.say("yes").await;
        let answered = chat.say(question).await;
        assert_eq!(answered.kinds()[0], "order_status", "{question}: {answered:?}");
        assert!(answered.text("order_status").contains("RMA-"), "{question}: {answered:?}");
    }
}

#[tokio::test]
async fn a_name_in_an_address_calls_nothing_off() {
    let app = open(TestApp::builder()).await;
    for contact in ["huy.do@example.com", "dung.nguyen@example.com", "thoi.vu@example.com", "bo.le@example.com, huy"] {
        let mut chat = Chat::open(&app).await;
        let answered = chat.say_all(&["where is order 77893?", contact]).await;
        assert_eq!(answered.kinds(), ["order_prompt"], "{contact}");
        assert!(answered.text("order_prompt").contains("77893"), "{contact}: {answered:?}");
    }
    let mut chat = Chat::open(&app).await;
    assert_eq!(chat.say_all(&["track abc-100006", "huy.do@example.com"]).await.kinds()[0], "order_status");
}

#[tokio::test]
async fn a_number_is_enough_to_begin_with() {
    let app = open(TestApp::builder()).await;
    for (turns, last) in [
        (&["where is 77893", JOHN][..], "order_status"),
        (&["77893", JOHN], "order_status"),
        (&["đơn 77893", JOHN], "order_status"),
        (&["77893 đâu rồi", JOHN], "order_status"),
        (&["problem with order 77893", JOHN], "order_status"),
        (&["trả 77893", JOHN], "order_confirm"),
        (&["Cancel 77893", JOHN], "action_prompt"),
        (&["77893 is broken", JOHN], "escalation"),
    ] {
        let mut chat = Chat::open(&app).await;
        for (at, text) in turns.iter().enumerate() {
            let events = chat.say(text).await;
            let wanted = if at + 1 == turns.len() { last } else { "order_prompt" };
            assert_eq!(events.kinds()[0], wanted, "{turns:?}: {text}");
        }
    }
    let mut chat = Chat::open(&app).await;
    let shown = chat.say_all(&["return 77893", JOHN, "by the way where is order 77893?"]).await;
    assert_eq!(shown.kinds(), ["order_status", "follow_up"], "another wish in the middle is that wish");
}

#[tokio::test]
async fn damage_starts_a_return_and_is_escalated() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    assert_eq!(chat.say("it's cracked").await.kinds(), ["order_prompt"]);
    let reply = chat.say_all(&["77893", JOHN]).await;
    assert_eq!(metadata(&reply, "escalation")["eligibility"]["reason_code"], "DAMAGED_MANUAL");

    let mut asking = Chat::open(&app).await;
    let answered = asking.say("They arrived broken, how long does a refund take?").await;
    assert_eq!(answered.kinds(), ["reply", "order_prompt"], "the question is answered, and the return begins");
    let reply = asking.say_all(&["77895", "buyer-77895@example.com"]).await;
    assert_eq!(metadata(&reply, "escalation")["eligibility"]["reason_code"], "DAMAGED_MANUAL");

    let mut shown = Chat::open(&app).await;
    let reply = shown.say_all(&["where is order ABC-100004", "kenji.sato@example.com", "it arrived torn"]).await;
    assert_eq!(metadata(&reply, "escalation")["eligibility"]["reason_code"], "DAMAGED_MANUAL");
}

#[tokio::test]
async fn damage_or_exception_after_refusal_is_escalated() {
    let app = open(TestApp::builder()).await;
    for (number, said, priority) in [
        ("77896", "but it arrived with a torn sole", "HIGH"),
        ("77894", "nhưng hàng bị lỗi mà", "HIGH"),
        ("77894", "can you make an exception? I was in hospital", "MEDIUM"),
    ] {
        let mut chat = Chat::open(&app).await;
        let contact = format!("buyer-{number}@example.com");
        let refused = chat.say_all(&[&format!("return order {number}"), &contact]).await;
        assert_eq!(refused.kinds()[0], "return_decision", "{number}");
        let events = chat.say(said).await;
        assert_eq!(events.kinds(), ["escalation", "follow_up"], "{said}");
        assert_eq!(metadata(&events, "escalation")["escalation"]["priority"], priority, "{said}");
        assert_eq!(chat.status().await, "waiting", "{said}");
    }
    let mut chat = Chat::open(&app).await;
    assert_eq!(chat.say("do you ever make exceptions?").await.kinds()[0], "reply", "nothing was refused yet");
}

#[tokio::test]
async fn a_person_comes_in_whatever_is_asked() {
    let app = open(TestApp::builder()).await;
    for before in [
        &["do you sell tents"][..],
        &["I want to return something"],
        &["return order 77893"],
        &["return order 77893", "someone@example.com"],
        &["return order 77893", JOHN],
        &["return order 77893", JOHN, "no"],
        &["refund order 77893", JOHN],
        &["return order ABC-100001", "an.nguyen@example.com"],
        &["return order 77894", "buyer-77894@example.com"],
    ] {
        for wish in ["a person please", "yes let me talk to one", "cho mình gặp nhân viên"] {
            let mut chat = Chat::open(&app).await;
            chat.say_all(before).await;
            assert_eq!(chat.say(wish).await.kinds(), ["escalation", "follow_up"], "{before:?}: {wish}");
            assert_eq!(chat.status().await, "waiting", "{before:?}: {wish}");
        }
    }
}

#[tokio::test]
async fn third_misunderstanding_offers_a_person() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let asked = chat.say_all(&["purple monkeys", "monkeys, I said", "purple monkeys or not"]).await;
    assert_eq!(asked.kinds(), ["clarify"]);
    assert!(asked.text("clarify").contains("colleague"), "{asked:?}");
    assert_eq!(chat.say("yes").await.kinds(), ["escalation", "follow_up"]);
}

#[tokio::test]
async fn mentioned_but_unwanted_returns_do_not_start() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let shown = chat.say_all(&["don't return 77893, just tell me where it is", JOHN]).await;
    assert_eq!(shown.kinds(), ["order_status", "follow_up"]);
    let mut chat = Chat::open(&app).await;
    let shown = chat.say_all(&["trả đơn 77893", "à thôi, xem giúp nó tới đâu đã", JOHN]).await;
    assert_eq!(shown.kinds(), ["order_status", "follow_up"]);
}

#[tokio::test]
async fn missing_mail_goes_to_another_address() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let made = chat.say_all(&["return order 77893", JOHN, "yes"]).await;
    let rma = metadata(&made, "return_ticket")["action_ticket"]["id"].as_str().unwrap().to_owned();
    assert!(chat.say("what's my return number again?").await.text("reply").contains(&rma));
    let missing =
        chat.say_all(&["return order 77895", "buyer-77895@example.com", "yes", "I didn't get the e-mail"]).await;
    assert!(missing.text("return_ticket").contains("spam"), "{missing:?}");
    let sent = chat.say("please send it to other@example.com").await;
    assert_eq!(metadata(&sent, "return_ticket")["email_status"], "sent");
    assert!(mails(&app).iter().any(|mail| mail.contains("To: other@example.com")));
}

#[tokio::test]
async fn right_address_opens_and_second_order_waits() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let text = format!("return order 77893, it is wrong@example.com or {JOHN}");
    assert_eq!(chat.say(&text).await.kinds(), ["order_confirm"]);
    let mut two = Chat::open(&app).await;
    let done = two.say_all(&["return ABC-100003 and ABC-100015, julia.weber@example.com", "yes"]).await;
    assert!(done.text("follow_up").contains("ABC-100015"), "{done:?}");
    let next = two.say("yes").await;
    assert!(next.text("order_confirm").contains("ABC-100015"), "{next:?}");
}

#[tokio::test]
async fn mistyped_number_keeps_contact() {
    let app = open(TestApp::builder()).await;
    for (language, texts) in [
        ("en", ["return order 77939, john.doe@example.com", "sorry, 77893"]),
        ("vi", ["trả đơn 77939, john.doe@example.com", "nhầm, 77893"]),
    ] {
        let mut chat = Chat::open_with(&app, json!({ "language": language })).await;
        assert_eq!(chat.say_all(&texts).await.kinds(), ["order_confirm"], "{language}");
    }
    // The same number again: it is the contact that was wrong.
    let mut chat = Chat::open(&app).await;
    let asked = chat.say_all(&["return order 77893, jon.doe@example.com", "it is 77893"]).await;
    assert_eq!(asked.kinds(), ["order_prompt"]);
    assert_eq!(chat.say("john.doe@example.com").await.kinds(), ["order_confirm"]);
}

#[tokio::test]
async fn first_miss_is_no_second_one() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let missed = chat.say_all(&["I want to return something", "hm", "order 77939, john.doe@example.com"]).await;
    assert!(!missed.text("order_prompt").contains("colleague"), "{missed:?}");
    let again = chat.say("77949").await;
    assert!(again.text("order_prompt").contains("colleague"), "{again:?}");
}

#[tokio::test]
async fn somebody_who_checks_is_a_person() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let called = chat.say_all(&["return order 77893", JOHN, "ok then let somebody check it"]).await;
    assert_eq!(called.kinds(), ["escalation", "follow_up"]);
}

#[tokio::test]
async fn kept_order_stays_the_subject() {
    let app = open(TestApp::builder()).await;
    for said in ["never mind", "I'll keep it", "no"] {
        let mut chat = Chat::open(&app).await;
        chat.say_all(&["return order 77893", JOHN, said]).await;
        assert_eq!(chat.say("when will it arrive?").await.kinds(), ["order_status", "follow_up"], "{said}");
    }
}

#[tokio::test]
async fn closing_is_said_once() {
    let app = open(TestApp::builder()).await;
    for (language, status, thanks, hello, when) in [
        ("en", "where is order 77899? buyer-77899@example.com", "thank you!", "hello", "when will it arrive?"),
        (
            "vi",
            "đơn 77899 đâu rồi, buyer-77899@example.com",
            "cảm ơn em",
            "xin chào",
            "khi nào nó tới, đơn này đến đâu rồi?",
        ),
    ] {
        let mut chat = Chat::open_with(&app, json!({ "language": language })).await;
        assert_eq!(chat.say(status).await.kinds(), ["order_status", "follow_up"], "{language}");
        assert_eq!(chat.say(when).await.kinds(), ["order_status", "follow_up"], "{language}: the same order");
        let first = chat.say(thanks).await;
        assert_eq!(first.kinds(), ["reply"], "{language}: thanks are no request");
        let again = chat.say(thanks).await;
        assert_ne!(first.text("reply"), again.text("reply"), "{language}");
        assert_eq!(chat.say(hello).await.kinds(), ["clarify"], "{language}");
    }
}
