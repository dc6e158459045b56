//! The list of sources below answers of a model that omits, invents or splits its own.

use serde_json::{Value, json};

use super::dialogues::open_sample_desk;
use super::technical::expected_list;
use crate::support::app::TestApp;
use crate::support::ollama::{Play, ScriptedOllama};

/// The model's answers, by language.
const ANSWERS: [(&str, &str); 2] = [
    ("en", "Please check the cable first, and then restart the device."),
    ("pl", "Najpierw trzeba sprawdzić kabel, a potem uruchomić urządzenie ponownie."),
];

/// What the model writes below its answer, and the size of its packets.
const LISTS: [(&str, usize); 8] = [
    ("", 4096),
    ("\n\nSources:\n- Router Guide — Magic — 99_magic.md (v9)", 4096),
    (" [SOURCES]", 2),
    ("\n\n[SOURCES]\n- magic.md\nwifi.md", 3),
    ("\n\n**Źródła:**\n1. wymyślone.md\n2) zmyślone.md", 1),
    ("\n[SOURCE] A — B — c.md (v1)\n", 3),
    ("\n### Sources\nwifi.md — Magic\napn.md", 5),
    (" Źródła: wifi.pl.md, apn.pl.md", 1),
];

/// Asks the questions of `tests/data/telecom/questions.jsonl` in a language. Returns how many were answered from documents.
async fn ask(language: &str, answer: &'static str) -> usize {
    let ollama = ScriptedOllama::start().await;
    let mut replies = 0;
    ollama.otherwise(move |body| {
        if body.get("format").is_some() {
            let verdict = json!({"category": "technical", "confidence": 0.9, "reasoning": "Asks about a device."});
            return Some(Play::answer(&verdict.to_string()));
        }
        replies += 1;
        let (list, size) = LISTS[replies % LISTS.len()];
        Some(Play::reply(&format!("{answer}{list}")).in_packets_of(size))
    });
    let desk = open_sample_desk(language, TestApp::builder().ollama(&ollama)).await;
    let mut answered = 0;
    for line in include_str!("../../../data/telecom/questions.jsonl").lines() {
        let question: Value = serde_json::from_str(line).unwrap();
        if question["language"] != language {
            continue;
        }
        let events =
            desk.chat_with(json!({ "language": language })).await.say(question["query"].as_str().unwrap()).await;
        if !events.data().iter().any(|event| event["type"] == "sources") {
            continue;
        }
        answered += 1;
        let list = expected_list(&events);
        let heading = if language == "pl" { "Źródła:" } else { "Sources:" };
        let list = list.replace("Sources:", heading);
        assert_eq!(events.text("reply"), format!("{answer}{list}"), "{line}");
        let prompt = ollama.chats().last().unwrap()["messages"][0]["content"].as_str().unwrap().to_owned();
        for cited in list.lines().filter_map(|line| line.strip_prefix("- ")) {
            assert!(prompt.contains(&format!("[SOURCE] {cited}\n")), "{cited} was not retrieved for {line}");
        }
    }
    answered
}

#[tokio::test]
async fn fifty_answers_cite_what_was_retrieved() {
    let mut answered = 0;
    for (language, answer) in ANSWERS {
        answered += ask(language, answer).await;
    }
    assert!(answered >= 50, "{answered}");
}
