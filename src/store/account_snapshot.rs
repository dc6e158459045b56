//! Snapshots of telecom accounts, to play a turn again on another store.
//!
//! A snapshot holds the rows as of the question: later cases are left out, and cases that were decided later are open. Plans,
//! subscriptions and invoices are stored as of the snapshot.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use sea_orm::sea_query::{Expr, ExprTrait, Func};
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder};
use serde::{Deserialize, Serialize};

use super::entities::{case_numbers, invoices, order_misses, plans, refund_cases, subscriptions};
use super::returns::snapshot::insert;
use super::{Result, Store, TenantStore};
use crate::domain::ConversationId;
use crate::domain::identity::attempts::AttemptSubject;
use crate::domain::telecom::{CaseStatus, InvoiceNumber, RefundReason};

/// The question that a snapshot is for.
#[derive(Clone, Debug)]
pub struct AskedAccount {
    pub conversation: ConversationId,
    pub at: DateTime<Utc>,
    /// Words of the conversation that may be user ids.
    pub users: Vec<String>,
    /// Words of the conversation that may be invoice numbers.
    pub invoices: Vec<InvoiceNumber>,
}

/// Rows of one shop.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AccountSnapshot {
    plans: Vec<plans::Model>,
    subscriptions: Vec<subscriptions::Model>,
    invoices: Vec<invoices::Model>,
    cases: Vec<refund_cases::Model>,
    numbers: Vec<case_numbers::Model>,
    misses: Vec<order_misses::Model>,
}

impl TenantStore<'_> {
    /// Copies the accounts that the conversation may be about, as of the question.
    pub async fn snapshot_accounts(&self, asked: &AskedAccount) -> Result<AccountSnapshot> {
        let read = &self.store.read;
        let named: BTreeSet<String> = asked.users.iter().map(|user| user.to_ascii_lowercase()).collect();
        let numbers = || asked.invoices.iter().map(InvoiceNumber::as_str);
        let is_named = |column: Expr| Expr::expr(Func::lower(column)).is_in(named.iter().cloned());
        let subscriptions = self
            .rows::<subscriptions::Entity>()
            .filter(is_named(Expr::col(subscriptions::Column::UserId)))
            .all(read)
            .await?;
        let invoices = self
            .rows::<invoices::Entity>()
            .filter(is_named(Expr::col(invoices::Column::UserId)).or(invoices::Column::Number.is_in(numbers())))
            .all(read)
            .await?;
        let of_invoices = refund_cases::Column::InvoiceNumber.is_in(invoices.iter().map(|row| row.number.as_str()));
        let cases = self
            .rows::<refund_cases::Entity>()
            .filter(of_invoices)
            .filter(refund_cases::Column::OpenedAt.lt(asked.at))
            .all(read)
            .await?;
        let last = self
            .rows::<refund_cases::Entity>()
            .filter(refund_cases::Column::OpenedAt.lt(asked.at))
            .order_by_desc(refund_cases::Column::Number)
            .one(read)
            .await?;
        let last = last.map(|row| case_numbers::Model { tenant_id: row.tenant_id, last: row.number });
        let subjects = named.iter().map(|user| AttemptSubject::Account(user.clone()).name());
        let subjects = subjects.chain([AttemptSubject::Conversation(asked.conversation).name()]);
        let misses = self
            .rows::<order_misses::Entity>()
            .filter(order_misses::Column::Subject.is_in(subjects))
            .filter(order_misses::Column::LastAt.lt(asked.at))
            .all(read)
            .await?;
        Ok(AccountSnapshot {
            plans: self.rows::<plans::Entity>().all(read).await?,
            subscriptions,
            invoices,
            cases: cases.into_iter().map(|case| as_of(case, asked.at)).collect(),
            numbers: last.into_iter().collect(),
            misses,
        })
    }
}

/// Returns the case as of the question.
fn as_of(case: refund_cases::Model, at: DateTime<Utc>) -> refund_cases::Model {
    if case.decided_at.is_none_or(|decided_at| decided_at < at) {
        return case;
    }
    let status = RefundReason::parse(&case.reason).map_or(CaseStatus::Opened, CaseStatus::of);
    let status = status.as_str().to_owned();
    refund_cases::Model { status, decided_by: None, decided_why: None, decided_at: None, ..case }
}

impl Store {
    /// Inserts the rows under their own shop. Meant for an empty store: a row that exists is an error.
    pub async fn restore_accounts(&self, snapshot: AccountSnapshot) -> Result<()> {
        let transaction = self.begin_fenced().await?;
        insert::<plans::Entity>(&transaction, snapshot.plans).await?;
        insert::<subscriptions::Entity>(&transaction, snapshot.subscriptions).await?;
        insert::<invoices::Entity>(&transaction, snapshot.invoices).await?;
        insert::<refund_cases::Entity>(&transaction, snapshot.cases).await?;
        insert::<case_numbers::Entity>(&transaction, snapshot.numbers).await?;
        insert::<order_misses::Entity>(&transaction, snapshot.misses).await?;
        transaction.commit().await
    }
}
