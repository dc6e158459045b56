//! Decides on returns, refunds and cancellations and stores them, in one transaction and once per key.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, QueryFilter, QuerySelect};
use serde_json::json;
use uuid::Uuid;

use super::escalate::reviews_of;
use super::rows::{list_rmas, read_ticket};
use crate::domain::calendar::day_of;
use crate::domain::commerce::{Money, Order, OrderNumber, OrderStatus};
use crate::domain::returns::refund::refund;
use crate::domain::returns::ticket::idempotency_key;
use crate::domain::returns::{
    Action, Decision, History, Resolution, Rma, RmaId, RmaNumber, RmaStatus, Rules, Terms, Ticket, TicketKind,
    TicketNumber, decide,
};
use crate::domain::{AuditEntry, StatusChange, TenantId};
use crate::store::audit::{Actor, record};
use crate::store::entities::{TenantEntity, rma_items, rmas, tickets};
use crate::store::jobs::{NewJob, enqueue};
use crate::store::mails::{MailId, NewMail, queue};
use crate::store::orders::lock_order;
use crate::store::policies::list_policies;
use crate::store::{Result, TenantStore, to_db};

/// Makes the mail about a new RMA, if there is one.
pub type MailAbout<'a> = dyn Fn(&Order, &Rma) -> Option<NewMail> + Sync + 'a;

/// A request for a return or a refund.
pub struct NewReturn<'a> {
    pub order: &'a OrderNumber,
    /// The lines to return.
    pub lines: &'a [u32],
    /// `Return` or `Refund`.
    pub action: Action,
    /// The amount to which the customer said yes. `None` if a person or a model decided without that question.
    pub agreed: Option<Money>,
    /// In the customer's words.
    pub reason: &'a str,
    /// Identifies the request, such as a conversation and its flow. If the same request is repeated after a crash, the
    /// result is `Created`, not `Duplicate`.
    pub request: &'a str,
    pub terms: &'a Terms,
    /// The time of the request. The rules decide as of this day.
    pub asked_at: DateTime<Utc>,
    /// Distinguishes RMAs of the same second.
    pub random: [u8; 4],
    pub mail: &'a MailAbout<'a>,
}

/// The result of [`TenantStore::create_return`]. Only `Created` changes the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReturnOutcome {
    /// `key` is its idempotency key.
    Created { rma: Box<Rma>, key: String },
    /// An earlier request has the same key.
    Duplicate { rma: Box<Rma>, key: String },
    /// The rules refuse it.
    Refused(Box<Decision>),
    /// The customer agreed to another amount than this one, which is the current one.
    OtherAmount(Money),
    /// The amounts of the order do not add up.
    BadAmounts,
}

/// The result of [`TenantStore::create_cancellation`]. Only `Created` changes the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CancelOutcome {
    /// The ticket that asks the shop to stop the order. `key` is its idempotency key.
    Created {
        ticket: Box<Ticket>,
        key: String,
    },
    /// An earlier request has the same key.
    Duplicate {
        ticket: Box<Ticket>,
        key: String,
    },
    /// The customer agreed to another amount than this one, which is the current one.
    OtherAmount(Money),
    /// The order has left the shop.
    TooLate(OrderStatus),
    NotFound,
}

