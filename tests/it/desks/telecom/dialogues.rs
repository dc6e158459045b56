//! Dialogues that were written without knowledge of the rules, on the sample documents and without a model.

use std::path::Path;

use frontdesk::cli::seed::accounts::accounts;
use frontdesk::domain::TenantId;
use sea_orm::{ConnectionTrait, Database, DatabaseConnection};
use serde_json::{Value, json};

use super::persona;
use crate::desks::retail::chat::{Shop, open_shop_with};
use crate::support::app::{TestApp, TestAppBuilder};

/// Starts the server with the sample documents.
pub async fn open_sample_desk(language: &str, builder: TestAppBuilder) -> Shop {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("knowledge/telecom");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let documents: Vec<(String, String)> = files
        .map(|path| {
            (format!("telecom/{}", path.file_name().unwrap().display()), std::fs::read_to_string(path).unwrap())
        })
        .collect();
    let documents: Vec<(&str, &str)> = documents.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    open_shop_with(builder.env("PERSONA_PATH", persona(language).display()), &documents).await
}

/// Makes the accounts as if no customer had written before.
async fn reset_accounts(desk: &Shop, database: &DatabaseConnection) {
    desk.app.inner.store.tenant(&TenantId::default()).make_sample_accounts(&accounts()).await.unwrap();
    database.execute_unprepared("DELETE FROM case_numbers").await.unwrap();
}

/// `tests/data/telecom/dialogues.tsv`: dialogue, language, message, route, kinds of the replies, and facts of the replies, such as the
/// number of a case, an amount, or the section of the source. A turn without expectations has `-`.
async fn play(language: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/telecom/dialogues.tsv");
    let text = std::fs::read_to_string(file).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    let desk = open_sample_desk(language, TestApp::builder()).await;
    let database = Database::connect(&desk.app.database_url).await.unwrap();
    let (mut wrong, mut turns) = (Vec::new(), 0);
    for dialogue in lines.chunk_by(|a, b| a[0] == b[0]).filter(|dialogue| dialogue[0][1] == language) {
        reset_accounts(&desk, &database).await;
        let mut chat = desk.chat().await;
        for line in dialogue {
            let [id, _, message, route, kinds, facts] = line[..] else { panic!("{line:?}") };
            let events = chat.say(message).await;
            if route == "-" {
                continue;
            }
            turns += 1;
            let said: String = events.messages().into_iter().map(|(_, text)| text + "\n").collect();
            let missing: Vec<&str> = facts.split(" | ").filter(|fact| !said.contains(fact)).collect();
            let got = (events.first("intent")["route"].as_str().unwrap().to_owned(), events.kinds().join(","));
            if got != (route.to_owned(), kinds.to_owned()) || !missing.is_empty() {
                wrong.push(format!("{id} {message:?}: {got:?}, missing {missing:?} in {said}"));
            }
        }
    }
    assert!(turns > 50, "{turns}");
    assert!(wrong.is_empty(), "{} of {turns}:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn english_dialogues_get_their_facts() {
    play("en").await;
}

#[tokio::test]
async fn polish_dialogues_get_their_facts() {
    play("pl").await;
}

/// Asks the questions of `tests/data/telecom/unanswerable.jsonl` in a language. Returns those that the desk does not decline: it neither
/// says that its pages have no answer nor names the hotline, or it cites a page.
async fn not_declined(language: &str) -> Vec<String> {
    let desk = open_sample_desk(language, TestApp::builder()).await;
    let mut others = Vec::new();
    for line in include_str!("../../../data/telecom/unanswerable.jsonl").lines() {
        let question: Value = serde_json::from_str(line).unwrap();
        if question["language"] != language {
            continue;
        }
        let mut chat = desk.chat_with(json!({ "language": language })).await;
        let events = chat.say(question["query"].as_str().unwrap()).await;
        let said: String = events.messages().into_iter().map(|(_, text)| text + "\n").collect();
        let data = events.data();
        let cites = data.iter().any(|event| event["type"] == "sources");
        let is_unknown = data.iter().any(|event| event["metadata"]["no_context"] == true);
        if cites || !(is_unknown || said.contains("1900 636 979")) {
            others.push(format!("{}: {said}", question["query"]));
        }
    }
    others
}

#[tokio::test]
async fn eighteen_of_twenty_unanswerable_are_declined() {
    let others = [not_declined("en").await, not_declined("pl").await].concat();
    assert!(others.len() <= 2, "{}:\n{}", others.len(), others.join("\n"));
}
