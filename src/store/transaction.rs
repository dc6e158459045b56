//! Transactions that write, and the recovery of a connection whose transaction failed.
//!
//! SQLite ends a transaction itself when the disk is full, a write fails or memory runs out. sqlx does not notice: its
//! ROLLBACK fails, its count of open transactions stays up, and each later transaction on the connection is a savepoint
//! of one that never commits. [`has_no_transaction`] removes such a connection from the pool.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, ready};
use sea_orm::sqlx::pool::PoolConnectionMetadata;
use sea_orm::sqlx::{self, Connection, SqliteConnection};
use sea_orm::{
    ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, ExecResult, QueryResult, RuntimeErr, SqliteTransactionMode,
    Statement, TransactionOptions, TransactionTrait,
};
use tracing::debug;

use super::health::Health;
use super::{Result, Store, StoreError};

/// How much longer than `STORE_TIMEOUT_SECONDS` a transaction may take on PostgreSQL. A statement waits for a lock for so many
/// seconds, and its error is to come first.
const ANSWER_AFTER_LOCK: Duration = Duration::from_secs(5);

/// A transaction that writes. Dropping it rolls it back.
#[derive(Debug)]
pub(super) struct Transaction {
    inner: DatabaseTransaction,
    health: Arc<Health>,
}

impl Store {
    /// Begins a transaction that writes. On SQLite it takes the write lock immediately: upgrading a read lock fails
    /// without waiting if another process has written in between.
    pub(super) async fn begin(&self) -> Result<Transaction> {
        let options = TransactionOptions {
            sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
            ..Default::default()
        };
        let inner = self.writer()?.begin_with_options(options).await?;
        Ok(Transaction { inner, health: self.health.clone() })
    }

    /// Gives up on a PostgreSQL server that does not answer: a connection that is lost without notice would wait for many
    /// minutes. An SQLite statement always ends. The work may have been committed.
    pub(super) async fn in_time<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        if self.is_sqlite() {
            return work.await;
        }
        let limit = self.timeout + ANSWER_AFTER_LOCK;
        tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
            let cause = format!("the database has not answered for {limit:?}");
            Err(StoreError::Unavailable(DbErr::Conn(RuntimeErr::Internal(cause))))
        })
    }
}

impl Transaction {
    /// Commits. After an error, the caller must not acknowledge the changes.
    pub async fn commit(self) -> Result<()> {
        let Self { inner, health } = self;
        if let Err(error) = inner.commit().await {
            health.note_failure(&error);
            return Err(error.into());
        }
        // A commit into a deleted file succeeds, but is lost.
        health.check_file()
    }

    pub async fn rollback(self) -> Result<()> {
        Ok(self.inner.rollback().await?)
    }

    fn noting<T>(&self, result: Result<T, DbErr>) -> Result<T, DbErr> {
        result.inspect_err(|error| self.health.note_failure(error))
    }
}

impl Deref for Transaction {
    type Target = DatabaseTransaction;

    fn deref(&self) -> &DatabaseTransaction {
        &self.inner
    }
}

#[async_trait::async_trait]
impl ConnectionTrait for Transaction {
    fn get_database_backend(&self) -> DbBackend {
        self.inner.get_database_backend()
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        self.noting(self.inner.execute_raw(statement).await)
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        self.noting(self.inner.execute_unprepared(sql).await)
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        self.noting(self.inner.query_one_raw(statement).await)
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.noting(self.inner.query_all_raw(statement).await)
    }
}

/// Whether the pool may hand out this connection. If not, the pool closes it and opens another one.
///
/// A connection returns to the pool only after the rollback of a dropped transaction, so a transaction that is still
/// counted here is one that SQLite has ended.
pub(super) fn has_no_transaction(
    connection: &mut SqliteConnection,
    _: PoolConnectionMetadata,
) -> BoxFuture<'_, Result<bool, sqlx::Error>> {
    let usable = !connection.is_in_transaction();
    if !usable {
        debug!("Closing a database connection whose transaction could not be rolled back");
    }
    Box::pin(ready(Ok(usable)))
}

