//! A person's decision on an escalation or a cancellation: creates or refuses the return, and notifies the customer.

use std::collections::BTreeSet;

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{ExprTrait, LockType};
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::json;

use super::create::{NewReturn, ReturnOutcome};
use super::rows::{list_rmas, load_rmas, read_ticket};
use super::{ISSUE_LABEL, write_rma_step};
use crate::domain::AuditEntry;
use crate::domain::commerce::{Order, OrderNumber};
use crate::domain::returns::rma::rejection;
use crate::domain::returns::{Action, Decision, Outcome, Resolution, Rma, RmaStatus, Terms, Ticket, TicketKind};
use crate::store::audit::{Actor, record};
use crate::store::conversations::language_of;
use crate::store::entities::{TenantEntity, rmas, tickets};
use crate::store::jobs::{NewJob, delete_job, enqueue};
use crate::store::mails::NewMail;
use crate::store::orders::lock_order;
use crate::store::{Result, TenantStore};

/// A person's decision.
pub struct Verdict<'a> {
    pub decision: Resolution,
    /// The reason, for the audit log. With [`Resolution::MoreInfo`], the question to the customer.
    pub why: &'a str,
    pub terms: &'a Terms,
    /// Distinguishes RMAs of the same second.
    pub random: [u8; 4],
}

/// The result of [`TenantStore::resolve_escalation`]. Only `Done` changes the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolving {
    /// The ticket and its RMAs after the decision, including an RMA that an approval created.
    Done(Box<Ticket>, Vec<Rma>),
    /// A person has already decided.
    Resolved(Box<Ticket>),
    /// The rules refuse the return for a reason that a person cannot override.
    Refused(Box<Decision>),
    /// The amounts of the order do not add up, so no refund can be computed.
    BadAmounts,
    /// No escalation has that number.
    NotFound,
}

impl Resolving {
    /// Returns why the ticket was not approved, and what to do.
    pub fn why_not(&self, ticket: &str) -> String {
        let cause = match self {
            Self::Refused(decision) => format!("the return rules refuse it ({})", decision.cause),
            Self::BadAmounts => "the amounts of the order do not add up".to_owned(),
            Self::Done(..) | Self::Resolved(_) | Self::NotFound => "it is not open".to_owned(),
        };
        format!("{ticket} cannot be approved: {cause}; reject it, or answer the customer in the conversation")
    }
}

