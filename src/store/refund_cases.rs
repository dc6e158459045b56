//! Refund cases: opened once for each invoice, and decided by a person.
//!
//! Every change of an invoice's cases locks the invoice's row first. Statuses are written only by [`StatusChange`]s.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::Expr;
use sea_orm::sea_query::{ExprTrait, OnConflict, SimpleExpr};
use sea_orm::{ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder};
use serde_json::json;

use super::accounts::{grosze, lock_invoice};
use super::audit::{Actor, record};
use super::entities::{TenantEntity, audit, case_numbers, refund_cases};
use super::jobs::{NewJob, enqueue, subject_of};
use super::{Result, TenantStore, from_db, to_db, unreadable};
use crate::domain::audit::OPERATOR;
use crate::domain::commerce::Money;
use crate::domain::telecom::refund_case::{Decided, Refusal, check_claim, decision_day};
use crate::domain::telecom::{
    CaseId, CaseNotice, CaseStatus, InvoiceNumber, RefundCase, RefundClaim, RefundReason, Verdict,
};
use crate::domain::{AuditEntry, ConversationId, StatusChange, TenantId};

/// The result of [`TenantStore::open_refund_case`]. Only `Opened` changes the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opening {
    Opened(Box<RefundCase>),
    /// The invoice has this open case.
    AlreadyOpen(Box<RefundCase>),
    /// The claim and the approved ones are more than the invoice. `left` may still be claimed; it can be zero.
    AboveInvoice {
        left: Money,
    },
    /// The customer has no such invoice. It may be another customer's.
    NoInvoice,
}

/// The result of [`TenantStore::decide_refund_case`]. Only `Done` changes the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deciding {
    Done(Box<RefundCase>),
    /// A person has already decided.
    Decided(Box<RefundCase>),
    NotFound,
}

/// Announces a person's decision on a case in the chat; the payload is the [`CaseNotice`] and the subject is a hash of the case.
pub const SAY_REFUND_DECISION: &str = "say_refund_decision";

/// The audit log's name for a conversation that joined an open case.
const JOINED: &str = "refund_case.joined";

impl<'a> NewJob<'a> {
    fn say_refund_decision(
        tenant: &'a TenantId,
        conversation: ConversationId,
        notice: &CaseNotice,
        now: DateTime<Utc>,
    ) -> Self {
        let subject = subject_of(&format!("{tenant}{conversation}{}", notice.case));
        let payload = serde_json::to_value(notice).unwrap_or_default();
        Self::new(SAY_REFUND_DECISION, subject, tenant, now).in_conversation(conversation).with_payload(payload)
    }
}

