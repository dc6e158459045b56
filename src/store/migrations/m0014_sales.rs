//! The commerce desk: customers with their consent, orders, payments and offers.

use super::*;

pub(super) async fn up(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let columns = columns![
        uuid id, string tenant_id, string_null phone_e164,
        // Names a customer whose number is not known.
        uuid_null conversation_id,
        string_null language_preference, boolean marketing_opt_in,
        boolean notifications, json_binary tags, timestamp_with_time_zone last_seen,
    ];
    create_table(manager, "shoppers", &["id"], columns).await?;
    let columns = columns![
        uuid id, string tenant_id, uuid shopper_id, string who, timestamp_with_time_zone at,
        json_binary before, json_binary after, uuid_null message_id,
    ];
    create_table(manager, "consent_changes", &["id"], columns).await?;
    let columns = columns![
        string tenant_id, string sale_id, uuid shopper_id, uuid_null conversation_id, string status,
        json_binary lines, json_binary totals, string_null coupon, timestamp_with_time_zone held_until,
        timestamp_with_time_zone created_at, timestamp_with_time_zone updated_at,
    ];
    create_table(manager, "sales", &["tenant_id", "sale_id"], columns).await?;
    let columns = columns![
        uuid id, string tenant_id, string sale_id, uuid_null conversation_id, string method,
        string_null phone_e164, big_integer amount, string currency, string status, string provider,
        string_null provider_reference, json_binary receipts, timestamp_with_time_zone created_at,
        timestamp_with_time_zone updated_at,
    ];
    create_table(manager, "payment_requests", &["id"], columns).await?;
    let columns = columns![
        string tenant_id, string code, json_binary offer, timestamp_with_time_zone ends_at,
    ];
    create_table(manager, "offers", &["tenant_id", "code"], columns).await?;
    let columns = columns![
        uuid id, string tenant_id, string state, string_null receipt, timestamp_with_time_zone asked_at,
    ];
    create_table(manager, "sandbox_payments", &["id"], columns).await?;
    for (table, name, columns, unique) in [
        ("shoppers", "shoppers_by_phone", &["tenant_id", "phone_e164"][..], true),
        ("shoppers", "shoppers_by_conversation", &["tenant_id", "conversation_id"], true),
        ("consent_changes", "consent_changes_by_shopper", &["tenant_id", "shopper_id"], false),
        ("sales", "sales_by_shopper", &["tenant_id", "shopper_id"], false),
        ("sales", "sales_by_hold", &["tenant_id", "status", "held_until"], false),
        ("payment_requests", "payment_requests_by_sale", &["tenant_id", "sale_id"], false),
        ("payment_requests", "payment_requests_by_conversation", &["conversation_id"], false),
    ] {
        index(manager, table, name, columns, unique).await?;
    }
    Ok(())
}
