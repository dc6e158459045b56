//! Personal data: finds, exports and erases the rows of one customer.
//!
//! [`TABLES`] describes which columns contain personal data. Export, erasure and retention read it, and a test compares
//! it with the schema: a new table or text column without an entry fails.
//!
//! - `tables`: the description
//! - [`person`]: finds the rows that belong to one customer
//! - [`erase`]: erases a conversation, a customer, or everything before a date

use std::time::Duration;

use sea_orm::sea_query::Query;
use sea_orm::{ConnectionTrait, FromQueryResult, JsonValue, Statement, TransactionTrait};
use serde_json::{Map, Value};
use tokio::time::sleep;

use self::person::{Named, Person, find_person};
use self::tables::Table;
use super::{Result, Store, TenantStore, sqlite_path};

pub mod erase;
pub mod person;
mod tables;

pub use tables::TABLES;

/// How often [`Store::truncate_log`] tries, and the wait between attempts.
const ATTEMPTS: u32 = 20;
const WAIT: Duration = Duration::from_millis(100);
/// How long one attempt waits for readers, in milliseconds. Writers wait for the attempt.
const BUSY_MS: u32 = 100;

/// The columns that contain JSON, which SQLite stores as text.
const JSON: [&str; 8] = ["metadata", "receipt", "timings", "state", "context", "before", "after", "body"];

impl TenantStore<'_> {
    /// Exports the customer's rows by table. Tables without rows are left out.
    pub async fn export_person(&self, named: &Named) -> Result<(Person, Map<String, Value>)> {
        // One transaction, so that the export is consistent.
        let transaction = self.store.read.begin().await?;
        let person = find_person(&transaction, self.tenant, named).await?;
        let mut tables = Map::new();
        for table in TABLES {
            let mut rows: Vec<Value> = Vec::new();
            for found in table.rows_of(self.tenant, &person) {
                let select = Query::select()
                    .expr(sea_orm::prelude::Expr::cust("*"))
                    .from(table.name)
                    .cond_where(found)
                    .to_owned();
                for row in transaction.query_all(&select).await? {
                    let row = shown(table, JsonValue::from_query_result(&row, "")?);
                    // Several keys may find the same row.
                    if !rows.contains(&row) {
                        rows.push(row);
                    }
                }
            }
            if !rows.is_empty() {
                tables.insert(table.name.to_owned(), Value::Array(rows));
            }
        }
        Ok((person, tables))
    }
}

/// Returns the row for the export: without hidden columns, and with JSON parsed.
fn shown(table: &Table, row: Value) -> Value {
    let Value::Object(row) = row else { return row };
    let is_shown = |name: &str| name != "tenant_id" && !table.hidden.contains(&name);
    let columns = row.into_iter().filter(|(name, _)| is_shown(name)).map(|(name, value)| {
        let parsed = match &value {
            Value::String(text) if JSON.contains(&name.as_str()) => serde_json::from_str(text).ok(),
            _ => None,
        };
        (name, parsed.unwrap_or(value))
    });
    Value::Object(columns.collect())
}

impl Store {
    /// Removes erased text from SQLite's files: moves the write-ahead log into the database, where `secure_delete`
    /// overwrites erased data. Returns `false` if readers kept the log busy; the next checkpoint then does it.
    pub async fn truncate_log(&self) -> Result<bool> {
        let Some(mut log) = sqlite_path(&self.url)?.map(std::path::PathBuf::into_os_string) else { return Ok(true) };
        log.push("-wal");
        let asked = Statement::from_string(self.write.get_database_backend(), "PRAGMA busy_timeout");
        let usual = self.write.query_one_raw(asked).await?.map(|row| row.try_get_by_index::<i32>(0)).transpose()?;
        let usual = usual.unwrap_or_default();
        // One call, so that no other statement runs with the short timeout.
        let statements =
            format!("PRAGMA busy_timeout = {BUSY_MS}; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA busy_timeout = {usual}");
        for _ in 0..ATTEMPTS {
            self.write.execute_unprepared(&statements).await?;
            let size = tokio::fs::metadata(&log).await.map_or(0, |file| file.len());
            if size == 0 {
                return Ok(true);
            }
            sleep(WAIT).await;
        }
        Ok(false)
    }
}
