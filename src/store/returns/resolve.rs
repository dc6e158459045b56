//! A person's decision on an escalation: the return is made or stays refused, and the customer receives the decision.

use std::collections::BTreeSet;

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{ExprTrait, LockType};
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::json;

use super::create::{NewReturn, ReturnOutcome};
use super::escalate::joined_conversations;
use super::rows::{load_rmas, read_ticket};
use super::{By, write_rma_step};
use crate::domain::AuditEntry;
use crate::domain::AuditKind;
use crate::domain::audit::OPERATOR;
use crate::domain::commerce::Order;
use crate::domain::commerce::OrderNumber;
use crate::domain::returns::rma::rejection;
use crate::domain::returns::{
    Action, Decision, MailNumber, Notice, Outcome, Resolution, Rma, RmaStatus, Terms, Ticket, TicketKind,
};
use crate::domain::{ConversationId, ConversationStatus};
use crate::store::audit::record;
use crate::store::conversations::language_of;
use crate::store::entities::{conversations, jobs, rmas, tickets};
use crate::store::jobs::{JobKind, NewJob, enqueue};
use crate::store::mails::{NewMail, queue};
use crate::store::orders::lock_order;
use crate::store::{StoreError, TenantStore};

/// What a person decided.
pub struct Verdict<'a> {
    pub decision: Resolution,
    /// The reason, for the audit log. With [`Resolution::MoreInfo`], the question that the customer reads.
    pub why: &'a str,
    pub terms: &'a Terms,
    /// Tells apart RMAs of one second.
    pub random: [u8; 4],
}

/// How resolving an escalation ended. Whatever is not `Done` has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolving {
    /// The ticket, and its RMAs as they are now, the one that an approval made among them.
    Done(Box<Ticket>, Vec<Rma>),
    /// A person has decided already.
    Resolved(Box<Ticket>),
    /// The return cannot be approved: the rules refuse it for a reason that no person overrides.
    Refused(Box<Decision>),
    /// The amounts of the order do not add up, so no refund can be computed.
    BadAmounts,
    /// No escalation has that number.
    NotFound,
}

impl Resolving {
    /// Why the approval of that ticket was not stored, and what to do.
    pub fn why_not(&self, ticket: &str) -> String {
        let cause = match self {
            Self::Refused(decision) => format!("the return rules refuse it ({})", decision.why),
            Self::BadAmounts => "the amounts of the order do not add up".to_owned(),
            Self::Done(..) | Self::Resolved(_) | Self::NotFound => "it is not open".to_owned(),
        };
        format!("{ticket} cannot be approved: {cause}; reject it, or answer the customer in the conversation")
    }
}

