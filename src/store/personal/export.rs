//! Everything that the database has about one customer, as JSON.

use sea_orm::sea_query::Query;
use sea_orm::{ConnectionTrait, FromQueryResult, JsonValue, TransactionTrait};
use serde_json::{Map, Value};

use super::person::{Named, Person, find_person};
use super::tables::{TABLES, Table};
use crate::store::{StoreError, TenantStore};

/// Columns that hold JSON. SQLite stores it as text.
const JSON: [&str; 8] = ["metadata", "receipt", "timings", "state", "context", "before", "after", "body"];

impl TenantStore<'_> {
    /// The customer's rows of each table, by table. Tables without any are left out.
    pub async fn export_person(&self, named: &Named) -> Result<(Person, Map<String, Value>), StoreError> {
        // One transaction: what is exported belongs to one moment.
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
                    // A row may be found in several ways.
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

/// The row without hidden columns, and with JSON as such.
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