impl TenantStore<'_> {
    /// Opens a case for an invoice of this customer. The claim is checked against the invoice and its earlier cases in the same
    /// transaction, so concurrent calls for one invoice open one case. `zone` is `TELECOM_TIME_ZONE`.
    pub async fn open_refund_case(
        &self,
        user_id: &str,
        claim: &RefundClaim,
        zone: Tz,
        by: &Actor<'_>,
    ) -> Result<Opening> {
        let transaction = self.store.begin_fenced().await?;
        let invoice = lock_invoice(&transaction, self.tenant, claim.invoice()).await?;
        let Some(invoice) = invoice.filter(|invoice| !user_id.is_empty() && invoice.user_id == user_id) else {
            return Ok(Opening::NoInvoice);
        };
        let of_invoice = refund_cases::Column::InvoiceNumber.eq(invoice.number.as_str());
        let earlier = cases_where(&transaction, self.tenant, of_invoice).await?;
        match check_claim(claim, &invoice, &earlier) {
            Ok(()) => {}
            Err(Refusal::AlreadyOpen(case)) => return Ok(Opening::AlreadyOpen(Box::new(case.clone()))),
            Err(Refusal::AboveInvoice { left }) => return Ok(Opening::AboveInvoice { left }),
        }
        let case = RefundCase {
            id: next_case_id(&transaction, self.tenant).await?,
            user_id: invoice.user_id,
            invoice: invoice.number,
            reason: claim.reason(),
            amount: claim.amount(),
            description: claim.description().map(str::to_owned),
            status: CaseStatus::of(claim.reason()),
            eta: decision_day(by.now, zone),
            conversation: by.conversation,
            opened_at: by.now,
            decided: None,
        };
        refund_cases::Entity::insert(case_row(self.tenant, &case)).exec_without_returning(&transaction).await?;
        let opened = AuditEntry {
            after: Some(json!({
                "case": case.id, "invoice": case.invoice, "amount": case.amount.to_string(), "reason": case.reason,
                "status": case.status,
            })),
            ..about(&case, "refund_case.opened", by)
        };
        record(&transaction, self.tenant, &[opened]).await?;
        transaction.commit().await?;
        Ok(Opening::Opened(Box::new(case)))
    }

    /// Records that another conversation waits for the decision on an open case, once for each conversation.
    pub async fn join_refund_case(&self, id: CaseId, by: &Actor<'_>) -> Result<()> {
        let transaction = self.store.begin_fenced().await?;
        let case = lock_case(&transaction, self.tenant, id).await?;
        let Some(case) = case.filter(|case| case.status.is_open()) else { return Ok(()) };
        let Some(conversation) = by.conversation.filter(|id| case.conversation != Some(*id)) else { return Ok(()) };
        if joined_conversations(&transaction, self.tenant, &case).await?.contains(&conversation) {
            return Ok(());
        }
        let joined = AuditEntry { after: Some(json!({"case": case.id})), ..about(&case, JOINED, by) };
        record(&transaction, self.tenant, &[joined]).await?;
        transaction.commit().await
    }

    /// Stores a person's decision on a case, with the reason for the audit log, and the chat messages to the customer: to the
    /// conversation that opened the case, and to those that joined it.
    pub async fn decide_refund_case(
        &self,
        id: CaseId,
        verdict: Verdict,
        why: &str,
        by: &Actor<'_>,
    ) -> Result<Deciding> {
        let transaction = self.store.begin_fenced().await?;
        let Some(case) = lock_case(&transaction, self.tenant, id).await? else { return Ok(Deciding::NotFound) };
        let Ok(step) = StatusChange::new(case.status, verdict.into()) else {
            return Ok(Deciding::Decided(Box::new(case)));
        };
        refund_cases::Entity::update_of(self.tenant)
            .set(refund_cases::ActiveModel {
                status: Set(step.to().as_str().to_owned()),
                decided_by: Set(Some(by.who.to_owned())),
                decided_why: Set(Some(why.to_owned())),
                decided_at: Set(Some(by.now)),
                ..Default::default()
            })
            .filter(refund_cases::Column::Number.eq(to_db(id.number())))
            .exec(&transaction)
            .await?;
        let by = Actor { conversation: by.conversation.or(case.conversation), ..*by };
        let decided = AuditEntry {
            before: Some(json!({"case": case.id, "status": step.from()})),
            after: Some(json!({"case": case.id, "status": step.to(), "why": why})),
            ..about(&case, "refund_case.decided", &by)
        };
        record(&transaction, self.tenant, &[decided]).await?;
        self.record_act(&transaction).await?;
        let mut concerned = joined_conversations(&transaction, self.tenant, &case).await?;
        concerned.extend(case.conversation);
        let notice = CaseNotice { case: case.id, by: (by.who != OPERATOR).then(|| by.who.to_owned()) };
        for conversation in concerned {
            enqueue(&transaction, &[NewJob::say_refund_decision(self.tenant, conversation, &notice, by.now)]).await?;
        }
        transaction.commit().await?;
        let decided = Decided { by: by.who.to_owned(), why: why.to_owned(), at: by.now };
        Ok(Deciding::Done(Box::new(RefundCase { status: step.to(), decided: Some(decided), ..case })))
    }

    pub async fn find_refund_case(&self, id: CaseId) -> Result<Option<RefundCase>> {
        let with_number = refund_cases::Column::Number.eq(to_db(id.number()));
        Ok(cases_where(&self.store.read, self.tenant, with_number).await?.pop())
    }

    /// Lists the shop's cases that wait for a decision, newest first.
    pub async fn list_open_refund_cases(&self) -> Result<Vec<RefundCase>> {
        let open = refund_cases::Column::Status.is_in(CaseStatus::OPEN.map(CaseStatus::as_str));
        cases_where(&self.store.read, self.tenant, open).await
    }

    /// Lists the customer's cases, newest first.
    pub async fn list_refund_cases_of(&self, user_id: &str) -> Result<Vec<RefundCase>> {
        cases_where(&self.store.read, self.tenant, refund_cases::Column::UserId.eq(user_id)).await
    }
}

