//! Conversations, their messages, turns and events.

use super::*;

pub(super) async fn up(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let columns = columns![
        uuid id, string tenant_id, string_null user_id, string persona, string preferred_language,
        string language_source, string status, timestamp_with_time_zone created_at, json_binary metadata,
        integer last_turn, integer last_event_turn, integer last_event_n, json_binary state,
    ];
    create_table(manager, "conversations", &["id"], columns).await?;
    index(manager, "conversations", "conversations_by_user", &["tenant_id", "user_id", "id"], false).await?;
    index(manager, "conversations", "conversations_by_tenant", &["tenant_id", "id"], false).await?;
    let columns = columns![
        uuid id, string tenant_id, uuid conversation_id, integer turn, integer position, string sender,
        text text, timestamp_with_time_zone created_at, json_binary metadata, json_binary_null receipt,
    ];
    create_table(manager, "messages", &["id"], columns).await?;
    index(manager, "messages", "messages_in_order", &["conversation_id", "turn", "position"], true).await?;
    let columns = columns![
        uuid conversation_id, integer turn, string tenant_id, uuid message_id, string status,
        timestamp_with_time_zone accepted_at, timestamp_with_time_zone_null started_at,
        timestamp_with_time_zone_null ended_at, json_binary timings, integer events,
    ];
    create_table(manager, "turns", &["conversation_id", "turn"], columns).await?;
    // Recovery queries the few turns that have not ended.
    index(manager, "turns", "turns_by_status", &["status"], false).await?;
    let columns = columns![
        uuid conversation_id, integer turn, integer n, string tenant_id, text body,
        timestamp_with_time_zone created_at,
    ];
    create_table(manager, "events", &["conversation_id", "turn", "n"], columns).await?;
    let columns = columns![
        string tenant_id, string scope, string key, string body_hash, uuid conversation_id, integer turn,
        uuid message_id, timestamp_with_time_zone created_at,
    ];
    create_table(manager, "idempotency_keys", &["tenant_id", "scope", "key"], columns).await?;
    let columns = columns![string tenant_id, string name, text value];
    create_table(manager, "settings", &["tenant_id", "name"], columns).await?;
    let columns = columns![string tenant_id, string serial, text product_name, date warranty_end_date];
    create_table(manager, "warranty_records", &["tenant_id", "serial"], columns).await
}
