//! Editing personas in the console.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::desk::{Desk, answer};
use crate::http::live::meddle;
use crate::http::problem::refused;
use crate::support::app::TestApp;
use crate::support::eventually_async;

const ID: &str = "system_persona_vi";
const FILE: &str = "prompts/system_persona_vi.md";

fn put(desk: &Desk, text: &str, hash: &str) -> RequestBuilder {
    desk.request(Method::PUT, &format!("/personas/{ID}")).json(&json!({"text": text, "hash": hash}))
}

/// A persona with this greeting.
fn persona(greeting: &str) -> String {
    format!(
        "---\nlanguages: [vi, en]\nname: SSTC\n---\nAi đó.\n\nGreeting: {greeting}\nGreeting[en]: Hi\nFollowUp: Gì nữa ạ?\n"
    )
}

/// Saves the text over the current one and returns the response.
async fn save(desk: &Desk, text: &str) -> Value {
    let now = desk.get(&format!("/personas/{ID}")).await;
    answer(put(desk, text, now["hash"].as_str().unwrap()), 200).await
}

/// Waits until new conversations have this greeting.
async fn greets(desk: &Desk, greeting: &str) {
    eventually_async(greeting, async || desk.greeting().await == greeting).await;
}

fn numbers(persona: &Value) -> Vec<(u64, bool)> {
    let versions = persona["versions"].as_array().unwrap();
    versions.iter().map(|v| (v["version"].as_u64().unwrap(), v["current"].as_bool().unwrap())).collect()
}

#[tokio::test]
async fn edited_persona_applies_at_once_and_is_restorable() {
    let desk = Desk::open(TestApp::builder(), &[]).await;
    let personas = desk.get("/personas").await;
    let vi = json!({"id": ID, "name": "SSTC", "desk": "retail", "languages": ["vi", "en"], "default": true});
    assert!(personas["personas"].as_array().unwrap().contains(&vi), "{personas}");
    let first = desk.read(FILE);
    let shown = desk.get(&format!("/personas/{ID}")).await;
    assert_eq!((shown["text"].as_str(), &shown["versions"]), (Some(first.as_str()), &json!([])));

    let saved = save(&desk, &persona("Dạ chào ạ!")).await;
    assert_eq!(desk.read(FILE), persona("Dạ chào ạ!"));
    assert_eq!(numbers(&saved), [(2, true), (1, false)]);
    greets(&desk, "Dạ chào ạ!").await;

    let old = desk.get(&format!("/personas/{ID}/versions/1")).await;
    assert_eq!(old, json!({"text": first}));
    let restored = save(&desk, &first).await;
    assert_eq!(numbers(&restored), [(3, true), (2, false), (1, false)]);
    assert_eq!((restored["text"].as_str(), &restored["hash"]), (Some(first.as_str()), &shown["hash"]));
    let audit = desk.get("/audit?limit=200").await;
    let saved = audit["entries"].as_array().unwrap().iter().filter(|entry| entry["what"] == "persona_saved");
    assert_eq!(saved.map(|entry| &entry["subject"]).collect::<Vec<_>>(), [ID, ID], "{audit}");
    greets(&desk, "Chào quý khách! Em là nhân viên SSTC, rất vui được hỗ trợ quý khách... Em là trợ lý AI của SSTC ạ.")
        .await;
    for missing in ["versions/4", "versions/0", "versions/x", "versions/-1"] {
        refused(desk.request(Method::GET, &format!("/personas/{ID}/{missing}")), 404, "not_found").await;
    }
}

#[tokio::test]
async fn invalid_persona_text_keeps_the_old_persona() {
    let desk = Desk::open(TestApp::builder(), &[]).await;
    let (first, hash) = (desk.read(FILE), desk.get(&format!("/personas/{ID}")).await["hash"].clone());
    for (text, line, problem, code) in [
        ("---\nlangauges: [vi]\n---\nAi.\nGreeting: Hi\n", json!(2), "langauges", json!("front_matter")),
        ("Ai.\n", json!(1), "no greeting", json!("no_greeting")),
        ("Ai.\nGreeting: a\nGreeting: b\n", json!(3), "repeated", json!("repeated_line")),
        ("---\ndesk: bakery\n---\nAi.\nGreeting: Hi\n", json!(1), "no desk 'bakery'", json!("unknown_desk")),
        ("---\nknowledge: nowhere\n---\nAi.\nGreeting: Hi\n", json!(2), "the folder nowhere", json!("missing_folder")),
        ("---\nlanguages: [vi, fr]\n---\nAi.\nGreeting: Hi\n", Value::Null, "fr.toml", Value::Null),
        ("", json!(1), "no greeting", json!("no_greeting")),
    ] {
        let checked = answer(desk.post(&format!("/personas/{ID}/check"), &json!({"text": text})), 200).await;
        assert_eq!((&checked["valid"], &checked["line"]), (&json!(false), &line), "{text:?}: {checked}");
        assert_eq!(checked["code"], code, "{text:?}: {checked}");
        assert!(checked["problem"].as_str().unwrap().contains(problem), "{text:?}: {checked}");
        let told = refused(put(&desk, text, hash.as_str().unwrap()), 422, "invalid_request").await;
        assert!(told["detail"].as_str().unwrap().contains(problem), "{told}");
    }
    assert_eq!(desk.read(FILE), first);
    assert_eq!(desk.get(&format!("/personas/{ID}")).await["versions"], json!([]));
    assert!(desk.greeting().await.starts_with("Chào quý khách!"));
    let checked = answer(desk.post(&format!("/personas/{ID}/check"), &json!({"text": persona("Dạ!")})), 200).await;
    let preview = json!({"valid": true, "name": "SSTC", "greetings": {"en": "Hi", "vi": "Dạ!"},
        "follow_ups": {"en": "Gì nữa ạ?", "vi": "Gì nữa ạ?"}});
    assert_eq!(checked, preview);
    assert_eq!(desk.read(FILE), first, "looking changes nothing");
}

