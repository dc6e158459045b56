//! Two shops in one server: nothing of one reaches the other.

use std::collections::HashSet;
use std::path::Path;

use chrono::Utc;
use frontdesk::cli::seed::sample;
use frontdesk::domain::TenantId;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::desks::returns::shop::mails;
use crate::http::console::desk::answer;
use crate::http::problem::refused;
use crate::support::app::{TestApp, TestAppBuilder};
use crate::support::ollama::ScriptedOllama;
use crate::support::sse::{Events, read_events};
use crate::support::{copy, eventually_async};

const DEFAULT: &str = "key-of-the-shop-0";
const ACME: &str = "key-of-the-shop-acme";
/// A tenant without a folder.
const BETA: &str = "key-of-the-shop-beta";
const ID: &str = "system_persona_vi";
const QUESTION: &str = "Phí giao hàng nội thành là bao nhiêu?";

/// The default shop and `acme`, whose persona and document have the same names.
struct TwoShops {
    app: TestApp,
    files: TempDir,
}

fn persona(greeting: &str) -> String {
    format!("---\nlanguages: [vi, en]\nname: Acme\n---\nAi đó.\n\nGreeting: {greeting}\n")
}

fn document(fee: &str) -> String {
    format!("---\ntitle: Giao hàng\nlanguage: vi\n---\n# Giao hàng\n\nPhí giao hàng nội thành là {fee}.\n")
}

impl TwoShops {
    async fn open(builder: TestAppBuilder) -> Self {
        let files = tempfile::tempdir().unwrap();
        let path = |name: &str| files.path().join(name);
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("prompts"), &path("prompts"));
        for (name, text) in [
            ("knowledge/giao-hang.md", document("30.000đ")),
            ("shops/acme/knowledge/giao-hang.md", document("70.000đ")),
            ("shops/acme/prompts/system_persona_vi.md", persona("Acme chào ạ!")),
            (
                "shops/acme/shop.toml",
                format!(
                    "time_zone = \"America/New_York\"\nmail_from = \"Acme <returns@acme.example>\"\napi_keys = [\"{ACME}\"]\n"
                ),
            ),
        ] {
            std::fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            std::fs::write(path(name), text).unwrap();
        }
        let builder = builder
            .env("X_API_KEYS", format!("{DEFAULT},beta:{BETA}"))
            .env("PROMPTS_PATH", path("prompts").display())
            .env("PERSONA_PATH", path("prompts/system_persona_vi.md").display())
            .env("KNOWLEDGE_PATH", path("knowledge").display())
            .env("SHOPS_PATH", path("shops").display());
        Self { app: builder.start().await, files }
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.files.path().join(name)).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.files.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    async fn get(&self, key: &str, path: &str) -> Value {
        answer(self.request(Method::GET, key, &format!("/console/api{path}")), 200).await
    }

    fn request(&self, method: Method, key: &str, path: &str) -> RequestBuilder {
        self.app.request(method, path).header("x-api-key", key)
    }

    async fn open_conversation(&self, key: &str) -> Value {
        answer(self.request(Method::POST, key, "/conversations").json(&json!({})), 201).await
    }

    async fn greeting(&self, key: &str) -> String {
        self.open_conversation(key).await["greeting"]["text"].as_str().unwrap().to_owned()
    }

    async fn ask(&self, key: &str, text: &str) -> Events {
        let id = self.open_conversation(key).await["id"].as_str().unwrap().to_owned();
        self.ask_in(key, &id, text).await
    }

    async fn ask_in(&self, key: &str, id: &str, text: &str) -> Events {
        let request = self.request(Method::POST, key, &format!("/conversations/{id}/stream"));
        read_events(request.json(&json!({ "text": text })).send().await.unwrap()).await
    }

    /// Waits until what the console shows of the shop fulfils a condition.
    async fn until(&self, key: &str, path: &str, fulfils: impl Fn(&Value) -> bool) {
        eventually_async(path, async || fulfils(&self.get(key, path).await)).await;
    }
}