#[cfg(test)]
mod tests {
    use sea_orm::EntityTrait;
    use tempfile::TempDir;

    use super::*;
    use crate::domain::TenantId;
    use crate::store::entities::settings;
    use crate::store::{Outage, StoreOptions};

    async fn open(folder: &TempDir) -> Store {
        let url = format!("sqlite://{}", folder.path().join("shop.db").display());
        let timeout = std::time::Duration::from_secs(30);
        Store::open(&StoreOptions { url, timeout, connections: 1 }).await.unwrap()
    }

    async fn insert(store: &Store, name: &str, bytes: usize) -> Result<()> {
        let transaction = store.begin().await?;
        let row = settings::Model {
            tenant_id: TenantId::DEFAULT.to_owned(),
            name: name.to_owned(),
            value: "x".repeat(bytes),
        };
        settings::Entity::insert(settings::ActiveModel::from(row)).exec_without_returning(&transaction).await?;
        transaction.commit().await
    }

    #[tokio::test]
    async fn sqlite_keeps_prepared_statements() {
        let folder = TempDir::new().unwrap();
        let store = open(&folder).await;
        let options = Statement::from_string(DbBackend::Sqlite, "PRAGMA compile_options");
        let options = store.read.query_all_raw(options).await.unwrap();
        let is_set = |option: &QueryResult| option.try_get_by_index::<String>(0).unwrap() == "ENABLE_QPSG";
        assert!(options.iter().any(is_set), "build in this repository: .cargo/config.toml sets it");
    }

    #[tokio::test]
    async fn full_disk_loses_nothing_acknowledged() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder).await;
        let mut acknowledged = Vec::new();
        for round in 0..3 {
            // The limit applies to this connection only, so the next one has space again.
            store.write.execute_unprepared("PRAGMA max_page_count = 1").await.unwrap();
            let mut full = None;
            for number in 0..50 {
                let name = format!("{round}.{number}");
                match insert(&store, &name, if full.is_none() { 4000 } else { 1 }).await {
                    Ok(()) => acknowledged.push(name),
                    Err(error) => full = Some(error),
                }
            }
            let full = full.expect("a full disk");
            assert_eq!((full.is_unavailable(), full.outage()), (true, Outage::DiskFull), "{full}");
            assert_eq!(store.probe().await, None);
        }
        store.close().await.unwrap();
        let store = open(&folder).await;
        for name in acknowledged {
            assert!(store.find_setting(&name).await.unwrap().is_some(), "{name} was acknowledged and is gone");
        }
    }

    #[tokio::test]
    async fn replaced_file_takes_no_writes() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder).await;
        let at = |name: &str| folder.path().join(name);
        for file in ["shop.db", "shop.db-wal"] {
            insert(&store, &format!("before {file}"), 1).await.unwrap();
            let begun = store.begin().await.unwrap();
            std::fs::rename(at(file), at("away")).unwrap();
            let lost = begun.commit().await.unwrap_err();
            assert_eq!((lost.is_unavailable(), lost.outage()), (true, Outage::FileReplaced), "{lost}");
            for copied in [false, true] {
                if copied {
                    std::fs::copy(at("away"), at(file)).unwrap();
                }
                let refused = insert(&store, "refused", 1).await.unwrap_err();
                assert_eq!(refused.outage(), Outage::FileReplaced, "{refused}");
                assert!(store.set_setting("refused", "").await.is_err());
            }
            std::fs::rename(at("away"), at(file)).unwrap();
            insert(&store, &format!("after {file}"), 1).await.unwrap();
            assert_eq!(store.find_setting("refused").await.unwrap(), None);
        }
    }

    #[tokio::test]
    async fn damaged_file_takes_no_writes() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder).await;
        let path = folder.path().join("shop.db");
        std::fs::write(&path, "not a database").unwrap();
        assert_eq!(store.probe().await, Some(Outage::FileDamaged));
        assert!(insert(&store, "refused", 1).await.unwrap_err().is_unavailable());
    }
}
