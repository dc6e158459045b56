//! Technical answers, their sources, and questions back.

use serde_json::Value;

use super::{Turns, open_desk, open_plain_desk, talk};
use crate::support::app::TestApp;
use crate::support::dialogue::assert_dialogue;
use crate::support::ollama::{Play, ScriptedOllama};
use crate::support::sse::Events;

const QUESTION: &str = "What does a red PON light mean?";

/// The list that the desk has to write below its answer, from the `sources` event.
pub(super) fn expected_list(events: &Events) -> String {
    let line = |item: &Value| {
        let text = |name: &str| item[name].as_str().unwrap().replace(" > ", " / ");
        format!("\n- {} — {} — {} (v{})", text("title"), text("section"), text("file"), text("version"))
    };
    let items = events.first("sources")["items"].as_array().unwrap();
    assert!(!items.is_empty());
    format!("\n\nSources:{}", items.iter().map(line).collect::<String>())
}

#[tokio::test]
async fn passages_are_quoted_with_sources_without_model() {
    let desk = open_plain_desk().await;
    let events = desk.chat().await.say(QUESTION).await;
    assert_dialogue!("telecom_technical_without_a_model", events);
    assert!(events.text("reply").ends_with(&expected_list(&events)));
}

#[tokio::test]
async fn list_alone_is_no_answer() {
    let ollama = ScriptedOllama::start().await;
    let desk = open_desk(TestApp::builder().ollama(&ollama)).await;
    ollama.reply("Sources:\n- ONT lights — PON light — ont.md (v2.1)");
    let events = desk.chat().await.say(QUESTION).await;
    let reply = events.text("reply");
    assert!(reply.starts_with("Here is what our help pages say:"), "{reply}");
    assert!(reply.ends_with(&expected_list(&events)), "{reply}");
}

#[tokio::test]
async fn answer_is_searched_with_its_question() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat().await;
    let mut events = vec![chat.say("How do I configure my router for gaming?").await];
    assert_eq!(events[0].first("message.end")["metadata"]["no_context"], true);
    events.push(chat.say("It's a Huawei HG8245 over FTTH, I want bridge mode").await);
    assert_eq!(events[1].first("sources")["items"][0]["title"], "Bridge mode");
    assert_dialogue!("telecom_technical_details", Turns(events));
}

#[tokio::test]
async fn customer_without_more_details_gets_the_hotline() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat().await;
    chat.say("my satellite dish has no signal").await;
    let events = chat.say("I don't know").await;
    assert!(events.text("reply").contains("1900 636 979"), "{events:?}");
}

#[tokio::test]
async fn invented_figure_is_removed_and_supports_nothing_later() {
    let ollama = ScriptedOllama::start().await;
    let desk = open_desk(TestApp::builder().ollama(&ollama)).await;
    let mut chat = desk.chat().await;
    ollama.reply("Wait 45 minutes, then call us.");
    let events = chat.say(QUESTION).await;
    assert_eq!(events.first("guard")["reason"], "unsupported_fact");
    assert_eq!(events.first("message.end")["metadata"]["by_model"], true);
    // The model's own reply does not support the figure.
    ollama.reply("Wait 45 minutes, then call us.");
    let events = chat.say(QUESTION).await;
    assert_eq!(events.first("guard")["reason"], "unsupported_fact");
    assert!(!events.text("reply").contains("45"), "{events:?}");
    ollama.reply("Wait up to 2 minutes.");
    assert!(chat.say("and the blinking PON light?").await.text("reply").starts_with("Wait up to 2 minutes."));
}

#[tokio::test]
async fn quotation_lists_its_own_sources() {
    let ollama = ScriptedOllama::start().await;
    let desk = open_desk(TestApp::builder().ollama(&ollama)).await;
    // The model is up, and refuses when it is asked.
    ollama.play(Play::refuses(500, "out of memory"));
    let question = "My Huawei ONT has a red PON light on the mobile internet APN";
    let events = desk.chat().await.say(question).await;
    let reply = events.text("reply");
    assert!(reply.starts_with("Here is what our help pages say:"), "{reply}");
    assert!(reply.ends_with(&expected_list(&events)), "{reply}");
    assert_eq!(reply.matches("\n• ").count(), events.first("sources")["items"].as_array().unwrap().len(), "{reply}");
}

#[tokio::test]
async fn failure_midway_keeps_the_text_without_sources() {
    let ollama = ScriptedOllama::start().await;
    let desk = open_desk(TestApp::builder().ollama(&ollama)).await;
    ollama.play(Play::new().says("Check the fibre cable, and then ").hangs_up());
    let events = desk.chat().await.say(QUESTION).await;
    assert_eq!(events.status(), "failed");
    assert_eq!(events.first("message.end")["metadata"]["cut"], true);
    assert!(!events.text("reply").contains("Sources"), "{events:?}");
}

#[tokio::test]
async fn same_passage_is_not_quoted_twice() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat().await;
    let turns = talk(&mut chat, &["What does a red LOS light mean?", "and what does the red LOS light mean?"]).await;
    assert!(turns[0].text("reply").contains("no optical signal arrives"), "{turns:?}");
    let again = talk(&mut chat, &["what does the red LOS light mean?", "yes please"]).await;
    assert!(again[0].text("reply").starts_with("The closest that I find in our help pages"), "{again:?}");
    assert_eq!(chat.view().await["status"], "waiting");
}

#[tokio::test]
async fn another_section_follows_one_quoted_again() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat().await;
    let question = "What does a red LOS light mean?";
    let turns = talk(&mut chat, &[question, question, question]).await;
    let reply = turns[2].text("reply");
    assert!(reply.starts_with("The closest that I find in our help pages:\n• "), "{reply}");
    let [again, other] = ["no optical signal arrives", "A red PON light means that there is no signal"];
    assert!(reply.contains(again) && reply.contains(other), "{reply}");
    assert!(reply.contains("Shall I pass you on to a colleague?"), "{reply}");
    assert_eq!(turns[2].first("sources")["items"].as_array().map(Vec::len), Some(2));
}
