//! Stores events and the rows that change with them, for many turns in one commit.
//!
//! Every statement is idempotent, because a connection that fails during a commit may hide that it succeeded, and the
//! batch is then repeated. An existing row with different content is an error: clients must only see what is stored.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, QueryFilter, Value as Db};
use serde_json::Value;
use uuid::Uuid;

use super::deliveries::{NewDelivery, enqueue_deliveries};
use super::entities::{conversations, events, messages};
use super::messages::{enqueue_embedding, insert_statement};
use super::rows::{json_or_null, with_rows};
use super::settings::SERVING;
use super::shoppers::note_seen;
use super::transaction::Transaction;
use super::turns::StoredEvent;
use super::{Result, Store, StoreError, to_db};
use crate::domain::commerce::consent::MessagePurpose;
use crate::domain::{
    ConversationId, ConversationStatus, EventId, Language, LanguageSource, Message, MessageId, ShopperId, TenantId,
    Timings, TurnFigures, TurnStatus,
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
    /// The customer of a shop wrote at this time.
    Seen(ShopperId, DateTime<Utc>),
    /// The customer waits for a person, unless one has taken the conversation.
    Waiting,
    /// The turn has ended. Without `state`, the desk's memory stays unchanged.
    TurnEnded { status: TurnStatus, timings: Timings, state: Option<Value>, figures: TurnFigures },
}

/// Stores the events that are not stored yet.
const INSERT_EVENTS: &str = "\
INSERT INTO events (conversation_id, turn, n, tenant_id, body, created_at) \
SELECT * FROM (VALUES {rows}) AS new WHERE {claimed} ON CONFLICT DO NOTHING";

/// Whether this server's claim of the database still holds, as `Fence::holds` finds out: both must agree.
const CLAIMED: &str = "EXISTS (SELECT 1 FROM settings WHERE tenant_id = ? AND name = ? AND value = ?)";

/// Changes conversations. A value that is null leaves its column unchanged.
const UPDATE_CONVERSATIONS: &str = "\
UPDATE conversations SET preferred_language = COALESCE(new.column2, preferred_language), \
language_source = COALESCE(new.column3, language_source), last_event_turn = COALESCE(new.column4, last_event_turn), \
last_event_n = COALESCE(new.column5, last_event_n), last_activity_at = COALESCE(new.column6, last_activity_at), \
state = COALESCE(new.column7, state) \
FROM (VALUES {rows}) AS new WHERE id = new.column1";

/// Changes turns. A value that is null leaves its column unchanged.
const UPDATE_TURNS: &str = "\
UPDATE turns SET status = new.column3, started_at = COALESCE(new.column4, started_at), \
ended_at = COALESCE(new.column5, ended_at), timings = COALESCE(new.column6, timings), events = COALESCE(new.column7, events), \
intent = COALESCE(new.column8, intent), kind = COALESCE(new.column9, kind), \
first_text_ms = COALESCE(new.column10, first_text_ms), asked_person = COALESCE(new.column11, asked_person), \
model_failed = COALESCE(new.column12, model_failed) \
FROM (VALUES {rows}) AS new WHERE conversation_id = new.column1 AND turn = new.column2";

