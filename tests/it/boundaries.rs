//! Control and bidirectional characters at the boundaries of a conversation. Tests of the other boundaries send them too: see
//! `assert_clean`. On PostgreSQL, the database itself refuses NUL.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::app::TestApp;
use crate::support::database::assert_clean;
use crate::support::ollama::{Play, ScriptedOllama};

/// A folder of prompts with one persona.
fn prompts_with(persona: &str) -> TempDir {
    let prompts = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("prompts")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "md") {
            std::os::unix::fs::symlink(&path, prompts.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    std::fs::write(prompts.path().join("dirty.md"), persona).unwrap();
    prompts
}

#[tokio::test]
async fn unwanted_characters_are_removed_at_every_boundary() {
    let prompts = prompts_with("---\ndesk: retail\n---\nB\0ạn.\n\nGreeting: Chào\0 \u{202e}ạ\nFollowUp: Gì\0 nữa ạ?\n");
    let (knowledge, ollama) = (tempfile::tempdir().unwrap(), ScriptedOllama::start().await);
    let page = "# SSD\0 Kingston\n\n## Giá\nSSD Kingston NV3 1TB\0 giá\u{7} 1.590.000đ.\n";
    std::fs::write(knowledge.path().join("ssd.md"), page).unwrap();
    let app = TestApp::builder()
        .ollama(&ollama)
        .env("PROMPTS_PATH", prompts.path().display())
        .env("PERSONA_PATH", prompts.path().join("dirty.md").display())
        .env("KNOWLEDGE_PATH", knowledge.path().display())
        .start()
        .await;
    let id = app.open(&json!({"language": "vi", "metadata": {"no\u{202e}te": ["V\u{7}IP"]}})).await;
    let opened: Value = app.get(&format!("/conversations/{id}")).send().await.unwrap().json().await.unwrap();
    assert_eq!(opened["metadata"], json!({"note": ["VIP"]}));
    ollama.play(
        Play::new().thinks("\0 price").says("Dạ \0SSD \u{202e}Kingston\u{1b} NV3 1TB giá\u{feff} 1.590.000đ ạ.").done(),
    );
    let events = app.ask(&id, "SSD\u{202e} Kingston\u{7} giá bao nhiêu vậy em").await;
    assert_eq!(events.status(), "completed", "{events:?}");
    assert_eq!(events.text("reply"), "Dạ SSD Kingston NV3 1TB giá 1.590.000đ ạ.");
    assert!(!events.first("sources")["items"].as_array().unwrap().is_empty(), "{events:?}");
    // Without a model the document is quoted.
    ollama.set_down(true);
    let events = app.ask(&id, "NV3 1TB giá bao nhiêu").await;
    assert_eq!(events.status(), "completed", "{events:?}");
    let history = app.history(&id).await;
    let texts: Vec<&str> = history.iter().map(|message| message["text"].as_str().unwrap()).collect();
    assert_eq!(texts[..2], ["Chào ạ", "SSD Kingston giá bao nhiêu vậy em"]);
    assert_clean(&app.database_url).await;
}
