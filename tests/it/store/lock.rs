//! The serving lock on PostgreSQL when its connection dies.

use std::time::Duration;

use frontdesk::store::lock::ServingLock;
use frontdesk::store::{Store, StoreOptions};
use sea_orm::sqlx::{self, Connection, PgConnection};

use super::options;
use crate::support::{database, eventually_async};

const HOLDER: &str = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted \
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
const END_HOLDER: &str = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted \
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

/// Returns the id of the PostgreSQL process that holds the lock.
async fn holder(connection: &mut PgConnection) -> Option<i32> {
    sqlx::query_scalar(HOLDER).fetch_optional(connection).await.unwrap()
}

/// Returns a served PostgreSQL database, or `None` on SQLite, whose lock cannot be lost.
async fn served() -> Option<(StoreOptions, Store, ServingLock, PgConnection)> {
    let folder = tempfile::tempdir().unwrap();
    let options = options(&database::fresh(folder.path()).await);
    if options.url.starts_with("sqlite:") {
        return None;
    }
    let lock = ServingLock::acquire(&options, Duration::ZERO).await.unwrap().unwrap();
    let store = Store::open_locked(&options, &lock).await.unwrap().claim().await.unwrap();
    let other = PgConnection::connect(&options.url).await.unwrap();
    Some((options, store, lock, other))
}

#[tokio::test]
async fn lock_is_retaken_after_its_connection_dies() {
    let Some((options, store, mut lock, mut other)) = served().await else { return };
    let keeping = tokio::spawn(async move { lock.lost(&store).await });
    for _ in 0..2 {
        let before = holder(&mut other).await;
        sqlx::raw_sql(END_HOLDER).execute(&mut other).await.unwrap();
        eventually_async("the lock is retaken", async || ![None, before].contains(&holder(&mut other).await)).await;
    }
    assert!(!keeping.is_finished());
    assert!(ServingLock::acquire(&options, Duration::ZERO).await.unwrap().is_none());
    keeping.abort();
}

#[tokio::test]
async fn lock_is_lost_if_another_process_holds_it() {
    let Some((options, store, mut lock, mut other)) = served().await else { return };
    let next = options.clone();
    // Waits for the lock before it is free.
    let next =
        tokio::spawn(async move { ServingLock::acquire(&next, Duration::from_secs(60)).await.unwrap().unwrap() });
    sqlx::raw_sql(END_HOLDER).execute(&mut other).await.unwrap();
    let held = next.await.unwrap();
    lock.lost(&store).await;
    drop(held);
}

#[tokio::test]
async fn lock_is_lost_if_another_process_held_it() {
    let Some((options, store, mut lock, mut other)) = served().await else { return };
    sqlx::raw_sql(END_HOLDER).execute(&mut other).await.unwrap();
    let held = ServingLock::acquire(&options, Duration::from_secs(60)).await.unwrap().unwrap();
    Store::open(&options).await.unwrap().claim().await.unwrap();
    drop(held);
    lock.lost(&store).await;
}
