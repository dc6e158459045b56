//! The statements of an import on PostgreSQL.

use std::time::Instant;

use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection};
use sea_orm::sqlx::{self, Connection, Executor};

use super::{Applied, ChangedTexts, Comparison, ImportError, RecordTexts};
use crate::domain::TenantId;

/// A connection with a temporary table `staged_warranties`, which nobody else sees and which is not logged.
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

/// The changed rows, as the shop has them and as the list does.
const CHANGES: &str = "SELECT s.serial, w.product_name, w.warranty_end_date::text, s.product_name, s.warranty_end_date::text \
     FROM staged_warranties s JOIN warranty_records w ON w.tenant_id = $1 AND w.serial = s.serial \
     WHERE w.product_name <> s.product_name OR w.warranty_end_date <> s.warranty_end_date \
     ORDER BY s.serial LIMIT $2";

/// The new and the changed rows.
const KEEP_DIFFERING: &str = "CREATE TEMP TABLE differing AS \
     SELECT s.serial, s.product_name, s.warranty_end_date FROM staged_warranties s \
     LEFT JOIN warranty_records w ON w.tenant_id = $1 AND w.serial = s.serial \
     WHERE w.serial IS NULL OR w.product_name <> s.product_name OR w.warranty_end_date <> s.warranty_end_date";

const FORGET_OTHERS: &str = "DROP TABLE staged_warranties; ALTER TABLE differing RENAME TO staged_warranties";

/// In the order of serials, so that two imports at once wait for each other instead of locking each other out.
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

    /// Begins the transaction in which the rows are staged.
    pub async fn begin(&mut self) -> Result<(), ImportError> {
        self.connection.execute("BEGIN").await?;
        Ok(())
    }

    /// Adds rows, each serial once.
    pub async fn insert(&mut self, records: Vec<RecordTexts>) -> Result<(), ImportError> {
        let (mut serials, mut names, mut dates) = (Vec::new(), Vec::new(), Vec::new());
        for RecordTexts { serial, product_name, warranty_end_date } in records {
            serials.push(serial);
            names.push(product_name);
            dates.push(warranty_end_date);
        }
        sqlx::query(INSERT).bind(serials).bind(names).bind(dates).execute(&mut self.connection).await?;
        Ok(())
    }

    /// Ends staging, and keeps of the staged rows those that are new or changed, if there are any.
    pub async fn compare(&mut self, tenant: &TenantId) -> Result<Comparison, ImportError> {
        self.connection.execute("COMMIT").await?;
        // Nobody else gathers statistics on a temporary table, and without them the join is planned badly.
        self.connection.execute("ANALYZE staged_warranties").await?;
        let (new, changed, all): (i64, i64, i64) =
            sqlx::query_as(COUNT).bind(tenant.as_str()).fetch_one(&mut self.connection).await?;
        let unchanged = all - new - changed;
        if unchanged > 0 && unchanged < all {
            sqlx::query(KEEP_DIFFERING).bind(tenant.as_str()).execute(&mut self.connection).await?;
            self.connection.execute(FORGET_OTHERS).await?;
        }
        let count = |n: i64| u64::try_from(n).unwrap_or_default();
        Ok(Comparison { new: count(new), changed: count(changed), unchanged: count(unchanged), repeated: 0 })
    }

    /// The first of the staged rows that differ from the shop's.
    pub async fn changes(&mut self, tenant: &TenantId, limit: u32) -> Result<Vec<ChangedTexts>, ImportError> {
        let rows = sqlx::query_as(CHANGES).bind(tenant.as_str()).bind(i64::from(limit));
        Ok(rows.fetch_all(&mut self.connection).await?)
    }

    /// Writes what is staged.
    pub async fn apply(&mut self, tenant: &TenantId) -> Result<Applied, ImportError> {
        let mut transaction = self.connection.begin().await?;
        let start = Instant::now();
        let written = sqlx::query(WRITE).bind(tenant.as_str()).execute(&mut *transaction).await?.rows_affected();
        transaction.commit().await?;
        Ok(Applied { written, locked: start.elapsed() })
    }
}
