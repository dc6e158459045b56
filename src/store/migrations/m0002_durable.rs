//! Cancellation, removal of events, and the number of turns per day.

use super::*;

pub(super) async fn up(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    add_column(manager, "turns", boolean("cancel_requested").default(false).take()).await?;
    add_column(manager, "turns", boolean("events_kept").default(true).take()).await?;
    // Retention queries the oldest ended turns that still have events.
    index(manager, "turns", "turns_to_forget", &["events_kept", "ended_at"], false).await?;
    index(manager, "idempotency_keys", "idempotency_keys_by_age", &["created_at"], false).await?;
    index(manager, "messages", "messages_by_age", &["created_at"], false).await?;
    let columns = columns![string tenant_id, date day, integer turns];
    create_table(manager, "daily_turns", &["tenant_id", "day"], columns).await
}
