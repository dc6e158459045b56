//! Deletes data that is older than its retention period.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::Engine;
use crate::config::Config;
use crate::store::StoreError;

/// Deletes old data at intervals until the shutdown.
pub async fn run(engine: Engine, config: Arc<Config>, shutdown: CancellationToken) {
    loop {
        if let Err(cause) = forget(&engine, &config, Utc::now(), &shutdown).await {
            warn!(error = %cause, "Could not delete old data; will retry");
        }
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(config.turns.retention_every) => {}
        }
    }
}

/// Deletes everything that is too old at `now`, in small steps so that other writers are not blocked for long.
///
/// # Errors
/// The store is unavailable.
pub async fn forget(
    engine: &Engine,
    config: &Config,
    now: DateTime<Utc>,
    shutdown: &CancellationToken,
) -> Result<(), StoreError> {
    let store = engine.store();
    let kept = TimeDelta::from_std(config.turns.event_retention).unwrap_or(TimeDelta::MAX);
    // Histories are kept in memory until the next run at most.
    engine.forget_histories();
    let before_messages = config.turns.message_retention_days.map(|days| now - TimeDelta::days(i64::from(days)));
    // Events contain the text of messages, so they are not kept longer than messages.
    if let Some(before) = now.checked_sub_signed(kept).max(before_messages) {
        while !shutdown.is_cancelled() && store.forget_events(before).await? {
            tokio::task::yield_now().await;
        }
    }
    if let Some(before) = before_messages {
        let mut forgot = false;
        while !shutdown.is_cancelled() {
            let (messages, aged) = (store.forget_messages(before).await, store.forget_aged(before, now).await);
            // Whatever the results: one may have failed after the other deleted something.
            engine.forget_histories();
            if !(messages? | aged?) {
                break;
            }
            forgot = true;
            tokio::task::yield_now().await;
        }
        if forgot {
            store.truncate_log().await?;
        }
    }
    if let Some(days) = config.console.audit_retention_days {
        let before = now - TimeDelta::days(i64::from(days));
        while !shutdown.is_cancelled() && store.forget_console_audit(before).await? {
            tokio::task::yield_now().await;
        }
    }
    if let Some(before) = config.turns.empty_conversation.and_then(|age| now.checked_sub_signed(age)) {
        while !shutdown.is_cancelled() {
            let removed = store.forget_empty_conversations(before).await?;
            if removed.is_empty() {
                break;
            }
            for (tenant, conversation) in removed {
                engine.announce_deleted(&tenant, conversation);
            }
            tokio::task::yield_now().await;
        }
    }
    store.forget_revoked_sessions(now).await?;
    store.forget_idempotency_keys(now).await?;
    store.forget_misses(now, config.identity.attempts.lock).await
}
