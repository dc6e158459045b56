//! Showing whose order it is, and being locked out for guessing.

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{LockType, OnConflict};
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::columns::{from_db, to_db};
use super::entities::order_misses;
use super::orders::lock_order;
use super::{StoreError, TenantStore};
use crate::domain::commerce::Order;
use crate::domain::commerce::OrderNumber;
use crate::domain::identity::Contact;
use crate::domain::identity::attempts::{MissCount, MissLimit, MissSubject};

/// What came of showing whose order it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verification {
    /// The contact stands on the order.
    Verified(Box<Order>),
    /// There is no such order, or another contact stands on it: the caller is not told which.
    Missed,
    /// Too many misses; nothing was looked up.
    Locked { until: DateTime<Utc> },
}

impl TenantStore<'_> {
    /// Holds a contact against an order, and counts a miss for each subject. One transaction, so that of a hundred guesses
    /// at once no more are answered than one after another.
    pub async fn verify_order(
        &self,
        number: &OrderNumber,
        contact: &Contact,
        subjects: &[MissSubject],
        limit: &MissLimit,
        now: DateTime<Utc>,
    ) -> Result<Verification, StoreError> {
        let transaction = self.store.begin().await?;
        self.store.check_fence(&transaction).await?;
        let counts = self.lock_counts(&transaction, subjects, now).await?;
        if let Some(until) =
            counts.iter().filter(|(_, count)| count.is_locked(now)).filter_map(|(_, c)| c.locked_until).max()
        {
            return Ok(Verification::Locked { until });
        }
        let order = lock_order(&transaction, self.tenant, number).await?.filter(|order| order.has_contact(contact));
        if let Some(order) = order {
            // Rolls back: nothing was counted.
            return Ok(Verification::Verified(Box::new(order)));
        }
        for (subject, count) in counts {
            let count = MissCount::after_miss(Some(count).filter(|count| count.misses > 0), now, limit);
            order_misses::Entity::update_many()
                .set(order_misses::ActiveModel {
                    misses: Set(to_db(count.misses)),
                    last_at: Set(count.last_at),
                    locked_until: Set(count.locked_until),
                    ..Default::default()
                })
                .filter(order_misses::Column::TenantId.eq(self.tenant.as_str()))
                .filter(order_misses::Column::Subject.eq(subject))
                .exec(&transaction)
                .await?;
        }
        transaction.commit().await?;
        Ok(Verification::Missed)
    }

    /// Until when one of the subjects is locked; `None`: none is.
    pub async fn find_miss_lock(
        &self,
        subjects: &[MissSubject],
        now: DateTime<Utc>,
    ) -> Result<Option<DateTime<Utc>>, StoreError> {
        let rows = order_misses::Entity::find()
            .filter(order_misses::Column::TenantId.eq(self.tenant.as_str()))
            .filter(order_misses::Column::Subject.is_in(subjects.iter().map(MissSubject::name)))
            .all(&self.store.read)
            .await?;
        Ok(rows.into_iter().filter_map(|row| row.locked_until).filter(|until| now < *until).max())
    }

    /// The subjects' counts, each with a row of its own that is locked until the transaction ends.
    async fn lock_counts(
        &self,
        transaction: &DatabaseTransaction,
        subjects: &[MissSubject],
        now: DateTime<Utc>,
    ) -> Result<Vec<(String, MissCount)>, StoreError> {
        if subjects.is_empty() {
            return Ok(Vec::new());
        }
        // Everybody locks in the same order, so that nobody waits for each other.
        let mut names: Vec<String> = subjects.iter().map(MissSubject::name).collect();
        names.sort_unstable();
        names.dedup();
        let rows = names.iter().map(|name| order_misses::ActiveModel {
            tenant_id: Set(self.tenant.to_string()),
            subject: Set(name.clone()),
            misses: Set(0),
            last_at: Set(now),
            locked_until: Set(None),
        });
        let mut keep = OnConflict::columns([order_misses::Column::TenantId, order_misses::Column::Subject]);
        keep.do_nothing();
        order_misses::Entity::insert_many(rows)
            .on_conflict(keep)
            .try_insert()
            .exec_without_returning(transaction)
            .await?;
        let rows = order_misses::Entity::find()
            .filter(order_misses::Column::TenantId.eq(self.tenant.as_str()))
            .filter(order_misses::Column::Subject.is_in(names))
            .order_by_asc(order_misses::Column::Subject)
            .lock(LockType::Update)
            .all(transaction)
            .await?;
        let count = |row: &order_misses::Model| MissCount {
            misses: from_db(row.misses),
            last_at: row.last_at,
            locked_until: row.locked_until,
        };
        Ok(rows.into_iter().map(|row| (row.subject.clone(), count(&row))).collect())
    }
}
