//! The console's audit log: who did what, when and from where.
//!
//! An action that changes rows is stored in the same transaction: see [`TenantStore::noting`].

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::entities::console_audit::{ActiveModel, Column, Entity, Model};
use super::{Result, Store, TenantStore, unreadable};
use crate::domain::calendar::time;
use crate::domain::{ConsoleAct, ConsoleDeed, ConversationId, TenantId};

/// The number of entries removed in one statement.
const ROWS_AT_ONCE: u64 = 500;

/// One action at the console.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = AuditView)]
pub struct ConsoleEntry {
    pub id: Uuid,
    #[serde(serialize_with = "time")]
    pub at: DateTime<Utc>,
    /// The name given at sign-in; empty if none was given. The name of a refused sign-in is not verified.
    pub who: String,
    /// `signed_in`, `sign_in_refused`, `signed_out`, `taken`, `given_back`, `closed`, `reopened`, `answered`, `deleted`,
    /// `answer_reported`, `list_imported`, `persona_saved`, `rma_advanced`, `escalation_resolved`, `refund_decided` or
    /// `customer_tagged`.
    #[schema(value_type = String)]
    pub what: ConsoleDeed,
    /// The address that the request came from.
    pub client: Option<String>,
    /// The conversation, which may be deleted.
    pub conversation_id: Option<ConversationId>,
    /// The number or name of an RMA, a ticket, a persona or a list.
    pub subject: Option<String>,
    /// The result, such as the RMA's new state.
    pub detail: Option<String>,
}

/// Which entries to list.
#[derive(Clone, Debug, Default)]
pub struct ConsoleAuditFilter<'a> {
    /// Only actions of this person.
    pub who: Option<&'a str>,
    /// Only entries from the first time up to, but not including, the second.
    pub between: Option<(DateTime<Utc>, DateTime<Utc>)>,
    /// Only entries older than this one.
    pub after: Option<Uuid>,
}

impl<'a> TenantStore<'a> {
    /// Returns this store with a console action, which the next change stores in its transaction. A call that changes
    /// nothing does not store it.
    #[must_use]
    pub fn noting(self, act: Option<&'a ConsoleAct>) -> Self {
        Self { act, ..self }
    }

    /// Stores an action that changes nothing else in the database.
    pub async fn record_console_act(&self, act: &ConsoleAct) -> Result<()> {
        insert(self.store.writer()?, self.tenant, act).await
    }

    /// Stores the action of [`Self::noting`], if any, in the change's transaction.
    pub(super) async fn record_act(&self, connection: &impl ConnectionTrait) -> Result<()> {
        match self.act {
            Some(act) => insert(connection, self.tenant, act).await,
            None => Ok(()),
        }
    }

    /// Lists at most `limit` entries of the shop, newest first.
    pub async fn list_console_audit(&self, filter: &ConsoleAuditFilter<'_>, limit: u64) -> Result<Vec<ConsoleEntry>> {
        let mut query = self.rows::<Entity>();
        if let Some(who) = filter.who {
            query = query.filter(Column::Who.eq(who));
        }
        if let Some((from, to)) = filter.between {
            query = query.filter(Column::At.gte(from)).filter(Column::At.lt(to));
        }
        if let Some(after) = filter.after {
            query = query.filter(Column::Id.lt(after));
        }
        let rows = query.order_by_desc(Column::Id).limit(limit).all(&self.store.read).await?;
        rows.into_iter().map(read_entry).collect()
    }
}

impl Store {
    /// Removes some entries older than `before`. Returns `false` when none are left.
    pub async fn forget_console_audit(&self, before: DateTime<Utc>) -> Result<bool> {
        let old: Vec<Uuid> = Entity::find()
            .select_only()
            .column(Column::Id)
            .filter(Column::At.lt(before))
            .limit(ROWS_AT_ONCE)
            .into_tuple()
            .all(&self.read)
            .await?;
        if old.is_empty() {
            return Ok(false);
        }
        Entity::delete_many().filter(Column::Id.is_in(old)).exec(self.writer()?).await?;
        Ok(true)
    }
}

pub(super) async fn insert(connection: &impl ConnectionTrait, tenant: &TenantId, act: &ConsoleAct) -> Result<()> {
    let row = ActiveModel {
        id: Set(Uuid::now_v7()),
        tenant_id: Set(tenant.to_string()),
        who: Set(act.who.clone()),
        what: Set(act.what.as_str().to_owned()),
        client: Set(act.client.clone()),
        conversation_id: Set(act.conversation.map(|id| id.0)),
        subject: Set(act.subject.clone()),
        detail: Set(act.detail.clone()),
        at: Set(act.at),
    };
    Entity::insert(row).exec_without_returning(connection).await?;
    Ok(())
}

fn read_entry(row: Model) -> Result<ConsoleEntry> {
    let unreadable = || unreadable("console_audit", format!("what is {}", row.what));
    Ok(ConsoleEntry {
        id: row.id,
        at: row.at,
        what: ConsoleDeed::parse(&row.what).ok_or_else(unreadable)?,
        who: row.who,
        client: row.client,
        conversation_id: row.conversation_id.map(ConversationId),
        subject: row.subject,
        detail: row.detail,
    })
}
