//! Escalations to a person. RMAs are locked until the person has decided.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::LockType;
use sea_orm::{ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, QueryFilter, QuerySelect};
use serde_json::json;

use super::create::{find_by_key, ticket_row};
use super::details::SUMMARY_MAX_BYTES;
use super::resolve::about;
use super::rows::{list_rmas, read_ticket};
use crate::domain::commerce::OrderNumber;
use crate::domain::returns::ticket::escalation_key;
use crate::domain::returns::{Claim, Priority, Resolution, Review, Rma, RmaNumber, Ticket, TicketKind, TicketNumber};
use crate::domain::{AuditEntry, ConversationId, TenantId};
use crate::store::audit::{Actor, record};
use crate::store::entities::{TenantEntity, audit, conversations, rmas, tickets};
use crate::store::journal::wait_for_person;
use crate::store::orders::lock_order;
use crate::store::{Result, StoreError, TenantStore, all_inserted};

/// The reason of tickets about payments. The shop has written them, not the customer.
pub const PAYMENT: &str = "a payment needs a decision";

/// A request for a person's decision.
#[derive(Clone, Copy, Debug)]
pub struct NewEscalation<'a> {
    /// The RMA to lock.
    pub rma: Option<&'a RmaNumber>,
    pub order: Option<&'a OrderNumber>,
    /// Without an RMA, all open RMAs of the order are locked, and the decision is about them as well.
    pub locks_returns: bool,
    pub priority: Priority,
    pub reason: &'a str,
    /// Reason, request, actions taken, next steps.
    pub summary: &'a str,
    /// The return to create if the person approves it.
    pub claim: Option<&'a Claim>,
    /// Names what happened, so that it gets one ticket however often it is reported, also after the decision. The shop found it
    /// out by itself, so the conversation waits for a person from then on.
    pub once: Option<&'a str>,
}

/// The result of [`TenantStore::escalate`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Escalated {
    Created(Box<Ticket>),
    /// An open ticket already exists.
    Duplicate(Box<Ticket>),
}

impl Escalated {
    pub fn ticket(&self) -> &Ticket {
        match self {
            Self::Created(ticket) | Self::Duplicate(ticket) => ticket,
        }
    }
}

/// Returns the subject of an escalation of a whole order, for its key.
fn subject_of(order: &OrderNumber) -> String {
    format!("order:{order}")
}

/// Returns the open escalation of this subject, or the key for the next one.
async fn latest_escalation(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    subject: &str,
) -> Result<(String, Option<tickets::Model>)> {
    let mut generation = 0;
    loop {
        let key = escalation_key(subject, generation);
        match find_by_key(connection, tenant, &key).await? {
            Some(earlier) if earlier.resolved_at.is_some() => generation += 1,
            found => return Ok((key, found)),
        }
    }
}

/// Lets the conversation wait for a person. Returns its id, or `None` if it was deleted.
async fn wait_in(
    transaction: &DatabaseTransaction,
    id: ConversationId,
    since: DateTime<Utc>,
) -> Result<Option<ConversationId>> {
    let row = conversations::Entity::find_by_id(id.0).lock(LockType::Update).one(transaction).await?;
    if row.is_some() {
        wait_for_person(transaction, id.0, since).await?;
    }
    Ok(row.map(|_| id))
}

/// The audit log's name for a conversation that joined an open ticket.
pub(in crate::store) const JOINED: &str = "ticket.joined";

/// Returns the other conversations that joined the ticket. They also receive its decision.
pub(super) async fn joined_conversations(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    ticket: &Ticket,
) -> Result<BTreeSet<ConversationId>> {
    let Some(order) = &ticket.order else { return Ok(BTreeSet::new()) };
    let rows = audit::Entity::of(tenant)
        .filter(audit::Column::OrderNumber.eq(order.as_str()))
        .filter(audit::Column::What.eq(JOINED))
        .all(connection)
        .await?;
    let is_joined = |row: &audit::Model| row.after.as_ref().is_some_and(|after| after["ticket"] == ticket.id);
    Ok(rows.iter().filter(|row| is_joined(row)).filter_map(|row| row.conversation_id.map(ConversationId)).collect())
}

