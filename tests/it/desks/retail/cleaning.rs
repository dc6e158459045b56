//! Control and bidirectional characters, at every boundary that text comes in by.

use serde_json::json;

use super::language::copy;
use crate::support::app::TestApp;
use crate::support::ollama::{Play, ScriptedOllama};

#[tokio::test]
async fn unwanted_characters_are_removed_at_every_boundary() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("prompts");
    let (prompts, knowledge, ollama) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), ScriptedOllama::start().await);
    copy(&root, prompts.path());
    let persona = prompts.path().join("dirty.md");
    std::fs::write(&persona, "---\ndesk: retail\n---\nB\0ạn.\n\nGreeting: Chào\0 \u{202e}ạ\nFollowUp: Gì\0 nữa ạ?\n")
        .unwrap();
    for folder in ["returns", "telecom"] {
        std::fs::create_dir(knowledge.path().join(folder)).unwrap();
    }
    std::fs::write(
        knowledge.path().join("ssd.md"),
        "# SSD\0 Kingston\n\n## Giá\nSSD Kingston NV3 1TB\0 giá 1.590.000đ.\n",
    )
    .unwrap();
    let app = TestApp::builder()
        .ollama(&ollama)
        .env("PROMPTS_PATH", prompts.path().display())
        .env("PERSONA_PATH", persona.display())
        .env("KNOWLEDGE_PATH", knowledge.path().display())
        .start()
        .await;
    let id = app.open(&json!({"language": "vi"})).await;
    ollama.play(
        Play::new().thinks("\0 price").says("Dạ \0SSD \u{202e}Kingston\u{1b} NV3 1TB giá\u{feff} 1.590.000đ ạ.").done(),
    );
    let events = app.ask(&id, "SSD\u{202e} Kingston\u{7} giá bao nhiêu vậy em").await;
    assert_eq!(events.status(), "completed", "{events:?}");
    assert_eq!(events.text("reply"), "Dạ SSD Kingston NV3 1TB giá 1.590.000đ ạ.");
    // Without a model the document is quoted.
    ollama.set_down(true);
    let events = app.ask(&id, "NV3 1TB giá bao nhiêu").await;
    assert_eq!(events.status(), "completed", "{events:?}");
    let history = app.history(&id).await;
    let texts: Vec<&str> = history.iter().map(|message| message["text"].as_str().unwrap()).collect();
    assert_eq!(texts[..2], ["Chào ạ", "SSD Kingston giá bao nhiêu vậy em"]);
    let stray = |c: char| (c.is_control() && c != '\n') || ['\u{202e}', '\u{feff}'].contains(&c);
    assert!(!texts.concat().contains(stray), "{texts:?}");
}

#[tokio::test]
async fn invisible_message_is_refused_as_empty() {
    let app = TestApp::builder().start().await;
    let id = app.open(&json!({})).await;
    for text in ["", "\u{200b}", " \u{2060}\u{feff}\n", "\u{ad}"] {
        let response =
            app.post(&format!("/conversations/{id}/messages"), &json!({ "text": text })).send().await.unwrap();
        assert_eq!(response.status(), 422, "{text:?}");
        let problem: serde_json::Value = response.json().await.unwrap();
        assert!(problem["detail"].as_str().unwrap().ends_with("this one has 0."), "{problem}");
    }
}
