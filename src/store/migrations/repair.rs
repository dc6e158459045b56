//! Repairs databases with an incomplete migration of an earlier version.
//!
//! Those versions ran migrations on SQLite without a transaction. A killed process left some of the migration's tables, columns
//! and indexes without its row in `seaql_migrations`. No server ever ran on such a database, so these parts contain no original
//! data and can be dropped before the migration runs again.

use std::collections::BTreeSet;

use sea_orm::{ConnectOptions, Database, DatabaseConnection, Statement};
use sea_orm_migration::prelude::*;

use super::{Migration, failed};
use crate::store::Result;

/// A part of an SQLite schema. Parts are dropped in the order of the variants.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Index(String),
    Column { table: String, name: String },
    Table(String),
}

/// Returns the statements that drop what an interrupted run of `next` made in a database that has `applied`.
pub(super) async fn find_leftovers(
    connection: &DatabaseConnection,
    applied: &[Migration],
    next: &Migration,
) -> Result<Vec<String>> {
    let reference = in_memory().await?;
    let manager = SchemaManager::new(&reference);
    for migration in applied {
        (migration.up)(&manager).await?;
    }
    let before = parts(&reference).await?;
    (next.up)(&manager).await?;
    let added = &parts(&reference).await? - &before;
    let leftovers = &added & &parts(connection).await?;
    for part in &leftovers {
        if let Part::Table(name) = part
            && connection.query_one_raw(sql(format!("SELECT 1 FROM \"{name}\" LIMIT 1"))).await?.is_some()
        {
            let cause = format!("the table {name} is there already and holds rows");
            return Err(failed(next.name, DbErr::Custom(cause)));
        }
    }
    let goes_with_its_table = |part: &&Part| match part {
        Part::Column { table, .. } => leftovers.contains(&Part::Table(table.clone())),
        _ => false,
    };
    Ok(leftovers.iter().filter(|part| !goes_with_its_table(part)).map(drop_statement).collect())
}

fn drop_statement(part: &Part) -> String {
    match part {
        Part::Index(name) => format!("DROP INDEX \"{name}\""),
        Part::Column { table, name } => format!("ALTER TABLE \"{table}\" DROP COLUMN \"{name}\""),
        Part::Table(name) => format!("DROP TABLE \"{name}\""),
    }
}

async fn in_memory() -> Result<DatabaseConnection, DbErr> {
    let mut options = ConnectOptions::new("sqlite::memory:");
    options.max_connections(1).sqlx_logging(false);
    Database::connect(options).await
}

async fn parts(connection: &DatabaseConnection) -> Result<BTreeSet<Part>, DbErr> {
    let query = "SELECT type AS kind, tbl_name AS place, name FROM sqlite_master \
         WHERE type IN ('table', 'index') AND name NOT LIKE 'sqlite_%' \
         UNION ALL SELECT 'column', m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c \
         WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'";
    let rows = connection.query_all_raw(sql(query)).await?;
    rows.iter()
        .map(|row| {
            let name: String = row.try_get("", "name")?;
            Ok(match row.try_get::<String>("", "kind")?.as_str() {
                "index" => Part::Index(name),
                "table" => Part::Table(name),
                _ => Part::Column { table: row.try_get("", "place")?, name },
            })
        })
        .collect()
}

fn sql(text: impl Into<String>) -> Statement {
    Statement::from_string(sea_orm::DbBackend::Sqlite, text)
}
