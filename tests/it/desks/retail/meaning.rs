//! Documents that are searched by meaning too, over HTTP. The scripted vectors count words: a question that has a page's words
//! and no others is at cosine 1 to it, while its score by words stays below.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::app::{TestApp, TestAppBuilder};
use crate::support::ollama::ScriptedOllama;
use crate::support::{copy, eventually_async};

/// A question that has the words of [`PAGE`], in another order.
const QUESTION: &str = "SSD Kingston giá bao nhiêu vậy em";
const PAGE: (&str, &str) = ("ssd.md", "# SSD Kingston\n\nGiá vậy bao nhiêu em\n");

fn shop() -> TempDir {
    let knowledge = tempfile::tempdir().unwrap();
    write(knowledge.path(), PAGE.0, PAGE.1);
    write(knowledge.path(), "giao-hang.md", "# Giao hàng\n\nPhí giao SSD Kingston là 30.000đ.\n");
    write(knowledge.path(), "returns/doi-tra.md", "# Đổi trả SSD Kingston\n\nGiá SSD bao nhiêu thì hoàn bấy nhiêu.\n");
    knowledge
}

fn write(folder: &Path, file: &str, text: &str) {
    std::fs::create_dir_all(folder.join(file).parent().unwrap()).unwrap();
    std::fs::write(folder.join(file), text).unwrap();
}

/// Words alone word the reply; vectors come from `ollama`.
fn builder(ollama: &ScriptedOllama, knowledge: &TempDir) -> TestAppBuilder {
    let builder = TestApp::builder().env("OLLAMA_HOST", ollama.url()).env("EMBED", "auto");
    builder.env("KNOWLEDGE_PATH", knowledge.path().display()).env("NO_CONTEXT_THRESHOLDS", "bge-m3=0.05")
}

/// File and score of each source.
async fn sources(app: &TestApp, persona: Option<&str>, question: &str) -> Vec<(String, f64)> {
    let conversation = app.open(&persona.map_or(json!({}), |persona| json!({ "persona": persona }))).await;
    let events = app.ask(&conversation, question).await;
    let sources = events.data().into_iter().find(|event| event["type"] == "sources").cloned().unwrap_or_default();
    let source = |item: &Value| (item["file"].as_str().unwrap().to_owned(), item["score"].as_f64().unwrap());
    sources["items"].as_array().into_iter().flatten().map(source).collect()
}

/// Asks until the best source is this file at cosine 1, which words alone never say; gives all sources.
async fn sources_by_meaning(app: &TestApp, file: &str, question: &str) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    eventually_async("the search finds the file by its meaning", async || {
        found = sources(app, None, question).await;
        found.first().is_some_and(|(first, score)| first == file && *score > 0.999)
    })
    .await;
    found
}

#[tokio::test]
async fn sources_have_scores_with_and_without_model() {
    let (ollama, knowledge) = (ScriptedOllama::start().await, shop());
    let app = builder(&ollama, &knowledge).start().await;
    let near = sources_by_meaning(&app, "ssd.md", QUESTION).await;
    assert_eq!(near.iter().map(|(file, _)| file.as_str()).collect::<Vec<_>>(), ["ssd.md", "giao-hang.md"]);
    assert!(near[1].1 > 0.0 && near[1].1 < 0.9, "{near:?}");

    ollama.set_down(true);
    let by_words = sources(&app, None, QUESTION).await;
    assert_eq!(by_words[0].0, "ssd.md");
    assert!(by_words[0].1 > 0.0 && by_words[0].1 < 0.999, "{by_words:?}");
}

#[tokio::test]
async fn hanging_embedding_model_falls_back_to_words() {
    let (ollama, knowledge) = (ScriptedOllama::start().await, shop());
    // Searches by meaning are repeated until one meets the deadline.
    let app = builder(&ollama, &knowledge).env("EMBED_QUERY_TIMEOUT_MS", 1000).start().await;
    sources_by_meaning(&app, "ssd.md", QUESTION).await;

    ollama.embed_never(true);
    let by_words = sources(&app, None, QUESTION).await;
    assert_eq!(by_words[0].0, "ssd.md");
    assert!(by_words[0].1 > 0.0 && by_words[0].1 < 0.999, "{by_words:?}");
    // Nor is the end of the stall missed, once the breaker tries again.
    ollama.embed_never(false);
    sources_by_meaning(&app, "ssd.md", QUESTION).await;
}

#[tokio::test]
async fn changed_file_is_found_by_its_new_meaning() {
    let (ollama, knowledge) = (ScriptedOllama::start().await, shop());
    let app = builder(&ollama, &knowledge).start().await;
    sources_by_meaning(&app, "ssd.md", QUESTION).await;
    let question = "SSD Samsung giá bao nhiêu vậy shop";
    write(knowledge.path(), "ssd.md", "# SSD Samsung\n\nGiá vậy bao nhiêu shop\n");
    sources_by_meaning(&app, "ssd.md", question).await;
    let earlier = sources(&app, None, QUESTION).await;
    assert!(earlier.iter().all(|(_, score)| *score < 0.999), "the earlier page is gone: {earlier:?}");
}

#[tokio::test]
async fn own_documents_need_no_other_personas_folder() {
    let knowledge = tempfile::tempdir().unwrap();
    write(knowledge.path(), PAGE.0, PAGE.1);
    let app = TestApp::builder().every_desk().env("KNOWLEDGE_PATH", knowledge.path().display()).start().await;
    assert_eq!(sources(&app, None, QUESTION).await[0].0, "ssd.md");
    assert_eq!(sources(&app, Some("returns_vi"), "chính sách trả hàng thế nào?").await, []);
}

#[tokio::test]
async fn persona_sees_only_its_own_folder() {
    let (ollama, knowledge, prompts) = (ScriptedOllama::start().await, shop(), tempfile::tempdir().unwrap());
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("prompts"), prompts.path());
    let persona = "---\ndesk: retail\nlanguages: [vi]\nknowledge: returns\n---\nBạn là trợ lý.\n\nGreeting: Chào ạ\nFollowUp: Gì nữa không ạ?\n";
    write(prompts.path(), "doi_tra.md", persona);
    let app = builder(&ollama, &knowledge).env("PROMPTS_PATH", prompts.path().display()).start().await;
    let others = sources_by_meaning(&app, "ssd.md", QUESTION).await;
    assert!(others.iter().all(|(file, _)| !file.starts_with("returns/")), "{others:?}");
    let own = sources(&app, Some("doi_tra"), QUESTION).await;
    assert_eq!(own.iter().map(|(file, _)| file.as_str()).collect::<Vec<_>>(), ["returns/doi-tra.md"]);
}
