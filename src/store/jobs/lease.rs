//! Finds due jobs and leases them.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sea_orm::prelude::Expr;
use sea_orm::sea_query::{ExprTrait, LockBehavior, LockType, Query, SelectStatement, SimpleExpr};
use sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select};

use super::{DELIVER_MESSAGE, LeasedJob, has_key, with_name};
use crate::domain::ConversationId;
use crate::store::entities::jobs;
use crate::store::{Result, Store, from_db, unreadable};

impl Store {
    /// Leases due jobs with these names, oldest first, at most `limit`. Nobody else gets them until the lease ends.
    pub async fn lease_jobs(
        &self,
        names: &[&str],
        now: DateTime<Utc>,
        lease: Duration,
        limit: u64,
    ) -> Result<Vec<LeasedJob>> {
        // Most of the time nothing is due, so look first without the lock that writers wait for.
        let due = self.list_due_jobs(names, now).await?;
        let which = due.iter().map(|name| with_name(name).add(is_due(now))).collect();
        self.lease(which, now, lease, limit).await
    }

    /// Leases jobs of a conversation that were not started yet, for a caller that waits for them.
    pub async fn lease_jobs_of(
        &self,
        conversation: ConversationId,
        name: &str,
        now: DateTime<Utc>,
        lease: Duration,
        limit: u64,
    ) -> Result<Vec<LeasedJob>> {
        let its = jobs::Column::ConversationId.eq(conversation.0).and(jobs::Column::Leased.eq(false));
        let which = with_name(name).add(its).add(jobs::Column::Error.is_null()).add(jobs::Column::Dead.eq(false));
        if jobs::Entity::find().filter(which.clone()).limit(1).all(&self.read).await?.is_empty() {
            return Ok(Vec::new());
        }
        self.lease(vec![which], now, lease, limit).await
    }

    /// Returns which of these names have due jobs, of any shop. The cost does not depend on the number of jobs.
    pub async fn list_due_jobs(&self, names: &[&str], now: DateTime<Utc>) -> Result<Vec<String>> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let names = due_names(names, now);
        self.read.query_all(&names).await?.iter().map(|row| Ok(row.try_get_by_index(0)?)).collect()
    }

    /// Leases the first jobs of all that match one of the conditions. Each is searched for alone: for several names at once, SQLite
    /// would read and sort all their due jobs.
    async fn lease(
        &self,
        which: Vec<Condition>,
        now: DateTime<Utc>,
        lease: Duration,
        limit: u64,
    ) -> Result<Vec<LeasedJob>> {
        if which.is_empty() {
            return Ok(Vec::new());
        }
        let transaction = self.begin().await?;
        let mut rows = Vec::new();
        for which in which {
            let first = first_jobs(which, limit).lock_with_behavior(LockType::Update, LockBehavior::SkipLocked);
            rows.extend(first.all(&transaction).await?);
        }
        rows.sort_by(|a, b| (a.run_at, &a.subject).cmp(&(b.run_at, &b.subject)));
        rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let until = now + lease;
        jobs::Entity::update_many()
            .col_expr(jobs::Column::RunAt, Expr::value(until))
            .col_expr(jobs::Column::Leased, Expr::value(true))
            .col_expr(jobs::Column::Attempts, Expr::col(jobs::Column::Attempts).add(1))
            .filter(rows.iter().fold(Condition::any(), |any, row| any.add(has_key(&row.kind, &row.subject))))
            .exec(&transaction)
            .await?;
        transaction.commit().await?;
        rows.into_iter().map(read_job).collect()
    }
}

/// Selects those of the names that have due jobs.
fn due_names(names: &[&str], now: DateTime<Utc>) -> SelectStatement {
    let name = || Expr::col(("names", "column1"));
    let due = Query::select()
        .expr(Expr::val(1))
        .from(jobs::Entity)
        .and_where(Expr::col((jobs::Entity, jobs::Column::Kind)).eq(name()))
        .cond_where(is_due(now))
        .take();
    let rows = names.iter().map(|name| (*name).to_owned());
    Query::select().expr(name()).from_values(rows, "names").and_where(Expr::exists(due)).take()
}

