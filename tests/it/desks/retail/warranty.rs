//! Warranty answers: from the shop's records alone.

use serde_json::json;

use super::chat::open_shop;
use crate::support::app::TestApp;
use crate::support::dialogue::assert_dialogue;
use crate::support::ollama::ScriptedOllama;

#[tokio::test]
async fn warranty_results_come_without_the_model() {
    let ollama = ScriptedOllama::start().await;
    let shop = open_shop(TestApp::builder().ollama(&ollama)).await;
    let mut chat = shop.chat().await;
    let found = chat.say("kiểm tra bảo hành FUT-2099").await;
    assert_dialogue!("retail_warranty_found", found);
    assert_eq!(
        found.text("warranty_result"),
        "Thông tin bảo hành: Sản phẩm 'Bàn phím Keychron', Serial 'FUT-2099', hết bảo hành vào ngày 5/1/2099. \
         Sản phẩm còn bảo hành đến ngày 5/1/2099 ạ."
    );
    assert_dialogue!("retail_warranty_expired", chat.say("bảo hành ABC123 giúp em").await);
    assert_dialogue!("retail_warranty_not_found", chat.say("kiểm tra bảo hành QQQ-000").await);
    assert_eq!(ollama.chats(), [] as [serde_json::Value; 0], "no model on the way");
    ollama.classify(&json!({"intent": "warranty", "confidence": 0.9, "need_retrieval": false, "clarify_needed": false,
        "clarify_questions": [], "rationale": "Wants a check."}));
    assert_dialogue!("retail_warranty_prompt", chat.say("em muốn kiểm tra bảo hành").await);
    assert_dialogue!("retail_warranty_prompt_invalid", chat.say("số serial là abcdef").await);
    assert_dialogue!("retail_warranty_several", chat.say("ABC123, fut-2099 và QQQ-111").await);
    assert_eq!(ollama.chats().len(), 1, "the model confirmed that a serial number is missing");
}

#[tokio::test]
async fn the_english_answers_are_the_contracts() {
    let shop = open_shop(TestApp::builder()).await;
    let mut chat = shop.chat_with(json!({"language": "en"})).await;
    let found = chat.say("check warranty FUT-2099").await.text("warranty_result");
    assert_eq!(
        found,
        "Warranty information: product 'Bàn phím Keychron', serial 'FUT-2099', warranty ends on 5/1/2099. \
         The product is under warranty until Jan 5, 2099."
    );
    let expired = chat.say("check warranty XYZ789").await.text("warranty_result");
    let line = "Warranty information: product 'Mouse Logitech', serial 'XYZ789', warranty ends on 30/6/2025. ";
    assert!(expired.starts_with(line), "{expired}");
    assert!(
        chat.say("check my warranty").await.text("warranty_prompt").starts_with("Please give me the serial number")
    );
    let invalid = chat.say("abcdef").await.text("warranty_prompt_invalid");
    assert!(invalid.starts_with("I could not find a valid serial number"), "{invalid}");
}

#[tokio::test]
async fn shown_records_are_compared() {
    let shop = open_shop(TestApp::builder()).await;
    for (language, question) in [("vi", "vậy cái nào hết hạn trước?"), ("en", "which one ends first?")] {
        let mut chat = shop.chat_with(json!({"language": language})).await;
        chat.say("FUT-2099").await;
        chat.say("XYZ789").await;
        let messages = chat.say(question).await.messages();
        let said: String = messages.iter().map(|(_, text)| text.as_str()).collect();
        assert!(said.contains("FUT-2099") && said.contains("XYZ789"), "{question}: {said}");
    }
}

#[tokio::test]
async fn serial_is_found_in_any_spelling() {
    let shop = open_shop(TestApp::builder()).await;
    for text in [
        "bảo hành fut-2099",
        "Bảo hành Fut-2099.",
        "kiểm tra bảo hành (FUT-2099)",
        "serial:FUT-2099 còn bảo hành không",
        "check warranty for my iPhone 15 bought 2024, serial FUT-2099, call 0901234567",
        "máy mua năm 2024 giá 5990000, sđt 0912345678, kiểm tra bảo hành FUT-2099 giúp anh",
        "kiểm tra bảo hành laptop i5-12400F 16GB 512GB RTX4060 144Hz 15inch 2024 1080p 3200MHz 650W, serial FUT-2099",
        "FUT-2099 fut-2099 FUT-2099 bảo hành",
    ] {
        let events = shop.chat().await.say(text).await;
        let results: Vec<String> =
            events.messages().into_iter().filter(|(kind, _)| kind == "warranty_result").map(|(_, text)| text).collect();
        assert_eq!(results.len(), 1, "{text}: {results:?}");
        assert!(results[0].contains("'FUT-2099'") && results[0].contains("5/1/2099"), "{text}: {results:?}");
    }
}

