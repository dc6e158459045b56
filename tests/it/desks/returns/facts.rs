//! Short questions about the order or the decision in talk, which the shop's data answer, and instructions that are a yes.

use serde_json::json;

use super::shop::{Chat, open};
use crate::support::app::TestApp;

const JOHN: &str = "john.doe@example.com";
const LAN: &str = "lan.vo@example.com";

/// Plays the turns and returns the kinds and texts of the last one.
async fn last(language: &str, turns: &[&str]) -> (Vec<String>, String) {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open_with(&app, json!({ "language": language })).await;
    let events = chat.say_all(turns).await;
    let texts: Vec<String> = events.messages().into_iter().map(|(_, text)| text).collect();
    (events.kinds(), texts.join("\n"))
}

#[tokio::test]
async fn short_question_is_answered_from_the_order() {
    for (language, turns, kind, part) in [
        ("en", &["where is ABC-100010? emma.jones@example.com", "when do I get it?"][..], "order_status", "left us on"),
        ("en", &["where is ABC-100010? emma.jones@example.com", "which carrier has it?"], "order_status", "UPS"),
        ("vi", &["đơn ABC-100006 đâu rồi, huy.do@example.com", "ship bên nào vậy"], "order_status", "FEDEX-"),
        ("vi", &["đơn ABC-100009 đâu rồi, lan.vo@example.com", "bao giờ thì nhận được"], "order_status", "chưa"),
        (
            "en",
            &["where is ABC-100010? emma.jones@example.com", "how long have I got to return it then?"],
            "reply",
            "45",
        ),
        (
            "en",
            &["where is ABC-100006? huy.do@example.com", "how much is one of them"],
            "reply",
            "**¥4,800** each, **¥14,400** together",
        ),
        ("vi", &["đơn ABC-100006 đâu rồi, huy.do@example.com", "thế cả đơn là bao nhiêu"], "reply", "**¥14.400**"),
        (
            "en",
            &["where is 77899? buyer-77899@example.com", "how much does it cost to send it back?"],
            "reply",
            "a return is free",
        ),
        ("en", &["return order 77896", "buyer-77896@example.com", "why not?"], "reply", "final sale"),
        ("en", &["return order 77894", "buyer-77894@example.com", "why?"], "reply", "30 days"),
        ("en", &["an unused headlamp. ABC-100016, kenji.sato@example.com"], "order_status", "(over)"),
        ("vi", &["đơn ABC-100024, tuan.bui@example.com"], "order_status", "(đã qua)"),
    ] {
        let (kinds, text) = last(language, turns).await;
        assert!(kinds.contains(&kind.to_owned()) && text.contains(part), "{turns:?}: {kinds:?} {text}");
    }
}

#[tokio::test]
async fn conversation_knows_what_it_has_done() {
    let nothing = last("en", &["cancel ABC-100009", LAN, "what have you cancelled so far?"]).await.1;
    assert!(!nothing.contains("TICKET-"), "{nothing}");
    let cancelled = last("en", &["cancel ABC-100009", LAN, "yes", "which of my orders is cancelled now?"]).await.1;
    assert!(cancelled.contains("TICKET-") && cancelled.contains("ABC-100009"), "{cancelled}");
}

#[tokio::test]
async fn first_question_is_answered_after_the_proof() {
    let (kinds, text) = last("en", &["who pays the postage if I send order 77893 back?", JOHN]).await;
    assert_eq!(kinds, ["reply", "order_confirm"]);
    assert!(text.contains("prepaid"), "{text}");
}

#[tokio::test]
async fn clear_instruction_is_a_yes() {
    for (language, turns) in [
        ("en", ["return order 77893", JOHN, "they rub at the heel. please register the return"]),
        ("en", ["cancel ABC-100009", LAN, "I bought the wrong size, so cancel it"]),
        ("vi", ["hủy đơn ABC-100009", LAN, "thôi đặt dư rồi, hủy giúp em"]),
    ] {
        assert_eq!(last(language, &turns).await.0, ["return_ticket", "follow_up"], "{turns:?}");
    }
    for (language, turns) in [
        ("en", ["return order 77893", JOHN, "do the return later"]),
        ("en", ["return order 77893", JOHN, "how do I register the return?"]),
        ("vi", ["hủy đơn ABC-100009", LAN, "thôi khoan đừng hủy"]),
    ] {
        let kinds = last(language, &turns).await.0;
        assert!(!kinds.contains(&"return_ticket".to_owned()), "{turns:?}: {kinds:?}");
    }
}

#[tokio::test]
async fn broken_label_is_sent_again() {
    let turns = ["order 77913, buyer-77898@example.com", "the label link is dead, it won't open"];
    let (kinds, text) = last("en", &turns).await;
    assert_eq!(kinds, ["return_ticket", "follow_up"]);
    assert!(text.contains("/labels/"), "{text}");
    let turns = ["order 77913, buyer-77898@example.com", "the label opened fine but the socks are torn"];
    assert!(last("en", &turns).await.0.contains(&"escalation".to_owned()));
}

#[tokio::test]
async fn other_order_leaves_the_open_request() {
    let turns = [
        "the wrong thing came, order ABC-100003",
        "julia.weber@example.com",
        "my older order ABC-100027 was headphones, too. can it still go back?",
    ];
    let (kinds, text) = last("en", &turns).await;
    assert!(kinds.contains(&"return_decision".to_owned()) && text.contains("15 days"), "{kinds:?} {text}");
}

