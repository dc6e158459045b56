//! The migrations of the schema, and the code that runs them.
//!
//! Each migration runs in one transaction together with its row in `seaql_migrations`. If the process dies, the
//! database does not have that migration, and the next start runs it. Only the holder of the [`ServingLock`] migrates.
//! Never edit a released migration: add a new one, and add sample rows of its version to `tests/data/migrations/`.
//!
//! SQLite ignores `PRAGMA foreign_keys` and `PRAGMA journal_mode` inside a transaction: a migration must not rely on
//! them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use chrono::Utc;
use futures_util::future::BoxFuture;
use sea_orm::ActiveValue::Set;
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, EntityTrait, SqliteTransactionMode,
    TransactionOptions, TransactionTrait,
};
use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;
use sea_orm_migration::seaql_migrations;
use tokio::time::sleep;
use tracing::{info, warn};

use super::lock::{RETRY, ServingLock};
use super::{Result, Schema, Store, StoreError, StoreOptions};

/// Makes the columns of a table. Each is a function of `sea_orm_migration::schema` and a name: `columns![uuid id, string_null user_id]`.
macro_rules! columns {
    ($($kind:ident $name:ident),+ $(,)?) => {
        [$($kind(stringify!($name))),+]
    };
}

mod m0001_initial;
mod m0002_durable;
mod m0003_vectors;
mod m0005_jobs;
mod m0006_handoff;
mod m0007_persona_versions;
mod m0008_orders;
mod m0009_decisions;
mod m0010_console_audit;
mod m0011_sign_out;
mod m0012_accounts;
mod m0013_commerce;
mod m0014_sales;
mod m0015_channels;
mod m0016_payment_callbacks;
mod m0017_due_jobs;
mod repair;
#[cfg(test)]
mod tests;

/// A change of the schema.
struct Migration {
    /// The name that the database records.
    name: &'static str,
    up: for<'a> fn(&'a SchemaManager<'a>) -> BoxFuture<'a, Result<(), DbErr>>,
}

/// Names a module with a function `up`.
macro_rules! migration {
    ($name:ident) => {
        Migration { name: stringify!($name), up: |manager| Box::pin($name::up(manager)) }
    };
}

/// Every migration, oldest first.
const ALL: &[Migration] = &[
    migration!(m0001_initial),
    migration!(m0002_durable),
    migration!(m0003_vectors),
    migration!(m0005_jobs),
    migration!(m0006_handoff),
    migration!(m0007_persona_versions),
    migration!(m0008_orders),
    migration!(m0009_decisions),
    migration!(m0010_console_audit),
    migration!(m0011_sign_out),
    migration!(m0012_accounts),
    migration!(m0013_commerce),
    migration!(m0014_sales),
    migration!(m0015_channels),
    migration!(m0016_payment_callbacks),
    migration!(m0017_due_jobs),
];

/// How long a command waits for a process that is migrating the database.
pub(super) const LOCK_WAIT: Duration = Duration::from_secs(10);

/// Migrates the database under the serving lock, waiting up to `wait` for it. A current schema needs no lock.
pub(super) async fn upgrade(store: &Store, options: &StoreOptions, wait: Duration) -> Result<()> {
    let deadline = Instant::now() + wait;
    loop {
        match schema(&store.write).await? {
            Schema::Current => return Ok(()),
            Schema::Newer { migration } => return Err(StoreError::NewerSchema { migration }),
            Schema::Older { .. } => {}
        }
        if let Some(lock) = ServingLock::acquire(options, Duration::ZERO).await? {
            let upgraded = run(&store.write, ALL).await;
            lock.release().await;
            return upgraded;
        }
        if Instant::now() >= deadline {
            return Err(StoreError::Open(
                "the database has an older schema, and a running frontdesk uses it: stop that server, then start the new \
                 version to update the schema"
                    .to_owned(),
            ));
        }
        sleep(RETRY).await;
    }
}

/// Migrates the database for the holder of the serving lock.
pub(super) async fn upgrade_locked(store: &Store, _lock: &ServingLock) -> Result<()> {
    match schema(&store.write).await? {
        Schema::Current => Ok(()),
        Schema::Newer { migration } => Err(StoreError::NewerSchema { migration }),
        Schema::Older { .. } => run(&store.write, ALL).await,
    }
}

/// Compares the database's schema with this version's. Writes nothing.
pub(super) async fn schema(connection: &DatabaseConnection) -> Result<Schema> {
    let applied = applied(connection).await?;
    let known: BTreeSet<String> = ALL.iter().map(|migration| migration.name.to_owned()).collect();
    if let Some(migration) = applied.difference(&known).last() {
        return Ok(Schema::Newer { migration: migration.clone() });
    }
    Ok(match known.difference(&applied).count() {
        0 => Schema::Current,
        pending => Schema::Older { pending },
    })
}

