//! A model that follows a script, and the shop that it drives.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use frontdesk::domain::TenantId;
use frontdesk::domain::returns::Rma;
use regex::Regex;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::desks::returns::shop::open_driven;
use crate::support::app::{TestApp, TestAppBuilder};
use crate::support::audit;
use crate::support::ollama::{Play, ScriptedOllama};

/// What the model does when it is asked next. `{rma}`, `{ticket}`, `{refund}`, `{tracking}` and `{label}` are what tools last
/// returned.
#[derive(Clone, Debug)]
pub enum Step {
    Call(Vec<(&'static str, Value)>),
    Say(String),
    Play(Play),
}

pub struct Driven {
    pub app: TestApp,
    pub ollama: ScriptedOllama,
    script: Arc<Mutex<VecDeque<Step>>>,
    _prompts: TempDir,
}

/// A shop whose model answers by script.
pub async fn driven(builder: TestAppBuilder) -> Driven {
    driven_by(builder, ScriptedOllama::start().await).await
}

/// The same, with that model.
pub async fn driven_by(builder: TestAppBuilder, ollama: ScriptedOllama) -> Driven {
    let prompts = tempfile::tempdir().unwrap();
    let app = open_driven(builder, &ollama, prompts.path()).await;
    let script = scripted(&ollama);
    Driven { app, ollama, script, _prompts: prompts }
}

/// What the model does from now on, step by step. Asked to classify a message, it knows nothing.
pub fn scripted(ollama: &ScriptedOllama) -> Arc<Mutex<VecDeque<Step>>> {
    let script = Arc::<Mutex<VecDeque<Step>>>::default();
    let steps = Arc::clone(&script);
    ollama.otherwise(move |chat| {
        if chat.get("format").is_some() {
            return Some(Play::answer(r#"{"intent":"other","order_number":null}"#));
        }
        steps.lock().unwrap().pop_front().map(|step| step.play(chat))
    });
    script
}

impl Driven {
    /// What the model does next, after its earlier steps.
    pub fn then(&self, steps: Vec<Step>) {
        self.script.lock().unwrap().extend(steps);
    }

    /// How many steps were not asked for.
    pub fn left(&self) -> usize {
        self.script.lock().unwrap().len()
    }

    pub async fn rmas_of(&self, order: &str) -> Vec<Rma> {
        self.app.inner.store.tenant(&tenant()).list_rmas_of(&order.parse().unwrap()).await.unwrap()
    }

    /// The tool results in the last request: name and result, in order.
    pub fn results(&self) -> Vec<(String, Value)> {
        // Requests to classify a message have a format, and no tools.
        let mut chats = self.ollama.chats().into_iter().filter(|chat| chat.get("format").is_none());
        let messages = chats.next_back().unwrap()["messages"].as_array().unwrap().clone();
        let results = messages.into_iter().filter(|message| message["role"] == "tool");
        results
            .map(|message| {
                let content = message["content"].as_str().unwrap();
                (message["tool_name"].as_str().unwrap().to_owned(), serde_json::from_str(content).unwrap())
            })
            .collect()
    }

    /// What is recorded of the conversation: what happened, and what came of it.
    pub async fn audit(&self, conversation: &str) -> Vec<(String, Value)> {
        let tenant = tenant();
        let store = self.app.inner.store.tenant(&tenant);
        let rows = audit::of_conversation(&store, conversation.parse().unwrap()).await;
        rows.into_iter().map(|row| (row.what, row.after.unwrap_or_default())).collect()
    }
}

pub fn tenant() -> TenantId {
    TenantId::default()
}

impl Step {
    fn play(self, chat: &Value) -> Play {
        match self {
            Self::Call(calls) => {
                let filled: Vec<(&str, Value)> = calls
                    .into_iter()
                    .map(|(name, arguments)| (name, serde_json::from_str(&fill(&arguments.to_string(), chat)).unwrap()))
                    .collect();
                Play::calls(&filled)
            }
            Self::Say(text) => Play::answer(&fill(&text, chat)),
            Self::Play(play) => play,
        }
    }
}

/// The text with the last values from tools, or else from the known facts.
fn fill(text: &str, chat: &Value) -> String {
    let messages = chat["messages"].as_array().unwrap();
    let reply: String = messages
        .iter()
        .filter(|message| message["role"] == "tool" || message["role"] == "system")
        .map(|message| message["content"].as_str().unwrap().to_owned() + "\n")
        .collect();
    let last = |pattern: &str| {
        let found = Regex::new(pattern).unwrap().captures_iter(&reply).last().map(|found| found[1].to_owned());
        found.unwrap_or_else(|| "nothing".to_owned())
    };
    [
        ("{rma}", r#"(RMA-\d+-[0-9A-Z]{4})"#),
        ("{ticket}", r#"(TICKET-\d+-[0-9A-F]{8})"#),
        ("{refund}", r#""refund_amount":"([^"]+)""#),
        ("{tracking}", r#""tracking_number":"([^"]+)""#),
        ("{label}", r#""label_url":"([^"]+)""#),
    ]
    .into_iter()
    .filter(|(name, _)| text.contains(name))
    .fold(text.to_owned(), |text, (name, pattern)| text.replace(name, &last(pattern)))
}

pub fn say(text: &str) -> Step {
    Step::Say(text.to_owned())
}

pub fn call(name: &'static str, arguments: Value) -> Step {
    Step::Call(vec![(name, arguments)])
}

pub fn look(order: &str) -> Step {
    call("get_order_details", json!({ "order_id": order }))
}

pub fn check(order: &str, items: &[u32], reason: &str) -> Step {
    call("check_eligibility", json!({ "order_id": order, "item_ids": items, "return_reason": reason }))
}

pub fn create(order: &str, items: &[u32], reason: &str) -> Step {
    create_by("return", order, items, reason)
}

pub fn create_by(action: &str, order: &str, items: &[u32], reason: &str) -> Step {
    let arguments = json!({
        "order_id": order, "item_ids": items, "return_reason": reason, "reason_code": "APPROVED", "action": action,
    });
    call("create_rma", arguments)
}

pub fn label(order: &str) -> Step {
    call("generate_return_label", json!({ "order_id": order, "rma_number": "{rma}" }))
}

pub fn mail(order: &str, template: &str) -> Step {
    let mut arguments = json!({ "order_id": order, "template_name": template });
    if template != "return_rejected" {
        arguments["rma_number"] = json!("{rma}");
    }
    call("send_email", arguments)
}

pub fn escalate(priority: &str) -> Step {
    call("escalate_to_human", json!({ "reason": "a person should look", "priority": priority }))
}

/// The steps from an order that was looked up to the customer's answer.
pub fn whole_return(order: &str, items: &[u32], reason: &str) -> Vec<Step> {
    vec![
        check(order, items, reason),
        create(order, items, reason),
        label(order),
        mail(order, "return_approved"),
        say("Great news! I've created your return {rma}. You get {refund} back, and I've e-mailed you the label."),
    ]
}
