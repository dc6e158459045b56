//! Stores events and the rows that change with them, for many turns in one commit.
//!
//! Every statement is idempotent, because a connection that fails during a commit may hide that it succeeded, and the
//! batch is then repeated. An existing row with different content is an error: clients must only see what is stored.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use serde_json::Value;
use uuid::Uuid;

use super::deliveries::{NewDelivery, enqueue_deliveries};
use super::entities::{conversations, events, messages, turns};
use super::messages::{enqueue_embedding, message_row};
use super::turns::StoredEvent;
use super::{Result, Store, StoreError, all_inserted, to_db};
use crate::domain::commerce::consent::MessagePurpose;
use crate::domain::{
    ConversationId, ConversationStatus, Language, LanguageSource, Message, MessageId, TenantId, Timings, TurnFigures,
    TurnStatus,
};

/// An event and the rows that change with it, stored together.
#[derive(Clone, Debug)]
pub struct Entry {
    pub tenant: TenantId,
    pub conversation: ConversationId,
    pub event: StoredEvent,
    pub at: DateTime<Utc>,
    pub changes: Vec<Change>,
}

/// A change that is stored together with an event.
#[derive(Clone, Debug)]
pub enum Change {
    /// The turn has started.
    TurnStarted,
    /// An assistant message is complete.
    Message(Message),
    /// The message is delivered over the conversation's channel.
    Deliver { message: MessageId, position: u32 },
    /// The conversation's language has changed.
    Language(Language, LanguageSource),
    /// The customer waits for a person, unless one has taken the conversation.
    Waiting,
    /// The turn has ended. Without `state`, the desk's memory stays unchanged.
    TurnEnded { status: TurnStatus, timings: Timings, state: Option<Value>, figures: TurnFigures },
}

impl Store {
    /// Stores all entries in one transaction. Fails if another server has taken over the database.
    pub async fn append(&self, entries: &[Entry]) -> Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let transaction = self.begin_fenced().await?;
        insert_events(&transaction, entries).await?;
        let new: Vec<(&TenantId, &Message)> = messages_of(entries).collect();
        insert_new_messages(&transaction, &new).await?;
        enqueue_embedding(self, &transaction, &new).await?;
        enqueue_deliveries(&transaction, &deliveries_of(entries).collect::<Vec<_>>()).await?;
        Updates::of(entries).run(&transaction).await?;
        transaction.commit().await?;
        Ok(())
    }
}

async fn insert_events(connection: &impl ConnectionTrait, entries: &[Entry]) -> Result<()> {
    let rows = entries.iter().map(|entry| events::ActiveModel {
        conversation_id: Set(entry.conversation.0),
        turn: Set(to_db(entry.event.id.turn)),
        n: Set(to_db(entry.event.id.n)),
        tenant_id: Set(entry.tenant.to_string()),
        body: Set(entry.event.body.clone()),
        created_at: Set(entry.at),
    });
    let inserted =
        events::Entity::insert_many(rows).on_conflict_do_nothing().exec_without_returning(connection).await?;
    if all_inserted(&inserted, entries.len()) {
        return Ok(());
    }
    for entry in entries {
        let place = (entry.conversation.0, to_db(entry.event.id.turn), to_db(entry.event.id.n));
        let stored = events::Entity::find_by_id(place).one(connection).await?;
        if !stored.is_some_and(|row| row.body == entry.event.body && row.tenant_id == entry.tenant.as_str()) {
            return Err(StoreError::Conflict { table: "events" });
        }
    }
    Ok(())
}

/// Returns the messages of the entries, each with its shop.
fn messages_of(entries: &[Entry]) -> impl Iterator<Item = (&TenantId, &Message)> {
    entries.iter().flat_map(|entry| {
        entry.changes.iter().filter_map(move |change| match change {
            Change::Message(message) => Some((&entry.tenant, message)),
            _ => None,
        })
    })
}

/// Returns the deliveries of the entries.
fn deliveries_of(entries: &[Entry]) -> impl Iterator<Item = NewDelivery<'_>> {
    entries.iter().flat_map(|entry| {
        entry.changes.iter().filter_map(move |change| match change {
            Change::Deliver { message, position } => Some(NewDelivery {
                tenant: &entry.tenant,
                message: *message,
                conversation: entry.conversation,
                turn: entry.event.id.turn,
                position: *position,
                purpose: MessagePurpose::Reply,
                now: entry.at,
            }),
            _ => None,
        })
    })
}

