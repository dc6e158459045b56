//! Reports of wrong answers, and their replay.

mod accounts;
mod returns;
mod sales;

use std::process::{Command, Output};

use serde_json::{Value, json};

use super::desk::{Desk, answer};
use crate::http::problem::refused;
use crate::support::app::TestApp;
use crate::support::ollama::{Play, ScriptedOllama};

const PAGE: &str = "# Giao hàng\n\n## Nội thành\n\nPhí giao hàng nội thành là 30.000đ.\n";

async fn keep(desk: &Desk, id: &str, turn: u32, body: Value) -> String {
    let kept = answer(desk.post(&format!("/conversations/{id}/turns/{turn}/wrong"), &body), 201).await;
    kept["case"].as_str().unwrap().to_owned()
}

fn case(desk: &Desk, file: &str) -> Value {
    serde_json::from_str(&desk.read(&format!("evals/conversations/{file}"))).unwrap()
}

/// Runs a command on the server's files and database.
async fn frontdesk(desk: &Desk, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_frontdesk"));
    command.current_dir(desk.files.path()).env_clear().env("LLM", "offline").env("EMBED", "off");
    command.env("DATABASE_URL", &desk.app.database_url).envs(variables.iter().copied()).args(arguments);
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

async fn eval(desk: &Desk, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    let output = frontdesk(desk, variables, &[&["eval", "conversations"], arguments].concat()).await;
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    output
}

async fn eval_json(desk: &Desk) -> Value {
    eval_json_with(desk, &[]).await
}

async fn eval_json_with(desk: &Desk, variables: &[(&str, &str)]) -> Value {
    let output = eval(desk, variables, &["--json"]).await;
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// Returns the differences of each case.
fn changed(report: &Value) -> Vec<Vec<&str>> {
    report["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| case["changed"].as_array().unwrap().iter().map(|d| d["what"].as_str().unwrap()).collect())
        .collect()
}

#[tokio::test]
async fn wrong_answer_is_stored_once_with_its_context() {
    let desk = Desk::open(TestApp::builder(), &[("giao-hang.md", PAGE)]).await;
    let id = desk.app.open(&json!({})).await;
    desk.app.ask(&id, "cái này thế nào").await;
    let answered = desk.app.ask(&id, "Phí giao hàng bao nhiêu?").await;
    desk.app.ask(&id, "cảm ơn em").await;
    let file = keep(&desk, &id, 2, json!({"note": " Thiếu ngoại thành. "})).await;
    let kept = case(&desk, &file);
    assert_eq!((&kept["conversation"], &kept["turn"]), (&json!(id), &json!(2)));
    assert_eq!((&kept["persona"], &kept["language"]), (&json!("system_persona_vi"), &json!("vi")));
    assert_eq!(kept["language_source"], "detected");
    assert_eq!(kept["state"]["clarify_attempts"], 1, "the state before the turn: {kept}");
    let said: Vec<(&str, &str)> = kept["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| (message["sender"].as_str().unwrap(), message["text"].as_str().unwrap()))
        .collect();
    assert_eq!(said.len(), 4, "{said:?}");
    assert_eq!((said[1], said[3]), (("user", "cái này thế nào"), ("user", "Phí giao hàng bao nhiêu?")));
    assert_eq!(kept["answered"]["intent"], "shopping");
    let kinds: Vec<&str> =
        kept["answered"]["messages"].as_array().unwrap().iter().map(|m| m["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, answered.kinds());
    let reply = kept["answered"]["messages"].as_array().unwrap().iter().find(|m| m["kind"] == "reply").unwrap();
    assert_eq!(reply["sources"], json!(["giao-hang.md > Nội thành"]));
    assert_eq!((&kept["note"], kept.get("expected")), (&json!("Thiếu ngoại thành."), None));

    assert_eq!(keep(&desk, &id, 2, json!({"expected": "30.000đ"})).await, file);
    let again = case(&desk, &file);
    assert_eq!((again.get("note"), &again["expected"]), (None, &json!("30.000đ")));
    let files = std::fs::read_dir(desk.path("evals/conversations")).unwrap().count();
    assert_eq!(files, 1);
}

#[tokio::test]
async fn unknown_or_running_turn_makes_no_case() {
    let ollama = ScriptedOllama::start().await;
    let desk = Desk::open(TestApp::builder().ollama(&ollama), &[("giao-hang.md", PAGE)]).await;
    let id = desk.app.open(&json!({})).await;
    for turn in ["0", "1", "x"] {
        refused(desk.post(&format!("/conversations/{id}/turns/{turn}/wrong"), &json!({})), 404, "not_found").await;
    }
    ollama.play(Play::new().stalls());
    let path = format!("/conversations/{id}/messages");
    desk.app.post(&path, &json!({"text": "Phí giao hàng bao nhiêu?"})).send().await.unwrap();
    let wrong = format!("/conversations/{id}/turns/1/wrong");
    refused(desk.post(&wrong, &json!({})), 409, "conflict").await;
    let long = json!({"note": "x".repeat(2_001)});
    refused(desk.post(&wrong, &long), 422, "invalid_request").await;
    assert!(!desk.path("evals").exists());
}

#[tokio::test]
async fn replayed_cases_differ_only_after_file_changes() {
    let desk = Desk::open(TestApp::builder(), &[("giao-hang.md", PAGE)]).await;
    let id = desk.app.open(&json!({})).await;
    for text in ["cái này thế nào", "Phí giao hàng bao nhiêu?", "kiểm tra bảo hành ABC123", "Có gói quà không?"]
    {
        desk.app.ask(&id, text).await;
    }
    for (turn, expected) in [(1, None), (2, Some("35.000đ")), (3, None), (4, Some("gói quà miễn phí"))] {
        keep(&desk, &id, turn, json!({"expected": expected})).await;
    }
    let before = desk.app.history(&id).await;
    let report = eval_json(&desk).await;
    assert_eq!(changed(&report), [[""; 0]; 4], "{report}");
    assert_eq!((&report["same"], &report["expected_found"], &report["expecting"]), (&json!(4), &json!(0), &json!(2)));

    desk.write("knowledge/giao-hang.md", &PAGE.replace("30.000đ", "35.000đ"));
    desk.write("knowledge/goi-qua.md", "# Gói quà\n\nCửa hàng gói quà miễn phí.\n");
    let report = eval_json(&desk).await;
    let differences = changed(&report);
    assert_eq!((&differences[0], &differences[1]), (&vec![], &vec!["text"]), "{report}");
    assert_eq!(differences[2], [""; 0], "the warranty is found in the shop's database: {report}");
    assert!(differences[3].contains(&"sources") && differences[3].contains(&"text"), "{report}");
    assert_eq!(report["expected_found"], 2, "{report}");

    let persona = desk.read("prompts/system_persona_vi.md");
    let lines =
        persona.lines().map(|line| if line.starts_with("FollowUp:") { "FollowUp: Dạ, còn gì nữa ạ?" } else { line });
    desk.write("prompts/system_persona_vi.md", &lines.collect::<Vec<_>>().join("\n"));
    assert_eq!(changed(&eval_json(&desk).await)[2], ["text"]);
    let text = String::from_utf8(eval(&desk, &[], &[]).await.stdout).unwrap();
    assert!(text.contains("changed: text\n  asked     Phí giao hàng bao nhiêu?\n"), "{text}");
    assert!(text.contains("  expected  found: 35.000đ\n"), "{text}");
    assert!(text.ends_with("expected words found in 2 of 2\n"), "{text}");
    assert_eq!(desk.app.history(&id).await, before, "no real conversation is touched");
}

#[tokio::test]
async fn case_without_persona_is_reported_others_run() {
    let desk = Desk::open(TestApp::builder(), &[]).await;
    for persona in ["system_persona_en", "system_persona_vi"] {
        let id = desk.app.open(&json!({"persona": persona})).await;
        desk.app.ask(&id, "cái này thế nào").await;
        keep(&desk, &id, 1, json!({})).await;
    }
    std::fs::remove_file(desk.path("prompts/system_persona_en.md")).unwrap();
    let report = eval_json(&desk).await;
    assert_eq!((&report["same"], &report["failed"]), (&json!(1), &json!(1)), "{report}");
    let failed = report["cases"].as_array().unwrap().iter().find(|case| case["outcome"] == "failed").unwrap();
    assert!(failed["problem"].as_str().unwrap().contains("system_persona_en"), "{failed}");
}

#[tokio::test]
async fn case_with_unreadable_rows_is_reported() {
    let desk = Desk::open(TestApp::builder().every_desk(), &[]).await;
    let mut files = Vec::new();
    for _ in 0..2 {
        let id = desk.app.open(&json!({"persona": "telecom_en"})).await;
        desk.app.ask(&id, "How much is my plan?").await;
        files.push(keep(&desk, &id, 1, json!({})).await);
    }
    let mut odd = case(&desk, &files[0]);
    odd["rows"] = json!({"x": 1});
    desk.write(&format!("evals/conversations/{}", files[0]), &odd.to_string());
    let report = eval_json(&desk).await;
    assert_eq!((&report["same"], &report["failed"]), (&json!(1), &json!(1)), "{report}");
    let failed = report["cases"].as_array().unwrap().iter().find(|case| case["outcome"] == "failed").unwrap();
    assert_eq!(failed["case"], json!(files[0]), "{failed}");
    assert!(failed["problem"].as_str().unwrap().contains("rows of the case are not valid"), "{failed}");
}

#[tokio::test]
async fn available_model_rewords_replayed_replies() {
    let ollama = ScriptedOllama::start().await;
    let desk = Desk::open(TestApp::builder(), &[("giao-hang.md", PAGE)]).await;
    let id = desk.app.open(&json!({})).await;
    desk.app.ask(&id, "Phí giao hàng bao nhiêu?").await;
    keep(&desk, &id, 1, json!({"expected": "dạ 30.000Đ"})).await;
    ollama.reply("Dạ 30.000đ ạ.");
    let (url, mode) = (ollama.url(), ("LLM", "auto"));
    let output = eval(&desk, &[("OLLAMA_HOST", &url), mode], &[]).await;
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("  expected  found: dạ 30.000Đ\n"), "{text}");
    assert!(text.contains("1 case, replayed with the language model: 0 same, 1 changed"), "{text}");
    assert_eq!(ollama.chats().len(), 1);
}

#[tokio::test]
async fn invalid_case_file_is_reported() {
    let desk = Desk::open(TestApp::builder(), &[]).await;
    let none = eval(&desk, &[], &[]).await;
    assert!(String::from_utf8_lossy(&none.stderr).contains("has no cases"), "{none:?}");
    std::fs::create_dir_all(desk.path("cases")).unwrap();
    desk.write("cases/odd.json", "{}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_frontdesk"));
    command.current_dir(desk.files.path()).env_clear().args(["eval", "conversations", "--folder", "cases"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("odd.json"), "{output:?}");
}
