//! The audit log. Each change stores its entry in the same transaction.

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::{ConnectionTrait, EntityTrait, QueryOrder};
use uuid::Uuid;

use super::entities::audit;
use super::{Result, TenantStore, unreadable};
use crate::domain::commerce::OrderNumber;
use crate::domain::returns::RmaNumber;
use crate::domain::{ActorKind, AuditEntry, AuditKind, ConversationId, TenantId};

/// The author of a change, with its time and conversation.
#[derive(Clone, Copy, Debug)]
pub struct Actor<'a> {
    pub kind: ActorKind,
    /// `desk`, `job`, or the name of a person of the shop.
    pub who: &'a str,
    /// The conversation in which the change happens, if any.
    pub conversation: Option<ConversationId>,
    pub now: DateTime<Utc>,
}

impl Actor<'_> {
    /// Returns an entry about an order, without further fields.
    pub(super) fn entry(&self, what: &str, order: &OrderNumber, rma: Option<&RmaNumber>) -> AuditEntry {
        AuditEntry {
            conversation: self.conversation,
            order: Some(order.clone()),
            rma: rma.cloned(),
            ..AuditEntry::system(self.who, what, self.now)
        }
    }
}

impl TenantStore<'_> {
    /// Stores an entry that no other change goes with, such as a tool call or a decision.
    pub async fn record(&self, entry: &AuditEntry) -> Result<()> {
        record(self.store.writer()?, self.tenant, std::slice::from_ref(entry)).await
    }

    /// Lists the shop's entries, oldest first.
    pub async fn list_audit(&self) -> Result<Vec<AuditEntry>> {
        let rows = self.rows::<audit::Entity>().order_by_asc(audit::Column::Id).all(&self.store.read).await?;
        rows.into_iter().map(read_entry).collect()
    }
}

pub(super) async fn record(connection: &impl ConnectionTrait, tenant: &TenantId, entries: &[AuditEntry]) -> Result<()> {
    let rows = entries.iter().map(|entry| audit::ActiveModel {
        id: Set(Uuid::now_v7()),
        tenant_id: Set(tenant.to_string()),
        kind: Set(entry.kind.as_str().to_owned()),
        who: Set(entry.who.clone()),
        what: Set(entry.what.clone()),
        before: Set(entry.before.clone()),
        after: Set(entry.after.clone()),
        conversation_id: Set(entry.conversation.map(|id| id.0)),
        order_number: Set(entry.order.as_ref().map(ToString::to_string)),
        rma_number: Set(entry.rma.as_ref().map(ToString::to_string)),
        at: Set(entry.at),
        user_id: Set(entry.account.clone()),
    });
    audit::Entity::insert_many(rows).exec_without_returning(connection).await?;
    Ok(())
}

pub(super) fn read_entry(row: audit::Model) -> Result<AuditEntry> {
    Ok(AuditEntry {
        kind: AuditKind::parse(&row.kind).ok_or_else(|| unreadable("audit", "kind"))?,
        who: row.who,
        what: row.what,
        before: row.before,
        after: row.after,
        conversation: row.conversation_id.map(ConversationId),
        order: row.order_number.map(|number| number.parse()).transpose().map_err(|error| unreadable("audit", error))?,
        rma: row.rma_number.map(|number| number.parse()).transpose().map_err(|error| unreadable("audit", error))?,
        at: row.at,
        account: row.user_id,
    })
}
