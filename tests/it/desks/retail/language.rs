//! Which language a conversation has, and changing it.

use serde_json::{Value, json};

use super::chat::{open_shop, open_shop_with, say_until_deadline};
use crate::support::app::TestApp;
use crate::support::copy;
use crate::support::dialogue::assert_dialogue;
use crate::support::ollama::{Play, ScriptedOllama};

const ACK_EN: &str = "sure, you can speak english with me";
const ACK_VI: &str = "Dạ vâng ạ, em sẽ nói tiếng Việt với quý khách.";

#[tokio::test]
async fn a_mere_switch_is_acknowledged_and_asks_nobody() {
    let ollama = ScriptedOllama::start().await;
    let shop = open_shop(TestApp::builder().ollama(&ollama).env("CLASSIFIER", "llm_first")).await;
    let mut chat = shop.chat().await;
    let to_english = chat.say("nói tiếng anh được không em").await;
    assert_dialogue!("retail_switch_to_english", to_english);
    assert_eq!(to_english.text("language_ack"), ACK_EN);
    assert_eq!(chat.view().await["preferred_language"], "en");
    let back = chat.say("noi tieng viet di em").await;
    assert_dialogue!("retail_switch_to_vietnamese", back);
    assert_eq!(back.text("language_ack"), ACK_VI);
    assert_eq!(chat.view().await["preferred_language"], "vi");
    assert_eq!(ollama.chats(), [] as [Value; 0]);
}

