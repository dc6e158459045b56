//! What the language model reads in a conversation, and what the conversation is about after its reply.

use serde_json::Value;

use super::chat::{Shop, open_shop_with, products};
use super::goods::DOCUMENTS;
use crate::support::app::TestApp;
use crate::support::ollama::{Play, ScriptedOllama};

const MONITORS: &str = "27 inch monitors, max 10 mil, what do you have";
const PROART: &str = "Màn hình ASUS ProArt PA278QV 27 inch";
const DELL: &str = "Màn hình Dell UltraSharp U2724D 27 inch";

async fn open(ollama: &ScriptedOllama) -> Shop {
    ollama.otherwise(|chat| chat.get("format").is_none().then(|| Play::reply("Here you are.")));
    open_shop_with(TestApp::builder().ollama(ollama), &DOCUMENTS).await
}

/// The system message of the last request.
fn system(ollama: &ScriptedOllama) -> String {
    let chats = ollama.chats();
    let last: &Value = chats.last().unwrap();
    last["messages"][0]["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn model_reads_what_conversation_is_about() {
    let ollama = ScriptedOllama::start().await;
    let shop = open(&ollama).await;
    let mut chat = shop.chat().await;
    chat.say(MONITORS).await;
    let events = chat.say("how much is shipping in town").await;
    let read = system(&ollama);
    for text in ["Delivery in town costs 30.000đ", PROART, DELL, "Màn hình gaming AOC 24G4 24 inch"] {
        assert!(read.contains(text), "{text} in {read}");
    }
    let sources = events.first("sources").to_string();
    assert!(sources.contains("Delivery") && sources.contains(DELL), "what is read is cited: {sources}");
}

#[tokio::test]
async fn amounts_are_computed_for_the_model() {
    let ollama = ScriptedOllama::start().await;
    let shop = open(&ollama).await;
    let mut chat = shop.chat().await;
    chat.say(MONITORS).await;
    ollama.reply("The ProArt saves you 1.800.000 đ.");
    let reply = chat.say("is the proart worth it compared to the dell").await.text("reply");
    assert_eq!(reply, "The ProArt saves you 1.800.000 đ.");
    let read = system(&ollama);
    for line in [
        format!("{DELL} + {PROART} = 16.780.000 đ\n"),
        format!("Difference between {DELL} and {PROART} = 1.800.000 đ\n"),
    ] {
        assert!(read.contains(&line), "{line} in {read}");
    }
}

#[tokio::test]
async fn products_that_the_reply_names_stay() {
    let ollama = ScriptedOllama::start().await;
    let shop = open(&ollama).await;
    let mut chat = shop.chat().await;
    ollama.reply("The Dell UltraSharp U2724D, which has 120Hz.");
    chat.say(MONITORS).await;
    ollama.set_down(true);
    let reply = chat.say("how long is its warranty").await.text("reply");
    assert_eq!(products(&reply), [DELL], "{reply}");
}

#[tokio::test]
async fn model_may_find_what_rules_do_not() {
    let ollama = ScriptedOllama::start().await;
    let shop = open(&ollama).await;
    let mut chat = shop.chat().await;
    chat.say("how much is shipping in town").await;
    ollama.reply("I know nothing about paper, but delivery takes a day.");
    let question = "do you wrap presents in pink paper";
    assert!(chat.say(question).await.text("reply").contains("delivery takes a day"));
    ollama.set_down(true);
    let events = chat.say(question).await;
    let reply = events.text("reply");
    assert!(reply.contains("1900 636 979") && !reply.contains("30.000đ"), "without a model, nothing answers: {reply}");
    assert!(events.data().iter().all(|event| event["type"] != "sources"), "nothing is cited: {events:?}");
}
