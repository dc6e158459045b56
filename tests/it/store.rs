//! The store, on SQLite or, where `TEST_POSTGRES_URL` is set, on PostgreSQL.

mod acceptance;
mod catalog;
mod conversations;
mod inbox;
mod isolation;
mod jobs;
mod journal;
mod lock;
mod migrations;
mod orders_import;
mod personal;
mod refund_cases;
mod returns;
mod sample_shop;
mod shoppers;
mod vectors;

use std::time::Duration;

use chrono::{DateTime, Utc};
use frontdesk::domain::{
    Author, Conversation, ConversationId, ConversationStatus, EventId, Kind, LanguageSource, Message, MessageId,
    Metadata, Sender, TenantId,
};
use frontdesk::store::acceptance::{Acceptance, IdempotencyKey, NewTurn};
use frontdesk::store::conversations::Creation;
use frontdesk::store::jobs::JobCounts;
use frontdesk::store::{Store, StoreOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::database::Template;

/// Counts the jobs with these names.
pub async fn count_jobs(store: &Store, names: &[&str]) -> JobCounts {
    let counts = store.count_jobs().await.unwrap();
    names.iter().filter_map(|name| counts.get(*name)).fold(JobCounts::default(), |sum, count| JobCounts {
        waiting: sum.waiting + count.waiting,
        dead: sum.dead + count.dead,
    })
}

/// A store with a fresh database.
pub struct TestStore {
    pub store: Store,
    pub _folder: TempDir,
}

impl TestStore {
    pub async fn open() -> Self {
        static EMPTY: Template = Template::new();
        let folder = tempfile::tempdir().unwrap();
        let url = EMPTY.copy(folder.path(), async |url| drop(open(url).await)).await;
        Self { store: open(&url).await, _folder: folder }
    }
}

pub async fn open(url: &str) -> Store {
    Store::open(&options(url)).await.unwrap()
}

pub fn options(url: &str) -> StoreOptions {
    StoreOptions { url: url.to_owned(), timeout: Duration::from_secs(30), connections: 8 }
}

pub fn tenant(name: &str) -> TenantId {
    name.parse().unwrap()
}

pub fn key(key: &str, body: &str) -> IdempotencyKey {
    IdempotencyKey { key: key.to_owned(), body_hash: body.to_owned() }
}

/// Returns a conversation of the shop, created at that time, and its greeting.
pub fn conversation(tenant: &TenantId, at: DateTime<Utc>) -> (Conversation, Message) {
    let id = ConversationId::now();
    let conversation = Conversation {
        id,
        tenant: tenant.clone(),
        user_id: Some("u-1".to_owned()),
        channel: None,
        persona: "system_persona_vi".to_owned(),
        language: "vi".parse().unwrap(),
        language_source: LanguageSource::Persona,
        status: ConversationStatus::Bot,
        agent: None,
        waiting_since: None,
        created_at: at,
        last_activity_at: at,
        metadata: json!({"a": {"b": [1, 2.5, "ế", null]}}).as_object().unwrap().clone(),
        last_turn: 0,
        last_event_id: EventId::ZERO,
        state: Value::Null,
    };
    let greeting = Message {
        id: MessageId::now(),
        conversation_id: id,
        turn: 0,
        position: 0,
        sender: Sender::Assistant,
        text: "Dạ em chào quý khách".to_owned(),
        created_at: at,
        metadata: Metadata::of(Kind::Greeting),
        receipt: None,
    };
    (conversation, greeting)
}

/// Opens a conversation of that shop.
pub async fn opened(store: &Store, tenant: &TenantId) -> ConversationId {
    let (conversation, greeting) = conversation(tenant, Utc::now());
    let created = store.tenant(tenant).create_conversation(&conversation, &greeting, "", None).await.unwrap();
    assert_eq!(created, Creation::Created);
    conversation.id
}

/// A message without limits.
pub fn turn_of<'a>(conversation: ConversationId, text: &'a str, now: DateTime<Utc>) -> NewTurn<'a> {
    NewTurn {
        conversation,
        message_id: MessageId::now(),
        author: &Author::Customer,
        text,
        idempotency: None,
        inbound: None,
        now,
        waiting_max: 1000,
        per_minute: None,
        per_day: None,
        full: false,
    }
}

/// Accepts or refuses a message.
pub async fn accept(store: &Store, tenant: &TenantId, new: &NewTurn<'_>) -> Acceptance {
    store.acceptor(Duration::from_secs(30)).await.accept_all(&[(store.tenant(tenant), new)]).await.unwrap()[0].0
}

/// Accepts messages and returns the number of the last turn.
pub async fn accepted(store: &Store, tenant: &TenantId, conversation: ConversationId, turns: u32) -> u32 {
    let mut last = 0;
    for _ in 0..turns {
        let new = turn_of(conversation, "kiểm tra bảo hành ABC123", Utc::now());
        match accept(store, tenant, &new).await {
            Acceptance::Accepted { turn, .. } => last = turn,
            other => panic!("{other:?}"),
        }
    }
    last
}
