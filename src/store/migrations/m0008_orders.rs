//! Orders, returns, tickets and mails, with their audit log.

use super::*;

pub(super) async fn up(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    orders(manager).await?;
    returns(manager).await?;
    tickets(manager).await?;
    records(manager).await
}

async fn orders(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let columns = columns![
        uuid id, string tenant_id, text name, string email, string_null phone, string_null user_id,
        boolean is_vip, boolean fraud_flag,
    ];
    create_table(manager, "customers", &["id"], columns).await?;
    index(manager, "customers", "customers_by_email", &["tenant_id", "email"], true).await?;
    index(manager, "customers", "customers_by_user", &["tenant_id", "user_id"], false).await?;
    let columns = columns![
        string tenant_id, string number, uuid customer_id, string email, string_null phone, string status,
        string currency, big_integer paid, timestamp_with_time_zone ordered_at,
        timestamp_with_time_zone_null shipped_at, timestamp_with_time_zone_null delivered_at,
        string_null tracking,
    ];
    create_table(manager, "orders", &["tenant_id", "number"], columns).await?;
    index(manager, "orders", "orders_by_email", &["tenant_id", "email", "ordered_at"], false).await?;
    index(manager, "orders", "orders_by_customer", &["tenant_id", "customer_id", "ordered_at"], false).await?;
    let columns = columns![
        string tenant_id, string order_number, integer line, string_null sku, text name, string_null category,
        integer quantity, big_integer unit_price, boolean is_returnable, boolean is_final_sale,
    ];
    create_table(manager, "order_items", &["tenant_id", "order_number", "line"], columns).await
}

async fn returns(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let columns = columns![
        string tenant_id, string name, string scope, string_null category, integer return_days,
        integer_null refund_days,
    ];
    create_table(manager, "return_policies", &["tenant_id", "name"], columns).await?;
    let columns = columns![
        uuid id, string tenant_id, string number, string order_number, uuid customer_id, string action,
        string status, string currency, big_integer refund, text reason, string reason_code,
        boolean escalated, text_null escalation_reason, string_null escalation_ticket,
        uuid_null conversation_id, timestamp_with_time_zone created_at, timestamp_with_time_zone updated_at,
    ];
    create_table(manager, "rmas", &["id"], columns).await?;
    index(manager, "rmas", "rmas_by_number", &["tenant_id", "number"], true).await?;
    index(manager, "rmas", "rmas_by_order", &["tenant_id", "order_number"], false).await?;
    // Every decision counts the customer's recent returns.
    index(manager, "rmas", "rmas_by_customer", &["tenant_id", "customer_id", "created_at"], false).await?;
    index(manager, "rmas", "rmas_by_conversation", &["conversation_id"], false).await?;
    let columns = columns![uuid rma_id, integer line, string tenant_id, big_integer amount];
    create_table(manager, "rma_items", &["rma_id", "line"], columns).await?;
    let columns = columns![
        uuid rma_id, string tenant_id, string tracking, timestamp_with_time_zone created_at,
    ];
    create_table(manager, "labels", &["rma_id"], columns).await?;
    index(manager, "labels", "labels_by_tracking", &["tenant_id", "tracking"], true).await
}

async fn tickets(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let columns = columns![
        string tenant_id, string id, string kind, string idempotency_key, string request,
        string_null order_number, string_null rma_number, uuid_null conversation_id, string_null priority,
        text reason, text summary, timestamp_with_time_zone created_at, string_null resolution,
        string_null resolved_by, text_null resolved_why, timestamp_with_time_zone_null resolved_at,
    ];
    create_table(manager, "tickets", &["tenant_id", "id"], columns).await?;
    // Makes the creation of a ticket idempotent.
    index(manager, "tickets", "tickets_by_key", &["tenant_id", "idempotency_key"], true).await?;
    index(manager, "tickets", "tickets_by_conversation", &["conversation_id"], false).await?;
    index(manager, "tickets", "tickets_by_rma", &["tenant_id", "rma_number"], false).await?;
    let columns = columns![
        uuid id, string tenant_id, string number, uuid_null conversation_id, string_null order_number,
        string_null rma_number, string recipient, string template, string language, json_binary context,
        string status, text_null preview, text_null error, timestamp_with_time_zone created_at,
        timestamp_with_time_zone_null sent_at,
    ];
    create_table(manager, "mails", &["id"], columns).await?;
    index(manager, "mails", "mails_by_number", &["tenant_id", "number"], true).await?;
    index(manager, "mails", "mails_by_rma", &["tenant_id", "rma_number"], false).await
}

async fn records(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let columns = columns![
        uuid id, string tenant_id, string kind, string who, string what, json_binary_null before,
        json_binary_null after, uuid_null conversation_id, string_null order_number, string_null rma_number,
        timestamp_with_time_zone at,
    ];
    create_table(manager, "audit", &["id"], columns).await?;
    index(manager, "audit", "audit_by_conversation", &["conversation_id", "id"], false).await?;
    index(manager, "audit", "audit_by_order", &["tenant_id", "order_number", "id"], false).await?;
    let columns = columns![
        string tenant_id, string subject, integer misses, timestamp_with_time_zone last_at,
        timestamp_with_time_zone_null locked_until,
    ];
    create_table(manager, "order_misses", &["tenant_id", "subject"], columns).await
}
