//! RMAs and tickets. Every change is one transaction, with its audit entries and the jobs that follow from it.
//!
//! Every change that concerns an order locks the order's row first. Statuses are written only by [`StatusChange`]s, so they cannot
//! become invalid.
//!
//! - [`create`]: returns, refunds and cancellations, once per key
//! - [`advance`]: the later steps of an RMA, and its label
//! - [`escalate`]: tickets that a person decides on; [`resolve`]: the person's decision
//! - [`overview`]: the returns of a conversation; [`snapshot`]: its rows as of one question
//! - `rows`: converts rows to RMAs and tickets

use chrono::{DateTime, Utc};
use sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::json;

use super::audit::{Actor, record};
use super::entities::{TenantEntity, orders, rmas, tickets};
use super::jobs::{NewJob, subject_of};
use super::{Result, Store, TenantStore, unreadable};
use crate::domain::commerce::{OrderNumber, OrderStatus};
use crate::domain::returns::{Notice, Rma, RmaId, RmaNumber, RmaStatus, Ticket, TicketKind};
use crate::domain::{AuditEntry, ConversationId, StatusChange, TenantId};

pub mod advance;
pub mod create;
mod details;
pub mod escalate;
mod notify;
pub mod overview;
pub mod resolve;
pub(super) mod rows;
pub mod snapshot;

use rows::list_rmas;

/// Issues the label of an RMA; the subject is the RMA's id.
pub const ISSUE_LABEL: &str = "issue_label";
/// Announces a person's decision in the chat; the payload is the [`Notice`] and the subject is its hash.
pub const SAY_DECISION: &str = "say_decision";

impl<'a> NewJob<'a> {
    fn label(tenant: &'a TenantId, rma: RmaId, now: DateTime<Utc>) -> Self {
        Self::new(ISSUE_LABEL, rma.0, tenant, now)
    }

    /// The same decision twice in one conversation is one job.
    fn say_decision(tenant: &'a TenantId, conversation: ConversationId, notice: &Notice, now: DateTime<Utc>) -> Self {
        let payload = serde_json::to_value(notice).unwrap_or_default();
        let subject = subject_of(&format!("{conversation}{payload}"));
        Self::new(SAY_DECISION, subject, tenant, now).in_conversation(conversation).with_payload(payload)
    }
}

impl TenantStore<'_> {
    pub async fn find_rma(&self, number: &RmaNumber) -> Result<Option<Rma>> {
        let with_number = rmas::Column::Number.eq(number.as_str());
        Ok(list_rmas(&self.store.read, self.tenant, with_number).await?.pop())
    }

    /// Returns the RMA with this row id, as jobs store it.
    pub async fn find_rma_by_id(&self, id: RmaId) -> Result<Option<Rma>> {
        Ok(list_rmas(&self.store.read, self.tenant, rmas::Column::Id.eq(id.0)).await?.pop())
    }

    /// Lists the RMAs of an order, oldest first.
    pub async fn list_rmas_of(&self, order: &OrderNumber) -> Result<Vec<Rma>> {
        list_rmas(&self.store.read, self.tenant, rmas::Column::OrderNumber.eq(order.as_str())).await
    }

    /// Returns the ticket with this id: the number of an RMA or of a ticket.
    pub async fn find_ticket(&self, id: &str) -> Result<Option<Ticket>> {
        let row = tickets::Entity::find_by_id((self.tenant.to_string(), id.to_owned())).one(&self.store.read).await?;
        row.map(rows::read_ticket).transpose()
    }

    /// Lists the tickets of a conversation, oldest first.
    pub async fn list_tickets_in(&self, conversation: ConversationId) -> Result<Vec<Ticket>> {
        let found = self
            .rows::<tickets::Entity>()
            .filter(tickets::Column::ConversationId.eq(conversation.0))
            .order_by_asc(tickets::Column::CreatedAt)
            .order_by_asc(tickets::Column::Id)
            .all(&self.store.read)
            .await?;
        found.into_iter().map(rows::read_ticket).collect()
    }

    /// Lists at most `limit` tickets of the shop that wait for a person's decision and belong to no conversation, oldest first.
    pub async fn list_loose_tickets(&self, limit: u64) -> Result<Vec<Ticket>> {
        let rows = self.rows::<tickets::Entity>().filter(loose());
        let rows = rows.order_by_asc(tickets::Column::CreatedAt).order_by_asc(tickets::Column::Id);
        rows.limit(limit).all(&self.store.read).await?.into_iter().map(rows::read_ticket).collect()
    }
}

/// Tickets that wait for a person's decision and belong to no conversation.
fn loose() -> Condition {
    Condition::all()
        .add(tickets::Column::ConversationId.is_null())
        .add(tickets::Column::ResolvedAt.is_null())
        .add(tickets::Column::Kind.is_in(TicketKind::DECIDED.map(TicketKind::as_str)))
}

impl Store {
    /// Lists the tickets of every shop that wait for a person's decision and belong to no conversation. For the operator of the
    /// server.
    pub async fn list_loose_tickets(&self) -> Result<Vec<(TenantId, Ticket)>> {
        let mut all = Vec::new();
        let rows = tickets::Entity::find().filter(loose());
        let rows = rows.order_by_asc(tickets::Column::TenantId).order_by_asc(tickets::Column::CreatedAt);
        for row in rows.all(&self.read).await? {
            let shop = row.tenant_id.parse().map_err(|_| unreadable("tickets", "tenant_id"))?;
            all.push((shop, rows::read_ticket(row)?));
        }
        Ok(all)
    }
}

/// Writes a step of an order, with its audit entry.
async fn write_order_step(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    number: &OrderNumber,
    step: StatusChange<OrderStatus>,
    by: &Actor<'_>,
) -> Result<()> {
    orders::Entity::update_of(tenant)
        .set(orders::ActiveModel {
            status: sea_orm::ActiveValue::Set(step.to().as_str().to_owned()),
            ..Default::default()
        })
        .filter(orders::Column::Number.eq(number.as_str()))
        .exec(connection)
        .await?;
    let (before, after) = (json!({"status": step.from()}), json!({"status": step.to()}));
    let entry = AuditEntry { before: Some(before), after: Some(after), ..by.entry("order.status", number, None) };
    record(connection, tenant, &[entry]).await
}

/// Writes a step of an RMA, with its audit entry, which contains `why`.
async fn write_rma_step(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    rma: &Rma,
    step: StatusChange<RmaStatus>,
    why: Option<&str>,
    by: &Actor<'_>,
) -> Result<()> {
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
