//! Some pieces of an item, amounts, and offers of the desk that a customer takes up.

use chrono::Utc;
use frontdesk::domain::TenantId;
use frontdesk::domain::returns::ListedOrder;
use serde_json::json;

use super::damage::two_items;
use super::shop::{Chat, open};
use crate::support::app::TestApp;

const JULIA: &str = "julia.weber@example.com";

#[tokio::test]
async fn polite_reason_registers_no_return() {
    let app = open(TestApp::builder()).await;
    for said in ["dạ tại màu không hợp", "vâng ạ, áo rộng quá", "dạ, do không giống hình"] {
        let mut chat = Chat::open_with(&app, json!({ "language": "vi" })).await;
        let asked = chat.say_all(&["trả hàng đơn ABC-100015", JULIA, said]).await;
        assert_eq!(asked.kinds(), ["order_confirm"], "{said}");
    }
}

#[tokio::test]
async fn fewer_pieces_are_never_all() {
    for (language, first, again) in [
        ("vi", "em mua 3 áo khoác gió, giờ muốn trả lại 1 cái thôi được không ạ", "em chỉ trả 1 cái"),
        ("en", "I bought 3 jackets and want to send two back, is that ok?", "no, only two pieces"),
    ] {
        let app = open(TestApp::builder()).await;
        let mut chat = Chat::open_with(&app, json!({ "language": language })).await;
        let asked = chat.say_all(&[first, "ABC-100015", JULIA]).await;
        let text = asked.text("order_confirm");
        assert!(["colleague", "nhân viên"].iter().any(|word| text.contains(word)), "{text}");
        assert!(chat.say(again).await.kinds().contains(&"escalation".to_owned()), "{again}");
        let order = "ABC-100015".parse().unwrap();
        assert_eq!(app.inner.store.tenant(&TenantId::default()).list_rmas_of(&order).await.unwrap(), []);
    }
}

#[tokio::test]
async fn fewer_pieces_after_return_call_person() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open_with(&app, json!({ "language": "vi" })).await;
    let turns = ["trả hàng đơn ABC-100012", "tuan.bui@example.com", "đồng ý", "à mà thôi, em trả 2 cái luôn"];
    assert!(chat.say_all(&turns).await.kinds().contains(&"escalation".to_owned()));
}

#[tokio::test]
async fn cancel_in_exchange_offer_means_the_order() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let turns = ["exchange order ABC-100001 for size 43", "an.nguyen@example.com", "ok then just cancel it"];
    assert_eq!(chat.say_all(&turns).await.kinds(), ["action_prompt"]);
    assert_eq!(chat.say("yes").await.kinds(), ["return_ticket", "follow_up"]);
}

#[tokio::test]
async fn second_order_is_cancelled_as_well() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open_with(&app, json!({ "language": "vi" })).await;
    let turns = [
        "huỷ đơn ABC-100009",
        "lan.vo@example.com",
        "thôi vậy huỷ luôn đi",
        "còn đơn ABC-100021 nữa, cũng huỷ giúp em",
    ];
    assert_eq!(chat.say_all(&turns).await.kinds(), ["action_prompt"]);
}

#[tokio::test]
async fn final_sale_exchange_offers_no_return() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let asked = chat.say_all(&["swap order 77896 for size 44", "buyer-77896@example.com"]).await;
    assert!(asked.text("order_confirm").contains("final sale"), "{asked:?}");
}

#[tokio::test]
async fn amount_of_the_return_is_named() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    chat.say_all(&["return order ABC-100004", "kenji.sato@example.com"]).await;
    assert!(chat.say("how much do I get back?").await.text("reply").contains("$18.50"));
    chat.say("yes").await;
    assert!(chat.say("what amount will I receive?").await.text("reply").contains("$18.50"));
}

#[tokio::test]
async fn label_goes_to_another_address() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let turns = ["resend the label of 77913", "buyer-77898@example.com", "send it to tom.baker@example.com then"];
    assert!(chat.say_all(&turns).await.text("return_ticket").contains("t***@example.com"));
}

#[tokio::test]
async fn yes_with_more_words_accepts_a_person() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let turns = ["return order 77894", "buyer-77894@example.com", "that is so unfair", "yes, pass it on please"];
    assert!(chat.say_all(&turns).await.kinds().contains(&"escalation".to_owned()));
}

#[tokio::test]
async fn kept_goods_are_not_offered_for_return() {
    let app = open(TestApp::builder()).await;
    two_items(&app).await;
    for said in [
        &["I'd like to return everything from 77901 except the poles, buyer-77900@example.com"][..],
        &["Return the boots of 77901, keep the poles", "buyer-77900@example.com"],
        &["return 77901, buyer-77900@example.com", "yes, but not the poles"],
        &["return 77901, buyer-77900@example.com", "return it all, but not the poles"],
        &["return 77901, buyer-77900@example.com", "yes, but I'll keep the poles"],
        &["return 77901, buyer-77900@example.com", "sure, though I'd rather keep the poles"],
    ] {
        let mut chat = Chat::open(&app).await;
        let text = chat.say_all(said).await.text("order_confirm");
        assert!(text.contains("Hiking Boots") && !text.contains("Trekking Poles"), "{said:?}: {text}");
    }
}

#[tokio::test]
async fn vietnamese_exception_keeps_goods() {
    let app = open(TestApp::builder()).await;
    two_items(&app).await;
    let mut chat = Chat::open_with(&app, json!({ "language": "vi" })).await;
    let said = ["trả hàng đơn 77901, buyer-77900@example.com", "tất cả trừ đôi gậy"];
    let text = chat.say_all(&said).await.text("order_confirm");
    assert!(text.contains("Hiking Boots") && !text.contains("Trekking Poles"), "{text}");
}

#[tokio::test]
async fn status_has_each_window() {
    let app = open(TestApp::builder()).await;
    let number = two_items(&app).await;
    let tenant = TenantId::default();
    let store = app.inner.store.tenant(&tenant);
    let mut order = store.find_order(&number).await.unwrap().unwrap();
    order.items[0].category = Some("Electronics".to_owned());
    store.import_orders(&[ListedOrder { order, is_vip: None, fraud_flag: None }], false, Utc::now()).await.unwrap();
    let mut chat = Chat::open(&app).await;
    let status = chat.say_all(&["where is 77901?", "buyer-77900@example.com"]).await.text("order_status");
    let line = |name: &str| status.lines().find(|line| line.contains(name)).unwrap_or_default();
    for (window, name) in [(line("Return by"), "Hiking Boots"), (line("Refund by"), "Trekking Poles")] {
        assert!(window.contains("; ") && window.contains(name), "{status}");
    }
}

#[tokio::test]
async fn wish_after_another_order_spares_the_ticket() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let turns =
        ["cancel ABC-100001", "an.nguyen@example.com", "yes", "and where is ABC-100013?", "just keep that one then"];
    let kept = chat.say_all(&turns).await;
    assert!(!kept.kinds().contains(&"escalation".to_owned()), "{kept:?}");
}
