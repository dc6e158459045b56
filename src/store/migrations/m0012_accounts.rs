//! Accounts of a telecom operator, with their invoices and refund cases; and the sessions of `POST /chat`.

use super::*;

/// At most one case of an invoice is open.
const OPEN: &str = "CREATE UNIQUE INDEX refund_cases_open ON refund_cases (tenant_id, invoice_number) \
     WHERE status IN ('opened', 'pending_review')";

pub(super) async fn up(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    accounts(manager).await?;
    refund_cases(manager).await?;
    add_column(manager, "audit", string_null("user_id")).await?;
    add_column(manager, "conversations", string_null("session_id")).await?;
    index(manager, "audit", "audit_by_user", &["tenant_id", "user_id"], false).await?;
    // Conversations without a session do not conflict: null differs from null.
    index(manager, "conversations", "conversations_by_session", &["tenant_id", "session_id"], true).await
}

async fn accounts(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let columns = columns![string tenant_id, string code, string name, big_integer price_monthly];
    create_table(manager, "plans", &["tenant_id", "code"], columns).await?;
    let columns = columns![
        string tenant_id, string user_id, string plan_code, string status, date start_date,
    ];
    create_table(manager, "subscriptions", &["tenant_id", "user_id"], columns).await?;
    let columns = columns![
        string tenant_id, string number,
        // Null after the customer's erasure.
        string_null user_id,
        big_integer amount, date issued_on,
    ];
    create_table(manager, "invoices", &["tenant_id", "number"], columns).await?;
    index(manager, "invoices", "invoices_by_user", &["tenant_id", "user_id", "issued_on"], false).await
}

async fn refund_cases(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let columns = columns![
        string tenant_id, integer number, string_null user_id, string invoice_number, string reason,
        big_integer amount, text_null description, string status, date eta, uuid_null conversation_id,
        timestamp_with_time_zone opened_at, string_null decided_by, text_null decided_why,
        timestamp_with_time_zone_null decided_at,
    ];
    create_table(manager, "refund_cases", &["tenant_id", "number"], columns).await?;
    let columns = columns![string tenant_id, integer last];
    create_table(manager, "case_numbers", &["tenant_id"], columns).await?;
    manager.get_connection().execute_unprepared(OPEN).await?;
    index(manager, "refund_cases", "refund_cases_by_invoice", &["tenant_id", "invoice_number"], false).await?;
    index(manager, "refund_cases", "refund_cases_by_user", &["tenant_id", "user_id"], false).await?;
    index(manager, "refund_cases", "refund_cases_by_conversation", &["conversation_id"], false).await
}