fn ids(personas: &Value) -> Vec<&str> {
    personas["personas"].as_array().unwrap().iter().map(|persona| persona["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn each_shop_answers_from_its_own_files() {
    let shops = TwoShops::open(TestApp::builder()).await;
    assert_eq!(shops.greeting(ACME).await, "Acme chào ạ!");
    assert_eq!(shops.greeting(BETA).await, shops.greeting(DEFAULT).await);
    for (key, own, other) in [(DEFAULT, "30.000đ", "70.000đ"), (ACME, "70.000đ", "30.000đ")] {
        let events = shops.ask(key, QUESTION).await;
        assert_eq!(events.first("sources")["items"][0]["file"], "giao-hang.md");
        let said = format!("{events:?}");
        assert!(said.contains(own) && !said.contains(other), "{said}");
    }
    let said = format!("{:?}", shops.ask(BETA, QUESTION).await);
    assert!(!said.contains("000đ"), "a tenant without a folder has no documents: {said}");
}

#[tokio::test]
async fn console_shows_and_edits_the_callers_shop() {
    let shops = TwoShops::open(TestApp::builder()).await;
    let personas = shops.get(ACME, "/personas").await;
    assert_eq!((ids(&personas), &personas["personas"][0]["default"]), (vec![ID], &json!(true)));
    assert!(ids(&shops.get(DEFAULT, "/personas").await).len() > 1);
    let path = format!("/personas/{ID}");
    let (own, first) = (shops.get(ACME, &path).await, shops.read("prompts/system_persona_vi.md"));
    let edit = json!({"text": persona("Acme xin chào!"), "hash": own["hash"]});
    let saved = answer(shops.request(Method::PUT, ACME, &format!("/console/api{path}")).json(&edit), 200).await;
    assert_eq!(saved["versions"].as_array().unwrap().len(), 2);
    assert_eq!(shops.read("shops/acme/prompts/system_persona_vi.md"), persona("Acme xin chào!"));
    let other = shops.get(DEFAULT, &path).await;
    assert_eq!((other["text"].as_str(), &other["versions"]), (Some(first.as_str()), &json!([])));
    for (key, title) in [(DEFAULT, "Asia/Ho_Chi_Minh"), (ACME, "America/New_York")] {
        assert_eq!(shops.get(key, "/figures").await["time_zone"], title);
        let knowledge = shops.get(key, "/knowledge").await;
        assert_eq!(knowledge["collections"][0]["documents"].as_array().unwrap().len(), 1, "{knowledge}");
    }
    for page in ["personas", "knowledge"] {
        refused(shops.request(Method::GET, BETA, &format!("/console/api/{page}")), 404, "not_found").await;
    }
    refused(shops.request(Method::GET, ACME, "/console/api/personas/returns_en"), 404, "not_found").await;
}

#[tokio::test]
async fn inherited_personas_are_not_edited() {
    let shops = TwoShops::open(TestApp::builder()).await;
    let path = shops.files.path().join("shops/acme/prompts/system_persona_vi.md");
    std::fs::remove_file(path).unwrap();
    shops.until(ACME, "/personas", |personas| ids(personas).len() > 1).await;
    let path = format!("/console/api/personas/{ID}");
    let shown = answer(shops.request(Method::GET, ACME, &path), 200).await;
    let edit = json!({"text": persona("Mới"), "hash": shown["hash"]});
    let problem = refused(shops.request(Method::PUT, ACME, &path).json(&edit), 422, "invalid_request").await;
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("this shop's prompts folder"), "{problem}");
    assert!(!detail.contains("shops/acme"), "no detail names a path: {problem}");
    assert_ne!(shops.read("prompts/system_persona_vi.md"), persona("Mới"));
}

#[tokio::test]
async fn broken_file_of_one_shop_leaves_others_fresh() {
    let shops = TwoShops::open(TestApp::builder()).await;
    shops.write("shops/acme/prompts/system_persona_vi.md", "---\nlangauges: [vi]\n---\nAi.\nGreeting: x\n");
    shops.until(ACME, "/knowledge", |knowledge| knowledge["problems"].get(0).is_some()).await;
    assert_eq!(shops.get(DEFAULT, "/knowledge").await["problems"], json!([]));
    assert_eq!(shops.greeting(ACME).await, "Acme chào ạ!", "the earlier persona stays");
    shops.write("knowledge/bao-hanh.md", &document("50.000đ"));
    let documents = |knowledge: &Value| knowledge["collections"][0]["documents"].as_array().unwrap().len();
    shops.until(DEFAULT, "/knowledge", |knowledge| documents(knowledge) == 2).await;
    shops.write("shops/acme/prompts/system_persona_vi.md", &persona("Acme trở lại!"));
    shops.until(ACME, "/knowledge", |knowledge| knowledge["problems"] == json!([])).await;
    assert_eq!(shops.greeting(ACME).await, "Acme trở lại!");
    assert_eq!(documents(&shops.get(ACME, "/knowledge").await), 1);
}

#[tokio::test]
async fn each_shop_has_its_own_vectors() {
    let ollama = ScriptedOllama::start().await;
    let builder = TestApp::builder().env("OLLAMA_HOST", ollama.url()).env("EMBED", "auto");
    let shops = TwoShops::open(builder).await;
    let is_embedded = |knowledge: &Value| knowledge["collections"][0]["embedded"] == 1;
    shops.until(DEFAULT, "/knowledge", is_embedded).await;
    shops.until(ACME, "/knowledge", is_embedded).await;
    let store = &shops.app.inner.store;
    let ids = async |tenant: &str| -> HashSet<String> {
        store.tenant(&tenant.parse().unwrap()).list_vector_ids("knowledge_dev").await.unwrap().into_iter().collect()
    };
    let (default, acme, beta) = (ids("default").await, ids("acme").await, ids("beta").await);
    assert_eq!((default.len(), acme.len(), beta.len()), (1, 1, 0));
    assert!(default.is_disjoint(&acme), "the documents differ");
    let said = format!("{:?}", shops.ask(ACME, QUESTION).await);
    assert!(said.contains("70.000đ") && !said.contains("30.000đ"), "{said}");
}

#[tokio::test]
async fn mails_use_the_texts_of_their_shop() {
    let shops = TwoShops::open(TestApp::builder()).await;
    let template = shops.read("prompts/returns/mail/return_approved.en.md");
    let own = template.replacen("Subject: ", "Subject: Acme: ", 1);
    shops.write("shops/acme/prompts/returns/mail/return_approved.en.md", &own);
    let persona = shops.read("prompts/returns_en.md").replace("Greeting: ", "Greeting: Acme! ");
    shops.write("shops/acme/prompts/returns_en.md", &persona);
    shops.until(ACME, "/personas", |personas| ids(personas).len() > 1).await;
    for (key, tenant) in [(DEFAULT, "default"), (ACME, "acme")] {
        let tenant: TenantId = tenant.parse().unwrap();
        let sample = sample::shop(&tenant, Utc::now(), shops.app.inner.config.shops.time_zone_of(&tenant));
        shops.app.inner.store.tenant(&tenant).make_sample(&sample, false).await.unwrap();
        let open = shops.request(Method::POST, key, "/conversations");
        let id = answer(open.json(&json!({"persona": "returns_en"})), 201).await["id"].as_str().unwrap().to_owned();
        for text in ["I want to return my order", "77893", "john.doe@example.com"] {
            shops.ask_in(key, &id, text).await;
        }
        assert_eq!(shops.ask_in(key, &id, "yes").await.kinds(), ["return_ticket", "follow_up"]);
    }
    let subjects = mails(&shops.app).iter().filter(|mail| mail.contains("Subject: Acme: ")).count();
    let senders = mails(&shops.app).iter().filter(|mail| mail.contains("From: Acme <returns@acme.example>")).count();
    assert_eq!((mails(&shops.app).len(), subjects, senders), (2, 1, 1));
}
