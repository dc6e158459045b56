//! Removes old rows: events, messages, idempotency keys, counts of failed attempts, empty conversations.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use sea_orm::prelude::Expr;
use sea_orm::sea_query::ExprTrait;
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use super::acceptance::IDEMPOTENCY_HOURS;
use super::entities::{conversations, deliveries, events, idempotency_keys, messages, order_misses, turns};
use super::jobs::{FORGET_MESSAGE, NewJob, enqueue};
use super::vectors::delete_vectors_of_messages;
use super::{Result, Store};
use crate::domain::{ConversationId, ConversationStatus, TenantId};

/// The number of turns whose events are removed in one transaction. Other writers wait for it, so it must be short.
const TURNS_AT_ONCE: u64 = 200;
/// The number of rows of other tables removed in one statement.
const ROWS_AT_ONCE: u64 = 500;

impl Store {
    /// Removes the events of some turns that ended before `before`, oldest first, and keeps the turns' rows. Returns `false`
    /// when none are left.
    pub async fn forget_events(&self, before: DateTime<Utc>) -> Result<bool> {
        let old = turns::Entity::find()
            .filter(turns::Column::EventsKept.eq(true))
            .filter(turns::Column::EndedAt.lt(before))
            .order_by_asc(turns::Column::EndedAt)
            .limit(TURNS_AT_ONCE)
            .all(&self.read)
            .await?;
        if old.is_empty() {
            return Ok(false);
        }
        let transaction = self.begin().await?;
        for turn in &old {
            // In the same transaction: a reader that finds no events finds the mark.
            turns::Entity::update_many()
                .col_expr(turns::Column::EventsKept, Expr::value(false))
                .filter(turns::Column::ConversationId.eq(turn.conversation_id))
                .filter(turns::Column::Turn.eq(turn.turn))
                .exec(&transaction)
                .await?;
            events::Entity::delete_many()
                .filter(events::Column::ConversationId.eq(turn.conversation_id))
                .filter(events::Column::Turn.eq(turn.turn))
                .exec(&transaction)
                .await?;
        }
        transaction.commit().await?;
        Ok(true)
    }

    /// Removes expired idempotency keys.
    pub async fn forget_idempotency_keys(&self, now: DateTime<Utc>) -> Result<()> {
        let before = now - TimeDelta::hours(IDEMPOTENCY_HOURS);
        idempotency_keys::Entity::delete_many()
            .filter(idempotency_keys::Column::CreatedAt.lte(before))
            .exec(self.writer()?)
            .await?;
        Ok(())
    }

    /// Removes expired counts of failed attempts: not locked, and unchanged for `forgotten_after`.
    pub async fn forget_misses(&self, now: DateTime<Utc>, forgotten_after: TimeDelta) -> Result<()> {
        order_misses::Entity::delete_many()
            .filter(order_misses::Column::LastAt.lte(now - forgotten_after))
            .filter(order_misses::Column::LockedUntil.is_null().or(order_misses::Column::LockedUntil.lte(now)))
            .exec(self.writer()?)
            .await?;
        Ok(())
    }

    /// Removes some conversations that a visitor opened before `before` and never wrote in. Returns them; none when none are
    /// left.
    pub async fn forget_empty_conversations(&self, before: DateTime<Utc>) -> Result<Vec<(TenantId, ConversationId)>> {
        // The first part must match the condition of the index.
        let empty = Condition::all()
            .add(Expr::cust("(visitor AND last_turn = 0)"))
            .add(conversations::Column::Status.eq(ConversationStatus::Bot.as_str()))
            .add(conversations::Column::CreatedAt.lt(before));
        let found: Vec<(Uuid, String)> = conversations::Entity::find()
            .select_only()
            .columns([conversations::Column::Id, conversations::Column::TenantId])
            .filter(empty.clone())
            .limit(TURNS_AT_ONCE)
            .into_tuple()
            .all(&self.read)
            .await?;
        let mut removed = Vec::new();
        for (id, tenant) in found {
            let (Ok(tenant), id) = (tenant.parse::<TenantId>(), ConversationId(id)) else { continue };
            if self.tenant(&tenant).delete_conversation_if(id, empty.clone()).await? {
                removed.push((tenant, id));
            }
        }
        Ok(removed)
    }

    /// Removes some messages older than `before`, with their vectors. Returns `false` when none are left.
    pub async fn forget_messages(&self, before: DateTime<Utc>) -> Result<bool> {
        let which = messages::Entity::find().filter(messages::Column::CreatedAt.lt(before)).limit(ROWS_AT_ONCE);
        let old = self.list_message_ids(which).await?;
        let now = Utc::now();
        let forget = old.iter().map(|(subject, conversation, tenant)| {
            NewJob::new(FORGET_MESSAGE, subject.0, tenant, now).in_conversation(*conversation)
        });
        let forget: Vec<NewJob<'_>> = forget.collect();
        let mut by_tenant: BTreeMap<&TenantId, Vec<(Uuid, ConversationId)>> = BTreeMap::new();
        for (id, conversation, tenant) in &old {
            by_tenant.entry(tenant).or_default().push((id.0, *conversation));
        }
        let transaction = self.begin().await?;
        for (tenant, messages) in &by_tenant {
            delete_vectors_of_messages(&transaction, tenant, messages).await?;
        }
        let ids = old.iter().map(|(id, _, _)| id.0);
        messages::Entity::delete_many().filter(messages::Column::Id.is_in(ids.clone())).exec(&transaction).await?;
        let delivered = deliveries::Column::MessageId.is_in(ids);
        deliveries::Entity::delete_many().filter(delivered).exec(&transaction).await?;
        if self.enqueues_forgetting() {
            enqueue(&transaction, &forget).await?;
        }
        transaction.commit().await?;
        Ok(!old.is_empty())
    }
}