impl TenantStore<'_> {
    /// Decides whether these lines may be returned, as of `asked_at`. Changes nothing.
    pub async fn check_eligibility(
        &self,
        number: &OrderNumber,
        lines: &[u32],
        reason: &str,
        terms: &Terms,
        asked_at: DateTime<Utc>,
    ) -> Result<Decision> {
        let order = self.find_order(number).await?;
        decide_on(&self.store.read, self.tenant, order.as_ref(), lines, reason, terms, asked_at).await
    }

    /// Creates an RMA with its ticket, its mail and the jobs for label and mail, and changes the order's status. The
    /// rules decide again in the same transaction, so that no caller can bypass them.
    pub async fn create_return(&self, new: &NewReturn<'_>, by: &Actor<'_>) -> Result<ReturnOutcome> {
        let transaction = self.store.begin_fenced().await?;
        let outcome = self.create_return_in(&transaction, new, by).await?;
        if matches!(outcome, ReturnOutcome::Created { .. }) {
            transaction.commit().await?;
        }
        Ok(outcome)
    }

    /// Does [`Self::create_return`] in the caller's transaction.
    pub(super) async fn create_return_in(
        &self,
        transaction: &DatabaseTransaction,
        new: &NewReturn<'_>,
        by: &Actor<'_>,
    ) -> Result<ReturnOutcome> {
        let order = lock_order(transaction, self.tenant, new.order).await?;
        let mut generation = 0;
        let key = loop {
            let whole = order.as_ref().is_none_or(|order| order.is_whole(new.lines));
            let key = idempotency_key(new.order, new.action, (!whole).then_some(new.lines), generation);
            match self.find_earlier(transaction, &key).await? {
                None => break key,
                Some((_, rma)) if rma.status.is_rejected() => generation += 1,
                Some((request, rma)) if request == new.request => {
                    return Ok(ReturnOutcome::Created { rma: Box::new(rma), key });
                }
                Some((_, rma)) => return Ok(ReturnOutcome::Duplicate { rma: Box::new(rma), key }),
            }
        };
        let decision =
            decide_on(transaction, self.tenant, order.as_ref(), new.lines, new.reason, new.terms, new.asked_at).await?;
        let is_open = match new.action {
            Action::Return => decision.is_return_eligible,
            Action::Refund => decision.is_refund_eligible,
            Action::Cancel => false,
        };
        let Some(order) = order.filter(|_| is_open) else { return Ok(ReturnOutcome::Refused(Box::new(decision))) };
        let Ok((sum, lines)) = refund(&order, new.lines) else { return Ok(ReturnOutcome::BadAmounts) };
        if new.agreed.is_some_and(|agreed| agreed != sum) {
            return Ok(ReturnOutcome::OtherAmount(sum));
        }
        let rma = Rma {
            id: RmaId(Uuid::now_v7()),
            number: self.free_number(transaction, new.random, by).await?,
            order: order.number.clone(),
            action: new.action,
            status: RmaStatus::Initiated,
            lines,
            refund: sum,
            reason: new.reason.to_owned(),
            reason_code: decision.reason_code,
            escalated: false,
            escalation_reason: None,
            conversation: by.conversation,
            label: None,
            created_at: by.now,
            updated_at: by.now,
        };
        self.insert_return(transaction, new, by, &order, &rma, key.clone()).await?;
        Ok(ReturnOutcome::Created { rma: Box::new(rma), key })
    }

    /// Returns the RMA of the ticket with this key, and the request that created it.
    async fn find_earlier(&self, transaction: &DatabaseTransaction, key: &str) -> Result<Option<(String, Rma)>> {
        let Some(ticket) = find_by_key(transaction, self.tenant, key).await? else { return Ok(None) };
        let with_number = rmas::Column::Number.eq(ticket.rma_number.as_deref().unwrap_or_default());
        let rma = list_rmas(transaction, self.tenant, with_number).await?.pop();
        Ok(rma.map(|rma| (ticket.request, rma)))
    }

    /// Returns a number that no RMA of the shop has.
    async fn free_number(
        &self,
        transaction: &DatabaseTransaction,
        mut random: [u8; 4],
        by: &Actor<'_>,
    ) -> Result<RmaNumber> {
        loop {
            let number = RmaNumber::new(by.now, random);
            let taken =
                self.rows::<rmas::Entity>().filter(rmas::Column::Number.eq(number.as_str())).one(transaction).await?;
            if taken.is_none() {
                return Ok(number);
            }
            random = u32::from_be_bytes(random).wrapping_add(1).to_be_bytes();
        }
    }

    async fn insert_return(
        &self,
        transaction: &DatabaseTransaction,
        new: &NewReturn<'_>,
        by: &Actor<'_>,
        order: &Order,
        rma: &Rma,
        key: String,
    ) -> Result<Option<MailId>> {
        let row = rma_row(self.tenant, order, rma);
        rmas::Entity::insert(row).exec_without_returning(transaction).await?;
        rma_items::Entity::insert_many(item_rows(self.tenant, rma)).exec_without_returning(transaction).await?;
        let ticket = tickets::ActiveModel {
            id: Set(rma.number.to_string()),
            kind: Set(TicketKind::from(new.action).as_str().to_owned()),
            rma_number: Set(Some(rma.number.to_string())),
            ..ticket_row(self.tenant, Some(&order.number), key, new.request, new.reason, by)
        };
        tickets::Entity::insert(ticket).exec_without_returning(transaction).await?;
        let created = AuditEntry {
            after: Some(json!({
                "status": rma.status, "action": rma.action, "refund": rma.refund.to_string(),
                "lines": rma.lines.iter().map(|line| line.line).collect::<Vec<_>>(), "reason_code": rma.reason_code,
            })),
            ..by.entry("rma.created", &order.number, Some(&rma.number))
        };
        record(transaction, self.tenant, &[created]).await?;
        if let Ok(step) = StatusChange::new(order.status, OrderStatus::ReturnInitiated) {
            super::write_order_step(transaction, self.tenant, &order.number, step, by).await?;
        }
        enqueue(transaction, &[NewJob::label(self.tenant, rma.id, by.now)]).await?;
        match (new.mail)(order, rma) {
            Some(mail) => Ok(Some(queue(transaction, self.tenant, &mail, by.who, by.now).await?)),
            None => Ok(None),
        }
    }

    /// Creates a ticket that asks the shop to stop a pending order. `agreed` is the amount to which the customer said yes.
    pub async fn create_cancellation(
        &self,
        number: &OrderNumber,
        agreed: Option<Money>,
        reason: &str,
        request: &str,
        by: &Actor<'_>,
    ) -> Result<CancelOutcome> {
        let transaction = self.store.begin_fenced().await?;
        let Some(order) = lock_order(&transaction, self.tenant, number).await? else {
            return Ok(CancelOutcome::NotFound);
        };
        let mut generation = 0;
        let key = loop {
            let key = idempotency_key(number, Action::Cancel, None, generation);
            let Some(earlier) = find_by_key(&transaction, self.tenant, &key).await? else { break key };
            let is_same = earlier.request == request;
            let ticket = Box::new(read_ticket(earlier)?);
            let is_rejected = ticket.resolved.as_ref().is_some_and(|resolved| resolved.decision == Resolution::Reject);
            match (is_same, is_rejected) {
                (true, _) => return Ok(CancelOutcome::Created { ticket, key }),
                (false, true) => generation += 1,
                (false, false) => {
                    if ticket.resolved.is_none() {
                        self.record_joined(&transaction, &ticket, by).await?;
                        transaction.commit().await?;
                    }
                    return Ok(CancelOutcome::Duplicate { ticket, key });
                }
            }
        };
        if order.status != OrderStatus::Pending {
            return Ok(CancelOutcome::TooLate(order.status));
        }
        if agreed.is_some_and(|agreed| agreed != order.paid) {
            return Ok(CancelOutcome::OtherAmount(order.paid));
        }
        let id = TicketNumber::new(by.now, &[&key]);
        let row = tickets::ActiveModel {
            id: Set(id.to_string()),
            kind: Set(TicketKind::Cancel.as_str().to_owned()),
            ..ticket_row(self.tenant, Some(number), key.clone(), request, reason, by)
        };
        let stored = tickets::Entity::insert(row).exec_with_returning(&transaction).await?;
        let entry = AuditEntry { after: Some(json!({"ticket": id})), ..by.entry("cancel.asked", number, None) };
        record(&transaction, self.tenant, &[entry]).await?;
        transaction.commit().await?;
        Ok(CancelOutcome::Created { ticket: Box::new(read_ticket(stored)?), key })
    }
}

