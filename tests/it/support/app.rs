//! A real server on a free port, with a real database, for the tests that drive it over HTTP.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use frontdesk::app::App;
use frontdesk::cli::lists::{ImportOptions, ListArgs};
use frontdesk::cli::upsert_warranty;
use frontdesk::config::{Config, Env};
use frontdesk::desks::{DeskFactory, DeskRegistry, Shop};
use frontdesk::domain::TenantId;
use frontdesk::store::{Store, StoreOptions};
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::database::Template;
use super::ollama::ScriptedOllama;
use super::sse::{Events, read_events};

/// What the shop of the tests has on its warranty list.
const WARRANTIES: &str = "serial,product_name,warranty_end_date\n\
    ABC123,Laptop Dell,2024-12-31\n\
    XYZ789,Mouse Logitech,30/06/2025\n\
    FUT-2099,Bàn phím Keychron,05/01/2099\n\
    LG27-0001,\"Màn hình LG, 27 inch\",2098-02-03\n";

/// The deadlines within which a stand-in, the database or the test itself must answer, in seconds. They are long by default: a busy
/// machine is no outage. A test in which something must be late sets a short one.
const LONG_SECONDS: [&str; 21] = [
    "AGENT_CALL_SECONDS",
    "AGENT_DEADLINE_SECONDS",
    "CHAT_WAIT_SECONDS",
    "CHROMA_TIMEOUT_SECONDS",
    "CONSOLE_CSV_SECONDS",
    "EMBED_TIMEOUT_SECONDS",
    "LLM_BETWEEN_TOKENS_SECONDS",
    "LLM_CONNECT_SECONDS",
    "LLM_FIRST_TOKEN_SECONDS",
    "MAIL_WAIT_SECONDS",
    "MESSAGE_LOCK_SECONDS",
    "PAYMENT_CONNECT_SECONDS",
    "PAYMENT_TIMEOUT_SECONDS",
    "REQUEST_BODY_SECONDS",
    "REQUEST_HEAD_SECONDS",
    "REQUEST_STORE_TIMEOUT_SECONDS",
    "SMTP_TIMEOUT_SECONDS",
    "SSE_STALL_SECONDS",
    "STK_WAIT_SECONDS",
    "STORE_TIMEOUT_SECONDS",
    "TWILIO_TIMEOUT_SECONDS",
];
/// Such deadlines in milliseconds.
const LONG_MS: [&str; 4] = ["EMBED_QUERY_TIMEOUT_MS", "INTENT_TIMEOUT_MS", "SOCIAL_TIMEOUT_MS", "WORDING_TIMEOUT_MS"];
const LONG: Duration = super::LIMIT;

/// A running server. It ends when dropped.
pub struct TestApp {
    pub url: String,
    pub client: Client,
    pub database_url: String,
    /// The server itself, for what no client can do.
    pub inner: Arc<App>,
    folder: TempDir,
    shutdown: CancellationToken,
    server: Option<JoinHandle<()>>,
}

/// How the server is to be started.
pub struct TestAppBuilder {
    variables: Vec<(String, String)>,
    folder: Option<TempDir>,
    database_url: Option<String>,
    desks: DeskRegistry,
    every_desk: bool,
}

impl TestApp {
    /// Without a language model, without keys, with the repository's own prompts and documents. Of its personas only those
    /// of one desk, the default persona's.
    pub fn builder() -> TestAppBuilder {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let desks = DeskRegistry::built_in();
        let builder =
            TestAppBuilder { variables: Vec::new(), folder: None, database_url: None, desks, every_desk: false };
        let builder = LONG_SECONDS.iter().fold(builder, |builder, name| builder.env(name, LONG.as_secs()));
        let builder = LONG_MS.iter().fold(builder, |builder, name| builder.env(name, LONG.as_millis()));
        builder
            .env("LLM", "offline")
            // Which of two searches answers must not depend on how far the vectors are.
            .env("EMBED", "off")
            .env("PROMPTS_PATH", root.join("prompts").display())
            .env("PERSONA_PATH", root.join("prompts/system_persona_vi.md").display())
            .env("KNOWLEDGE_PATH", root.join("knowledge").display())
            .env("TURNS_PER_MINUTE", 0)
            .env("RATE_LIMIT_PER_SECOND", 0)
    }

    pub async fn start() -> Self {
        Self::builder().start().await
    }

