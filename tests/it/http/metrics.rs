//! Metrics. Tests in one process share them, so each test looks at values that only it changes, or compares with
//! "at least".

use std::collections::BTreeSet;

use serde_json::json;

use super::live::{BEGINNING, Live, QUESTION};
use crate::support::app::TestApp;
use crate::support::ollama::{Play, ScriptedOllama};

async fn figures(app: &TestApp) -> String {
    app.get("/metrics").send().await.unwrap().text().await.unwrap()
}

/// Returns the value of the line with this prefix, or 0.
fn value(figures: &str, line: &str) -> f64 {
    let found = figures.lines().find_map(|known| known.strip_prefix(line)?.strip_prefix(' '));
    found.map_or(0.0, |value| value.parse().unwrap())
}

#[tokio::test]
async fn every_metric_is_documented_and_turns_are_counted() {
    let ollama = ScriptedOllama::start().await;
    let app = TestApp::builder().ollama(&ollama).start().await;
    ollama.play(Play::reply("Dạ có ạ."));
    let before = figures(&app).await;
    app.ask_once("SSD Kingston giá bao nhiêu vậy em").await;
    app.ask_once("kiểm tra bảo hành ABC123").await;
    let after = figures(&app).await;
    for line in [
        r#"frontdesk_turns_total{desk="retail",kind="reply",status="completed"}"#,
        r#"frontdesk_turns_total{desk="retail",kind="warranty_result",status="completed"}"#,
        r#"frontdesk_turn_seconds_count{desk="retail",status="completed"}"#,
        r#"frontdesk_turn_first_text_seconds_count{desk="retail"}"#,
        "frontdesk_llm_first_token_seconds_count",
        "frontdesk_llm_queue_seconds_count",
        "frontdesk_journal_batch_events_count",
        "frontdesk_journal_commit_seconds_count",
    ] {
        assert!(value(&after, line) > value(&before, line), "{line}\n{after}");
    }
    assert!(after.contains(r#"frontdesk_breaker_state{provider="llm"} "#), "{after}");
    let names = |beginning: &str| -> BTreeSet<String> {
        let lines = after.lines().filter_map(|line| line.strip_prefix(beginning));
        lines.filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
    };
    assert_eq!(names("# TYPE "), names("# HELP "), "every figure is described");
    assert!(!after.contains("quantile="), "every histogram has buckets:\n{after}");
}

#[tokio::test]
async fn gauges_show_open_streams_and_waiting_calls() {
    let ollama = ScriptedOllama::start().await;
    // A word is shown when the next character arrives.
    ollama.play(Play::new().says(&format!("{BEGINNING} shop ")).stalls());
    let app = TestApp::builder().ollama(&ollama).env("LLM_MAX_CONCURRENT", 1).start().await;
    let mut running = Live::say(&app, &app.open(&json!({})).await, QUESTION, None).await;
    running.until(BEGINNING).await;
    let mut waiting = Live::say(&app, &app.open(&json!({})).await, QUESTION, None).await;
    waiting.until(r#""type":"queued""#).await;
    let figures = figures(&app).await;
    assert!(value(&figures, "frontdesk_llm_queue_calls") >= 1.0, "{figures}");
    assert!(value(&figures, "frontdesk_open_streams") >= 2.0, "{figures}");
    drop((running, waiting));
}