/// Returns people's last decision on each line of the order, and whether a ticket about the order or one of its RMAs is open.
/// An approval counts until an RMA of its line is created.
pub(super) async fn reviews_of(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    order: &OrderNumber,
) -> Result<(BTreeMap<u32, Review>, bool)> {
    let made = list_rmas(connection, tenant, rmas::Column::OrderNumber.eq(order.as_str())).await?;
    let (mut reviews, mut is_open) = (BTreeMap::new(), made.iter().any(|rma| rma.escalated));
    for generation in 0.. {
        let key = escalation_key(&subject_of(order), generation);
        let Some(row) = find_by_key(connection, tenant, &key).await? else { break };
        let ticket = read_ticket(row)?;
        is_open |= ticket.resolved.is_none();
        let (Some(claim), Some(resolved)) = (ticket.claim, ticket.resolved) else { continue };
        for line in claim.lines {
            let is_made = |rma: &Rma| rma.created_at >= resolved.at && rma.lines.iter().any(|of| of.line == line);
            match resolved.decision {
                Resolution::Reject => reviews.insert(line, Review::Rejected),
                Resolution::Approve if !made.iter().any(is_made) => reviews.insert(line, Review::Approved),
                Resolution::Approve | Resolution::MoreInfo => reviews.remove(&line),
            };
        }
    }
    Ok((reviews, is_open))
}