    /// Without a key.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.url))
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        self.request(Method::GET, path)
    }

    pub fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.request(Method::POST, path).json(body)
    }

    /// Opens a conversation and gives its id.
    pub async fn open(&self, body: &Value) -> String {
        let response = self.post("/conversations", body).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::CREATED);
        let body: Value = response.json().await.unwrap();
        body["id"].as_str().unwrap().to_owned()
    }

    /// Says something and gives the turn's whole event stream.
    pub async fn ask(&self, conversation: &str, text: &str) -> Events {
        let path = format!("/conversations/{conversation}/stream");
        let response = self.post(&path, &json!({ "text": text })).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        read_events(response).await
    }

    /// Opens a conversation and says one thing in it.
    pub async fn ask_once(&self, text: &str) -> Events {
        let conversation = self.open(&json!({})).await;
        self.ask(&conversation, text).await
    }

    /// The conversation's messages, all of them.
    pub async fn history(&self, conversation: &str) -> Vec<Value> {
        let path = format!("/conversations/{conversation}/history?limit=200");
        let body: Value = self.get(&path).send().await.unwrap().json().await.unwrap();
        body["messages"].as_array().unwrap().clone()
    }

    /// Where the server's own files are.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Tells the server to end.
    pub fn begin_shutdown(&self) {
        self.shutdown.cancel();
    }

    /// Tells the server to end, waits for it, and gives back what a next one can start on, with every desk.
    pub async fn stop(mut self) -> TestAppBuilder {
        self.shutdown.cancel();
        if let Some(server) = self.server.take() {
            server.await.unwrap();
        }
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap());
        let database_url = self.database_url.clone();
        TestAppBuilder { folder: Some(folder), database_url: Some(database_url), every_desk: true, ..Self::builder() }
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        self.shutdown.cancel();
        if let Some(server) = self.server.take() {
            server.abort();
        }
    }
}

impl TestAppBuilder {
    /// Sets a variable of the server's environment; the last one wins.
    pub fn env(mut self, name: &str, value: impl ToString) -> Self {
        self.variables.push((name.to_owned(), value.to_string()));
        self
    }

    /// With another desk.
    pub fn desk(mut self, factory: impl DeskFactory + 'static) -> Self {
        self.desks = self.desks.with(factory);
        self
    }

    /// With the personas of every desk.
    pub fn every_desk(mut self) -> Self {
        self.every_desk = true;
        self
    }

    /// With this language model.
    pub fn ollama(self, ollama: &ScriptedOllama) -> Self {
        self.env("LLM", "auto").env("OLLAMA_HOST", ollama.url())
    }

    /// On the database of another server.
    pub fn beside(mut self, other: &TestApp) -> Self {
        self.database_url = Some(other.database_url.clone());
        self
    }

    pub async fn start(mut self) -> TestApp {
        let folder = self.folder.take().unwrap_or_else(|| tempfile::tempdir().unwrap());
        if !self.every_desk {
            self = self.keep_one_desk(folder.path());
        }
        let database_url = match self.database_url {
            Some(url) => url,
            None => {
                static WITH_WARRANTIES: Template = Template::new();
                WITH_WARRANTIES.copy(folder.path(), import_warranties).await
            }
        };
        let mails = folder.path().join("outbox").display().to_string();
        let own = [
            ("BIND_ADDR", "127.0.0.1:0".to_owned()),
            ("DATABASE_URL", database_url.clone()),
            ("MAIL_OUTBOX_PATH", mails),
        ];
        let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
        let mut config = Config::read(Env::of(own.chain(self.variables))).unwrap();
        config.llm.probe_timeout = LONG;
        let store = Store::open(&StoreOptions {
            url: database_url.clone(),
            timeout: config.store.timeout,
            connections: config.store.connections,
        })
        .await
        .unwrap();
        let app = App::start_with(self.desks, config, store).await.unwrap();
        keep_parsed(&app);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shutdown = CancellationToken::new();
        let server = tokio::spawn(frontdesk::http::serve(app.clone(), listener, shutdown.clone().cancelled_owned()));
        // Proxies of the machine that runs the tests have no part in them.
        let client = Client::builder().no_proxy().build().unwrap();
        TestApp { url, client, database_url, inner: app, folder, shutdown, server: Some(server) }
    }

    /// Leaves the other desks' personas out of the repository's prompts: reading their rules takes half of a debug build's
    /// start.
    fn keep_one_desk(self, folder: &Path) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("prompts");
        let setting = |name| self.variables.iter().rfind(|(known, _)| known == name).map(|(_, value)| Path::new(value));
        let persona = setting("PERSONA_PATH").and_then(|path| path.strip_prefix(&root).ok()?.to_str());
        let Some(persona) = persona.filter(|_| setting("PROMPTS_PATH") == Some(&root)) else { return self };
        let desk = persona.rsplit_once('_').map_or(persona, |(desk, _)| desk).to_owned();
        let prompts = folder.join("prompts");
        std::fs::create_dir(&prompts).unwrap();
        for entry in std::fs::read_dir(root).unwrap().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            if !name.ends_with(".md") || name.starts_with(&desk) {
                std::os::unix::fs::symlink(entry.path(), prompts.join(name)).unwrap();
            }
        }
        let persona = prompts.join(persona).display().to_string();
        self.env("PROMPTS_PATH", prompts.display()).env("PERSONA_PATH", persona)
    }
}

/// Keeps the first shop of each set of personas, so that later servers share what it parsed and indexed.
fn keep_parsed(app: &App) {
    static KEPT: Mutex<BTreeMap<Vec<String>, Arc<Shop>>> = Mutex::new(BTreeMap::new());
    let shop = app.shops.get(&TenantId::default());
    let personas = shop.prompts().personas().map(|persona| persona.id.clone()).collect();
    KEPT.lock().unwrap().entry(personas).or_insert(shop);
}

async fn import_warranties(database_url: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("warranty.csv");
    std::fs::write(&file, WARRANTIES).unwrap();
    let report = upsert_warranty::import(&upsert_warranty::Args {
        list: ListArgs::new(file, TenantId::default(), database_url),
        options: ImportOptions::default(),
    })
    .await;
    report.unwrap();
}