#[tokio::test]
async fn year_size_or_telephone_number_is_not_serial() {
    let shop = open_shop(TestApp::builder()).await;
    for text in [
        "máy em mua năm 2024 còn bảo hành không",
        "iPhone 15 của em còn bảo hành không",
        "kiểm tra bảo hành giúp em, số điện thoại 0912345678",
        "laptop RTX4060 16GB của em, còn bảo hành không",
    ] {
        let events = shop.chat().await.say(text).await;
        assert_eq!(events.kinds(), ["cute_greeting", "warranty_prompt"], "{text}");
    }
}

#[tokio::test]
async fn most_likely_serial_is_named_when_none_found() {
    let shop = open_shop(TestApp::builder()).await;
    let events = shop.chat().await.say("máy mua 2024 giá 5990000, bảo hành serial zzz-987").await;
    assert_eq!(events.kinds(), ["cute_greeting", "warranty_result", "follow_up"]);
    let text = events.text("warranty_result");
    assert!(text.contains("'ZZZ-987'") && text.contains("1900 636 979"), "{text}");
    let end = events.data().into_iter().filter(|e| e["type"] == "message.end").nth(1).unwrap();
    assert_eq!(end["metadata"]["warranty_meta"], json!({"kind": "result", "found": false, "serial": "ZZZ-987"}));
}

#[tokio::test]
async fn serials_are_answered_up_to_the_limit() {
    let shop = open_shop(TestApp::builder()).await;
    let events = shop.chat().await.say("bảo hành QQ1, QQ2, QQ3, QQ4, QQ5, QQ6, FUT-2099").await;
    let mut kinds = vec!["cute_greeting"];
    kinds.extend(["warranty_result"; 7]);
    kinds.push("follow_up");
    assert_eq!(events.kinds(), kinds);
    let last = &events.messages()[7].1;
    assert!(last.contains("'FUT-2099', hết bảo hành") && !last.contains("chỉ tra cứu được"), "{last}");
    let shop = open_shop(TestApp::builder().env("WARRANTY_SERIALS_MAX", 2)).await;
    let events = shop.chat().await.say("bảo hành QQ1, XYZ789, FUT-2099").await;
    assert_eq!(events.kinds(), ["cute_greeting", "warranty_result", "warranty_result", "follow_up"]);
    assert!(events.messages()[1].1.contains("'XYZ789'"), "found ones first: {:?}", events.messages());
    assert!(events.messages()[2].1.contains("chỉ tra cứu được 2 số"), "{:?}", events.messages());
    let events = shop.chat().await.say("bảo hành ABC123, XYZ789").await;
    assert!(!events.messages()[2].1.contains("chỉ tra cứu được"), "{:?}", events.messages());
}

#[tokio::test]
async fn a_products_name_is_told_letter_for_letter() {
    let shop = open_shop(TestApp::builder()).await;
    let name = "Ốp 15.6' {serial} \"Trẻ\", {date} – O'Neill";
    shop.import_warranties("default", &format!("ODD-1,\"{}\",2099-12-01", name.replace('"', "\"\""))).await;
    let told = shop.chat().await.say("bảo hành ODD-1").await.text("warranty_result");
    let line = format!("Thông tin bảo hành: Sản phẩm '{name}', Serial 'ODD-1', hết bảo hành vào ngày 1/12/2099. ");
    assert!(told.starts_with(&line), "{told}");
}

#[tokio::test]
async fn another_shops_serial_is_not_found() {
    let shop = open_shop(TestApp::builder().env("X_API_KEYS", "key-of-the-shop-0,acme:key-of-the-shop-1")).await;
    shop.import_warranties("acme", "ACME-1,Máy,2099-12-01").await;
    for (key, serial, found) in [
        ("key-of-the-shop-0", "ACME-1", false),
        ("key-of-the-shop-1", "ACME-1", true),
        ("key-of-the-shop-0", "FUT-2099", true),
        ("key-of-the-shop-1", "FUT-2099", false),
    ] {
        let events = shop.chat_as(key, json!({})).await.say(&format!("bảo hành {serial}")).await;
        let end = events.data().into_iter().rfind(|e| e["kind"] == "warranty_result").unwrap();
        assert_eq!(end["metadata"]["warranty_meta"]["found"], found, "{key} {serial}");
    }
}
