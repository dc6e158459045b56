//! Handing over to a person: RMAs are locked until the person has decided.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{ExprTrait, LockType};
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::json;

use super::create::find_by_key;
use super::rows::{load_rmas, read_ticket};
use super::{By, write_rma_step};
use crate::domain::returns::rma::rejection;
use crate::domain::returns::ticket::escalation_key;
use crate::domain::returns::{
    AuditEntry, AuditKind, IllegalStep, OrderNumber, Priority, Resolution, Rma, RmaNumber, RmaStatus, Ticket,
    TicketKind, TicketNumber,
};
use crate::store::audit::record;
use crate::store::entities::{jobs, rmas, tickets};
use crate::store::jobs::{JobKind, NewJob, enqueue};
use crate::store::orders::lock_order;
use crate::store::{StoreError, TenantStore, all_inserted};

/// What a person is to look at.
#[derive(Clone, Copy, Debug)]
pub struct NewEscalation<'a> {
    /// The RMA that it is about; without one, all RMAs of the order that have not ended.
    pub rma: Option<&'a RmaNumber>,
    pub order: Option<&'a OrderNumber>,
    pub priority: Priority,
    pub reason: &'a str,
    /// Reason, request, actions taken, next steps.
    pub summary: &'a str,
}

/// How an escalation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Escalated {
    Created(Box<Ticket>),
    /// A person is to look at it already.
    Duplicate(Box<Ticket>),
}

impl Escalated {
    pub fn ticket(&self) -> &Ticket {
        match self {
            Self::Created(ticket) | Self::Duplicate(ticket) => ticket,
        }
    }
}

/// How resolving an escalation ended. Whatever is not `Done` has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolving {
    /// The ticket, and its RMAs as they are now.
    Done(Box<Ticket>, Vec<Rma>),
    /// A person has decided already.
    Resolved(Box<Ticket>),
    Refused(IllegalStep),
    /// No escalation has that number.
    NotFound,
}