fn first_jobs(which: Condition, limit: u64) -> Select<jobs::Entity> {
    let found = jobs::Entity::find().filter(which);
    found.order_by_asc(jobs::Column::RunAt).order_by_asc(jobs::Column::Subject).limit(limit)
}

/// Whether a job may be started.
fn is_due(now: DateTime<Utc>) -> Condition {
    let column = |column: jobs::Column| Expr::col((jobs::Entity, column));
    let is_reached = column(jobs::Column::RunAt).lte(now);
    Condition::all().add(column(jobs::Column::Dead).eq(false)).add(is_reached).add(in_order(now))
}

/// Excludes a delivery job while its conversation has an older delivery job or a running one. The running one may be newer, because
/// transactions do not commit in the order of `created_at`. A job sends the conversation's next part, whatever message it belongs to.
fn in_order(now: DateTime<Utc>) -> SimpleExpr {
    use jobs::Column as C;
    const OTHER: &str = "other";
    let (own, other) = (|column: C| Expr::col((jobs::Entity, column)), |column: C| Expr::col((OTHER, column)));
    let is_before = other(C::CreatedAt).lt(own(C::CreatedAt));
    let is_as_old = other(C::CreatedAt).eq(own(C::CreatedAt)).and(other(C::Subject).lt(own(C::Subject)));
    let runs = other(C::Leased).eq(true).and(other(C::RunAt).gt(now)).and(other(C::Subject).ne(own(C::Subject)));
    let first = Query::select()
        .expr(Expr::val(1))
        .from_as(jobs::Entity, OTHER)
        .and_where(other(C::Kind).eq(own(C::Kind)))
        .and_where(other(C::ConversationId).eq(own(C::ConversationId)))
        .and_where(other(C::Dead).eq(false))
        .and_where(is_before.or(is_as_old).or(runs))
        .take();
    own(C::Kind).ne(DELIVER_MESSAGE).or(Expr::exists(first).not())
}

fn read_job(row: jobs::Model) -> Result<LeasedJob> {
    let unreadable = |what| unreadable("jobs", what);
    Ok(LeasedJob {
        subject: row.subject.parse().map_err(|_| unreadable("subject"))?,
        tenant: row.tenant_id.parse().map_err(|_| unreadable("tenant_id"))?,
        name: row.kind,
        conversation: row.conversation_id.map(ConversationId),
        attempts: from_db(row.attempts) + 1,
        created_at: row.created_at,
        payload: row.payload,
    })
}

#[cfg(test)]
mod tests {
    use sea_orm::sea_query::SqliteQueryBuilder;
    use sea_orm::{DbBackend, QueryTrait, Statement};

    use super::*;
    use crate::store::StoreOptions;

    #[tokio::test]
    async fn waiting_jobs_are_not_read_for_others() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("test.db").display());
        let store = Store::open(&StoreOptions { url, timeout: Duration::from_secs(30), connections: 1 }).await.unwrap();
        let now = Utc::now();
        let due = first_jobs(with_name(DELIVER_MESSAGE).add(is_due(now)), 1).build(DbBackend::Sqlite).to_string();
        for sql in [due_names(&[DELIVER_MESSAGE, "other"], now).to_string(SqliteQueryBuilder), due] {
            let plan = Statement::from_string(DbBackend::Sqlite, format!("EXPLAIN QUERY PLAN {sql}"));
            let rows = store.read.query_all_raw(plan).await.unwrap();
            let plan: Vec<String> = rows.iter().map(|row| row.try_get("", "detail").unwrap()).collect();
            let is_bounded = |step: &&String| {
                step.contains("jobs_due_by_name (kind=? AND dead=? AND run_at<?)")
                    || step.contains("SEARCH other USING INDEX jobs_of_conversation_by_name (conversation_id=? AND kind=? AND dead=?)")
            };
            let reads_jobs = |step: &&String| step.contains(" jobs ") || step.contains(" other ");
            let (of_jobs, bounded) = (plan.iter().filter(reads_jobs), plan.iter().filter(is_bounded));
            assert_eq!((of_jobs.count(), bounded.count()), (2, 2), "{plan:?}");
        }
    }
}
