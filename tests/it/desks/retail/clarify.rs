//! Unclear messages and social talk.

use serde_json::json;

use super::chat::open_shop;
use crate::support::app::TestApp;
use crate::support::dialogue::assert_dialogue;
use crate::support::ollama::{Play, ScriptedOllama};

const REDIRECT_VI: &str = "Quý khách có cần em hỗ trợ về thông tin hàng hóa hay bảo hành không ạ?";
const REDIRECT_EN: &str = "Can I help you with shopping or warranty questions?";

#[tokio::test]
async fn unclear_message_gets_exact_clarify_text() {
    let shop = open_shop(TestApp::builder()).await;
    let events = shop.chat().await.say("cái này thế nào").await;
    assert_dialogue!("retail_clarify_vi", events);
    assert_eq!(
        events.text("clarify"),
        "Dạ em rất vui được giúp ạ — quý khách đang cần tư vấn mua hàng, kiểm tra bảo hành hay muốn trò chuyện thôi ạ?"
    );
    let events = shop.chat().await.say("what about this one then").await;
    assert_dialogue!("retail_clarify_en", events);
    assert_eq!(
        events.text("clarify"),
        "Hi! I'm happy to help — are you looking for shopping advice, a warranty check, or just to chat?"
    );
}

#[tokio::test]
async fn third_unclear_message_leads_to_a_person() {
    let shop = open_shop(TestApp::builder()).await;
    let mut chat = shop.chat().await;
    for (attempt, kind) in [(1, "clarify"), (2, "clarify"), (3, "social"), (4, "clarify")] {
        assert_eq!(chat.say("cái này thế nào").await.kinds(), [kind], "{attempt}");
        assert_eq!(chat.history().await.last().unwrap()["receipt"]["clarify_attempts"], attempt);
    }
}

#[tokio::test]
async fn model_decides_what_is_unclear() {
    let ollama = ScriptedOllama::start().await;
    let shop = open_shop(TestApp::builder().ollama(&ollama)).await;
    ollama.classify(&json!({"intent": "warranty", "confidence": 0.5, "need_retrieval": false, "clarify_needed": true,
        "clarify_questions": ["?"], "rationale": "Repair or advice."}));
    let events = shop.chat().await.say("cái này thế nào").await;
    assert_dialogue!("retail_clarify_by_the_model", events);
    assert_eq!(ollama.chats().len(), 1, "the question itself is written");
}

#[tokio::test]
async fn small_talk_without_model_uses_topic_texts() {
    let shop = open_shop(TestApp::builder()).await;
    let mut chat = shop.chat().await;
    assert_dialogue!("retail_social_without_a_model", chat.say("em khỏe không").await);
    let mut answers = Vec::new();
    for text in [
        "đi chơi không em",
        "em tên gì",
        "em đang làm gì đó",
        "có bạn trai chưa em",
        "cảm ơn em nhiều",
        "tạm biệt em",
        "kể chuyện cười đi em",
        "em là người hay máy",
        "em bao nhiêu tuổi",
        "hôm nay trời nóng quá",
    ] {
        let events = chat.say(text).await;
        assert_eq!(events.kinds(), ["social"], "{text}");
        let answer = events.text("social");
        // A customer who leaves is not asked for more.
        assert_eq!(answer.ends_with(&format!(" {REDIRECT_VI}")), text != "tạm biệt em", "{text}: {answer}");
        assert!(!answers.contains(&answer), "{text} has a separate answer: {answer}");
        answers.push(answer);
    }
    let social = shop.chat().await.say("how are you today?").await.text("social");
    assert!(social.ends_with(REDIRECT_EN), "{social}");
}

#[tokio::test]
async fn wish_for_person_gets_hotline() {
    let ollama = ScriptedOllama::start().await;
    for builder in [TestApp::builder(), TestApp::builder().ollama(&ollama)] {
        let shop = open_shop(builder).await;
        for text in ["nói chuyện với nhân viên thật được không", "cho gap quan ly di", "tôi muốn khiếu nại"]
        {
            ollama.classify(&json!({"intent": "unknown", "confidence": 0.9, "need_retrieval": false,
                "clarify_needed": true, "clarify_questions": [], "rationale": "Wants a person."}));
            let events = shop.chat().await.say(text).await;
            assert!(events.text("social").contains("1900 636 979"), "{text}: {:?}", events.messages());
        }
        let events = shop.chat_with(json!({"language": "en"})).await.say("can I talk to a real person please").await;
        assert!(events.text("social").starts_with("I've told the team"), "{:?}", events.messages());
    }
    assert!(ollama.chats().iter().all(|chat| chat.get("format").is_some()), "a number is not left to the model");
}

#[tokio::test]
async fn the_same_talk_again_gets_another_answer() {
    let shop = open_shop(TestApp::builder()).await;
    let mut chat = shop.chat().await;
    let first = chat.say("em khỏe không").await.text("social");
    assert_ne!(first, chat.say("em khỏe không").await.text("social"));
}

#[tokio::test]
async fn social_reply_has_one_redirect() {
    let ollama = ScriptedOllama::start().await;
    let shop = open_shop(TestApp::builder().ollama(&ollama)).await;
    ollama.classify(&json!({"intent": "unknown", "confidence": 0.95, "need_retrieval": false, "clarify_needed": true,
        "clarify_questions": [], "rationale": "social: asks how she is"}));
    // A model that adds the redirect itself, in quotation marks, as models do.
    ollama.reply(&format!("\"Em khỏe, cảm ơn quý khách đã hỏi ạ. {REDIRECT_VI}\""));
    let events = shop.chat().await.say("em khỏe không").await;
    assert_dialogue!("retail_social_with_a_model", events);
    assert_eq!(events.text("social"), format!("Em khỏe, cảm ơn quý khách đã hỏi ạ. {REDIRECT_VI}"));
    let asked = ollama.chats();
    let system = asked[1]["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("\n\nSystem Persona: # Trợ lý của cửa hàng máy tính SSTC"), "{system}");
    assert!(system.ends_with("Language: vi"), "{system}");
}

#[tokio::test]
async fn missing_social_reply_is_replaced_by_written_one() {
    let ollama = ScriptedOllama::start().await;
    let shop =
        open_shop(TestApp::builder().ollama(&ollama).env("SOCIAL_TIMEOUT_MS", 300).env("LLM_BREAKER_FAILURES", 100))
            .await;
    let plays = [
        ("broken in the middle", Play::new().says("Em khỏe").fails("CUDA error: out of memory")),
        ("silent", Play::new().stalls()),
        ("silent in the middle", Play::new().says("Em khỏe").stalls()),
        ("hung up", Play::new().says("Em khỏe").hangs_up()),
        ("empty", Play::new().done()),
        ("busy", Play::busy()),
        ("nothing but the redirect", Play::reply(REDIRECT_VI)),
    ];
    for (why, play) in plays {
        ollama.classify(
            &json!({"intent": "unknown", "confidence": 0.95, "need_retrieval": false, "clarify_needed": true,
            "clarify_questions": [], "rationale": "social: asks how she is"}),
        );
        ollama.play(play);
        let events = shop.chat().await.say("em khỏe không").await;
        assert_eq!(events.status(), "completed", "{why}");
        assert_eq!(events.kinds(), ["social"], "{why}");
        let text = events.text("social");
        assert_eq!(text, format!("Dạ em vẫn khỏe và đang sẵn sàng hỗ trợ quý khách đây ạ. {REDIRECT_VI}"), "{why}");
    }
}
