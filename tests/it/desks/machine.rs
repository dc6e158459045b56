//! The loop that drives a desk from state to state.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chrono::Utc;
use frontdesk::desks::machine::{Machine, run_until_wait, state_of};
use frontdesk::desks::{Caller, DeskError, Sink, SinkClosed, Stored, Turn};
use frontdesk::domain::{Conversation, ConversationId, Event, Kind, Message, MessageId, Metadata, Sender, TenantId};
use frontdesk::persona::Prompts;
use frontdesk::store::Store;
use frontdesk::store::journal::Change;
use futures_util::FutureExt;
use futures_util::future::{pending, ready};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::store::{TestStore, conversation, opened, tenant};

/// Asks, then ends. The state counts its messages.
struct Talker;

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Said(u32);

impl Machine for Talker {
    type State = Said;
    type Input = u32;
    type Effect = (&'static str, &'static str);

    fn advance(state: Said, more: u32) -> (Said, Vec<Self::Effect>) {
        let state = Said(state.0 + more);
        let effects = match state.0 {
            0 => vec![("order_prompt", "which order?")],
            1 => vec![("follow_up", "anything else?")],
            _ => vec![],
        };
        (state, effects)
    }

    async fn perform(&self, turn: &mut Turn, _: &Said, (kind, text): Self::Effect) -> Result<Option<u32>, DeskError> {
        turn.say(Kind::desk(kind), text).await?;
        Ok(Some(1))
    }
}

/// Notes, of every message that is handed over, whether its end waits until it is stored, and the state that is stored by
/// then.
#[derive(Clone)]
struct Watcher {
    store: Store,
    tenant: TenantId,
    conversation: ConversationId,
    seen: Arc<Mutex<Vec<(bool, Value)>>>,
}

impl Watcher {
    async fn look(&self, waits: bool, changes: &[Change]) {
        if changes.iter().any(|change| matches!(change, Change::Message(_))) {
            let stored = self.store.tenant(&self.tenant).find_conversation(self.conversation).await.unwrap().unwrap();
            self.seen.lock().unwrap().push((waits, stored.state));
        }
    }
}

#[async_trait]
impl Sink for Watcher {
    async fn emit(&mut self, _: Event, changes: Vec<Change>) -> Result<(), SinkClosed> {
        self.look(false, &changes).await;
        Ok(())
    }

    async fn emit_tracked(&mut self, _: Event, changes: Vec<Change>) -> Result<Stored, SinkClosed> {
        self.look(true, &changes).await;
        Ok(ready(Ok(())).boxed())
    }
}

/// A journal that takes everything and never gets to its commit.
#[derive(Clone, Default)]
struct Stuck(Arc<Mutex<Vec<Event>>>);

#[async_trait]
impl Sink for Stuck {
    async fn emit(&mut self, event: Event, _: Vec<Change>) -> Result<(), SinkClosed> {
        self.0.lock().unwrap().push(event);
        Ok(())
    }

    async fn emit_tracked(&mut self, event: Event, _: Vec<Change>) -> Result<Stored, SinkClosed> {
        self.0.lock().unwrap().push(event);
        Ok(pending().boxed())
    }
}

fn turn(conversation: Conversation, sink: impl Sink + 'static) -> Turn {
    let message = Message {
        id: MessageId::now(),
        conversation_id: conversation.id,
        turn: 1,
        position: 0,
        sender: Sender::User,
        text: "hi".to_owned(),
        created_at: Utc::now(),
        metadata: Metadata::default(),
        receipt: None,
    };
    let prompts = Prompts::load("prompts".as_ref(), "prompts/returns_en.md".as_ref()).unwrap();
    Turn::new(conversation, message, vec![], prompts.default_persona(), Caller::default(), Box::new(sink))
}

#[tokio::test]
async fn message_is_stored_before_its_state() {
    let TestStore { store, _folder } = TestStore::open().await;
    let shop = tenant("acme");
    let id = opened(&store, &shop).await;
    let conversation = store.tenant(&shop).find_conversation(id).await.unwrap().unwrap();
    let seen = Arc::default();
    let sink = Watcher { store: store.clone(), tenant: shop.clone(), conversation: id, seen: Arc::clone(&seen) };
    let mut turn = turn(conversation, sink);
    run_until_wait(&Talker, &mut turn, &store, Talker::advance(Said::default(), 0)).await.unwrap();
    let seen: Vec<(bool, Value)> = std::mem::take(&mut *seen.lock().unwrap());
    assert_eq!(seen, [(true, 0.into()), (true, 1.into())], "each is waited for, and the state says nothing of it yet");
    let stored = store.tenant(&shop).find_conversation(id).await.unwrap().unwrap();
    assert_eq!(stored.state, Value::from(2));
}

#[tokio::test]
async fn turn_cancelled_while_storing_ends_message_once() {
    let (conversation, _) = conversation(&tenant("acme"), Utc::now());
    let told = Stuck::default();
    let mut turn = turn(conversation, told.clone());
    turn.stores_at_once = true;
    assert!(turn.say(Kind::desk("order_prompt"), "which order?").now_or_never().is_none(), "it waits for the commit");
    turn.cut_message(frontdesk::domain::TurnStatus::Cancelled).await.unwrap();
    let told = told.0.lock().unwrap();
    assert_eq!(told.iter().filter(|event| matches!(event, Event::MessageEnd { .. })).count(), 1, "{told:?}");
}

#[tokio::test]
async fn unreadable_state_keeps_its_meta() {
    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Notes {
        meta: u32,
        number: u32,
    }
    let (conversation, _) = conversation(&tenant("acme"), Utc::now());
    let mut turn = turn(conversation, Stuck(Arc::default()));
    for (stored, expected) in [
        (serde_json::json!({"meta": 7, "number": 8}), Notes { meta: 7, number: 8 }),
        (serde_json::json!({"meta": 7, "number": "eight"}), Notes { meta: 7, number: 0 }),
        (serde_json::json!({"meta": "seven", "number": 8}), Notes::default()),
        (Value::Null, Notes::default()),
    ] {
        turn.state = stored;
        assert_eq!(state_of::<Notes>(&turn), expected);
    }
}