impl TenantStore<'_> {
    /// Creates a ticket for a person and locks its RMAs. A further escalation of the same subject joins the open ticket.
    pub async fn escalate(&self, new: &NewEscalation<'_>, by: &Actor<'_>) -> Result<Escalated> {
        let subject = match (new.rma, new.order, by.conversation) {
            _ if new.once.is_some() => format!("once:{}", new.once.unwrap_or_default()),
            (Some(rma), _, _) => format!("rma:{rma}"),
            (None, Some(order), _) => subject_of(order),
            (None, None, Some(conversation)) => format!("conversation:{conversation}"),
            (None, None, None) => format!("who:{}", by.who),
        };
        let transaction = self.store.begin_fenced().await?;
        if new.once.is_some()
            && let Some(known) = find_by_key(&transaction, self.tenant, &escalation_key(&subject, 0)).await?
        {
            return Ok(Escalated::Duplicate(Box::new(read_ticket(known)?)));
        }
        let mut by = *by;
        if new.once.is_some()
            && let Some(id) = by.conversation
        {
            by.conversation = wait_in(&transaction, id, by.now).await?;
        }
        let by = &by;
        let marked = self.rmas_to_lock(&transaction, new).await?;
        let mut earlier = self.ticket_of_lock(&transaction, new).await?;
        let key = loop {
            if let Some(open) = &earlier
                && let Some(joined) = self.join(&transaction, &open.id, &marked, new, by).await?
            {
                transaction.commit().await?;
                return Ok(Escalated::Duplicate(Box::new(joined)));
            }
            match latest_escalation(&transaction, self.tenant, &subject).await? {
                (_, Some(open)) => earlier = Some(open),
                (key, None) => break key,
            }
        };
        let order = new.order.or_else(|| marked.first().map(|rma| &rma.order));
        let id = TicketNumber::new(by.now, &[&key]);
        let row = tickets::ActiveModel {
            id: Set(id.to_string()),
            kind: Set(TicketKind::Escalation.as_str().to_owned()),
            rma_number: Set(new.rma.map(ToString::to_string)),
            priority: Set(Some(new.priority.as_str().to_owned())),
            summary: Set(new.summary.to_owned()),
            claim: Set(new.claim.and_then(|claim| serde_json::to_value(claim).ok())),
            ..ticket_row(self.tenant, order, key.clone(), "", new.reason, by)
        };
        let inserted = tickets::Entity::insert_if_new(row).exec_without_returning(&transaction).await?;
        let stored = find_by_key(&transaction, self.tenant, &key).await?;
        let stored = stored.ok_or(StoreError::Conflict { table: "tickets" })?;
        if !all_inserted(&inserted, 1) {
            // A concurrent call was faster. Without an order, there is no lock to wait for.
            let joined = self.join(&transaction, &stored.id, &marked, new, by).await?;
            transaction.commit().await?;
            return Ok(Escalated::Duplicate(Box::new(joined.map_or_else(|| read_ticket(stored), Ok)?)));
        }
        let ticket = read_ticket(stored)?;
        let after = json!({"ticket": ticket.id, "priority": new.priority});
        let opened = AuditEntry { after: Some(after), ..about(&ticket, "ticket.escalated", by) };
        record(&transaction, self.tenant, &[opened]).await?;
        // An RMA has only one lock: it passes to the ticket that decides about the RMA.
        for rma in marked.iter().filter(|rma| !rma.escalated || new.rma.is_some()) {
            self.mark(&transaction, rma, Some((&ticket.id, new.reason)), by).await?;
        }
        transaction.commit().await?;
        Ok(Escalated::Created(Box::new(ticket)))
    }

    /// Returns the open ticket that locks the RMA and decides about it. The claim of a ticket is about other lines of the order.
    async fn ticket_of_lock(
        &self,
        transaction: &DatabaseTransaction,
        new: &NewEscalation<'_>,
    ) -> Result<Option<tickets::Model>> {
        let Some(number) = new.rma else { return Ok(None) };
        let row = self
            .rows::<rmas::Entity>()
            .filter(rmas::Column::Number.eq(number.as_str()))
            .filter(rmas::Column::Escalated.eq(true))
            .one(transaction)
            .await?;
        let Some(id) = row.and_then(|row| row.escalation_ticket) else { return Ok(None) };
        let ticket = tickets::Entity::find_by_id((self.tenant.to_string(), id)).one(transaction).await?;
        Ok(ticket.filter(|ticket| ticket.resolved_at.is_none() && ticket.claim.is_none()))
    }

    /// Adds the escalation to an open ticket: locks its RMAs too, and raises the priority if the new one is higher. Returns
    /// `None` if the ticket was resolved meanwhile.
    async fn join(
        &self,
        transaction: &DatabaseTransaction,
        id: &str,
        marked: &[Rma],
        new: &NewEscalation<'_>,
        by: &Actor<'_>,
    ) -> Result<Option<Ticket>> {
        let find = || tickets::Entity::find_by_id((self.tenant.to_string(), id.to_owned()));
        let row = find().lock(LockType::Update).one(transaction).await?;
        let Some(row) = row.filter(|row| row.resolved_at.is_none()) else { return Ok(None) };
        let ticket = read_ticket(row)?;
        for rma in marked.iter().filter(|rma| !rma.escalated) {
            self.mark(transaction, rma, Some((id, new.reason)), by).await?;
        }
        let ticket = self.join_claim(transaction, ticket, new).await?;
        let ticket = self.join_summary(transaction, ticket, new).await?;
        self.record_joined(transaction, &ticket, by).await?;
        if ticket.priority >= Some(new.priority) {
            return Ok(Some(ticket));
        }
        let priority = Set(Some(new.priority.as_str().to_owned()));
        self.change_ticket(transaction, id, tickets::ActiveModel { priority, ..Default::default() }).await?;
        let raised = AuditEntry {
            before: Some(json!({"ticket": id, "priority": ticket.priority})),
            after: Some(json!({"ticket": id, "priority": new.priority, "why": new.reason})),
            conversation: by.conversation,
            ..about(&ticket, "ticket.priority", by)
        };
        record(transaction, self.tenant, &[raised]).await?;
        Ok(Some(Ticket { priority: Some(new.priority), ..ticket }))
    }

    /// Records that another conversation waits for the ticket's decision, once for each conversation.
    pub(super) async fn record_joined(
        &self,
        transaction: &DatabaseTransaction,
        ticket: &Ticket,
        by: &Actor<'_>,
    ) -> Result<()> {
        let Some(conversation) = by.conversation.filter(|id| ticket.conversation != Some(*id)) else { return Ok(()) };
        if joined_conversations(transaction, self.tenant, ticket).await?.contains(&conversation) {
            return Ok(());
        }
        let joined = AuditEntry {
            after: Some(json!({"ticket": ticket.id})),
            conversation: Some(conversation),
            ..about(ticket, JOINED, by)
        };
        record(transaction, self.tenant, &[joined]).await
    }

    /// Adds the requested return to the ticket.
    async fn join_claim(
        &self,
        transaction: &DatabaseTransaction,
        ticket: Ticket,
        new: &NewEscalation<'_>,
    ) -> Result<Ticket> {
        let Some(claim) = new.claim else { return Ok(ticket) };
        let joined = ticket.claim.clone().map_or_else(|| claim.clone(), |earlier| earlier.joined_by(claim));
        if ticket.claim.as_ref() == Some(&joined) {
            return Ok(ticket);
        }
        let claim = Set(serde_json::to_value(&joined).ok());
        self.change_ticket(transaction, &ticket.id, tickets::ActiveModel { claim, ..Default::default() }).await?;
        Ok(Ticket { claim: Some(joined), ..ticket })
    }

    /// Adds a request with another reason to the ticket's summary, once.
    async fn join_summary(
        &self,
        transaction: &DatabaseTransaction,
        ticket: Ticket,
        new: &NewEscalation<'_>,
    ) -> Result<Ticket> {
        // Without an order in its row, only the summary shows which orders a ticket is about.
        let is_same = ticket.reason == new.reason && ticket.order.is_some();
        let is_known = is_same || ticket.summary.contains(new.summary);
        if is_known || ticket.summary.len() + new.summary.len() > SUMMARY_MAX_BYTES {
            return Ok(ticket);
        }
        let summary = format!("{}\nAlso: {}", ticket.summary, new.summary);
        let change = tickets::ActiveModel { summary: Set(summary.clone()), ..Default::default() };
        self.change_ticket(transaction, &ticket.id, change).await?;
        Ok(Ticket { summary, ..ticket })
    }

    /// Returns the RMAs of the escalation, and locks their order.
    async fn rmas_to_lock(&self, transaction: &DatabaseTransaction, new: &NewEscalation<'_>) -> Result<Vec<Rma>> {
        if let Some(number) = new.rma {
            return Ok(self.lock_rma(transaction, number).await?.into_iter().collect());
        }
        let Some(order) = new.order else { return Ok(Vec::new()) };
        lock_order(transaction, self.tenant, order).await?;
        if !new.locks_returns {
            return Ok(Vec::new());
        }
        let found = list_rmas(transaction, self.tenant, rmas::Column::OrderNumber.eq(order.as_str())).await?;
        Ok(found.into_iter().filter(|rma| !rma.status.has_ended()).collect())
    }

    /// Locks an RMA with a ticket and a reason, or releases it without.
    pub(super) async fn mark(
        &self,
        transaction: &DatabaseTransaction,
        rma: &Rma,
        ticket: Option<(&str, &str)>,
        by: &Actor<'_>,
    ) -> Result<()> {
        let mut change =
            rmas::ActiveModel { escalated: Set(ticket.is_some()), updated_at: Set(by.now), ..Default::default() };
        // A released RMA keeps its last ticket and reason, for compliance.
        if let Some((ticket, reason)) = ticket {
            change.escalation_ticket = Set(Some(ticket.to_owned()));
            change.escalation_reason = Set(Some(reason.to_owned()));
        }
        rmas::Entity::update_many().set(change).filter(rmas::Column::Id.eq(rma.id.0)).exec(transaction).await?;
        let entry = AuditEntry {
            before: Some(json!({"escalated": rma.escalated})),
            after: Some(json!({"escalated": ticket.is_some()})),
            ..by.entry("rma.escalated", &rma.order, Some(&rma.number))
        };
        record(transaction, self.tenant, &[entry]).await
    }
}