impl TenantStore<'_> {
    /// Applies a person's decision on an escalation or a cancellation. `id` is the number of the ticket or of its RMA.
    ///
    /// An approval creates the requested return, decided as of the day of the request, and releases locked RMAs. A rejection
    /// rejects the RMAs that are not yet decided. A question keeps the ticket open and the RMAs locked. The same transaction
    /// stores the mail and the chat message to the customer, and the conversation's status.
    pub async fn resolve_escalation(&self, id: &str, verdict: &Verdict<'_>, by: &Actor<'_>) -> Result<Resolving> {
        let transaction = self.store.begin_fenced().await?;
        let Some(row) = self.lock_escalation(&transaction, id).await? else { return Ok(Resolving::NotFound) };
        if row.resolved_at.is_some() {
            return Ok(Resolving::Resolved(Box::new(read_ticket(row)?)));
        }
        let earlier = (row.resolution.clone(), row.resolved_by.clone());
        let ticket = read_ticket(row)?;
        let locked = self.rmas_of_ticket(&transaction, &ticket.id).await?;
        let is_repeated = verdict.decision == Resolution::MoreInfo
            && ticket.question.as_deref() == Some(verdict.why)
            && earlier.1.as_deref() == Some(by.who);
        if is_repeated {
            return Ok(Resolving::Done(Box::new(ticket), locked));
        }
        self.write_verdict(&transaction, &ticket, earlier.0.as_deref(), verdict, by).await?;
        let case = Case { transaction: &transaction, ticket: &ticket, verdict, by: *by };
        let mut ids: Vec<uuid::Uuid> = locked.iter().map(|rma| rma.id.0).collect();
        let outcome = match verdict.decision {
            Resolution::MoreInfo => Outcome::MoreInfo { question: verdict.why.to_owned() },
            Resolution::Reject => self.reject(&case, &locked).await?,
            Resolution::Approve => match self.approve(&case, &locked).await? {
                Ok((outcome, made)) => {
                    ids.extend(made.map(|rma| rma.id.0));
                    outcome
                }
                Err(refusal) => return Ok(refusal),
            },
        };
        self.notify_customer(&case, &locked, outcome).await?;
        self.record_act(&transaction).await?;
        let rmas = list_rmas(&transaction, self.tenant, rmas::Column::Id.is_in(ids)).await?;
        let row = tickets::Entity::find_by_id((self.tenant.to_string(), ticket.id)).one(&transaction).await?;
        let Some(row) = row else { return Ok(Resolving::NotFound) };
        transaction.commit().await?;
        Ok(Resolving::Done(Box::new(read_ticket(row)?), rmas))
    }

    async fn write_verdict(
        &self,
        transaction: &DatabaseTransaction,
        ticket: &Ticket,
        earlier: Option<&str>,
        verdict: &Verdict<'_>,
        by: &Actor<'_>,
    ) -> Result<()> {
        let is_final = verdict.decision != Resolution::MoreInfo;
        let change = tickets::ActiveModel {
            resolution: Set(Some(verdict.decision.as_str().to_owned())),
            resolved_by: Set(Some(by.who.to_owned())),
            resolved_why: Set(Some(verdict.why.to_owned())),
            resolved_at: Set(is_final.then_some(by.now)),
            ..Default::default()
        };
        self.change_ticket(transaction, &ticket.id, change).await?;
        let resolved = AuditEntry {
            before: Some(json!({"ticket": ticket.id, "resolution": earlier})),
            after: Some(json!({"ticket": ticket.id, "decision": verdict.decision, "why": verdict.why})),
            ..about(ticket, "ticket.resolved", by)
        };
        record(transaction, self.tenant, &[resolved]).await
    }

    pub(super) async fn change_ticket(
        &self,
        transaction: &DatabaseTransaction,
        id: &str,
        change: tickets::ActiveModel,
    ) -> Result<()> {
        tickets::Entity::update_of(self.tenant)
            .set(change)
            .filter(tickets::Column::Id.eq(id))
            .exec(transaction)
            .await?;
        Ok(())
    }

    /// Releases the locked RMAs, and creates the requested return.
    async fn approve(&self, case: &Case<'_>, locked: &[Rma]) -> Result<Result<(Outcome, Option<Rma>), Resolving>> {
        for rma in locked {
            self.resume(case.transaction, rma, &case.by).await?;
            self.mark(case.transaction, rma, None, &case.by).await?;
        }
        let ticket = case.ticket;
        if ticket.kind == TicketKind::Cancel {
            return Ok(Ok((Outcome::OrderCancelled, None)));
        }
        let (Some(claim), Some(number)) = (&ticket.claim, &ticket.order) else {
            // After the refund, there is nothing left to approve.
            let open = locked.iter().find(|rma| !rma.status.has_ended());
            let continues = open.map(|rma| Outcome::Continues { rma: rma.number.clone() });
            return Ok(Ok((continues.unwrap_or(Outcome::Closed), None)));
        };
        let language = language_of(case.transaction, ticket.conversation).await?;
        let mail = |order: &Order, rma: &Rma| {
            Some(NewMail::about(APPROVED, NewMail::number_for(rma, APPROVED), order, Some(rma), language))
        };
        let other = if claim.action == Action::Return { Action::Refund } else { Action::Return };
        let new = |action: Action| NewReturn {
            order: number,
            lines: &claim.lines,
            action,
            agreed: None,
            reason: &claim.reason,
            request: &ticket.id,
            terms: case.verdict.terms,
            asked_at: ticket.created_at,
            random: case.verdict.random,
            mail: &mail,
        };
        let by = Actor { conversation: ticket.conversation, ..case.by };
        let mut outcome = self.create_return_in(case.transaction, &new(claim.action), &by).await?;
        // The windows for a return and a refund may end on different days.
        if matches!(&outcome, ReturnOutcome::Refused(decision) if decision.eligible) {
            outcome = self.create_return_in(case.transaction, &new(other), &by).await?;
        }
        let rma = match outcome {
            ReturnOutcome::Created { rma, .. } | ReturnOutcome::Duplicate { rma, .. } => *rma,
            ReturnOutcome::Refused(decision) => return Ok(Err(Resolving::Refused(decision))),
            // Without an amount to which the customer agreed, no amount differs from it.
            ReturnOutcome::OtherAmount(_) | ReturnOutcome::BadAmounts => return Ok(Err(Resolving::BadAmounts)),
        };
        let masked_email = match lock_order(case.transaction, self.tenant, number).await? {
            Some(order) => order.email.masked(),
            None => String::new(),
        };
        Ok(Ok((Outcome::Returned { rma: rma.number.clone(), refund: rma.refund, masked_email }, Some(rma))))
    }

    /// Releases the locked RMAs, and rejects those that the ticket is about, if they are not yet decided.
    async fn reject(&self, case: &Case<'_>, locked: &[Rma]) -> Result<Outcome> {
        if case.ticket.kind == TicketKind::Cancel {
            return Ok(Outcome::OrderKept);
        }
        let mut is_rejected = case.ticket.claim.is_some();
        for rma in locked {
            if let Ok(step) = rejection(rma.status)
                && case.is_about(rma)
            {
                write_rma_step(case.transaction, self.tenant, rma, step, Some(case.verdict.why), &case.by).await?;
                is_rejected = true;
            } else {
                self.resume(case.transaction, rma, &case.by).await?;
            }
            self.mark(case.transaction, rma, None, &case.by).await?;
        }
        Ok(if is_rejected { Outcome::Rejected } else { Outcome::Closed })
    }

    /// Returns and locks the newest escalation or cancellation with this number, or of the RMA with this number. Prefers an open
    /// one.
    async fn lock_escalation(&self, transaction: &DatabaseTransaction, id: &str) -> Result<Option<tickets::Model>> {
        let by_rma = self.rows::<rmas::Entity>().filter(rmas::Column::Number.eq(id)).one(transaction).await?;
        let ticket = by_rma.and_then(|rma| rma.escalation_ticket);
        let find = || {
            self.rows::<tickets::Entity>()
                .filter(tickets::Column::Kind.is_in(TicketKind::DECIDED.map(TicketKind::as_str)))
                .filter(tickets::Column::Id.eq(ticket.as_deref().unwrap_or(id)).or(tickets::Column::RmaNumber.eq(id)))
                .order_by_desc(tickets::Column::CreatedAt)
        };
        // The order's lock comes first, as everywhere, to prevent deadlocks.
        let orders = find().all(transaction).await?.into_iter().filter_map(|row| row.order_number?.parse().ok());
        for order in orders.collect::<BTreeSet<OrderNumber>>() {
            lock_order(transaction, self.tenant, &order).await?;
        }
        let found = find().lock(LockType::Update).all(transaction).await?;
        let open = found.iter().find(|row| row.resolved_at.is_none()).cloned();
        Ok(open.or_else(|| found.into_iter().next()))
    }

    async fn rmas_of_ticket(&self, transaction: &DatabaseTransaction, ticket: &str) -> Result<Vec<Rma>> {
        let rows = self
            .rows::<rmas::Entity>()
            .filter(rmas::Column::EscalationTicket.eq(ticket))
            .filter(rmas::Column::Escalated.eq(true))
            .lock(LockType::Update)
            .all(transaction)
            .await?;
        load_rmas(transaction, rows).await
    }

    /// Queues the work that the lock has delayed: the label, if it does not exist yet.
    async fn resume(&self, transaction: &DatabaseTransaction, rma: &Rma, by: &Actor<'_>) -> Result<()> {
        if rma.status != RmaStatus::Initiated || rma.label.is_some() {
            return Ok(());
        }
        // A dead job would block the new one.
        delete_job(transaction, ISSUE_LABEL, rma.id.0).await?;
        enqueue(transaction, &[NewJob::label(self.tenant, rma.id, by.now)]).await
    }
}

/// The template of the mail with the return label.
pub(super) const APPROVED: &str = "return_approved";

/// The escalation that is being resolved.
pub(super) struct Case<'a> {
    pub transaction: &'a DatabaseTransaction,
    pub ticket: &'a Ticket,
    pub verdict: &'a Verdict<'a>,
    pub by: Actor<'a>,
}

impl Case<'_> {
    /// Whether the decision concerns the RMA, and not only another line of its order.
    pub(super) fn is_about(&self, rma: &Rma) -> bool {
        let of_claim = |lines: &[u32]| rma.lines.iter().any(|of| lines.contains(&of.line));
        self.ticket.claim.as_ref().is_none_or(|claim| of_claim(&claim.lines))
    }
}

/// Returns an entry of the audit log about a ticket.
pub(super) fn about(ticket: &Ticket, what: &str, by: &Actor<'_>) -> AuditEntry {
    AuditEntry {
        conversation: ticket.conversation,
        order: ticket.order.clone(),
        rma: ticket.rma.clone(),
        ..AuditEntry::system(by.who, what, by.now)
    }
}