#[tokio::test]
async fn concurrent_persona_edits_conflict() {
    let desk = Desk::open(TestApp::builder(), &[]).await;
    let hash = desk.get(&format!("/personas/{ID}")).await["hash"].as_str().unwrap().to_owned();
    let (one, two) = tokio::join!(put(&desk, &persona("Một"), &hash).send(), put(&desk, &persona("Hai"), &hash).send());
    let mut statuses = [one.unwrap().status().as_u16(), two.unwrap().status().as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);

    let hash = desk.get(&format!("/personas/{ID}")).await["hash"].as_str().unwrap().to_owned();
    desk.write(FILE, &persona("Bằng tay"));
    let told = refused(put(&desk, &persona("Ba"), &hash), 409, "conflict").await;
    assert!(told["detail"].as_str().unwrap().contains("read it again"), "{told}");
    assert_eq!(desk.read(FILE), persona("Bằng tay"));
    // Anyone may save the current text again.
    answer(put(&desk, &persona("Bằng tay"), &hash), 200).await;
    let saved = save(&desk, &persona("Ba")).await;
    assert_eq!(numbers(&saved), [(4, true), (3, false), (2, false), (1, false)]);
    let by_hand = desk.get(&format!("/personas/{ID}/versions/3")).await;
    assert_eq!(by_hand["text"], persona("Bằng tay"));
}

#[tokio::test]
async fn repeated_save_stores_the_missing_version() {
    let desk = Desk::open(TestApp::builder(), &[]).await;
    let hash = desk.get(&format!("/personas/{ID}")).await["hash"].as_str().unwrap().to_owned();
    let trigger = "CREATE TRIGGER refuse BEFORE INSERT ON persona_versions WHEN NEW.text LIKE '%4711%' \
                   BEGIN SELECT RAISE(ABORT, 'no'); END";
    let constraint = "ALTER TABLE persona_versions ADD CONSTRAINT refuse CHECK (text NOT LIKE '%4711%') NOT VALID";
    meddle(&desk.app, trigger, constraint).await;
    assert!(put(&desk, &persona("4711"), &hash).send().await.unwrap().status().is_server_error());
    assert_eq!(desk.read(FILE), persona("4711"));
    meddle(&desk.app, "DROP TRIGGER refuse", "ALTER TABLE persona_versions DROP CONSTRAINT refuse").await;
    let saved = answer(put(&desk, &persona("4711"), &hash), 200).await;
    assert_eq!(numbers(&saved), [(2, true), (1, false)]);
    let audit = desk.get("/audit?limit=200").await;
    let saved = audit["entries"].as_array().unwrap().iter().filter(|entry| entry["what"] == "persona_saved");
    assert_eq!(saved.count(), 1, "{audit}");
}

#[tokio::test]
async fn ten_persona_versions_are_kept() {
    let desk = Desk::open(TestApp::builder(), &[]).await;
    for n in 2..=12 {
        save(&desk, &persona(&format!("Câu {n}"))).await;
    }
    let shown = desk.get(&format!("/personas/{ID}")).await;
    let kept: Vec<(u64, bool)> = (3..=12).rev().map(|n| (n, n == 12)).collect();
    assert_eq!(numbers(&shown), kept);
    assert_eq!(desk.get(&format!("/personas/{ID}/versions/3")).await["text"], persona("Câu 3"));
    refused(desk.request(Method::GET, &format!("/personas/{ID}/versions/2")), 404, "not_found").await;
}

#[tokio::test]
async fn persona_id_cannot_escape_its_folder() {
    let desk = Desk::open(TestApp::builder(), &[]).await;
    desk.write("secret.md", "Ai.\nGreeting: Hi\n");
    for id in ["unknown", "..%2Fsecret", "%2E%2E%2Fsecret", "rules%2Fretail", ".", "%00", "%FF"] {
        refused(desk.request(Method::GET, &format!("/personas/{id}")), 404, "not_found").await;
        let body = json!({"text": persona("x"), "hash": ""});
        refused(desk.request(Method::PUT, &format!("/personas/{id}")).json(&body), 404, "not_found").await;
    }
}

#[cfg(unix)]
#[tokio::test]
async fn read_only_persona_file_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::open(TestApp::builder(), &[]).await;
    let first = desk.read(FILE);
    std::fs::set_permissions(desk.path(FILE), std::fs::Permissions::from_mode(0o444)).unwrap();
    let hash = desk.get(&format!("/personas/{ID}")).await["hash"].as_str().unwrap().to_owned();
    let told = refused(put(&desk, &persona("Dạ!"), &hash), 500, "not_writable").await;
    assert!(told["detail"].as_str().unwrap().contains("writable"), "{told}");
    assert_eq!(desk.read(FILE), first);
}
