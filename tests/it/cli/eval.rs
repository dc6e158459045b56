//! `frontdesk eval`, run as a program.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::ollama::ScriptedOllama;

/// Runs it with the repository's prompts and documents, in an empty folder.
fn eval(variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    let (root, folder) = (Path::new(env!("CARGO_MANIFEST_DIR")), tempfile::tempdir().unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_frontdesk"));
    command.current_dir(folder.path()).env_clear();
    command.env("PROMPTS_PATH", root.join("prompts")).env("KNOWLEDGE_PATH", root.join("knowledge"));
    command.env("PERSONA_PATH", root.join("prompts/system_persona_vi.md")).env("EMBED", "off");
    command.envs(variables.iter().copied()).args(["eval", "retrieval"]).args(arguments);
    command.output().unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
fn lexical_search_finds_sample_documents() {
    let file = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name).display().to_string();
    let (questions, unanswerable) = (file("retrieval.jsonl"), file("unanswerable.jsonl"));
    let output = eval(&[], &["--questions", &questions, "--unanswerable", &unanswerable, "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let scores = json(&output);
    assert_eq!(scores.as_object().unwrap().keys().collect::<Vec<_>>(), ["lexical"]);
    let lexical = &scores["lexical"];
    assert_eq!(lexical.as_object().unwrap().len(), 6);
    assert!(lexical["declined_unanswerable"].as_f64().unwrap() >= 0.90, "{scores}");
    assert!(lexical["declined_answerable"].as_f64().unwrap() <= 0.08, "{scores}");
    assert!(lexical["recall_at_8"].as_f64().unwrap() >= 0.90, "{scores}");
    assert!(lexical["mrr"].as_f64().unwrap() >= 0.90, "{scores}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("ollama pull bge-m3"), "{output:?}");
}

/// The questions were written by someone who had not seen the rules. At first run, 16 of the 20 questions without an answer were
/// declined, and so were 30 of the 60 others, most of them long sentences with few words of the documents. Today recall@8 is 1.00,
/// 16 of the 20 are declined, and 3 of the 60. The desk declines at least 18 of the 20, since its examples know what no page answers:
/// see `eighteen_of_twenty_unanswerable_are_declined`.
#[test]
fn telecom_documents_answer_in_two_languages() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = |name: &str| root.join("tests/data/telecom").join(name).display().to_string();
    let (path, questions) = (root.join("knowledge/telecom").display().to_string(), file("questions.jsonl"));
    let arguments =
        ["--path", &path, "--questions", &questions, "--unanswerable", &file("unanswerable.jsonl"), "--json"];
    let output = eval(&[], &arguments);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let scores = &json(&output)["lexical"];
    assert!(scores["recall_at_8"].as_f64().unwrap() >= 0.90, "{scores}");
    assert!(scores["declined_unanswerable"].as_f64().unwrap() >= 0.80, "{scores}");
    assert!(scores["declined_answerable"].as_f64().unwrap() <= 0.25, "{scores}");
}

fn shop() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| std::fs::write(folder.path().join(file), text).unwrap();
    write("delivery.md", "# Delivery\n\nDelivery takes two days.\n");
    write("returns.md", "# Returns\n\nReturns are free within a week.\n");
    write("parking.md", "# Parking\n\nCars and bikes park behind the house.\n");
    folder
}

#[tokio::test(flavor = "multi_thread")]
async fn model_adds_vector_and_hybrid_rankings() {
    let (ollama, shop) = (ScriptedOllama::start().await, shop());
    // Longer than a chunk, and mostly about another topic.
    let long = format!("Where do I park? {}", "I am an invented person with invented worries. ".repeat(60));
    let lines = [
        r#"{"id":"1","query":"how long does delivery take","documents":["delivery"]}"#.to_owned(),
        r#"{"id":"2","query":"returns of a delivery","documents":["delivery","returns"],"language":"en","more":1}"#
            .to_owned(),
        serde_json::json!({"id": "3", "query": long, "documents": ["parking"]}).to_string(),
    ];
    let questions = shop.path().join("questions.jsonl");
    std::fs::write(&questions, lines.join("\n")).unwrap();
    let (url, folder, file) =
        (ollama.url(), shop.path().to_str().unwrap().to_owned(), questions.to_str().unwrap().to_owned());
    let output = tokio::task::spawn_blocking(move || {
        let arguments = ["--path", &folder, "--questions", &file, "--json"];
        eval(&[("OLLAMA_HOST", &url), ("EMBED", "auto"), ("EMBED_QUERY_TIMEOUT_MS", "600000")], &arguments)
    })
    .await
    .unwrap();
    let scores = json(&output);
    assert_eq!(scores.as_object().unwrap().keys().collect::<Vec<_>>(), ["lexical", "vector", "hybrid"]);
    for name in ["lexical", "vector", "hybrid"] {
        assert_eq!(scores[name].as_object().unwrap().len(), 4, "nothing is declined unless asked for: {scores}");
        assert_eq!(scores[name]["recall_at_8"], 1.0, "{scores}");
    }
    assert_eq!(scores["lexical"]["mrr"], 1.0, "{scores}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn declined_questions_are_measured_separately() {
    let (ollama, shop) = (ScriptedOllama::start().await, shop());
    let file = |name: &str, lines: &str| {
        std::fs::write(shop.path().join(name), lines).unwrap();
        shop.path().join(name).display().to_string()
    };
    let questions =
        file("questions.jsonl", r#"{"id":"1","query":"how long does delivery take","documents":["delivery"]}"#);
    let unanswerable = file(
        "unanswerable.jsonl",
        "{\"id\":\"2\",\"query\":\"zebra\"}\n{\"id\":\"3\",\"query\":\"free returns\",\"documents\":[]}",
    );
    let (url, folder) = (ollama.url(), shop.path().display().to_string());
    let output = tokio::task::spawn_blocking(move || {
        let arguments = ["--path", &folder, "--questions", &questions, "--unanswerable", &unanswerable];
        eval(&[("OLLAMA_HOST", &url), ("EMBED", "auto"), ("EMBED_QUERY_TIMEOUT_MS", "600000")], &arguments)
    })
    .await
    .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let declined = "declined  answerable  unanswerable\n\
        lexical   0.000       0.500\n\
        vector    1.000       1.000\n\
        hybrid    0.000       0.500\n";
    assert!(text.ends_with(declined), "{output:?}");
}

#[test]
fn invalid_questions_are_reported_with_line() {
    let shop = shop();
    let file = shop.path().join("questions.jsonl");
    let good = r#"{"id":"1","query":"delivery","documents":["delivery","nowhere"]}"#;
    for (lines, place, hint) in [
        ("{\"id\":\"1\"}".to_owned(), "questions.jsonl:1", "on one line"),
        (format!("{good}\n\nx"), "questions.jsonl:3", "on one line"),
        (
            format!("{good}\n{{\"id\":\"2\",\"query\":\"x\",\"documents\":[]}}"),
            "questions.jsonl:2",
            "documents is empty",
        ),
        (String::new(), "questions.jsonl", "has no questions"),
    ] {
        std::fs::write(&file, lines).unwrap();
        let output = eval(&[], &["--path", shop.path().to_str().unwrap(), "--questions", file.to_str().unwrap()]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(place) && stderr.contains(hint), "{stderr}");
    }
    std::fs::write(&file, good).unwrap();
    let output = eval(&[], &["--path", shop.path().to_str().unwrap(), "--questions", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("not in the folder: nowhere"), "{output:?}");
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("lexical   0.500     0.500     0.500     1.000"),
        "{output:?}"
    );
}
