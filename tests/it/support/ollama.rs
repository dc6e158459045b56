//! A scripted language model: a real server on a real socket that speaks Ollama's protocol, plays what a test wrote,
//! and remembers what it was asked.

mod play;
mod wire;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use play::Play;

/// The server's handle. Dropping it ends the server and every connection.
pub struct ScriptedOllama {
    address: SocketAddr,
    stage: Arc<Stage>,
    task: JoinHandle<()>,
}

/// What the handle and the connections share.
#[derive(Default)]
struct Stage {
    script: Mutex<Script>,
    down: AtomicBool,
    embeds_never: AtomicBool,
    closed_early: AtomicUsize,
}

type Otherwise = Box<dyn FnMut(&Value) -> Option<Play> + Send>;

#[derive(Default)]
struct Script {
    models: Vec<String>,
    /// For chats with a `format`.
    answers: VecDeque<Play>,
    /// For those that are neither streamed nor have a `format`: where tools may be called.
    calls: VecDeque<Play>,
    /// For the others.
    replies: VecDeque<Play>,
    otherwise: Option<Otherwise>,
    asked: Vec<(String, Value)>,
}

impl ScriptedOllama {
    /// Serves on a free port of 127.0.0.1, with the models `gpt-oss:latest` and `bge-m3:latest`. A chat that nothing
    /// was scripted for is answered with a 500 that says so.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let stage = Arc::<Stage>::default();
        stage.script().models = vec!["gpt-oss:latest".to_owned(), "bge-m3:latest".to_owned()];
        let task = tokio::spawn(wire::serve(listener, Arc::clone(&stage)));
        Self { address, stage, task }
    }

    /// For `OLLAMA_HOST`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Plays this for the next streamed chat that has no play yet.
    pub fn play(&self, play: Play) {
        self.stage.script().replies.push_back(play);
    }

    /// `play(Play::reply(text))`.
    pub fn reply(&self, text: &str) {
        self.play(Play::reply(text));
    }

    /// Plays this for the next chat with a `format` that has no play yet.
    pub fn play_answer(&self, play: Play) {
        self.stage.script().answers.push_back(play);
    }

    /// Plays this for the next chat that may call tools and has no play yet.
    pub fn play_call(&self, play: Play) {
        self.stage.script().calls.push_back(play);
    }

    /// `play_answer(Play::answer(…))` with this JSON.
    pub fn classify(&self, json: &Value) {
        self.play_answer(Play::answer(&json.to_string()));
    }

    /// Decides by the request's body on what is played for chats that no play is waiting for.
    pub fn otherwise(&self, decide: impl FnMut(&Value) -> Option<Play> + Send + 'static) {
        self.stage.script().otherwise = Some(Box::new(decide));
    }

    /// The models that `/api/tags` lists from now on.
    pub fn has_models(&self, names: &[&str]) {
        self.stage.script().models = names.iter().map(|name| (*name).to_owned()).collect();
    }

    /// From now on, every new connection is closed at once (`true`), or served again.
    pub fn set_down(&self, down: bool) {
        self.stage.down.store(down, Ordering::SeqCst);
    }

    /// From now on, what is to be embedded is taken and not answered (`true`), or answered again.
    pub fn embed_never(&self, never: bool) {
        self.stage.embeds_never.store(never, Ordering::SeqCst);
    }

    /// Each request so far: its path, and its body (null if it had none).
    pub fn asked(&self) -> Vec<(String, Value)> {
        self.stage.script().asked.clone()
    }

    /// The bodies of the chats so far, in order of arrival.
    pub fn chats(&self) -> Vec<Value> {
        self.asked().into_iter().filter(|(path, _)| path == "/api/chat").map(|(_, body)| body).collect()
    }

    /// How many chats' clients left before the play was over.
    pub fn closed_early(&self) -> usize {
        self.stage.closed_early.load(Ordering::SeqCst)
    }
}

impl Drop for ScriptedOllama {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Stage {
    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().expect("no test panics while it writes the script")
    }
}

impl Script {
    /// What is to be played for a chat.
    fn next(&mut self, chat: &Value) -> Play {
        let queue = match (chat.get("format"), chat["stream"] == false) {
            (Some(_), _) => &mut self.answers,
            (None, true) => &mut self.calls,
            (None, false) => &mut self.replies,
        };
        queue
            .pop_front()
            .or_else(|| self.otherwise.as_mut()?(chat))
            .unwrap_or_else(|| Play::refuses(500, "nothing is scripted for this chat"))
    }
}