impl TenantStore<'_> {
    /// Stores what a person decided on an escalation: `id` is the ticket's number, or that of its RMA.
    ///
    /// An approval makes the return that the ticket asks for, judged by the day on which it was asked for, and releases
    /// locked RMAs. A rejection ends the RMAs that are not decided yet. A question keeps ticket and locks. The mail to the
    /// customer, the message in the chat and the conversation's status change in the same transaction.
    pub async fn resolve_escalation(
        &self,
        id: &str,
        verdict: &Verdict<'_>,
        by: &By<'_>,
    ) -> Result<Resolving, StoreError> {
        let transaction = self.store.begin().await?;
        self.store.check_fence(&transaction).await?;
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
        self.tell_customer(&case, &locked, outcome).await?;
        self.record_act(&transaction).await?;
        let rows = rmas::Entity::find().filter(rmas::Column::Id.is_in(ids)).all(&transaction).await?;
        let now_there = load_rmas(&transaction, rows).await?;
        let row = tickets::Entity::find_by_id((self.tenant.to_string(), ticket.id)).one(&transaction).await?;
        let Some(row) = row else { return Ok(Resolving::NotFound) };
        transaction.commit().await?;
        Ok(Resolving::Done(Box::new(read_ticket(row)?), now_there))
    }

    async fn write_verdict(
        &self,
        transaction: &DatabaseTransaction,
        ticket: &Ticket,
        earlier: Option<&str>,
        verdict: &Verdict<'_>,
        by: &By<'_>,
    ) -> Result<(), StoreError> {
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

    async fn change_ticket(
        &self,
        transaction: &DatabaseTransaction,
        id: &str,
        change: tickets::ActiveModel,
    ) -> Result<(), StoreError> {
        tickets::Entity::update_many()
            .set(change)
            .filter(tickets::Column::TenantId.eq(self.tenant.as_str()))
            .filter(tickets::Column::Id.eq(id))
            .exec(transaction)
            .await?;
        Ok(())
    }

    /// Releases the locked RMAs, and makes the return that the ticket asks for.
    async fn approve(
        &self,
        case: &Case<'_>,
        locked: &[Rma],
    ) -> Result<Result<(Outcome, Option<Rma>), Resolving>, StoreError> {
        for rma in locked {
            self.go_on(case.transaction, rma, &case.by).await?;
            self.mark(case.transaction, rma, None, &case.by).await?;
        }
        let ticket = case.ticket;
        let (Some(claim), Some(number)) = (&ticket.claim, &ticket.order) else {
            let continues = locked.first().map(|rma| Outcome::Continues { rma: rma.number.clone() });
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
            reason: &claim.reason,
            request: &ticket.id,
            terms: case.verdict.terms,
            asked_at: ticket.created_at,
            random: case.verdict.random,
            mail: &mail,
        };
        let by = By { conversation: ticket.conversation, ..case.by };
        let mut outcome = self.create_return_in(case.transaction, &new(claim.action), &by).await?;
        // Of return and refund, one may be over while the other is open.
        if matches!(&outcome, ReturnOutcome::Refused(decision) if decision.eligible) {
            outcome = self.create_return_in(case.transaction, &new(other), &by).await?;
        }
        let rma = match outcome {
            ReturnOutcome::Created { rma, .. } | ReturnOutcome::Duplicate { rma, .. } => *rma,
            ReturnOutcome::Refused(decision) => return Ok(Err(Resolving::Refused(decision))),
            ReturnOutcome::BadAmounts => return Ok(Err(Resolving::BadAmounts)),
        };
        let masked_email = match lock_order(case.transaction, self.tenant, number).await? {
            Some(order) => order.email.masked(),
            None => String::new(),
        };
        Ok(Ok((Outcome::Returned { rma: rma.number.clone(), refund: rma.refund, masked_email }, Some(rma))))
    }

    /// Releases the locked RMAs, and rejects those that the ticket is about and that are not decided yet.
    async fn reject(&self, case: &Case<'_>, locked: &[Rma]) -> Result<Outcome, StoreError> {
        let mut is_rejected = case.ticket.claim.is_some();
        for rma in locked {
            if let Ok(step) = rejection(rma.status)
                && case.is_about(rma)
            {
                write_rma_step(case.transaction, self.tenant, rma, step, Some(case.verdict.why), &case.by).await?;
                is_rejected = true;
            }
            self.mark(case.transaction, rma, None, &case.by).await?;
        }
        Ok(if is_rejected { Outcome::Rejected } else { Outcome::Closed })
    }

    /// The mail, the message in the chat, and the end of the customer's wait for a person.
    async fn tell_customer(&self, case: &Case<'_>, locked: &[Rma], outcome: Outcome) -> Result<(), StoreError> {
        let (transaction, ticket) = (case.transaction, case.ticket);
        let template = match &outcome {
            // The mail about the return that was made goes with the return.
            Outcome::Returned { .. } | Outcome::Closed => None,
            Outcome::Continues { .. } => Some(APPROVED),
            Outcome::Rejected => Some("return_rejected"),
            Outcome::MoreInfo { .. } => Some("more_info"),
        };
        if let (Some(template), Some(number)) = (template, &ticket.order)
            && let Some(order) = lock_order(transaction, self.tenant, number).await?
        {
            let language = language_of(transaction, ticket.conversation).await?;
            let id = MailNumber::new(case.by.now, &[&ticket.id, template]);
            let rma = locked.iter().find(|rma| case.is_about(rma));
            let mut mail = NewMail::about(template, id, &order, rma, language);
            mail.conversation = ticket.conversation;
            if let Outcome::MoreInfo { question } = &outcome {
                mail.context["question"] = question.as_str().into();
            }
            queue(transaction, self.tenant, &mail, case.by.who, case.by.now).await?;
        }
        let joined = joined_conversations(transaction, self.tenant, ticket).await?;
        let notice = Notice {
            ticket: ticket.id.clone(),
            order: ticket.order.clone(),
            by: (case.by.who != OPERATOR).then(|| case.by.who.to_owned()),
            outcome,
            at: case.by.now,
        };
        for conversation in ticket.conversation.into_iter().chain(joined) {
            enqueue(transaction, &[NewJob::say_decision(self.tenant, conversation, &notice, case.by.now)]).await?;
            self.end_wait(transaction, conversation, &ticket.id).await?;
        }
        Ok(())
    }

    /// The customer waits no longer, unless a person is still to look at another ticket of the conversation.
    async fn end_wait(
        &self,
        transaction: &DatabaseTransaction,
        conversation: ConversationId,
        ticket: &str,
    ) -> Result<(), StoreError> {
        let open = tickets::Entity::find()
            .filter(tickets::Column::TenantId.eq(self.tenant.as_str()))
            .filter(tickets::Column::ConversationId.eq(conversation.0))
            .filter(tickets::Column::Kind.eq(TicketKind::Escalation.as_str()))
            .filter(tickets::Column::Id.ne(ticket))
            .filter(tickets::Column::Resolution.is_null())
            .count(transaction)
            .await?;
        if open > 0 {
            return Ok(());
        }
        conversations::Entity::update_many()
            .set(conversations::ActiveModel {
                status: Set(ConversationStatus::Bot.as_str().to_owned()),
                waiting_since: Set(None),
                ..Default::default()
            })
            .filter(conversations::Column::Id.eq(conversation.0))
            .filter(conversations::Column::TenantId.eq(self.tenant.as_str()))
            .filter(conversations::Column::Status.eq(ConversationStatus::Waiting.as_str()))
            .exec(transaction)
            .await?;
        Ok(())
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

    /// Stores what the customer answered to a person's question: the person reads it with the ticket. `None`: nothing was
    /// asked any more.
    pub async fn answer_question(&self, ticket: &str, answer: &str, by: &By<'_>) -> Result<Option<Ticket>, StoreError> {
        let transaction = self.store.begin().await?;
        self.store.check_fence(&transaction).await?;
        let find = tickets::Entity::find_by_id((self.tenant.to_string(), ticket.to_owned()));
        let row = find.lock(LockType::Update).one(&transaction).await?;
        let Some(ticket) = row.map(read_ticket).transpose()?.filter(|ticket| ticket.question.is_some()) else {
            return Ok(None);
        };
        let question = ticket.question.clone().unwrap_or_default();
        let summary = format!("{}\nQuestion: {question}\nAnswer: {answer}", ticket.summary);
        let change = tickets::ActiveModel {
            summary: Set(summary.clone()),
            resolution: Set(None),
            resolved_by: Set(None),
            resolved_why: Set(None),
            ..Default::default()
        };
        self.change_ticket(&transaction, &ticket.id, change).await?;
        let answered = AuditEntry {
            kind: AuditKind::User,
            before: Some(json!({"ticket": ticket.id, "resolution": Resolution::MoreInfo})),
            after: Some(json!({"ticket": ticket.id})),
            ..about(&ticket, "ticket.answered", by)
        };
        record(&transaction, self.tenant, &[answered]).await?;
        transaction.commit().await?;
        Ok(Some(Ticket { summary, question: None, ..ticket }))
    }
}

/// The mail that a return may come back, with its label.
const APPROVED: &str = "return_approved";

/// An escalation while it is resolved.
struct Case<'a> {
    transaction: &'a DatabaseTransaction,
    ticket: &'a Ticket,
    verdict: &'a Verdict<'a>,
    by: By<'a>,
}

impl Case<'_> {
    /// Whether the decision concerns the RMA, and not only another line of its order.
    fn is_about(&self, rma: &Rma) -> bool {
        let of_claim = |lines: &[u32]| rma.lines.iter().any(|of| lines.contains(&of.line));
        self.ticket.claim.as_ref().is_none_or(|claim| of_claim(&claim.lines))
    }
}

fn about(ticket: &Ticket, what: &str, by: &By<'_>) -> AuditEntry {
    AuditEntry {
        kind: AuditKind::System,
        who: by.who.to_owned(),
        what: what.to_owned(),
        before: None,
        after: None,
        conversation: ticket.conversation,
        order: ticket.order.clone(),
        rma: ticket.rma.clone(),
        at: by.now,
    }
}
