//! The sample shop, and a customer of it.

use std::path::{Path, PathBuf};

use chrono::Utc;
use frontdesk::cli::seed::sample;
use frontdesk::domain::TenantId;
use frontdesk::domain::commerce::Order;
use regex::Regex;
use serde_json::{Value, json};

use crate::support::app::{TestApp, TestAppBuilder};
use crate::support::copy;
use crate::support::dialogue::{Dialogue, assert_well_formed};
use crate::support::ollama::ScriptedOllama;
use crate::support::sse::Events;

/// Starts a server with the sample orders and the returns desk as default persona.
pub async fn open(builder: TestAppBuilder) -> TestApp {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let app = builder.env("PERSONA_PATH", root.join("prompts/returns_en.md").display()).start().await;
    seed(&app).await;
    app
}

/// The same, driven by a language model with tools. The prompts are a folder of the test's own.
pub async fn open_driven(builder: TestAppBuilder, ollama: &ScriptedOllama, prompts: &Path) -> TestApp {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    copy(&root.join("prompts"), prompts);
    for path in std::fs::read_dir(prompts).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.starts_with("returns_") {
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(&path, text.replace("mode: supervisor", "mode: agent")).unwrap();
        } else if name.ends_with(".md") {
            // Reading the rules of the other desks takes half of a start in a debug build.
            std::fs::remove_file(&path).unwrap();
        }
    }
    let builder = builder.ollama(ollama).env("PROMPTS_PATH", prompts.display());
    let app = builder.env("PERSONA_PATH", prompts.join("returns_en.md").display()).start().await;
    seed(&app).await;
    app
}

/// Gives it the sample shop's orders and policies.
pub async fn seed(app: &TestApp) {
    let tenant = TenantId::default();
    let shop = sample::shop(&tenant, Utc::now(), app.inner.config.shops.time_zone);
    app.inner.store.tenant(&tenant).make_sample(&shop, false).await.unwrap();
}

/// Makes the sample shop again, with a change of one order.
pub async fn change(app: &TestApp, number: &str, change: impl Fn(&mut Order)) {
    let tenant = TenantId::default();
    let mut shop = sample::shop(&tenant, Utc::now(), app.inner.config.shops.time_zone);
    let order = shop.orders.iter_mut().find(|order| order.number.as_str() == number).unwrap();
    change(order);
    app.inner.store.tenant(&tenant).make_sample(&shop, false).await.unwrap();
}

/// One conversation, and all that was said in it.
pub struct Chat<'a> {
    pub app: &'a TestApp,
    pub id: String,
    transcript: String,
}

impl<'a> Chat<'a> {
    pub async fn open(app: &'a TestApp) -> Self {
        Self::open_with(app, json!({"language": "en"})).await
    }

    pub async fn open_with(app: &'a TestApp, body: Value) -> Self {
        Self { app, id: app.open(&body).await, transcript: String::new() }
    }

    /// A conversation that was begun before.
    pub fn resumed(app: &'a TestApp, id: &str) -> Self {
        Self { app, id: id.to_owned(), transcript: String::new() }
    }

    pub async fn say(&mut self, text: &str) -> Events {
        let events = self.app.ask(&self.id, text).await;
        assert_eq!(events.status(), "completed", "{events:?}");
        assert!(!format!("{events:?}").contains("undefined"), "{events:?}");
        let turn = events.first("turn.start")["turn"].as_u64().unwrap();
        assert_well_formed(&events, turn, text);
        self.transcript.push_str(&format!("{}\n", events.dialogue()));
        events
    }

    /// Says one thing after another; gives the last turn.
    pub async fn say_all(&mut self, texts: &[&str]) -> Events {
        let mut last = None;
        for text in texts {
            last = Some(self.say(text).await);
        }
        last.unwrap()
    }

    /// Who answers, as the shop's inbox shows it.
    pub async fn status(&self) -> String {
        let path = format!("/conversations/{}", self.id);
        let conversation: Value = self.app.get(&path).send().await.unwrap().json().await.unwrap();
        conversation["status"].as_str().unwrap().to_owned()
    }
}

impl Dialogue for Chat<'_> {
    /// Everything that was said, with placeholders for what differs from run to run.
    fn dialogue(&self) -> String {
        let mut text = self.transcript.clone();
        for (pattern, with) in [
            (r"RMA-\d+-[0-9A-Z]{4}", "RMA-…"),
            (r"TICKET-\d+-[0-9A-F]{8}", "TICKET-…"),
            (r"[A-Z][a-z]{2} \d{1,2}, \d{4}", "DAY"),
            (r"\d{1,2}/\d{1,2}/\d{4}", "DAY"),
        ] {
            text = Regex::new(pattern).unwrap().replace_all(&text, with).into_owned();
        }
        text
    }
}

/// The metadata of the message of that kind.
pub fn metadata(events: &Events, kind: &str) -> Value {
    let ends = events.data().into_iter().filter(|event| event["type"] == "message.end");
    ends.into_iter().find(|event| event["kind"] == kind).unwrap_or_else(|| panic!("no {kind}: {events:?}"))["metadata"]
        .clone()
}

/// The texts of the `.eml` files that went out.
pub fn mails(app: &TestApp) -> Vec<String> {
    let Ok(folder) = std::fs::read_dir(app.folder().join("outbox")) else { return Vec::new() };
    // One that is being written has another ending.
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "eml"));
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}