impl TenantStore<'_> {
    /// Makes a ticket for a person, and locks the RMAs that it is about. While the ticket is open, the same again joins it.
    pub async fn escalate(&self, new: &NewEscalation<'_>, by: &By<'_>) -> Result<Escalated, StoreError> {
        let subject = match (new.rma, new.order, by.conversation) {
            (Some(rma), _, _) => format!("rma:{rma}"),
            (None, Some(order), _) => format!("order:{order}"),
            (None, None, Some(conversation)) => format!("conversation:{conversation}"),
            (None, None, None) => format!("who:{}", by.who),
        };
        let transaction = self.store.begin().await?;
        self.store.check_fence(&transaction).await?;
        let marked = self.rmas_to_lock(&transaction, new).await?;
        let mut generation = 0;
        let key = loop {
            let key = escalation_key(&subject, generation);
            match find_by_key(&transaction, self.tenant, &key).await? {
                None => break key,
                Some(earlier) if earlier.resolved_at.is_some() => generation += 1,
                Some(earlier) => return Ok(Escalated::Duplicate(Box::new(read_ticket(earlier)?))),
            }
        };
        let order = new.order.or_else(|| marked.first().map(|rma| &rma.order));
        let id = TicketNumber::new(by.now, &[&key]);
        let row = tickets::ActiveModel {
            tenant_id: Set(self.tenant.to_string()),
            id: Set(id.to_string()),
            kind: Set(TicketKind::Escalation.as_str().to_owned()),
            idempotency_key: Set(key.clone()),
            request: Set(String::new()),
            order_number: Set(order.map(ToString::to_string)),
            rma_number: Set(new.rma.map(ToString::to_string)),
            conversation_id: Set(by.conversation.map(|id| id.0)),
            priority: Set(Some(new.priority.as_str().to_owned())),
            reason: Set(new.reason.to_owned()),
            summary: Set(new.summary.to_owned()),
            created_at: Set(by.now),
            resolution: Set(None),
            resolved_by: Set(None),
            resolved_why: Set(None),
            resolved_at: Set(None),
        };
        let inserted =
            tickets::Entity::insert(row).on_conflict_do_nothing().exec_without_returning(&transaction).await?;
        let stored = find_by_key(&transaction, self.tenant, &key).await?;
        let stored = stored.ok_or(StoreError::Conflict { table: "tickets" })?;
        if !all_inserted(&inserted, 1) {
            // Somebody was faster by a moment, and no lock made us wait: no order is concerned.
            return Ok(Escalated::Duplicate(Box::new(read_ticket(stored)?)));
        }
        let id = id.as_str();
        let after = json!({"ticket": id, "priority": new.priority});
        let opened = AuditEntry {
            kind: AuditKind::System,
            who: by.who.to_owned(),
            what: "ticket.escalated".to_owned(),
            before: None,
            after: Some(after),
            conversation: by.conversation,
            order: order.cloned(),
            rma: new.rma.cloned(),
            at: by.now,
        };
        record(&transaction, self.tenant, &[opened]).await?;
        for rma in marked.iter().filter(|rma| !rma.escalated) {
            self.mark(&transaction, rma, Some((id, new.reason)), by).await?;
        }
        transaction.commit().await?;
        Ok(Escalated::Created(Box::new(read_ticket(stored)?)))
    }

    /// Stores what a person decided on an escalation: `id` is the ticket's number, or that of its RMA.
    ///
    /// Approving lets the RMA go on from where it stands; rejecting ends it; asking for more keeps ticket and lock as they
    /// are and is only recorded.
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
                Resolution::Reject => match rejection(rma.status) {
                    Ok(step) => write_rma_step(&transaction, self.tenant, rma, step, Some(why), by).await?,
                    Err(illegal) => return Ok(Resolving::Refused(illegal)),
                },
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
        let ids: Vec<uuid::Uuid> = locked.iter().map(|rma| rma.id.0).collect();
        let rows = rmas::Entity::find().filter(rmas::Column::Id.is_in(ids)).all(&transaction).await?;
        let now_there = load_rmas(&transaction, rows).await?;
        let row = tickets::Entity::find_by_id((self.tenant.to_string(), ticket.id)).one(&transaction).await?;
        let Some(row) = row else { return Ok(Resolving::NotFound) };
        transaction.commit().await?;
        Ok(Resolving::Done(Box::new(read_ticket(row)?), now_there))
    }

    /// The RMAs that the escalation is about, with their order locked.
    async fn rmas_to_lock(
        &self,
        transaction: &DatabaseTransaction,
        new: &NewEscalation<'_>,
    ) -> Result<Vec<Rma>, StoreError> {
        if let Some(number) = new.rma {
            return Ok(self.lock_rma(transaction, number).await?.into_iter().collect());
        }
        let Some(order) = new.order else { return Ok(Vec::new()) };
        lock_order(transaction, self.tenant, order).await?;
        let rows = rmas::Entity::find()
            .filter(rmas::Column::TenantId.eq(self.tenant.as_str()))
            .filter(rmas::Column::OrderNumber.eq(order.as_str()))
            .order_by_asc(rmas::Column::CreatedAt)
            .all(transaction)
            .await?;
        let found = load_rmas(transaction, rows).await?;
        Ok(found.into_iter().filter(|rma| !rma.status.has_ended()).collect())
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
        let found = tickets::Entity::find()
            .filter(tickets::Column::TenantId.eq(self.tenant.as_str()))
            .filter(tickets::Column::Kind.eq(TicketKind::Escalation.as_str()))
            .filter(tickets::Column::Id.eq(ticket.as_deref().unwrap_or(id)).or(tickets::Column::RmaNumber.eq(id)))
            .order_by_desc(tickets::Column::CreatedAt)
            .lock(LockType::Update)
            .all(transaction)
            .await?;
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

    /// Locks an RMA under a ticket, with the reason, or releases it.
    async fn mark(
        &self,
        transaction: &DatabaseTransaction,
        rma: &Rma,
        ticket: Option<(&str, &str)>,
        by: &By<'_>,
    ) -> Result<(), StoreError> {
        let mut change =
            rmas::ActiveModel { escalated: Set(ticket.is_some()), updated_at: Set(by.now), ..Default::default() };
        // The last ticket and its reason stay with the RMA when it is released: "for compliance" (seed 001).
        if let Some((ticket, reason)) = ticket {
            change.escalation_ticket = Set(Some(ticket.to_owned()));
            change.escalation_reason = Set(Some(reason.to_owned()));
        }
        rmas::Entity::update_many().set(change).filter(rmas::Column::Id.eq(rma.id.0)).exec(transaction).await?;
        let entry = AuditEntry {
            before: Some(json!({"escalated": ticket.is_none()})),
            after: Some(json!({"escalated": ticket.is_some()})),
            ..by.entry("rma.escalated", &rma.order, Some(&rma.number))
        };
        record(transaction, self.tenant, &[entry]).await
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
