//! Replies from the shop's documents.

use reqwest::Method;
use serde_json::json;

use super::chat::open_shop;
use crate::support::app::TestApp;
use crate::support::dialogue::assert_dialogue;
use crate::support::ollama::{Play, ScriptedOllama};

#[tokio::test]
async fn best_passages_are_quoted_without_model() {
    let shop = open_shop(TestApp::builder()).await;
    let events = shop.chat().await.say("SSD Kingston giá bao nhiêu vậy em").await;
    assert_dialogue!("retail_shopping_without_a_model", events);
    let reply = events.text("reply");
    assert!(
        reply.starts_with("Dạ, em xin gửi quý khách thông tin liên quan trong tài liệu của SSTC ạ:\n• SSD Kingston")
    );
}

#[tokio::test]
async fn unanswered_question_gets_the_hotline() {
    let shop = open_shop(TestApp::builder()).await;
    let events = shop.chat().await.say("bên em có bán xe đạp điện không").await;
    assert_dialogue!("retail_shopping_not_in_the_documents", events);
    assert!(events.text("reply").contains("1900 636 979"));
}

#[tokio::test]
async fn wish_without_goods_is_asked_which() {
    let shop = open_shop(TestApp::builder()).await;
    for text in ["mua hàng", "tư vấn mua hàng", "em muốn mua"] {
        let mut chat = shop.chat().await;
        let events = chat.say(text).await;
        assert_eq!(events.kinds(), ["cute_greeting", "reply", "follow_up"], "{text}");
        assert!(events.text("reply").contains("Quý khách đang tìm loại sản phẩm nào"), "{text}: {events:?}");
        assert!(chat.say("chuột").await.text("reply").contains("Logitech G102"), "{text}");
    }
    let mut chat = shop.chat_with(json!({"language": "en"})).await;
    assert!(chat.say("shopping please").await.text("reply").contains("Which product are you looking for"));
    let mut chat = shop.chat().await;
    chat.say("chuột G102 giá sao").await;
    assert!(chat.say("mua").await.text("reply").contains("Logitech G102"), "it was named before");
}

#[tokio::test]
async fn catalogue_goods_are_serials_only_with_a_record() {
    let shop = open_shop(TestApp::builder()).await;
    for text in ["NV3", "NV3 còn không", "SSD-1", "do you have the MOU-1"] {
        assert_eq!(shop.chat().await.say(text).await.kinds(), ["cute_greeting", "reply", "follow_up"], "{text}");
    }
    let kinds = |text: &'static str| async { shop.chat().await.say(text).await.kinds() };
    let one_result = ["cute_greeting", "warranty_result", "follow_up"];
    assert_eq!(kinds("SSD Kingston NV3 1TB serial FUT-2099 còn bảo hành không").await, one_result);
    assert_eq!(kinds("kiểm tra bảo hành NV3").await, ["cute_greeting", "warranty_prompt"]);
    shop.import_warranties("default", "NV3,SSD,2099-12-01").await;
    assert_eq!(kinds("kiểm tra bảo hành NV3").await, one_result);
}

#[tokio::test]
async fn reply_streams_after_sources_with_follow_up() {
    let ollama = ScriptedOllama::start().await;
    let shop = open_shop(TestApp::builder().ollama(&ollama)).await;
    ollama.play(
        Play::new().thinks("The customer wants the price. ").says("Dạ SSD Kingston NV3 1TB giá 1.590.000đ ạ.").done(),
    );
    let events = shop.chat().await.say("SSD Kingston giá bao nhiêu vậy em").await;
    assert_dialogue!("retail_shopping_with_a_model", events);
    assert_eq!(events.text("reply"), "Dạ SSD Kingston NV3 1TB giá 1.590.000đ ạ.");
    assert!(!format!("{events:?}").contains("customer wants"), "thinking is never shown");
}

#[tokio::test]
async fn vague_question_is_searched_with_the_previous_one() {
    let shop = open_shop(TestApp::builder()).await;
    let mut chat = shop.chat().await;
    chat.say("SSD Kingston giá bao nhiêu vậy em").await;
    // The second one may be the same once more, after an error.
    for question in ["còn loại nào rẻ hơn không", "còn loại nào rẻ hơn không", "có loại nào nhanh hơn không"]
    {
        let events = chat.say(question).await;
        assert_eq!(events.first("sources")["items"][0]["title"], "SSD Kingston NV3 1TB", "{question}");
    }
}

#[tokio::test]
async fn waiting_customer_sees_queue_position() {
    let ollama = ScriptedOllama::start().await;
    let shop = open_shop(TestApp::builder().ollama(&ollama).env("LLM_MAX_CONCURRENT", 1)).await;
    let question = "SSD Kingston giá bao nhiêu vậy em";
    for (text, kind, said) in [
        (question, "reply", "Dạ có ạ."),
        // A request to switch the language is classified by rules alone.
        ("speak english please, how are you today?", "social", "Thank you, that is very kind of you to say."),
    ] {
        let before = ollama.chats().len();
        ollama.play(Play::new().says("Dạ").stalls());
        ollama.reply(said);
        let (first, mut second) = (shop.chat().await, shop.chat().await);
        let posted = first.request(Method::POST, "/messages").json(&json!({ "text": question })).send().await.unwrap();
        assert_eq!(posted.status(), 202);
        crate::support::eventually("the model speaks to the first", || ollama.chats().len() > before).await;
        let queued = || async {
            // The first one leaves as soon as the second is seen to wait.
            assert_eq!(first.request(Method::DELETE, "").send().await.unwrap().status(), 204);
        };
        let events = second.say_and_when_it_shows(text, "queued", queued).await;
        assert_eq!(events.first("queued")["position"], 1, "{text}");
        assert_eq!(events.status(), "completed", "{text}");
        assert!(events.text(kind).starts_with(said), "{text}: {events:?}");
    }
}

#[tokio::test]
async fn full_queue_replies_without_model() {
    let ollama = ScriptedOllama::start().await;
    let builder = TestApp::builder().ollama(&ollama).env("LLM_MAX_CONCURRENT", 1).env("LLM_QUEUE_MAX", 0);
    let shop = open_shop(builder).await;
    ollama.play(Play::new().says("Dạ").stalls());
    let busy = shop.chat().await;
    let path = format!("/conversations/{}/messages", busy.id);
    let body = json!({"text": "SSD Kingston giá bao nhiêu vậy em"});
    assert_eq!(shop.app.post(&path, &body).send().await.unwrap().status(), 202);
    crate::support::eventually("the model is busy", || !ollama.chats().is_empty()).await;
    let events = shop.chat().await.say("SSD Kingston giá bao nhiêu vậy em").await;
    assert_dialogue!("retail_shopping_without_a_model", events);
    assert_eq!(ollama.chats().len(), 1);
}
