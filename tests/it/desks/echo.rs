//! A desk that is registered from outside the library.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::app::TestApp;
use crate::support::echo_desk::EchoFactory;
use crate::support::ollama::{Play, ScriptedOllama};
use crate::support::{copy, eventually_async};

/// The repository's prompts, with a persona and texts for the echo desk.
fn prompts() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("prompts"), &folder.path().join("prompts"));
    let write = |name: &str, text: &str| std::fs::write(folder.path().join("prompts").join(name), text).unwrap();
    write("echo.md", "---\ndesk: echo\nlanguages: [en]\nmode: agent\n---\nAn echo.\n\nGreeting: Hello?\n");
    write("texts/echo.en.toml", "echoed = [\"You said: {text}\", \"I heard: {text}\"]\n");
    folder
}

#[tokio::test]
async fn registered_desk_has_tool_job_text_and_panel() {
    let ollama = ScriptedOllama::start().await;
    let folder = prompts();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let builder = TestApp::builder().ollama(&ollama).desk(EchoFactory);
    let builder = builder.env("PROMPTS_PATH", path("prompts")).env("PERSONA_PATH", path("prompts/echo.md"));
    let app = builder.start().await;
    let id = app.open(&json!({})).await;
    for (said, expected) in [("hello", "You said: hello"), ("again", "I heard: again")] {
        ollama.play_call(Play::calls(&[("repeat", json!({ "text": said }))]));
        ollama.play_call(Play::answer("Done."));
        let events = app.ask(&id, said).await;
        assert_eq!(events.first("tool.end")["ok"], true);
        assert_eq!(events.first("message.end")["kind"], "echo");
        assert_eq!(events.first("delta")["text"], expected);
    }
    let panel: Value =
        app.get(&format!("/console/api/conversations/{id}/panel")).send().await.unwrap().json().await.unwrap();
    assert_eq!(panel, json!({ "rows": [{ "name": "Echoes", "value": "2" }] }));
    eventually_async("the job has run after each turn", async || {
        app.history(&id).await.iter().filter(|message| message["text"] == "Your echo is stored.").count() >= 2
    })
    .await;
}
