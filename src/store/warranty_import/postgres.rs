//! The statements of an import on PostgreSQL.

use std::time::Instant;

use async_trait::async_trait;
use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection};
use sea_orm::sqlx::{self, Connection, Executor};

use super::{Applied, ChangedTexts, Comparison, ImportError, RecordTexts, Staging};
use crate::domain::TenantId;

/// A connection with a temporary table `staged_warranties`, which is private to the connection and not logged.
#[derive(Debug)]
pub struct PostgresStaging {
    connection: PgConnection,
}

const CREATE: &str = "CREATE TEMP TABLE staged_warranties (serial text NOT NULL, product_name text NOT NULL, \
     warranty_end_date date NOT NULL)";

const INSERT: &str = "INSERT INTO staged_warranties SELECT * FROM unnest($1::text[], $2::text[], $3::text[]::date[])";

const COUNT: &str = "SELECT COUNT(*) FILTER (WHERE w.serial IS NULL), \
     COUNT(*) FILTER (WHERE w.product_name <> s.product_name OR w.warranty_end_date <> s.warranty_end_date), COUNT(*) \
     FROM staged_warranties s LEFT JOIN warranty_records w ON w.tenant_id = $1 AND w.serial = s.serial";

/// Selects the changed rows with their old and new values.
const CHANGES: &str = "SELECT s.serial, w.product_name, w.warranty_end_date::text, s.product_name, s.warranty_end_date::text \
     FROM staged_warranties s JOIN warranty_records w ON w.tenant_id = $1 AND w.serial = s.serial \
     WHERE w.product_name <> s.product_name OR w.warranty_end_date <> s.warranty_end_date \
     ORDER BY s.serial LIMIT $2";

/// Keeps only the new and the changed rows.
const KEEP_DIFFERING: &str = "CREATE TEMP TABLE differing AS \
     SELECT s.serial, s.product_name, s.warranty_end_date FROM staged_warranties s \
     LEFT JOIN warranty_records w ON w.tenant_id = $1 AND w.serial = s.serial \
     WHERE w.serial IS NULL OR w.product_name <> s.product_name OR w.warranty_end_date <> s.warranty_end_date";

const FORGET_OTHERS: &str = "DROP TABLE staged_warranties; ALTER TABLE differing RENAME TO staged_warranties";

/// Sorted by serial, so that two concurrent imports wait for each other instead of deadlocking.
const WRITE: &str = "INSERT INTO warranty_records (tenant_id, serial, product_name, warranty_end_date) \
     SELECT $1, serial, product_name, warranty_end_date FROM staged_warranties ORDER BY serial COLLATE \"C\" \
     ON CONFLICT (tenant_id, serial) DO UPDATE \
     SET product_name = excluded.product_name, warranty_end_date = excluded.warranty_end_date";

impl PostgresStaging {
    /// Connects to the server that `options` name.
    pub async fn open(options: &PgConnectOptions) -> Result<Self, ImportError> {
        let mut connection = PgConnection::connect_with(options).await?;
        connection.execute(CREATE).await?;
        Ok(Self { connection })
    }
}

#[async_trait]
impl Staging for PostgresStaging {
    async fn begin(&mut self) -> Result<(), ImportError> {
        self.connection.execute("BEGIN").await?;
        Ok(())
    }

    async fn insert(&mut self, records: Vec<RecordTexts>) -> Result<(), ImportError> {
        let (mut serials, mut names, mut dates) = (Vec::new(), Vec::new(), Vec::new());
        for RecordTexts { serial, product_name, warranty_end_date } in records {
            serials.push(serial);
            names.push(product_name);
            dates.push(warranty_end_date);
        }
        sqlx::query(INSERT).bind(serials).bind(names).bind(dates).execute(&mut self.connection).await?;
        Ok(())
    }

    async fn compare(&mut self, tenant: &TenantId) -> Result<Comparison, ImportError> {
        self.connection.execute("COMMIT").await?;
        // PostgreSQL does not collect statistics on a temporary table by itself, and the join needs them.
        self.connection.execute("ANALYZE staged_warranties").await?;
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
        let mut transaction = self.connection.begin().await?;
        let start = Instant::now();
        let written = sqlx::query(WRITE).bind(tenant.as_str()).execute(&mut *transaction).await?.rows_affected();
        transaction.commit().await?;
        Ok(Applied { written, locked: start.elapsed() })
    }
}
