//! The audit log of the console.

use super::*;

pub(super) async fn up(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let columns = columns![
        uuid id, string tenant_id, string who, string what, string_null client, uuid_null conversation_id,
        string_null subject, string_null detail, timestamp_with_time_zone at,
    ];
    create_table(manager, "console_audit", &["id"], columns).await?;
    index(manager, "console_audit", "console_audit_in_order", &["tenant_id", "id"], false).await?;
    index(manager, "console_audit", "console_audit_by_person", &["tenant_id", "who", "id"], false).await?;
    index(manager, "console_audit", "console_audit_by_age", &["at"], false).await
}