/// Returns the names of the migrations that the database has.
async fn applied(connection: &DatabaseConnection) -> Result<BTreeSet<String>, DbErr> {
    if !SchemaManager::new(connection).has_table("seaql_migrations").await? {
        return Ok(BTreeSet::new());
    }
    let rows = seaql_migrations::Entity::find().all(connection).await?;
    Ok(rows.into_iter().map(|row| row.version).collect())
}

/// Runs the migrations that the database lacks.
async fn run(connection: &DatabaseConnection, migrations: &[Migration]) -> Result<()> {
    let backend = connection.get_database_backend();
    let mut table = sea_orm::Schema::new(backend).create_table_from_entity(seaql_migrations::Entity);
    connection.execute(table.if_not_exists()).await?;
    let applied = applied(connection).await?;
    if !applied.is_empty() {
        info!("Updating the database schema");
    }
    for (index, migration) in migrations.iter().enumerate() {
        let name = migration.name;
        if applied.contains(name) {
            continue;
        }
        let Err(cause) = apply(connection, migration, &[]).await else { continue };
        // Earlier versions ran migrations on SQLite without a transaction, so a killed process could leave a part of
        // one.
        let leftovers = match backend {
            DbBackend::Sqlite => repair::find_leftovers(connection, &migrations[..index], migration).await?,
            _ => Vec::new(),
        };
        if leftovers.is_empty() {
            return Err(failed(name, cause));
        }
        warn!(migration = name, "Removing the incomplete migration of an earlier version");
        apply(connection, migration, &leftovers).await.map_err(|cause| failed(name, cause))?;
    }
    Ok(())
}

/// Runs the statements in `before` and the migration in one transaction, and records the migration.
async fn apply(connection: &DatabaseConnection, migration: &Migration, before: &[String]) -> Result<(), DbErr> {
    // Take the write lock immediately: upgrading a read lock fails if another process has written in between.
    let options =
        TransactionOptions { sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate), ..Default::default() };
    let transaction = connection.begin_with_options(options).await?;
    match apply_in(&transaction, migration, before).await {
        Ok(()) => transaction.commit().await,
        Err(cause) => {
            transaction.rollback().await?;
            Err(cause)
        }
    }
}

async fn apply_in(transaction: &DatabaseTransaction, migration: &Migration, before: &[String]) -> Result<(), DbErr> {
    for statement in before {
        transaction.execute_unprepared(statement).await?;
    }
    (migration.up)(&SchemaManager::new(transaction)).await?;
    let (version, applied_at) = (migration.name.to_owned(), Utc::now().timestamp());
    let row = seaql_migrations::ActiveModel { version: Set(version), applied_at: Set(applied_at) };
    seaql_migrations::Entity::insert(row).exec_without_returning(transaction).await?;
    Ok(())
}

/// Creates a table with its columns and its primary key.
async fn create_table(
    manager: &SchemaManager<'_>,
    name: &'static str,
    key: &[&'static str],
    columns: impl IntoIterator<Item = ColumnDef>,
) -> Result<(), DbErr> {
    let mut table = Table::create();
    table.table(name);
    for mut column in columns {
        if key == [column.get_column_name()] {
            column.primary_key();
        }
        table.col(column);
    }
    if key.len() > 1 {
        let mut index = Index::create();
        for column in key {
            index.col(*column);
        }
        table.primary_key(&mut index);
    }
    manager.create_table(table).await
}

/// Adds a column to a table. SQLite adds one at a time.
async fn add_column(manager: &SchemaManager<'_>, table: &'static str, column: ColumnDef) -> Result<(), DbErr> {
    manager.alter_table(Table::alter().table(table).add_column(column).take()).await
}

/// Creates an index of a table.
async fn index(
    manager: &SchemaManager<'_>,
    table: &'static str,
    name: &str,
    columns: &[&'static str],
    unique: bool,
) -> Result<(), DbErr> {
    let mut index = Index::create();
    index.name(name).table(table);
    for column in columns {
        index.col(*column);
    }
    if unique {
        index.unique();
    }
    manager.create_index(index).await
}

fn failed(migration: &str, cause: DbErr) -> StoreError {
    match StoreError::from(cause) {
        StoreError::Refused(cause) => StoreError::Open(format!(
            "the migration {migration} failed and was rolled back: {cause}; the database is unchanged: \
             start the previous version again, or restore a backup"
        )),
        other => other,
    }
}