#[tokio::test]
async fn switch_with_question_is_acknowledged_and_answered() {
    let ollama = ScriptedOllama::start().await;
    let shop = open_shop(TestApp::builder().ollama(&ollama)).await;
    ollama.reply("Delivery in town costs 30.000đ.");
    let events = shop.chat().await.say("please speak english, how much is delivery?").await;
    assert_dialogue!("retail_switch_with_a_question", events);
    assert_eq!(events.kinds(), ["language_ack", "cute_greeting", "reply", "follow_up"]);
    let asked = ollama.chats();
    assert_eq!(asked.len(), 1, "the rules alone classify it");
    let last = asked[0]["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["content"], "how much is delivery?", "without the request to switch");
}

#[tokio::test]
async fn acknowledgement_precedes_the_models_text() {
    let ollama = ScriptedOllama::start().await;
    ollama.otherwise(|_| Some(Play::new().stalls()));
    let builder = || TestApp::builder().ollama(&ollama);
    let (_, events) = say_until_deadline(builder, "please speak english, how much is delivery?", "language_ack").await;
    assert_eq!(events.status(), "failed");
    assert_eq!(events.text("language_ack"), ACK_EN);
    assert!(events.first("error")["message"].as_str().unwrap().starts_with("I'm sorry"));
}

#[tokio::test]
async fn later_short_message_decides_no_language() {
    let shop = open_shop(TestApp::builder()).await;
    for (language, text) in [
        ("vi", "kiểm tra bảo hành giúp em"),
        ("vi", "bao hanh cho em cai laptop"),
        ("vi", "shop oi con ssd 1tb khong"),
        ("en", "do you have a 1TB SSD in stock?"),
        ("en", "hello, my laptop is broken"),
    ] {
        let mut chat = shop.chat().await;
        assert_eq!(chat.say(text).await.first("intent")["language"], language, "{text}");
        for later in ["how much is delivery?", "phí giao hàng bao nhiêu"] {
            assert_eq!(chat.say(later).await.first("intent")["language"], language, "{text}, then {later}");
        }
        assert_eq!(chat.view().await["preferred_language"], language);
    }
}

#[tokio::test]
async fn message_without_language_decides_nothing() {
    let shop = open_shop(TestApp::builder()).await;
    for text in ["ABC123", "💖"] {
        let mut chat = shop.chat().await;
        assert_eq!(chat.say(text).await.first("intent")["language"], "vi", "{text}");
        for later in ["how much is delivery?", "phí giao hàng bao nhiêu"] {
            assert_eq!(chat.say(later).await.first("intent")["language"], "en", "{text}, then {later}");
        }
    }
}

#[tokio::test]
async fn whole_sentence_in_another_language_is_followed() {
    let shop = open_shop(TestApp::builder()).await;
    let mut chat = shop.chat().await;
    for (text, language) in [
        ("do you have a 1TB SSD in stock?", "en"),
        ("à mình người Việt nha, phí giao hàng bao nhiêu vậy em", "vi"),
        ("how much is the delivery to another town, please?", "en"),
        ("nói tiếng anh được không em", "en"),
        ("phí giao hàng bao nhiêu vậy em, mình ở quận 7", "en"),
    ] {
        assert_eq!(chat.say(text).await.first("intent")["language"], language, "{text}");
    }
}

#[tokio::test]
async fn names_and_courtesies_change_no_language() {
    let shop = open_shop(TestApp::builder()).await;
    for (language, texts) in [
        (
            "en",
            [
                "Do you deliver to other towns?",
                "27A đường Ánh Sao, phường Tân Hưng, TP. Hồ Chí Minh",
                "Nguyễn Văn Hùng",
            ],
        ),
        ("en", ["Do you deliver to other towns?", "Trần Thị Bích Ngọc", "Nguyễn Đức Anh"]),
        ("vi", ["phí giao hàng bao nhiêu vậy em", "i see", "ok thank you"]),
        (
            "vi",
            [
                "phí giao hàng bao nhiêu vậy em",
                "trang web ghi \"Your parcel is out for delivery today\" là sao",
                "yes please",
            ],
        ),
    ] {
        let mut chat = shop.chat().await;
        for text in texts {
            assert_eq!(chat.say(text).await.first("intent")["language"], language, "{text}");
        }
    }
}

#[tokio::test]
async fn language_at_creation_overrides_first_message() {
    let shop = open_shop(TestApp::builder()).await;
    let mut chat = shop.chat_with(json!({"language": "en"})).await;
    let events = chat.say("kiểm tra bảo hành FUT-2099 giúp em").await;
    assert!(events.text("warranty_result").starts_with("Warranty information:"));
    let mut chat = shop.chat_with(json!({"language": "vi"})).await;
    let events = chat.say("is FUT-2099 still under warranty?").await;
    assert!(events.text("warranty_result").starts_with("Thông tin bảo hành:"));
}

#[tokio::test]
async fn language_switch_survives_a_restart() {
    let shop = open_shop(TestApp::builder()).await;
    let mut chat = shop.chat().await;
    chat.say("kiểm tra bảo hành giúp em").await;
    chat.say("speak english please").await;
    for (text, kind, begins) in [
        ("mã của em nè FUT-2099", "warranty_result", "Warranty information:"),
        ("phí giao hàng bao nhiêu vậy em", "cute_greeting", "Hi! I'm happy to help"),
        ("cái gì vậy ta", "clarify", "Hi! I'm happy to help"),
        ("em bao nhiêu tuổi rồi", "social", "I'm an AI assistant"),
    ] {
        let said = chat.say(text).await;
        assert!(said.text(kind).starts_with(begins), "{text}: {:?}", said.messages());
    }
    let id = chat.id.clone();
    let again = shop.app.stop().await.start().await;
    let events = again.ask(&id, "kiểm tra bảo hành FUT-2099").await;
    assert!(events.text("warranty_result").starts_with("Warranty information:"));
}

#[tokio::test]
async fn a_persona_of_one_language_keeps_to_it() {
    let prompts = tempfile::tempdir().unwrap();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("prompts");
    copy(&root, prompts.path());
    let persona =
        "---\ndesk: retail\nlanguages: [vi]\n---\nBạn là trợ lý.\n\nGreeting: Chào ạ\nFollowUp: Gì nữa không ạ?\n";
    std::fs::write(prompts.path().join("chi_viet.md"), persona).unwrap();
    let builder = TestApp::builder().env("PROMPTS_PATH", prompts.path().display());
    let builder = builder.env("PERSONA_PATH", prompts.path().join("chi_viet.md").display());
    let shop = open_shop(builder).await;
    let mut chat = shop.chat().await;
    let events = chat.say("do you have a 1TB SSD in stock?").await;
    assert_eq!(events.first("intent")["language"], "vi");
    let events = chat.say("speak english please").await;
    assert!(!events.kinds().contains(&"language_ack".to_owned()), "{:?}", events.kinds());
    assert_eq!(chat.view().await["preferred_language"], "vi");
}

/// What a model says in the wrong language, and in the right one.
const WRONG: &str = "Dạ phí giao hàng trong nội thành là ba mươi nghìn đồng và hàng được giao ngay trong ngày ạ.";
const RIGHT: &str = "Delivery in town costs 30.000đ, and your order arrives on the same day.";

#[tokio::test]
async fn reply_in_another_language_is_asked_for_again() {
    let ollama = ScriptedOllama::start().await;
    let shop = open_shop(TestApp::builder().ollama(&ollama)).await;
    for (replies, begins) in [([WRONG, RIGHT], RIGHT), ([WRONG, WRONG], "Here is what SSTC's documents say")] {
        let before = ollama.chats().len();
        replies.into_iter().for_each(|reply| ollama.reply(reply));
        let mut chat = shop.chat_with(json!({"language": "en"})).await;
        let events = chat.say("how much is delivery?").await;
        assert!(events.text("reply").starts_with(begins), "{events:?}");
        assert!(!format!("{events:?}").contains("nghìn"), "{events:?}");
        let asked = ollama.chats().split_off(before);
        assert_eq!(asked.len(), 2);
        assert_eq!(asked[1]["messages"].as_array().unwrap().last().unwrap()["content"], "Language: en");
    }
}

#[tokio::test]
async fn reply_may_name_places_of_another_language() {
    let ollama = ScriptedOllama::start().await;
    let shop = open_shop(TestApp::builder().ollama(&ollama)).await;
    let said = "Orders near Ánh Sao Street, Tân Hưng Ward, are delivered on the same day for 30.000đ.";
    ollama.reply(said);
    let mut chat = shop.chat_with(json!({"language": "en"})).await;
    let events = chat.say("how much is delivery?").await;
    assert_eq!((events.text("reply").as_str(), ollama.chats().len()), (said, 1));
}

#[tokio::test]
async fn small_talk_in_another_language_is_replaced() {
    let ollama = ScriptedOllama::start().await;
    let shop = open_shop(TestApp::builder().ollama(&ollama)).await;
    for _ in 0..2 {
        ollama.reply("Dạ em vẫn khỏe ạ, cảm ơn quý khách đã hỏi thăm em nhiều nhé.");
    }
    let mut chat = shop.chat_with(json!({"language": "en"})).await;
    let events = chat.say("how are you today?").await;
    assert!(events.text("social").starts_with("I'm "), "{events:?}");
}

/// A page that exists in one language only is quoted with an introduction in that language.
#[tokio::test]
async fn untranslated_page_is_quoted_in_its_language() {
    let page = "---\nlanguage: vi\n---\n# Lắp đặt\n\n## Helicopter\nHelicopter được lắp đặt tại nhà trong ngày.\n";
    let shop = open_shop_with(TestApp::builder(), &[("lap-dat.md", page)]).await;
    let mut chat = shop.chat_with(json!({"language": "en"})).await;
    let reply = chat.say("how much is a helicopter").await.text("reply");
    assert!(reply.contains("được lắp đặt") && !reply.contains("Here is"), "{reply}");
}

#[tokio::test]
async fn greeting_decides_no_language_for_good() {
    let shop = open_shop(TestApp::builder()).await;
    let mut chat = shop.chat().await;
    for (text, language) in
        [("hello shop", "en"), ("thứ 7 cửa hàng mở tới mấy giờ vậy", "vi"), ("how much is delivery?", "vi")]
    {
        assert_eq!(chat.say(text).await.first("intent")["language"], language, "{text}");
    }
    let mut chat = shop.chat().await;
    for (text, language) in [("chào shop", "vi"), ("chuột G102", "vi"), ("price?", "vi")] {
        assert_eq!(chat.say(text).await.first("intent")["language"], language, "{text}");
    }
}
