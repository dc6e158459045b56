//! Messages are embedded in the background, and later turns can recall them.

use std::collections::BTreeSet;

use frontdesk::domain::TenantId;
use frontdesk::store::Store;
use frontdesk::store::jobs::{EMBEDDING_JOBS, JobCounts};
use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::store;
use crate::support::app::{TestApp, TestAppBuilder};
use crate::support::eventually_async;
use crate::support::ollama::{Play, ScriptedOllama};

fn embedding(ollama: &ScriptedOllama) -> TestAppBuilder {
    TestApp::builder().ollama(ollama).env("EMBED", "auto").env("OUTBOX_REST_SECONDS", "0.05")
}

/// Returns the ids of the embedded messages.
async fn embedded(store: &Store) -> BTreeSet<String> {
    let shop = TenantId::default();
    store.tenant(&shop).list_vector_ids("conversations_dev").await.unwrap().into_iter().collect()
}

/// The jobs that keep embeddings up to date.
async fn jobs(store: &Store) -> JobCounts {
    store::count_jobs(store, &EMBEDDING_JOBS).await
}

async fn messages_of(app: &TestApp, conversation: &str) -> BTreeSet<String> {
    app.history(conversation).await.iter().map(|message| message["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn embed_sync_waits_for_every_message() {
    let ollama = ScriptedOllama::start().await;
    let app = embedding(&ollama).env("EMBED_SYNC", 1).start().await;
    let store = store::open(&app.database_url).await;
    let id = app.open(&json!({"user_id": "u-7"})).await;
    app.ask(&id, "bảo hành ABC123").await;
    let messages = messages_of(&app, &id).await;
    assert!(messages.len() >= 4, "{messages:?}");
    assert_eq!(embedded(&store).await, messages);
    let shop = TenantId::default();
    let all = frontdesk::store::vectors::VectorScope::Conversation(&id);
    let rows = store.tenant(&shop).list_vectors("conversations_dev", all, None, 100).await.unwrap();
    assert_eq!(rows.len(), messages.len(), "each is labelled with its conversation");
    assert!(rows.iter().all(|row| row.labels["user_id"] == "u-7" && row.labels["message_id"] == row.id), "{rows:?}");
}

#[tokio::test]
async fn unembedded_messages_are_embedded_after_a_restart() {
    let ollama = ScriptedOllama::start().await;
    ollama.set_down(true);
    let app = embedding(&ollama).start().await;
    let id = app.open(&json!({})).await;
    app.ask(&id, "bảo hành ABC123").await;
    let messages = messages_of(&app, &id).await;
    let store = store::open(&app.database_url).await;
    eventually_async("every message waits", async || jobs(&store).await.waiting == messages.len() as u64).await;
    assert_eq!(embedded(&store).await, BTreeSet::new());
    drop(store);
    let builder = app.stop().await;
    ollama.set_down(false);
    let app = builder.ollama(&ollama).env("EMBED", "auto").start().await;
    let store = store::open(&app.database_url).await;
    eventually_async("no job waits", async || jobs(&store).await.waiting == 0).await;
    assert_eq!((jobs(&store).await.dead, embedded(&store).await), (0, messages));
}

#[tokio::test]
async fn deleted_conversation_loses_its_vectors() {
    let ollama = ScriptedOllama::start().await;
    let app = embedding(&ollama).env("EMBED_SYNC", 1).start().await;
    let store = store::open(&app.database_url).await;
    let (gone, kept) = (app.open(&json!({})).await, app.open(&json!({})).await);
    app.ask(&gone, "bảo hành ABC123").await;
    let path = format!("/conversations/{gone}");
    assert_eq!(app.request(Method::DELETE, &path).send().await.unwrap().status(), StatusCode::NO_CONTENT);
    eventually_async("no job waits", async || jobs(&store).await.waiting == 0).await;
    assert_eq!(embedded(&store).await, messages_of(&app, &kept).await);
}

/// Starts a server that recalls messages which do not fit because of this setting.
async fn recalling(ollama: &ScriptedOllama, setting: &str, most: u32) -> TestApp {
    let app = embedding(ollama).env("EMBED_SYNC", 1).env(setting, most).start().await;
    ollama.otherwise(|chat| chat.get("format").is_none().then(|| Play::reply("Dạ vâng ạ.")));
    app
}

#[tokio::test]
async fn model_gets_earlier_messages_beyond_its_window() {
    let ollama = ScriptedOllama::start().await;
    let app = recalling(&ollama, "HISTORY_MAX_CHARS", 200).await;
    let id = app.open(&json!({})).await;
    app.ask(&id, "mình là kiến trúc sư, cần mua laptop dựng hình 3D Revit").await;
    // `POST /chat` may name the user after the first message.
    let shop = TenantId::default();
    assert!(app.inner.store.tenant(&shop).bind_user(id.parse().unwrap(), "u-7").await.unwrap());
    for _ in 0..3 {
        app.ask(&id, "phí giao hàng về Đà Nẵng bao nhiêu").await;
    }
    let before = ollama.chats().len();
    app.ask(&id, "laptop nào hợp với nghề kiến trúc sư của mình").await;
    let chats = ollama.chats();
    let system = chats[before]["messages"][0]["content"].as_str().unwrap();
    let recalled = system.split("Said earlier in this conversation").nth(1).expect("something is recalled");
    assert!(recalled.contains("customer: mình là kiến trúc sư"), "{recalled}");
    assert!(!recalled.contains("customer: laptop nào hợp"), "the question itself is not recalled: {recalled}");
}

#[tokio::test]
async fn what_does_not_fit_is_recalled() {
    let ollama = ScriptedOllama::start().await;
    let app = recalling(&ollama, "OLLAMA_NUM_CTX", 4096).await;
    let id = app.open(&json!({})).await;
    app.ask(&id, "mình là kiến trúc sư, cần mua laptop dựng hình 3D Revit").await;
    app.ask(&id, "laptop nào hợp với nghề kiến trúc sư của mình").await;
    let messages = ollama.chats().pop().unwrap()["messages"].to_string();
    assert!(messages.contains("mình là kiến trúc sư"), "{messages}");
}

#[tokio::test]
async fn recall_is_limited_to_the_conversation() {
    let ollama = ScriptedOllama::start().await;
    let app = recalling(&ollama, "HISTORY_MAX_CHARS", 60).await;
    let other = app.open(&json!({})).await;
    app.ask(&other, "mình tên Lan, mua laptop màu hồng").await;
    let id = app.open(&json!({})).await;
    for _ in 0..2 {
        app.ask(&id, "phí giao hàng về Đà Nẵng bao nhiêu").await;
    }
    app.ask(&id, "mua laptop màu hồng").await;
    let asked = ollama.chats().pop().unwrap();
    let system = asked["messages"][0]["content"].as_str().unwrap();
    assert!(!system.contains("Lan"), "{system}");
}

/// Runs `frontdesk index --rebuild` with another model.
async fn rebuild(database: &str, ollama: &ScriptedOllama) -> std::process::Output {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_frontdesk"));
    command.args(["index", "--rebuild"]).current_dir(env!("CARGO_MANIFEST_DIR")).env_clear();
    command.env("DATABASE_URL", database).env("OLLAMA_HOST", ollama.url());
    command.env("OLLAMA_EMBED_MODEL", "another-model").output().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn rebuild_keeps_out_the_old_model() {
    let ollama = ScriptedOllama::start().await;
    let app = embedding(&ollama).env("EMBED_SYNC", 1).start().await;
    app.open(&json!({})).await;
    let store = store::open(&app.database_url).await;
    eventually_async("the greeting is embedded", async || embedded(&store).await.len() == 1).await;
    let run = rebuild(&app.database_url, &ollama).await;
    let out = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && out.contains("restart the server"), "{run:?}");
    let made = store.tenant(&TenantId::default()).find_vector_collection("conversations_dev").await.unwrap().unwrap();
    assert_eq!((made.model.as_str(), embedded(&store).await), ("another-model", BTreeSet::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn rebuild_embeds_messages_with_the_new_model() {
    let ollama = ScriptedOllama::start().await;
    let app = embedding(&ollama).env("EMBED_SYNC", 1).start().await;
    let id = app.open(&json!({})).await;
    app.ask(&id, "bảo hành ABC123").await;
    let (database, first) = (app.database_url.clone(), messages_of(&app, &id).await);
    let other = |builder: TestAppBuilder| {
        let builder = builder.ollama(&ollama).env("EMBED", "auto").env("OUTBOX_REST_SECONDS", "0.05");
        builder.env("OLLAMA_EMBED_MODEL", "another-model")
    };
    let app = other(app.stop().await).start().await;
    app.ask(&id, "bảo hành ABC123").await;
    let store = store::open(&database).await;
    assert_eq!(embedded(&store).await, first, "vectors of two models are never mixed");
    let messages = messages_of(&app, &id).await;
    assert_eq!(jobs(&store).await.dead, 0, "and no job is a dead letter");
    let run = rebuild(&database, &ollama).await;
    let out = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && out.contains(&format!("queued {} messages", messages.len())), "{run:?}");
    eventually_async("no job waits", async || jobs(&store).await.waiting == 0).await;
    assert_eq!(embedded(&store).await, messages);
    let made = store.tenant(&TenantId::default()).find_vector_collection("conversations_dev").await.unwrap().unwrap();
    assert_eq!(made.model, "another-model");
}
