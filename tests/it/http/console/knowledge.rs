//! The indexed documents and the problems in them.

use serde_json::{Value, json};

use super::desk::Desk;
use crate::support::app::TestApp;
use crate::support::eventually_async;
use crate::support::ollama::ScriptedOllama;

const DOCUMENTS: [(&str, &str); 2] = [
    (
        "giao-hang.md",
        "---\ntitle: \"Giao hàng\"\nversion: \"1.10\"\nlanguage: vi\n---\n# Giao hàng\n\nPhí giao hàng nội thành là 30.000đ.\n",
    ),
    ("products.csv", "sku,name,price_vnd\nSSD-1,SSD Kingston,1590000\nMOU-1,Chuột Logitech,390000\n"),
];

#[tokio::test]
async fn documents_are_listed_with_chunks_and_problems() {
    let desk = Desk::open(TestApp::builder(), &DOCUMENTS).await;
    let knowledge = desk.get("/knowledge").await;
    let collection = &knowledge["collections"][0];
    assert_eq!((&collection["name"], &collection["folder"]), (&json!("knowledge_dev"), &json!("")));
    assert_eq!((&collection["chunks"], &collection["embedded"]), (&json!(3), &Value::Null));
    let documents = collection["documents"].as_array().unwrap();
    let page = json!({"file": "giao-hang.md", "title": "Giao hàng", "language": "vi", "version": "1.10", "chunks": 1,
        "changed_at": documents[0]["changed_at"]});
    assert_eq!(documents[0], page);
    assert!(documents[0]["changed_at"].as_str().unwrap().ends_with('Z'));
    assert_eq!((&documents[1]["title"], &documents[1]["chunks"]), (&json!("products"), &json!(2)));
    assert_eq!(knowledge["embedding"], json!({"on": false, "model": null, "last_sync": null}));
    assert_eq!(knowledge["problems"], json!([]));

    std::fs::write(desk.path("knowledge/broken.md"), b"# Caf\xe9\n").unwrap();
    let problem = eventually(&desk, |knowledge| knowledge["problems"].get(0).cloned()).await;
    assert_eq!(problem["file"], "broken.md");
    assert!(problem["problem"].as_str().unwrap().contains("UTF-8"), "{problem}");
}

#[tokio::test]
async fn failed_reload_is_a_problem_until_fixed() {
    let desk = Desk::open(TestApp::builder(), &[]).await;
    let good = desk.read("prompts/system_persona_en.md");
    desk.write("prompts/system_persona_en.md", "---\ndesk: retail\nlangauges: [en]\n---\nWho.\nGreeting: Hi\n");
    let problem = eventually(&desk, |knowledge| knowledge["problems"].get(0).cloned()).await;
    assert!(problem["file"].as_str().unwrap().ends_with("system_persona_en.md"), "{problem}");
    assert_eq!(problem["line"], 3, "{problem}");
    assert!(problem["problem"].as_str().unwrap().contains("langauges"), "{problem}");
    desk.write("prompts/system_persona_en.md", &good);
    eventually(&desk, |knowledge| (knowledge["problems"] == json!([])).then_some(Value::Null)).await;
}

#[tokio::test]
async fn vectors_are_counted_with_last_sync() {
    let ollama = ScriptedOllama::start().await;
    let builder = TestApp::builder().env("OLLAMA_HOST", ollama.url()).env("EMBED", "auto");
    let desk = Desk::open(builder, &DOCUMENTS).await;
    let done = |knowledge: &Value| (knowledge["embedding"]["last_sync"]["embedded"] == 3).then(|| knowledge.clone());
    let knowledge = eventually(&desk, done).await;
    assert_eq!(knowledge["collections"][0]["embedded"], 3);
    assert_eq!(knowledge["embedding"]["model"], "bge-m3");
    let sync = &knowledge["embedding"]["last_sync"];
    assert_eq!((&sync["removed"], &sync["error"]), (&json!(0), &Value::Null), "{sync}");
}

/// Repeats the request until the response matches.
async fn eventually(desk: &Desk, has: impl Fn(&Value) -> Option<Value>) -> Value {
    let mut found = None;
    eventually_async("the response matches", async || {
        found = has(&desk.get("/knowledge").await);
        found.is_some()
    })
    .await;
    found.unwrap()
}
