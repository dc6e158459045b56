//! Creates, reads and deletes conversations, and hands them over.

use chrono::{DateTime, TimeDelta, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::LockType;
use sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::Value;

use super::acceptance::{IDEMPOTENCY_HOURS, IdempotencyKey, find_key};
use super::entities::{TenantEntity, conversations, idempotency_keys};
use super::messages::insert_messages;
use super::personal::erase::{Reach, erase};
use super::personal::person::Person;
use super::{Result, Store, TenantStore, all_inserted, from_db, object, to_db, unreadable};
use crate::domain::text::fold;
use crate::domain::{
    Channel, Conversation, ConversationId, ConversationStatus, EventId, Handoff, Language, LanguageSource, Message,
    TenantId,
};

/// The result of [`TenantStore::create_conversation`].
#[derive(Debug, PartialEq)]
pub enum Creation {
    Created,
    /// The same key and body were used before, for this conversation.
    Repeated(ConversationId),
    /// The key was used before with another body.
    KeyReused,
}

impl Store {
    /// Lists the shops that have conversations.
    pub async fn list_tenants_with_conversations(&self) -> Result<Vec<TenantId>> {
        let tenants = conversations::Entity::find().select_only().column(conversations::Column::TenantId).distinct();
        let tenants: Vec<String> = tenants.into_tuple().all(&self.read).await?;
        Ok(tenants.into_iter().filter_map(|tenant| tenant.parse().ok()).collect())
    }
}

impl TenantStore<'_> {
    /// Stores a new conversation and its greeting. `scope` separates the idempotency keys of visitors; it is empty for
    /// the shop's own requests.
    pub async fn create_conversation(
        &self,
        conversation: &Conversation,
        greeting: &Message,
        scope: &str,
        idempotency: Option<&IdempotencyKey>,
    ) -> Result<Creation> {
        let transaction = self.store.begin().await?;
        if let Some(idempotency) = idempotency {
            let forgotten = conversation.created_at - TimeDelta::hours(IDEMPOTENCY_HOURS);
            idempotency_keys::Entity::delete_of(self.tenant)
                .filter(idempotency_keys::Column::Scope.eq(scope))
                .filter(idempotency_keys::Column::Key.eq(idempotency.key.as_str()))
                .filter(idempotency_keys::Column::CreatedAt.lte(forgotten))
                .exec(&transaction)
                .await?;
            // Inserted first, so that a concurrent request with the same key waits for this commit.
            let inserted = idempotency_keys::Entity::insert(idempotency.row(self.tenant, scope, greeting))
                .on_conflict_do_nothing()
                .exec_without_returning(&transaction)
                .await?;
            if !all_inserted(&inserted, 1) {
                let earlier = find_key(&transaction, self.tenant, scope, &idempotency.key).await?;
                return Ok(earlier.map_or(Creation::KeyReused, |row| repeated(&row, idempotency)));
            }
        }
        let mut row = conversation_row(conversation);
        row.visitor = Set(!scope.is_empty());
        conversations::Entity::insert(row).exec_without_returning(&transaction).await?;
        insert_messages(self.store, &transaction, &[(self.tenant, greeting)]).await?;
        transaction.commit().await?;
        Ok(Creation::Created)
    }

    /// Stores a new conversation of a session and its greeting. Returns `false` if the session has a conversation.
    pub async fn create_session(
        &self,
        conversation: &Conversation,
        greeting: &Message,
        session_id: &str,
    ) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let mut row = conversation_row(conversation);
        row.session_id = Set(Some(session_id.to_owned()));
        // A concurrent request of the same session waits for this commit.
        let inserted = conversations::Entity::insert(row)
            .on_conflict_do_nothing_on([conversations::Column::TenantId, conversations::Column::SessionId])
            .exec_without_returning(&transaction)
            .await?;
        if !all_inserted(&inserted, 1) {
            return Ok(false);
        }
        insert_messages(self.store, &transaction, &[(self.tenant, greeting)]).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Returns the conversation of a session.
    pub async fn find_session(&self, session_id: &str) -> Result<Option<Conversation>> {
        let found = self.rows::<conversations::Entity>().filter(conversations::Column::SessionId.eq(session_id));
        found.one(&self.store.read).await?.map(read_conversation).transpose()
    }

    /// Sets the conversation's user if it has none. Returns whether it is this user's now.
    pub async fn bind_user(&self, id: ConversationId, user_id: &str) -> Result<bool> {
        let transaction = self.store.begin_fenced().await?;
        let none = conversations::Column::UserId.is_null();
        let changed = conversations::Entity::update_of(self.tenant)
            .set(conversations::ActiveModel {
                user_id: Set(Some(user_id.to_owned())),
                folded_user: Set(fold(user_id)),
                ..Default::default()
            })
            .filter(conversations::Column::Id.eq(id.0))
            .filter(none)
            .exec(&transaction)
            .await?;
        transaction.commit().await?;
        if changed.rows_affected > 0 {
            return Ok(true);
        }
        let theirs = self.find_conversation(id).await?.and_then(|conversation| conversation.user_id);
        Ok(theirs.as_deref() == Some(user_id))
    }

    /// Returns the result of an earlier creation with this key, unless the key has expired.
    pub async fn find_creation(
        &self,
        scope: &str,
        idempotency: &IdempotencyKey,
        now: DateTime<Utc>,
    ) -> Result<Option<Creation>> {
        let row = find_key(&self.store.read, self.tenant, scope, &idempotency.key).await?;
        let row = row.filter(|row| row.created_at > now - TimeDelta::hours(IDEMPOTENCY_HOURS));
        Ok(row.map(|row| repeated(&row, idempotency)))
    }

    pub async fn find_conversation(&self, id: ConversationId) -> Result<Option<Conversation>> {
        let found = self.rows::<conversations::Entity>().filter(conversations::Column::Id.eq(id.0));
        found.one(&self.store.read).await?.map(read_conversation).transpose()
    }

    /// Lists at most `limit` conversations, newest first, optionally of one user and older than `after`.
    pub async fn list_conversations(
        &self,
        user_id: Option<&str>,
        after: Option<ConversationId>,
        limit: u64,
    ) -> Result<Vec<Conversation>> {
        let mut query = self.rows::<conversations::Entity>();
        if let Some(user_id) = user_id {
            query = query.filter(conversations::Column::UserId.eq(user_id));
        }
        if let Some(after) = after {
            query = query.filter(conversations::Column::Id.lt(after.0));
        }
        // Ids are UUIDv7: their order is the order of creation.
        let rows = query.order_by_desc(conversations::Column::Id).limit(limit).all(&self.store.read).await?;
        rows.into_iter().map(read_conversation).collect()
    }

    /// Applies a handoff and ends the customer's wait for a person. A handoff that does not apply to the conversation's
    /// status changes nothing. Returns the conversation afterwards, or `None` if it does not exist.
    pub async fn hand_over(
        &self,
        id: ConversationId,
        handoff: &Handoff,
        now: DateTime<Utc>,
    ) -> Result<Option<Conversation>> {
        let transaction = self.store.begin_fenced().await?;
        let mut update = conversations::Entity::update_of(self.tenant);
        if let Some(from) = handoff.from() {
            update = update.filter(conversations::Column::Status.is_in(from.iter().map(|status| status.as_str())));
        }
        let changed = update
            .set(conversations::ActiveModel {
                status: Set(handoff.status().as_str().to_owned()),
                agent: Set(handoff.agent().map(str::to_owned)),
                waiting_since: Set(None),
                last_activity_at: Set(now),
                ..Default::default()
            })
            .filter(conversations::Column::Id.eq(id.0))
            .exec_with_returning(&transaction)
            .await?;
        if !changed.is_empty() {
            self.record_act(&transaction).await?;
        }
        transaction.commit().await?;
        match changed.into_iter().next() {
            Some(row) => read_conversation(row).map(Some),
            None => self.find_conversation(id).await,
        }
    }

    /// Stores the desk's memory in the middle of a turn. Fails if another server has taken over the database.
    pub async fn save_state(&self, id: ConversationId, state: &Value) -> Result<()> {
        let transaction = self.store.begin_fenced().await?;
        conversations::Entity::update_of(self.tenant)
            .set(conversations::ActiveModel { state: Set(state.clone()), ..Default::default() })
            .filter(conversations::Column::Id.eq(id.0))
            .exec(&transaction)
            .await?;
        transaction.commit().await
    }

    /// Removes the conversation, and the customer's words from its RMAs and tickets. Returns `false` if it does not
    /// exist.
    pub async fn delete_conversation(&self, id: ConversationId) -> Result<bool> {
        self.delete_conversation_if(id, Condition::all()).await
    }

    /// Removes the conversation if it still meets the condition. Returns `false` if not.
    pub(super) async fn delete_conversation_if(&self, id: ConversationId, condition: Condition) -> Result<bool> {
        let transaction = self.store.begin().await?;
        // The lock keeps out a message that arrives at the same time.
        let found = self
            .rows::<conversations::Entity>()
            .filter(conversations::Column::Id.eq(id.0))
            .filter(condition)
            .lock(LockType::Update)
            .one(&transaction)
            .await?;
        if found.is_none() {
            return Ok(false);
        }
        let mut person = Person::of_conversations([id]);
        person.add_joined_tickets(&transaction, self.tenant).await?;
        erase(&transaction, self.tenant, &person, Reach::Words).await?;
        if self.store.enqueues_forgetting() {
            self.enqueue_forgetting(&transaction, id, Utc::now()).await?;
        }
        self.record_act(&transaction).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Returns the greeting, for a repeated creation.
    pub async fn find_greeting(&self, id: ConversationId) -> Result<Option<Message>> {
        Ok(self.list_messages(id, None, 1).await?.into_iter().find(|message| message.turn == 0))
    }
}

/// Returns the result for a request with a known key.
fn repeated(row: &idempotency_keys::Model, idempotency: &IdempotencyKey) -> Creation {
    if row.body_hash == idempotency.body_hash {
        Creation::Repeated(ConversationId(row.conversation_id))
    } else {
        Creation::KeyReused
    }
}

pub(super) fn conversation_row(conversation: &Conversation) -> conversations::ActiveModel {
    conversations::ActiveModel {
        id: Set(conversation.id.0),
        tenant_id: Set(conversation.tenant.to_string()),
        user_id: Set(conversation.user_id.clone()),
        persona: Set(conversation.persona.clone()),
        preferred_language: Set(conversation.language.to_string()),
        language_source: Set(conversation.language_source.as_str().to_owned()),
        status: Set(conversation.status.as_str().to_owned()),
        created_at: Set(conversation.created_at),
        metadata: Set(Value::Object(conversation.metadata.clone())),
        last_turn: Set(to_db(conversation.last_turn)),
        last_event_turn: Set(to_db(conversation.last_event_id.turn)),
        last_event_n: Set(to_db(conversation.last_event_id.n)),
        state: Set(conversation.state.clone()),
        agent: Set(conversation.agent.clone()),
        waiting_since: Set(conversation.waiting_since),
        last_activity_at: Set(conversation.last_activity_at),
        folded_user: Set(conversation.user_id.as_deref().map(fold).unwrap_or_default()),
        visitor: Set(false),
        session_id: Set(None),
        channel: Set(conversation.channel.map(|channel| channel.as_str().to_owned())),
    }
}

/// Returns the language of the conversation, or the default without one.
pub(super) async fn language_of(
    connection: &impl ConnectionTrait,
    conversation: Option<ConversationId>,
) -> Result<Language> {
    let Some(id) = conversation else { return Ok(Language::default()) };
    let row = conversations::Entity::find_by_id(id.0).one(connection).await?;
    Ok(row.and_then(|row| row.preferred_language.parse().ok()).unwrap_or_default())
}

fn read_channel(name: Option<&str>) -> Result<Option<Channel>> {
    let read = |name| Channel::parse(name).ok_or_else(|| unreadable("conversations", "channel"));
    name.map(read).transpose()
}

pub(super) fn read_conversation(row: conversations::Model) -> Result<Conversation> {
    let unreadable = |reason| unreadable("conversations", reason);
    Ok(Conversation {
        id: ConversationId(row.id),
        tenant: row.tenant_id.parse::<TenantId>().map_err(|_| unreadable("tenant_id"))?,
        user_id: row.user_id,
        channel: read_channel(row.channel.as_deref())?,
        persona: row.persona,
        language: row.preferred_language.parse().map_err(|_| unreadable("preferred_language"))?,
        language_source: LanguageSource::parse(&row.language_source).unwrap_or(LanguageSource::Persona),
        status: ConversationStatus::parse(&row.status).ok_or_else(|| unreadable("status"))?,
        agent: row.agent,
        waiting_since: row.waiting_since,
        last_activity_at: row.last_activity_at,
        created_at: row.created_at,
        metadata: object(row.metadata),
        last_turn: from_db(row.last_turn),
        last_event_id: EventId::new(from_db(row.last_event_turn), from_db(row.last_event_n)),
        state: row.state,
    })
}
