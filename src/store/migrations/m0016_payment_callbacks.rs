//! Addresses at which payment providers call back, each with a secret.

use super::*;

pub(super) async fn up(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let columns = columns![
        uuid id, string tenant_id, string purpose, string subject, uuid_null payment_id, blob sealed,
        json_binary detail, timestamp_with_time_zone created_at,
    ];
    create_table(manager, "payment_callbacks", &["id"], columns).await?;
    let columns = &["tenant_id", "purpose", "subject"];
    index(manager, "payment_callbacks", "payment_callbacks_by_subject", columns, true).await?;
    let columns = &["tenant_id", "provider_reference"];
    index(manager, "payment_requests", "payment_requests_by_reference", columns, false).await
}
