//! Earlier texts of persona files, and an index for unanswered questions.

use super::*;

/// A partial index by an expression, which the schema builder does not support. The query in `src/store/unanswered.rs` must use
/// the same expression.
const UNANSWERED: &str = "CREATE INDEX messages_unanswered ON messages (tenant_id, created_at) \
     WHERE (metadata ->> 'type' = 'clarify' OR metadata ->> 'no_context' IS NOT NULL)";

pub(super) async fn up(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let columns = columns![
        string tenant_id, string persona, integer version, text text, timestamp_with_time_zone saved_at,
        string_null saved_by,
    ];
    create_table(manager, "persona_versions", &["tenant_id", "persona", "version"], columns).await?;
    manager.get_connection().execute_unprepared(UNANSWERED).await?;
    Ok(())
}
