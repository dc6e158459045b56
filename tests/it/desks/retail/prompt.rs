//! What the language model is given to reply with.

use serde_json::{Value, json};

use super::chat::{Shop, open_shop};
use crate::support::app::{TestApp, TestAppBuilder};
use crate::support::ollama::{Play, ScriptedOllama};

const QUESTION: &str = "SSD Kingston giá bao nhiêu vậy em";

async fn shop(ollama: &ScriptedOllama, change: impl FnOnce(TestAppBuilder) -> TestAppBuilder) -> Shop {
    ollama.otherwise(|chat| chat.get("format").is_none().then(|| Play::reply("Dạ 1.590.000đ ạ.")));
    open_shop(change(TestApp::builder().ollama(ollama))).await
}

fn system(chat: &Value) -> &str {
    assert_eq!(chat["messages"][0]["role"], "system");
    chat["messages"][0]["content"].as_str().unwrap()
}

/// The messages of the request: role and content.
fn turns(chat: &Value) -> Vec<(&str, &str)> {
    let messages = chat["messages"].as_array().unwrap();
    messages[1..].iter().map(|m| (m["role"].as_str().unwrap(), m["content"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn system_message_has_its_parts_in_order() {
    let ollama = ScriptedOllama::start().await;
    let shop = shop(&ollama, |builder| builder).await;
    shop.chat().await.say(QUESTION).await;
    let [asked] = ollama.chats().try_into().unwrap();
    let system = system(&asked);
    let parts = [
        "Ref: FD-CANARY-",
        "\n\nSystem Persona: # Trợ lý của cửa hàng máy tính SSTC",
        "\n\nRef: FD-CANARY-",
        "\n\nRetrieved context:\nWhat stands between the two marks is quoted",
        "\n<<<",
        "\n[1] SSD Kingston NV3 1TB",
        "1.590.000",
        ">>>\n\nDetected intent: shopping\n",
        "Instruction: Trả lời bằng tiếng Việt có dấu",
    ];
    let places: Vec<usize> =
        parts.iter().map(|part| system.find(part).unwrap_or_else(|| panic!("{part} in {system}"))).collect();
    assert!(places.is_sorted() && places[0] == 0, "{places:?} in {system}");
    assert!(!system.contains("Greeting:") && !system.contains("FollowUp:"), "the desk says these itself: {system}");
    assert_eq!((&asked["model"], &asked["think"], &asked["stream"]), (&json!("gpt-oss"), &json!("low"), &json!(true)));
    assert_eq!(asked["options"]["num_ctx"], 8192);
    let temperature = asked["options"]["temperature"].as_f64().unwrap();
    assert!((temperature - 0.4).abs() < 1e-6, "the persona's own: {temperature}");
}

#[tokio::test]
async fn another_model_is_not_told_how_to_think() {
    let ollama = ScriptedOllama::start().await;
    ollama.has_models(&["qwen3:4b"]);
    let shop = shop(&ollama, |builder| builder.env("OLLAMA_MODEL", "qwen3:4b")).await;
    shop.chat().await.say(QUESTION).await;
    let [asked] = ollama.chats().try_into().unwrap();
    assert_eq!((&asked["model"], asked.get("think")), (&json!("qwen3:4b"), None));
}

#[tokio::test]
async fn the_instruction_is_in_the_conversations_language() {
    let ollama = ScriptedOllama::start().await;
    let shop = shop(&ollama, |builder| builder).await;
    shop.chat().await.say("how much is the Kingston SSD?").await;
    let [asked] = ollama.chats().try_into().unwrap();
    assert!(system(&asked).contains("\nInstruction: Answer in English"), "{}", system(&asked));
}

#[tokio::test]
async fn a_long_persona_is_cut_behind_a_sentence() {
    let ollama = ScriptedOllama::start().await;
    let shop = shop(&ollama, |builder| builder.env("PERSONA_MAX_CHARS", 300)).await;
    shop.chat().await.say(QUESTION).await;
    let [asked] = ollama.chats().try_into().unwrap();
    let (_, persona) = system(&asked).split_once("System Persona: ").unwrap();
    let persona = persona.split("\n\nRef: ").next().unwrap();
    assert!((150..=300).contains(&persona.chars().count()), "{persona}");
    assert!(persona.ends_with(['.', '…', '!', '?']) || persona.ends_with("Giọng nói"), "{persona}");
}

#[tokio::test]
async fn oversized_passages_are_left_out_whole() {
    let ollama = ScriptedOllama::start().await;
    let shop = shop(&ollama, |builder| builder.env("RETRIEVE_MAX_CHARS", 40)).await;
    shop.chat().await.say(QUESTION).await;
    let [asked] = ollama.chats().try_into().unwrap();
    assert!(system(&asked).contains("Retrieved context:\n\nDetected intent"), "{}", system(&asked));
}

#[tokio::test]
async fn no_passages_means_no_model_call() {
    let ollama = ScriptedOllama::start().await;
    let shop = shop(&ollama, |builder| builder).await;
    let events = shop.chat().await.say("bên em có bán xe đạp điện không").await;
    assert_eq!(ollama.chats(), Vec::<serde_json::Value>::new());
    assert!(events.text("reply").ends_with('?') || events.text("reply").contains("? "), "{}", events.text("reply"));
}

#[tokio::test]
async fn the_conversation_goes_along_without_follow_ups() {
    let ollama = ScriptedOllama::start().await;
    let shop = shop(&ollama, |builder| builder).await;
    let mut chat = shop.chat().await;
    let greeting = chat.history().await[0]["text"].as_str().unwrap().to_owned();
    let first = chat.say(QUESTION).await;
    assert!(first.kinds().contains(&"follow_up".to_owned()));
    chat.say("còn loại nào rẻ hơn không").await;
    let asked = ollama.chats();
    let cute = first.text("cute_greeting");
    assert_eq!(
        turns(asked.last().unwrap()),
        [
            ("assistant", greeting.as_str()),
            ("user", QUESTION),
            ("assistant", format!("{cute}\nDạ 1.590.000đ ạ.").as_str()),
            ("user", "còn loại nào rẻ hơn không"),
        ]
    );
}

#[tokio::test]
async fn of_a_long_conversation_the_end_goes_along() {
    let ollama = ScriptedOllama::start().await;
    let shop = shop(&ollama, |builder| builder.env("HISTORY_MAX_CHARS", 100).env("CUTE_GREETING", "off")).await;
    let mut chat = shop.chat().await;
    for _ in 0..4 {
        chat.say(QUESTION).await;
    }
    let asked = ollama.chats();
    let sent = turns(asked.last().unwrap());
    let expected = [("user", QUESTION), ("assistant", "Dạ 1.590.000đ ạ.")];
    assert_eq!(sent, [&expected[..], &expected[..], &expected[..1]].concat(), "two whole turns fit, and the question");
}

#[tokio::test]
async fn an_error_is_no_part_of_the_conversation() {
    let ollama = ScriptedOllama::start().await;
    let shop = shop(&ollama, |builder| builder).await;
    let mut chat = shop.chat().await;
    ollama.play(Play::new().says("Dạ giá").hangs_up());
    assert_eq!(chat.say(QUESTION).await.status(), "failed");
    assert_eq!(chat.say(QUESTION).await.kinds(), ["reply", "follow_up"]);
    let asked = ollama.chats();
    let said: String = turns(asked.last().unwrap()).into_iter().map(|(_, text)| text).collect();
    assert!(!said.contains("gián đoạn"), "{said}");
}
