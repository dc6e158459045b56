//! The statements of an import on SQLite.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sea_orm::sqlx::{self, AssertSqlSafe, Connection, Executor};

use super::{Applied, ChangedTexts, Comparison, ImportError, RecordTexts, Staging};
use crate::domain::TenantId;

/// A connection with a temporary table `staged_warranties`. SQLite keeps it in a separate file in the temporary folder,
/// so filling it does not lock the shop's database. The rows arrive sorted, so sorting by `rowid` sorts by serial.
#[derive(Debug)]
pub struct SqliteStaging {
    connection: SqliteConnection,
}

/// How long to wait for the write lock. A server holds it for milliseconds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(60);

/// The number of rows in one insert. Each has three values, and SQLite accepts 32,766.
const INSERT_ROWS: usize = 500;

const CREATE: &str = "CREATE TEMP TABLE staged_warranties (serial TEXT NOT NULL, product_name TEXT NOT NULL, \
     warranty_end_date TEXT NOT NULL)";

/// Counts the new, the changed and all staged rows. The staged table needs no index: it is scanned once, and the shop's
/// table is searched by its key.
const COUNT: &str = "SELECT COUNT(*) FILTER (WHERE w.serial IS NULL), \
     COUNT(*) FILTER (WHERE w.product_name <> s.product_name OR w.warranty_end_date <> s.warranty_end_date), COUNT(*) \
     FROM temp.staged_warranties s \
     LEFT JOIN main.warranty_records w ON w.tenant_id = ? AND w.serial = s.serial";

/// Selects the changed rows with their old and new values.
const CHANGES: &str = "SELECT s.serial, w.product_name, w.warranty_end_date, s.product_name, s.warranty_end_date \
     FROM temp.staged_warranties s JOIN main.warranty_records w ON w.tenant_id = ? AND w.serial = s.serial \
     WHERE w.product_name <> s.product_name OR w.warranty_end_date <> s.warranty_end_date \
     ORDER BY s.rowid LIMIT ?";

/// Keeps only the new and the changed rows, sorted.
const KEEP_DIFFERING: &str = "CREATE TEMP TABLE differing AS \
     SELECT s.serial, s.product_name, s.warranty_end_date FROM temp.staged_warranties s \
     LEFT JOIN main.warranty_records w ON w.tenant_id = ? AND w.serial = s.serial \
     WHERE w.serial IS NULL OR w.product_name <> s.product_name OR w.warranty_end_date <> s.warranty_end_date \
     ORDER BY s.rowid";

const FORGET_OTHERS: &str = "DROP TABLE temp.staged_warranties; ALTER TABLE temp.differing RENAME TO staged_warranties";

const WRITE: &str = "INSERT INTO main.warranty_records (tenant_id, serial, product_name, warranty_end_date) \
     SELECT ?, serial, product_name, warranty_end_date FROM temp.staged_warranties WHERE true ORDER BY rowid \
     ON CONFLICT (tenant_id, serial) DO UPDATE \
     SET product_name = excluded.product_name, warranty_end_date = excluded.warranty_end_date";

impl SqliteStaging {
    /// Connects to the file that `options` name.
    pub async fn open(options: &SqliteConnectOptions) -> Result<Self, ImportError> {
        let options = options.clone().busy_timeout(BUSY_TIMEOUT).pragma("temp_store", "file");
        let mut connection = SqliteConnection::connect_with(&options).await?;
        connection.execute(CREATE).await?;
        // The staging file needs no rollback. `apply` runs the checkpoint itself, after releasing the lock.
        connection.execute("PRAGMA temp.journal_mode = off").await?;
        connection.execute("PRAGMA wal_autocheckpoint = 0").await?;
        connection.execute("PRAGMA main.cache_size = -16384").await?;
        Ok(Self { connection })
    }
}

#[async_trait]
impl Staging for SqliteStaging {
    async fn begin(&mut self) -> Result<(), ImportError> {
        self.connection.execute("BEGIN").await?;
        Ok(())
    }

    async fn insert(&mut self, records: Vec<RecordTexts>) -> Result<(), ImportError> {
        let mut records = records.into_iter();
        while records.len() > 0 {
            let rows = records.len().min(INSERT_ROWS);
            let mut statement = "INSERT INTO temp.staged_warranties VALUES (?,?,?)".to_owned();
            statement.push_str(&",(?,?,?)".repeat(rows - 1));
            let mut query = sqlx::query::<sqlx::Sqlite>(AssertSqlSafe(statement));
            for RecordTexts { serial, product_name, warranty_end_date } in records.by_ref().take(rows) {
                query = query.bind(serial).bind(product_name).bind(warranty_end_date);
            }
            query.execute(&mut self.connection).await?;
        }
        Ok(())
    }

    async fn compare(&mut self, tenant: &TenantId) -> Result<Comparison, ImportError> {
        self.connection.execute("COMMIT").await?;
        let counts = sqlx::query_as(COUNT).bind(tenant.as_str()).fetch_one(&mut self.connection).await?;
        let comparison = Comparison::counted(counts);
        if comparison.is_partly_unchanged() {
            sqlx::query(KEEP_DIFFERING).bind(tenant.as_str()).execute(&mut self.connection).await?;
            self.connection.execute(FORGET_OTHERS).await?;
        }
        Ok(comparison)
    }

    async fn changes(&mut self, tenant: &TenantId, limit: u32) -> Result<Vec<ChangedTexts>, ImportError> {
        let rows = sqlx::query_as(CHANGES).bind(tenant.as_str()).bind(i64::from(limit));
        Ok(rows.fetch_all(&mut self.connection).await?)
    }

    async fn apply(&mut self, tenant: &TenantId) -> Result<Applied, ImportError> {
        self.connection.execute("BEGIN IMMEDIATE").await?;
        let start = Instant::now();
        let written = sqlx::query(WRITE).bind(tenant.as_str()).execute(&mut self.connection).await?.rows_affected();
        self.connection.execute("COMMIT").await?;
        let locked = start.elapsed();
        // Moves pages from the log into the database without waiting for other writers. The next checkpoint of any
        // connection moves the rest.
        self.connection.execute("PRAGMA wal_checkpoint(passive)").await?;
        Ok(Applied { written, locked })
    }
}