#[tokio::test]
async fn goodbye_before_a_yes_says_nothing_happened() {
    let turns = ["return order 77893", "john.doe@example.com", "i'll think about it, have a nice evening"];
    let (kinds, text) = last("en", &turns).await;
    assert!(kinds == ["reply"] && text.contains("registered"), "{kinds:?} {text}");
    let (kinds, text) = last("en", &[&turns[..], &["actually you know what, do it"]].concat()).await;
    assert_eq!(kinds, ["order_confirm"], "a wish after all is asked again: {text}");
}

#[tokio::test]
async fn number_before_a_unit_is_an_order() {
    let (kinds, text) = last("vi", &["mình mua 3 tai nghe ABC-100003 giờ muốn trả 1 cái thôi"]).await;
    assert!(kinds == ["order_prompt"] && text.contains("e-mail"), "{kinds:?} {text}");
}

#[tokio::test]
async fn question_about_goods_for_sale_is_unknown() {
    let (kinds, text) = last("en", &["return order 77893", "forget that. do you sell tents?"]).await;
    assert_eq!(kinds, ["reply", "reply", "follow_up"]);
    assert!(text.contains("1900 636 979"), "{text}");
    assert_eq!(last("vi", &["shop có bán lều không"]).await.0, ["reply", "follow_up"]);
}

#[tokio::test]
async fn same_quote_never_comes_twice() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let first = chat.say("do VIP members get more time?").await.text("reply");
    let second = chat.say("and for VIPs?").await.text("reply");
    assert!(first.contains("120 days") && !second.contains("120 days"), "{second}");
}

#[tokio::test]
async fn kept_goods_leave_the_other_order() {
    let marie = "marie.dubois@example.com";
    for (language, turns) in [
        (
            "vi",
            vec![
                "hủy đơn ABC-100009",
                LAN,
                "chị còn đơn ABC-100021, đơn đó là gì vậy?",
                "hủy đơn đó thôi, đơn giày giữ lại",
            ],
        ),
        ("en", vec!["what is in ABC-100017 and ABC-100005?", marie, "cancel the one with the bars, the shoes i keep"]),
        ("en", vec!["where is ABC-100017?", marie, "and ABC-100005?", "cancel that one, keep the shoes"]),
    ] {
        let (kinds, text) = last(language, &turns).await;
        let order = if language == "vi" { "ABC-100021" } else { "ABC-100005" };
        assert!(kinds.contains(&"action_prompt".to_owned()) && text.contains(order), "{turns:?}: {kinds:?} {text}");
    }
    let (kinds, text) = last("en", &["cancel ABC-100005", marie, "I changed my mind, keep the bars"]).await;
    assert!(!kinds.contains(&"return_ticket".to_owned()), "{kinds:?} {text}");
}

#[tokio::test]
async fn last_digits_name_one_of_the_orders() {
    let both = ["ABC-100005 and ABC-100029, marie.dubois@example.com", "cancel the second one, the 29"];
    let (kinds, text) = last("en", &both).await;
    assert!(kinds.contains(&"action_prompt".to_owned()) && text.contains("ABC-100029"), "{kinds:?} {text}");
}

#[tokio::test]
async fn first_wish_to_cancel_asks_for_the_order() {
    let (kinds, _) = last("en", &["I saw it cheaper somewhere else, please cancel it"]).await;
    assert_eq!(kinds, ["order_prompt"]);
}

#[tokio::test]
async fn question_with_an_order_is_answered() {
    let luca = "luca.rossi@example.com";
    let both = format!("order ABC-100008, {luca}. how long do i have to send it back, and what does it cost?");
    let (kinds, text) = last("en", &[both.as_str()]).await;
    assert!(text.contains("ABC-100008") && text.contains("prepaid"), "{kinds:?} {text}");
    let (kinds, text) = last("en", &["ABC-100008", luca, "is the label for ABC-100008 free?"]).await;
    assert!(kinds.contains(&"reply".to_owned()) && text.contains("prepaid"), "{kinds:?} {text}");
}

#[tokio::test]
async fn question_after_a_refusal_is_no_protest() {
    let turns = ["return order 77894", "buyer-77894@example.com", "do you know how someone becomes a VIP?"];
    let (kinds, text) = last("en", &turns).await;
    assert!(!kinds.contains(&"clarify".to_owned()), "{kinds:?} {text}");
    let turns = ["return order 77894", "buyer-77894@example.com", "I thought it was 60 days"];
    let text = last("en", &turns).await.1;
    assert!(text.contains("30 days"), "{text}");
}

#[tokio::test]
async fn sentence_of_the_last_quote_answers() {
    let turns = [
        "return order 77898",
        "buyer-77898@example.com",
        "how long till they answer?",
        "do I have to tell the whole story again?",
    ];
    let text = last("en", &turns).await.1;
    assert!(text.contains("explain everything again"), "{text}");
}

#[tokio::test]
async fn naming_all_goods_is_a_yes() {
    for (language, turns) in [
        ("en", ["can ABC-100023 go back?", "yuki.tanaka@example.com", "both jackets please"]),
        (
            "en",
            [
                "cancel just one of the two in ABC-100005",
                "marie.dubois@example.com",
                "alright then cancel the whole thing",
            ],
        ),
        ("vi", ["trả đơn ABC-100008", "luca.rossi@example.com", "thôi được, trả hàng đi"]),
    ] {
        let (kinds, text) = last(language, &turns).await;
        assert_eq!(kinds, ["return_ticket", "follow_up"], "{turns:?}: {text}");
    }
}
