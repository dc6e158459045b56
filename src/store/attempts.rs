//! Verifies whose order or account it is, and locks after too many failed attempts.

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::LockType;
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::entities::{TenantEntity, order_misses};
use super::orders::lock_order;
use super::transaction::Transaction;
use super::{Result, TenantStore, from_db, to_db};
use crate::domain::commerce::{Order, OrderNumber};
use crate::domain::identity::Contact;
use crate::domain::identity::attempts::{AttemptCount, AttemptLimit, AttemptSubject};
use crate::domain::telecom::InvoiceNumber;

/// The result of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verification<T> {
    Verified(T),
    /// It does not exist or the proof is wrong. The caller cannot distinguish the two.
    Missed,
    /// There were too many failed attempts, so nothing was looked up.
    Locked {
        until: DateTime<Utc>,
    },
}

/// What an attempt counts for, and when it happens.
#[derive(Clone, Copy, Debug)]
pub struct AttemptBy<'a> {
    pub subjects: &'a [AttemptSubject],
    pub limit: &'a AttemptLimit,
    pub now: DateTime<Utc>,
}

impl TenantStore<'_> {
    /// Returns the order if it has this contact. Counts a mismatch as a failed attempt.
    pub async fn verify_order(
        &self,
        number: &OrderNumber,
        contact: &Contact,
        by: AttemptBy<'_>,
    ) -> Result<Verification<Order>> {
        let find = async |transaction: &Transaction| {
            let order = lock_order(transaction, self.tenant, number).await?;
            Ok(order.filter(|order| order.has_contact(contact)))
        };
        self.verify(by, find).await
    }

    /// Returns the account's `user_id` if the claimed id and the invoice belong to it. Case does not count. Without an invoice, the
    /// account must only exist. Counts a mismatch as a failed attempt.
    pub async fn verify_account(
        &self,
        claimed: &str,
        invoice: Option<&InvoiceNumber>,
        by: AttemptBy<'_>,
    ) -> Result<Verification<String>> {
        let find = async |transaction: &Transaction| {
            let Some(user_id) = self.user_id_like(&**transaction, claimed).await? else { return Ok(None) };
            let is_proved = match invoice {
                Some(number) => self.invoice_of(&**transaction, &user_id, number).await?.is_some(),
                None => true,
            };
            Ok(is_proved.then_some(user_id))
        };
        self.verify(by, find).await
    }

    /// Returns what `find` returns, and counts `None` as a failed attempt of each subject. All in one transaction, so that concurrent
    /// attempts cannot exceed the limit.
    async fn verify<T>(
        &self,
        by: AttemptBy<'_>,
        find: impl AsyncFnOnce(&Transaction) -> Result<Option<T>>,
    ) -> Result<Verification<T>> {
        let AttemptBy { subjects, limit, now } = by;
        let transaction = self.store.begin_fenced().await?;
        let counts = self.lock_counts(&transaction, subjects, now).await?;
        if let Some(until) =
            counts.iter().filter(|(_, count)| count.is_locked(now)).filter_map(|(_, c)| c.locked_until).max()
        {
            return Ok(Verification::Locked { until });
        }
        if let Some(found) = find(&transaction).await? {
            // Rolls back the rows that `lock_counts` inserted.
            return Ok(Verification::Verified(found));
        }
        for (subject, count) in counts {
            let count = AttemptCount::after_failure(Some(count).filter(|count| count.misses > 0), now, limit);
            order_misses::Entity::update_of(self.tenant)
                .set(order_misses::ActiveModel {
                    misses: Set(to_db(count.misses)),
                    last_at: Set(count.last_at),
                    locked_until: Set(count.locked_until),
                    ..Default::default()
                })
                .filter(order_misses::Column::Subject.eq(subject))
                .exec(&transaction)
                .await?;
        }
        transaction.commit().await?;
        Ok(Verification::Missed)
    }

    /// Returns the latest time until which one of the subjects is locked.
    pub async fn find_miss_lock(
        &self,
        subjects: &[AttemptSubject],
        now: DateTime<Utc>,
    ) -> Result<Option<DateTime<Utc>>> {
        let rows = self
            .rows::<order_misses::Entity>()
            .filter(order_misses::Column::Subject.is_in(subjects.iter().map(AttemptSubject::name)))
            .all(&self.store.read)
            .await?;
        Ok(rows.into_iter().filter_map(|row| row.locked_until).filter(|until| now < *until).max())
    }

    /// Returns the subjects' counts and locks their rows until the transaction ends.
    async fn lock_counts(
        &self,
        transaction: &DatabaseTransaction,
        subjects: &[AttemptSubject],
        now: DateTime<Utc>,
    ) -> Result<Vec<(String, AttemptCount)>> {
        if subjects.is_empty() {
            return Ok(Vec::new());
        }
        // Always in the same order, to prevent deadlocks.
        let mut names: Vec<String> = subjects.iter().map(AttemptSubject::name).collect();
        names.sort_unstable();
        names.dedup();
        let rows = names.iter().map(|name| order_misses::ActiveModel {
            tenant_id: Set(self.tenant.to_string()),
            subject: Set(name.clone()),
            misses: Set(0),
            last_at: Set(now),
            locked_until: Set(None),
        });
        order_misses::Entity::insert_many(rows).on_conflict_do_nothing().exec_without_returning(transaction).await?;
        let rows = self
            .rows::<order_misses::Entity>()
            .filter(order_misses::Column::Subject.is_in(names))
            .order_by_asc(order_misses::Column::Subject)
            .lock(LockType::Update)
            .all(transaction)
            .await?;
        let count = |row: &order_misses::Model| AttemptCount {
            misses: from_db(row.misses),
            last_at: row.last_at,
            locked_until: row.locked_until,
        };
        Ok(rows.into_iter().map(|row| (row.subject.clone(), count(&row))).collect())
    }
}