impl Store {
    /// Stores all entries in one transaction. May be repeated. Fails if another server has taken over the database.
    pub async fn append(&self, entries: &[Entry]) -> Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        self.in_time(self.append_entries(entries)).await
    }

    async fn append_entries(&self, entries: &[Entry]) -> Result<()> {
        let transaction = self.begin().await?;
        self.insert_events(&transaction, entries).await?;
        let new: Vec<(&TenantId, &Message)> = messages_of(entries).collect();
        insert_new_messages(&transaction, &new).await?;
        enqueue_embedding(self, &transaction, &new).await?;
        enqueue_deliveries(&transaction, &deliveries_of(entries).collect::<Vec<_>>()).await?;
        Updates::of(entries).run(&transaction).await?;
        transaction.commit().await
    }

    /// Stores the events, unless another server has claimed the database.
    async fn insert_events(&self, transaction: &Transaction, entries: &[Entry]) -> Result<()> {
        // On PostgreSQL, a new claim must wait for this transaction.
        let fence = self.fence.as_ref().filter(|_| self.is_sqlite());
        if fence.is_none() {
            self.check_fence(transaction).await?;
        }
        let claim: Option<[Db; 3]> = fence.map(|fence| [TenantId::DEFAULT.into(), SERVING.into(), fence.name().into()]);
        let sql = INSERT_EVENTS.replace("{claimed}", if claim.is_some() { CLAIMED } else { "true" });
        let rows: Vec<[Db; 6]> = entries.iter().map(event_row).collect();
        let insert = with_rows(transaction.get_database_backend(), &sql, rows, claim.into_iter().flatten());
        let inserted = transaction.execute_raw(insert).await?.rows_affected();
        if usize::try_from(inserted) == Ok(entries.len()) {
            return Ok(());
        }
        self.check_fence(transaction).await?;
        for entry in entries {
            let place = (entry.conversation.0, to_db(entry.event.id.turn), to_db(entry.event.id.n));
            let stored = events::Entity::find_by_id(place).one(transaction).await?;
            if !stored.is_some_and(|row| row.body == entry.event.body && row.tenant_id == entry.tenant.as_str()) {
                return Err(StoreError::Conflict { table: "events" });
            }
        }
        Ok(())
    }
}

fn event_row(entry: &Entry) -> [Db; 6] {
    let StoredEvent { id, body } = &entry.event;
    [
        entry.conversation.0.into(),
        to_db(id.turn).into(),
        to_db(id.n).into(),
        entry.tenant.as_str().into(),
        body.as_str().into(),
        entry.at.into(),
    ]
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
    let insert = insert_statement(connection.get_database_backend(), new, "ON CONFLICT DO NOTHING");
    let inserted = connection.execute_raw(insert).await?.rows_affected();
    if usize::try_from(inserted) == Ok(new.len()) {
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
    turns: BTreeMap<(Uuid, u32), TurnUpdate>,
    /// When each customer last wrote.
    seen: BTreeMap<Uuid, DateTime<Utc>>,
}

#[derive(Default)]
struct ConversationUpdate {
    language: Option<(Language, LanguageSource)>,
    /// Since when the customer waits for a person.
    waiting: Option<DateTime<Utc>>,
    /// The last event of the turn that ended, when it ended, and the desk's memory.
    ended: Option<(EventId, DateTime<Utc>, Option<Value>)>,
}

#[derive(Default)]
struct TurnUpdate {
    started_at: Option<DateTime<Utc>>,
    ended: Option<TurnEnd>,
}

/// How a turn ended.
struct TurnEnd {
    status: TurnStatus,
    at: DateTime<Utc>,
    timings: Value,
    events: u32,
    figures: TurnFigures,
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
        let (conversation, turn) = (entry.conversation.0, entry.event.id.turn);
        match change {
            Change::Message(_) | Change::Deliver { .. } => {}
            Change::TurnStarted => self.turns.entry((conversation, turn)).or_default().started_at = Some(entry.at),
            Change::Language(language, source) => {
                self.conversations.entry(conversation).or_default().language = Some((*language, *source));
            }
            Change::Seen(shopper, at) => {
                self.seen.insert(shopper.0, *at);
            }
            // A repeated request does not restart the wait.
            Change::Waiting => {
                self.conversations.entry(conversation).or_default().waiting.get_or_insert(entry.at);
            }
            Change::TurnEnded { status, timings, state, figures } => {
                let ended = TurnEnd {
                    status: *status,
                    at: entry.at,
                    timings: serde_json::to_value(timings).unwrap_or_default(),
                    events: entry.event.id.n,
                    figures: figures.clone(),
                };
                self.turns.entry((conversation, turn)).or_default().ended = Some(ended);
                let conversation = self.conversations.entry(conversation).or_default();
                let earlier = conversation.ended.take().and_then(|(_, _, state)| state);
                conversation.ended = Some((entry.event.id, entry.at, state.clone().or(earlier)));
            }
        }
    }

    /// Updates conversations before turns and in the order of their ids, as every transaction does, to avoid deadlocks.
    async fn run(self, connection: &impl ConnectionTrait) -> Result<()> {
        let backend = connection.get_database_backend();
        let mut rows = Vec::new();
        for (id, conversation) in self.conversations {
            if let Some(since) = conversation.waiting {
                wait_for_person(connection, id, since).await?;
            }
            if conversation.changes_row() {
                rows.push(conversation.row(backend, id));
            }
            if backend != DbBackend::Sqlite {
                update(connection, UPDATE_CONVERSATIONS, std::mem::take(&mut rows)).await?;
            }
        }
        update(connection, UPDATE_CONVERSATIONS, rows).await?;
        let turns = self.turns.into_iter().map(|(place, turn)| turn.row(backend, place));
        update(connection, UPDATE_TURNS, turns.collect()).await?;
        for (shopper, at) in self.seen {
            note_seen(connection, shopper, at).await?;
        }
        Ok(())
    }
}

