//! Console sessions that were signed out before they expired, and conversations that a visitor opened without a key.

use super::*;

/// A partial index with only the rows that `Store::forget_empty_conversations` queries.
const EMPTY: &str = "CREATE INDEX conversations_empty ON conversations (created_at) WHERE (visitor AND last_turn = 0)";

pub(super) async fn up(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let columns = columns![string tenant_id, string session, timestamp_with_time_zone expires_at];
    create_table(manager, "revoked_sessions", &["tenant_id", "session"], columns).await?;
    let visitor = boolean("visitor").default(false).to_owned();
    add_column(manager, "conversations", visitor).await?;
    manager.get_connection().execute_unprepared(EMPTY).await?;
    Ok(())
}