pub(super) async fn find_by_key(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    key: &str,
) -> Result<Option<tickets::Model>> {
    Ok(tickets::Entity::of(tenant).filter(tickets::Column::IdempotencyKey.eq(key)).one(connection).await?)
}

async fn decide_on(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    order: Option<&Order>,
    lines: &[u32],
    reason: &str,
    terms: &Terms,
    asked_at: DateTime<Utc>,
) -> Result<Decision> {
    let rules: Rules = terms.with(list_policies(connection, tenant).await?);
    let (mut history, mut is_under_review) = (History::default(), false);
    if let Some(order) = order {
        history.returns = return_days(connection, tenant, order, &rules, asked_at).await?;
        (history.reviews, is_under_review) = reviews_of(connection, tenant, &order.number).await?;
    }
    let decision = decide(order, lines, reason, &history, &rules, day_of(asked_at, terms.time_zone));
    let waits = is_under_review && !history.approves(lines);
    Ok(if waits { decision.under_review() } else { decision })
}

/// Lists the days on which RMAs were created for the order's customer, as far back as the rules need.
async fn return_days(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    order: &Order,
    rules: &Rules,
    asked_at: DateTime<Utc>,
) -> Result<Vec<NaiveDate>> {
    // Two days more: the shop's days do not start at midnight UTC.
    let since = asked_at - TimeDelta::days(i64::from(rules.terms.frequency.days) + 2);
    let made: Vec<DateTime<Utc>> = rmas::Entity::of(tenant)
        .select_only()
        .column(rmas::Column::CreatedAt)
        .filter(rmas::Column::CustomerId.eq(order.customer.id.0))
        .filter(rmas::Column::CreatedAt.gte(since))
        .into_tuple()
        .all(connection)
        .await?;
    Ok(made.into_iter().map(|at| day_of(at, rules.terms.time_zone)).collect())
}

