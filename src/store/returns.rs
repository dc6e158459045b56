//! RMAs and tickets: every change in one transaction, with its record and the jobs that follow from it.
//!
//! Whatever concerns an order locks the order's row first, so that changes of one order follow each other. The
//! statuses are written by [`Step`]s alone: an illegal one cannot be.
//!
//! - [`create`]: a return, a refund or a cancellation, once for each key
//! - [`advance`]: an RMA's later steps, and its label
//! - [`escalate`]: handing over to a person; [`resolve`]: what the person decides
//! - [`overview`]: all that a conversation has to do with returns; [`snapshot`]: its rows as of one question
//! - `rows`: RMAs and tickets as they are read

use chrono::{DateTime, Utc};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder};
use serde_json::json;

use super::audit::record;
use super::entities::{orders, rmas, tickets};
use super::{StoreError, TenantStore};
use crate::domain::AuditEntry;
use crate::domain::AuditKind;
use crate::domain::Step;
use crate::domain::commerce::OrderNumber;
use crate::domain::commerce::OrderStatus;
use crate::domain::returns::{Hand, Rma, RmaId, RmaNumber, RmaStatus, Ticket};
use crate::domain::{ConversationId, TenantId};

pub mod advance;
pub mod create;
pub mod escalate;
pub mod overview;
pub mod resolve;
mod rows;
pub mod snapshot;

/// Who changes something, and where.
#[derive(Clone, Copy, Debug)]
pub struct By<'a> {
    pub hand: Hand,
    /// `desk`, `job`, or the name of a person of the shop.
    pub who: &'a str,
    /// The conversation in which it happens, if any.
    pub conversation: Option<ConversationId>,
    pub now: DateTime<Utc>,
}

impl By<'_> {
    fn entry(&self, what: &str, order: &OrderNumber, rma: Option<&RmaNumber>) -> AuditEntry {
        AuditEntry {
            kind: AuditKind::System,
            who: self.who.to_owned(),
            what: what.to_owned(),
            before: None,
            after: None,
            conversation: self.conversation,
            order: Some(order.clone()),
            rma: rma.cloned(),
            at: self.now,
        }
    }
}

impl TenantStore<'_> {
    pub async fn find_rma(&self, number: &RmaNumber) -> Result<Option<Rma>, StoreError> {
        let found = self.rmas_where(rmas::Column::Number.eq(number.as_str())).await?;
        Ok(found.into_iter().next())
    }

    /// The RMA of a job.
    pub async fn find_rma_by_id(&self, id: RmaId) -> Result<Option<Rma>, StoreError> {
        Ok(self.rmas_where(rmas::Column::Id.eq(id.0)).await?.into_iter().next())
    }

    /// The RMAs of an order, oldest first.
    pub async fn list_rmas_of(&self, order: &OrderNumber) -> Result<Vec<Rma>, StoreError> {
        self.rmas_where(rmas::Column::OrderNumber.eq(order.as_str())).await
    }

    /// The RMAs that were asked for in a conversation, oldest first.
    pub async fn list_rmas_in(&self, conversation: ConversationId) -> Result<Vec<Rma>, StoreError> {
        self.rmas_where(rmas::Column::ConversationId.eq(conversation.0)).await
    }

    async fn rmas_where(&self, which: sea_orm::sea_query::SimpleExpr) -> Result<Vec<Rma>, StoreError> {
        let found = rmas::Entity::find()
            .filter(rmas::Column::TenantId.eq(self.tenant.as_str()))
            .filter(which)
            .order_by_asc(rmas::Column::CreatedAt)
            .order_by_asc(rmas::Column::Id)
            .all(&self.store.read)
            .await?;
        rows::load_rmas(&self.store.read, found).await
    }

    /// The ticket with that id: an RMA's number or a ticket's.
    pub async fn find_ticket(&self, id: &str) -> Result<Option<Ticket>, StoreError> {
        let row = tickets::Entity::find_by_id((self.tenant.to_string(), id.to_owned())).one(&self.store.read).await?;
        row.map(rows::read_ticket).transpose()
    }

    /// The tickets of a conversation, oldest first.
    pub async fn list_tickets_in(&self, conversation: ConversationId) -> Result<Vec<Ticket>, StoreError> {
        let found = tickets::Entity::find()
            .filter(tickets::Column::TenantId.eq(self.tenant.as_str()))
            .filter(tickets::Column::ConversationId.eq(conversation.0))
            .order_by_asc(tickets::Column::CreatedAt)
            .order_by_asc(tickets::Column::Id)
            .all(&self.store.read)
            .await?;
        found.into_iter().map(rows::read_ticket).collect()
    }
}

/// Writes an order's step, and its record.
async fn write_order_step(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    number: &OrderNumber,
    step: Step<OrderStatus>,
    by: &By<'_>,
) -> Result<(), StoreError> {
    orders::Entity::update_many()
        .set(orders::ActiveModel {
            status: sea_orm::ActiveValue::Set(step.to().as_str().to_owned()),
            ..Default::default()
        })
        .filter(orders::Column::TenantId.eq(tenant.as_str()))
        .filter(orders::Column::Number.eq(number.as_str()))
        .exec(connection)
        .await?;
    let (before, after) = (json!({"status": step.from()}), json!({"status": step.to()}));
    let entry = AuditEntry { before: Some(before), after: Some(after), ..by.entry("order.status", number, None) };
    record(connection, tenant, &[entry]).await
}

/// Writes an RMA's step, and its record. `why` goes into the record.
async fn write_rma_step(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    rma: &Rma,
    step: Step<RmaStatus>,
    why: Option<&str>,
    by: &By<'_>,
) -> Result<(), StoreError> {
    rmas::Entity::update_many()
        .set(rmas::ActiveModel {
            status: sea_orm::ActiveValue::Set(step.to().as_str().to_owned()),
            updated_at: sea_orm::ActiveValue::Set(by.now),
            ..Default::default()
        })
        .filter(rmas::Column::Id.eq(rma.id.0))
        .exec(connection)
        .await?;
    let mut after = json!({"status": step.to()});
    if let Some(why) = why {
        after["why"] = why.into();
    }
    let entry = AuditEntry {
        before: Some(json!({"status": step.from()})),
        after: Some(after),
        ..by.entry("rma.status", &rma.order, Some(&rma.number))
    };
    record(connection, tenant, &[entry]).await
}