/// Lets the customer wait for a person, unless one has taken the conversation.
pub(super) async fn wait_for_person(connection: &impl ConnectionTrait, id: Uuid, since: DateTime<Utc>) -> Result<()> {
    let row = conversations::ActiveModel {
        status: Set(ConversationStatus::Waiting.as_str().to_owned()),
        waiting_since: Set(Some(since)),
        ..Default::default()
    };
    let (taken, waiting) = (ConversationStatus::Taken.as_str(), ConversationStatus::Waiting.as_str());
    let is_other = conversations::Column::Status.is_not_in([taken, waiting]);
    let conversation = conversations::Entity::update_many().filter(conversations::Column::Id.eq(id));
    conversation.set(row).filter(is_other).exec(connection).await?;
    Ok(())
}

impl ConversationUpdate {
    fn changes_row(&self) -> bool {
        self.language.is_some() || self.ended.is_some()
    }

    fn row(self, backend: DbBackend, id: Uuid) -> [Db; 7] {
        let (language, source) = self.language.unzip();
        let (event, ended_at, state) =
            self.ended.map_or((None, None, None), |(id, at, state)| (Some(id), Some(at), state));
        [
            id.into(),
            language.map(|language| language.to_string()).into(),
            source.map(LanguageSource::as_str).into(),
            event.map(|id| to_db(id.turn)).into(),
            event.map(|id| to_db(id.n)).into(),
            ended_at.into(),
            json_or_null(backend, state.as_ref()),
        ]
    }
}

impl TurnUpdate {
    fn row(self, backend: DbBackend, (conversation, turn): (Uuid, u32)) -> [Db; 12] {
        let (started_at, ended) = (self.started_at, self.ended);
        let status = ended.as_ref().map_or(TurnStatus::Running, |ended| ended.status);
        let (at, events) = (ended.as_ref().map(|ended| ended.at), ended.as_ref().map(|ended| to_db(ended.events)));
        let (timings, figures) = ended.map(|ended| (ended.timings, ended.figures)).unzip();
        let asked_person = figures.as_ref().map(|figures| figures.asked_person);
        let model_failed = figures.as_ref().map(|figures| figures.model_failed);
        let TurnFigures { intent, kind, first_text_ms, .. } = figures.unwrap_or_default();
        [
            conversation.into(),
            to_db(turn).into(),
            status.as_str().into(),
            started_at.into(),
            at.into(),
            json_or_null(backend, timings.as_ref()),
            events.into(),
            intent.into(),
            kind.map(|kind| kind.as_str().to_owned()).into(),
            first_text_ms.map(to_db).into(),
            asked_person.into(),
            model_failed.into(),
        ]
    }
}

/// Runs an update of rows, in their order.
async fn update<const N: usize>(connection: &impl ConnectionTrait, sql: &str, rows: Vec<[Db; N]>) -> Result<()> {
    let backend = connection.get_database_backend();
    // PostgreSQL locks the rows of one statement in any order.
    let most = if backend == DbBackend::Sqlite { rows.len() } else { 1 };
    let mut rows = rows.into_iter();
    while rows.len() > 0 {
        let some = rows.by_ref().take(most).collect();
        connection.execute_raw(with_rows(backend, sql, some, [])).await?;
    }
    Ok(())
}
