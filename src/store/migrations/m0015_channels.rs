//! Conversations over a channel: their customers, and the deliveries of their messages.

use super::*;

pub(super) async fn up(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    add_column(manager, "conversations", string_null("channel")).await?;
    let columns = columns![
        uuid message_id, string tenant_id, uuid conversation_id, integer turn, integer position,
        string purpose, string status, integer part, integer parts, string_null reference, string_null error,
        timestamp_with_time_zone_null attempted_at, timestamp_with_time_zone created_at,
        timestamp_with_time_zone updated_at,
    ];
    create_table(manager, "deliveries", &["message_id"], columns).await?;
    let columns = columns![
        string tenant_id, string channel, string address, uuid conversation_id,
        timestamp_with_time_zone received_at,
    ];
    create_table(manager, "channel_sessions", &["tenant_id", "channel", "address"], columns).await?;
    index(manager, "deliveries", "deliveries_of_conversation", &["conversation_id"], false).await?;
    index(manager, "channel_sessions", "channel_sessions_of_conversation", &["conversation_id"], false).await
}