/// Inserts the messages that are not stored yet.
async fn insert_new_messages(connection: &impl ConnectionTrait, new: &[(&TenantId, &Message)]) -> Result<()> {
    if new.is_empty() {
        return Ok(());
    }
    let rows = new.iter().map(|(tenant, message)| message_row(tenant, message));
    let inserted =
        messages::Entity::insert_many(rows).on_conflict_do_nothing().exec_without_returning(connection).await?;
    if all_inserted(&inserted, new.len()) {
        return Ok(());
    }
    let texts: HashMap<Uuid, &String> = new.iter().map(|(_, message)| (message.id.0, &message.text)).collect();
    let ids = texts.keys().copied();
    let stored = messages::Entity::find().filter(messages::Column::Id.is_in(ids)).all(connection).await?;
    let same = stored.iter().filter(|row| texts.get(&row.id).copied() == Some(&row.text)).count();
    if same == texts.len() { Ok(()) } else { Err(StoreError::Conflict { table: "messages" }) }
}

/// The updates of all entries, one for each row.
#[derive(Default)]
struct Updates {
    conversations: BTreeMap<Uuid, ConversationUpdate>,
    turns: BTreeMap<(Uuid, u32), turns::ActiveModel>,
}

#[derive(Default)]
struct ConversationUpdate {
    row: Option<conversations::ActiveModel>,
    /// Since when the customer waits for a person.
    waiting: Option<DateTime<Utc>>,
}

impl Updates {
    fn of(entries: &[Entry]) -> Self {
        let mut updates = Self::default();
        for entry in entries {
            entry.changes.iter().for_each(|change| updates.add(entry, change));
        }
        updates
    }

    fn add(&mut self, entry: &Entry, change: &Change) {
        let (id, number) = (entry.conversation.0, entry.event.id.turn);
        match change {
            Change::Message(_) | Change::Deliver { .. } => {}
            Change::TurnStarted => {
                let turn = self.turns.entry((id, number)).or_default();
                turn.status = Set(TurnStatus::Running.as_str().to_owned());
                turn.started_at = Set(Some(entry.at));
            }
            Change::Language(language, source) => {
                let row = self.conversations.entry(id).or_default().row.get_or_insert_default();
                row.preferred_language = Set(language.to_string());
                row.language_source = Set(source.as_str().to_owned());
            }
            // A repeated request does not restart the wait.
            Change::Waiting => drop(self.conversations.entry(id).or_default().waiting.get_or_insert(entry.at)),
            Change::TurnEnded { status, timings, state, figures } => {
                let turn = self.turns.entry((id, number)).or_default();
                turn.status = Set(status.as_str().to_owned());
                turn.ended_at = Set(Some(entry.at));
                turn.timings = Set(serde_json::to_value(timings).unwrap_or_default());
                turn.events = Set(to_db(entry.event.id.n));
                turn.intent = Set(figures.intent.clone());
                turn.kind = Set(figures.kind.map(|kind| kind.as_str().to_owned()));
                turn.first_text_ms = Set(figures.first_text_ms.map(to_db));
                turn.asked_person = Set(figures.asked_person);
                turn.model_failed = Set(figures.model_failed);
                let row = self.conversations.entry(id).or_default().row.get_or_insert_default();
                row.last_event_turn = Set(to_db(number));
                row.last_event_n = Set(to_db(entry.event.id.n));
                row.last_activity_at = Set(entry.at);
                if let Some(state) = state {
                    row.state = Set(state.clone());
                }
            }
        }
    }

    /// Updates conversations before turns and in the order of their ids, as every transaction does, to avoid deadlocks.
    async fn run(self, connection: &impl ConnectionTrait) -> Result<()> {
        for (id, ConversationUpdate { row, waiting }) in self.conversations {
            let conversation = || conversations::Entity::update_many().filter(conversations::Column::Id.eq(id));
            if let Some(since) = waiting {
                let row = conversations::ActiveModel {
                    status: Set(ConversationStatus::Waiting.as_str().to_owned()),
                    waiting_since: Set(Some(since)),
                    ..Default::default()
                };
                let (taken, waiting) = (ConversationStatus::Taken.as_str(), ConversationStatus::Waiting.as_str());
                let status = conversations::Column::Status;
                conversation().set(row).filter(status.is_not_in([taken, waiting])).exec(connection).await?;
            }
            if let Some(row) = row {
                conversation().set(row).exec(connection).await?;
            }
        }
        for ((id, number), row) in self.turns {
            turns::Entity::update_many()
                .set(row)
                .filter(turns::Column::ConversationId.eq(id))
                .filter(turns::Column::Turn.eq(to_db(number)))
                .exec(connection)
                .await?;
        }
        Ok(())
    }
}
