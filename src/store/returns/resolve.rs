//! What a person decides on an escalation: the lock is released, and the RMA goes on or ends.

use std::collections::BTreeSet;

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{ExprTrait, LockType};
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::json;

use super::rows::{load_rmas, read_ticket};
use super::{By, write_rma_step};
use crate::domain::returns::rma::rejection;
use crate::domain::returns::{AuditEntry, AuditKind, OrderNumber, Resolution, Rma, RmaStatus, Ticket, TicketKind};
use crate::store::audit::record;
use crate::store::entities::{jobs, rmas, tickets};
use crate::store::jobs::{JobKind, NewJob, enqueue};
use crate::store::orders::lock_order;
use crate::store::{StoreError, TenantStore};

/// How resolving an escalation ended. Whatever is not `Done` has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolving {
    /// The ticket, and its RMAs as they are now.
    Done(Box<Ticket>, Vec<Rma>),
    /// A person has decided already.
    Resolved(Box<Ticket>),
    /// No escalation has that number.
    NotFound,
}

impl TenantStore<'_> {
    /// Stores what a person decided on an escalation: `id` is the ticket's number, or that of its RMA.
    ///
    /// Approving lets the RMAs go on from where they stand; rejecting ends those that are not decided yet; asking for more
    /// keeps ticket and lock as they are and is only recorded.
    pub async fn resolve_escalation(
        &self,
        id: &str,
        decision: Resolution,
        why: &str,
        by: &By<'_>,
    ) -> Result<Resolving, StoreError> {
        let transaction = self.store.begin().await?;
        self.store.check_fence(&transaction).await?;
        let Some(row) = self.lock_escalation(&transaction, id).await? else { return Ok(Resolving::NotFound) };
        if row.resolved_at.is_some() {
            return Ok(Resolving::Resolved(Box::new(read_ticket(row)?)));
        }
        let ticket = read_ticket(row)?;
        let locked = self.rmas_of_ticket(&transaction, &ticket.id).await?;
        for rma in &locked {
            match decision {
                Resolution::MoreInfo => continue,
                Resolution::Approve => self.go_on(&transaction, rma, by).await?,
                Resolution::Reject => {
                    // What is decided already stays so, and the others are rejected all the same.
                    if let Ok(step) = rejection(rma.status) {
                        write_rma_step(&transaction, self.tenant, rma, step, Some(why), by).await?;
                    }
                }
            }
            self.mark(&transaction, rma, None, by).await?;
        }
        let is_final = decision != Resolution::MoreInfo;
        let change = tickets::ActiveModel {
            resolution: Set(Some(decision.as_str().to_owned())),
            resolved_by: Set(Some(by.who.to_owned())),
            resolved_why: Set(Some(why.to_owned())),
            resolved_at: Set(is_final.then_some(by.now)),
            ..Default::default()
        };
        tickets::Entity::update_many()
            .set(change)
            .filter(tickets::Column::TenantId.eq(self.tenant.as_str()))
            .filter(tickets::Column::Id.eq(ticket.id.as_str()))
            .exec(&transaction)
            .await?;
        let resolved = AuditEntry {
            kind: AuditKind::System,
            who: by.who.to_owned(),
            what: "ticket.resolved".to_owned(),
            before: Some(json!({"ticket": ticket.id})),
            after: Some(json!({"ticket": ticket.id, "decision": decision, "why": why})),
            conversation: ticket.conversation,
            order: ticket.order.clone(),
            rma: ticket.rma.clone(),
            at: by.now,
        };
        record(&transaction, self.tenant, &[resolved]).await?;
        self.record_act(&transaction).await?;
        let ids: Vec<uuid::Uuid> = locked.iter().map(|rma| rma.id.0).collect();
        let rows = rmas::Entity::find().filter(rmas::Column::Id.is_in(ids)).all(&transaction).await?;
        let now_there = load_rmas(&transaction, rows).await?;
        let row = tickets::Entity::find_by_id((self.tenant.to_string(), ticket.id)).one(&transaction).await?;
        let Some(row) = row else { return Ok(Resolving::NotFound) };
        transaction.commit().await?;
        Ok(Resolving::Done(Box::new(read_ticket(row)?), now_there))
    }

    /// The newest escalation with that number, or of the RMA with that number; an open one before a resolved one.
    async fn lock_escalation(
        &self,
        transaction: &DatabaseTransaction,
        id: &str,
    ) -> Result<Option<tickets::Model>, StoreError> {
        let by_rma = rmas::Entity::find()
            .filter(rmas::Column::TenantId.eq(self.tenant.as_str()))
            .filter(rmas::Column::Number.eq(id))
            .one(transaction)
            .await?;
        let ticket = by_rma.and_then(|rma| rma.escalation_ticket);
        let find = || {
            tickets::Entity::find()
                .filter(tickets::Column::TenantId.eq(self.tenant.as_str()))
                .filter(tickets::Column::Kind.eq(TicketKind::Escalation.as_str()))
                .filter(tickets::Column::Id.eq(ticket.as_deref().unwrap_or(id)).or(tickets::Column::RmaNumber.eq(id)))
                .order_by_desc(tickets::Column::CreatedAt)
        };
        // The order's lock comes first, as everywhere, so that nobody waits for each other.
        let orders = find().all(transaction).await?.into_iter().filter_map(|row| row.order_number?.parse().ok());
        for order in orders.collect::<BTreeSet<OrderNumber>>() {
            lock_order(transaction, self.tenant, &order).await?;
        }
        let found = find().lock(LockType::Update).all(transaction).await?;
        let open = found.iter().find(|row| row.resolved_at.is_none()).cloned();
        Ok(open.or_else(|| found.into_iter().next()))
    }

    async fn rmas_of_ticket(&self, transaction: &DatabaseTransaction, ticket: &str) -> Result<Vec<Rma>, StoreError> {
        let rows = rmas::Entity::find()
            .filter(rmas::Column::TenantId.eq(self.tenant.as_str()))
            .filter(rmas::Column::EscalationTicket.eq(ticket))
            .filter(rmas::Column::Escalated.eq(true))
            .lock(LockType::Update)
            .all(transaction)
            .await?;
        load_rmas(transaction, rows).await
    }

    /// What the lock held up is to be done: the label, if there is none yet.
    async fn go_on(&self, transaction: &DatabaseTransaction, rma: &Rma, by: &By<'_>) -> Result<(), StoreError> {
        if rma.status != RmaStatus::Initiated || rma.label.is_some() {
            return Ok(());
        }
        // One that was given up would keep the new one out.
        jobs::Entity::delete_by_id((JobKind::IssueLabel.as_str().to_owned(), rma.id.0.to_string()))
            .exec(transaction)
            .await?;
        enqueue(transaction, &[NewJob::label(self.tenant, rma.id, by.now)]).await
    }
}