/// Returns the next number. Concurrent transactions of the shop wait for each other.
async fn next_case_id(transaction: &DatabaseTransaction, tenant: &TenantId) -> Result<CaseId> {
    let first =
        case_numbers::ActiveModel { tenant_id: Set(tenant.to_string()), last: Set(to_db(CaseId::FIRST.number())) };
    let last = Expr::col((case_numbers::Entity, case_numbers::Column::Last));
    let next =
        OnConflict::column(case_numbers::Column::TenantId).value(case_numbers::Column::Last, last.add(1)).to_owned();
    let row = case_numbers::Entity::insert(first).on_conflict(next).exec_with_returning(transaction).await?;
    Ok(CaseId::new(from_db(row.last)))
}

/// Returns the case after locking its invoice.
async fn lock_case(transaction: &DatabaseTransaction, tenant: &TenantId, id: CaseId) -> Result<Option<RefundCase>> {
    let find = || cases_where(transaction, tenant, refund_cases::Column::Number.eq(to_db(id.number())));
    let Some(case) = find().await?.pop() else { return Ok(None) };
    lock_invoice(transaction, tenant, &case.invoice).await?;
    // It may have changed before the lock.
    Ok(find().await?.pop())
}

/// Returns the other conversations that joined the case. They also receive its decision.
async fn joined_conversations(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    case: &RefundCase,
) -> Result<BTreeSet<ConversationId>> {
    let rows = audit::Entity::of(tenant)
        .filter(audit::Column::UserId.eq(case.user_id.as_str()))
        .filter(audit::Column::What.eq(JOINED))
        .all(connection)
        .await?;
    let id = json!(case.id);
    let is_joined = |row: &audit::Model| row.after.as_ref().is_some_and(|after| after["case"] == id);
    Ok(rows.iter().filter(|row| is_joined(row)).filter_map(|row| row.conversation_id.map(ConversationId)).collect())
}

async fn cases_where(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    which: SimpleExpr,
) -> Result<Vec<RefundCase>> {
    let newest = refund_cases::Entity::of(tenant).filter(which).order_by_desc(refund_cases::Column::Number);
    newest.all(connection).await?.into_iter().map(read_case).collect()
}

/// Returns an entry of the audit log about a case.
fn about(case: &RefundCase, what: &str, by: &Actor<'_>) -> AuditEntry {
    AuditEntry {
        conversation: by.conversation,
        account: Some(case.user_id.clone()).filter(|user_id| !user_id.is_empty()),
        ..AuditEntry::system(by.who, what, by.now)
    }
}

pub(super) fn case_row(tenant: &TenantId, case: &RefundCase) -> refund_cases::ActiveModel {
    let decided = case.decided.as_ref();
    refund_cases::ActiveModel {
        tenant_id: Set(tenant.to_string()),
        number: Set(to_db(case.id.number())),
        user_id: Set(Some(case.user_id.clone())),
        invoice_number: Set(case.invoice.to_string()),
        reason: Set(case.reason.as_str().to_owned()),
        amount: Set(case.amount.minor),
        description: Set(case.description.clone()),
        status: Set(case.status.as_str().to_owned()),
        eta: Set(case.eta),
        conversation_id: Set(case.conversation.map(|id| id.0)),
        opened_at: Set(case.opened_at),
        decided_by: Set(decided.map(|decided| decided.by.clone())),
        decided_why: Set(decided.map(|decided| decided.why.clone())),
        decided_at: Set(decided.map(|decided| decided.at)),
    }
}

fn read_case(row: refund_cases::Model) -> Result<RefundCase> {
    let unreadable = |reason| unreadable("refund_cases", reason);
    let decided = match (row.decided_by, row.decided_at) {
        (Some(by), Some(at)) => Some(Decided { by, why: row.decided_why.unwrap_or_default(), at }),
        _ => None,
    };
    Ok(RefundCase {
        id: CaseId::new(from_db(row.number)),
        user_id: row.user_id.unwrap_or_default(),
        invoice: row.invoice_number.parse::<InvoiceNumber>().map_err(|_| unreadable("invoice_number"))?,
        reason: RefundReason::parse(&row.reason).ok_or_else(|| unreadable("reason"))?,
        amount: grosze(row.amount),
        description: row.description,
        status: CaseStatus::parse(&row.status).ok_or_else(|| unreadable("status"))?,
        eta: row.eta,
        conversation: row.conversation_id.map(ConversationId),
        opened_at: row.opened_at,
        decided,
    })
}