pub(in crate::store) fn rma_row(tenant: &TenantId, order: &Order, rma: &Rma) -> rmas::ActiveModel {
    rmas::ActiveModel {
        id: Set(rma.id.0),
        tenant_id: Set(tenant.to_string()),
        number: Set(rma.number.to_string()),
        order_number: Set(order.number.to_string()),
        customer_id: Set(order.customer.id.0),
        action: Set(rma.action.as_str().to_owned()),
        status: Set(rma.status.as_str().to_owned()),
        currency: Set(rma.refund.currency.as_str().to_owned()),
        refund: Set(rma.refund.minor),
        reason: Set(rma.reason.clone()),
        reason_code: Set(rma.reason_code.as_str().to_owned()),
        escalated: Set(rma.escalated),
        escalation_reason: Set(rma.escalation_reason.clone()),
        escalation_ticket: Set(None),
        conversation_id: Set(rma.conversation.map(|id| id.0)),
        created_at: Set(rma.created_at),
        updated_at: Set(rma.updated_at),
    }
}

pub(in crate::store) fn item_rows(tenant: &TenantId, rma: &Rma) -> impl Iterator<Item = rma_items::ActiveModel> {
    rma.lines.iter().map(|line| rma_items::ActiveModel {
        rma_id: Set(rma.id.0),
        line: Set(to_db(line.line)),
        tenant_id: Set(tenant.to_string()),
        amount: Set(line.amount.minor),
    })
}

/// Returns the row of a ticket. The caller sets its id and kind.
pub(super) fn ticket_row(
    tenant: &TenantId,
    order: Option<&OrderNumber>,
    key: String,
    request: &str,
    reason: &str,
    by: &Actor<'_>,
) -> tickets::ActiveModel {
    tickets::ActiveModel {
        tenant_id: Set(tenant.to_string()),
        idempotency_key: Set(key),
        request: Set(request.to_owned()),
        order_number: Set(order.map(ToString::to_string)),
        conversation_id: Set(by.conversation.map(|id| id.0)),
        reason: Set(reason.to_owned()),
        summary: Set(String::new()),
        created_at: Set(by.now),
        ..Default::default()
    }
}
