use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::index;

/// Accounts of a telecom operator, with their invoices and refund cases; and the sessions of `POST /chat`.
#[derive(DeriveMigrationName)]
pub struct Migration;

/// At most one case of an invoice is open.
const OPEN: &str = "CREATE UNIQUE INDEX refund_cases_open ON refund_cases (tenant_id, invoice_number) \
     WHERE status IN ('opened', 'pending_review')";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        accounts(manager).await?;
        refund_cases(manager).await?;
        manager.alter_table(Table::alter().table("audit").add_column(string_null("user_id")).to_owned()).await?;
        manager
            .alter_table(Table::alter().table("conversations").add_column(string_null("session_id")).to_owned())
            .await?;
        index(manager, "audit", "audit_by_user", &["tenant_id", "user_id"], false).await?;
        // Conversations without a session do not conflict: null differs from null.
        index(manager, "conversations", "conversations_by_session", &["tenant_id", "session_id"], true).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for (index, table, column) in
            [("audit_by_user", "audit", "user_id"), ("conversations_by_session", "conversations", "session_id")]
        {
            manager.drop_index(Index::drop().name(index).table(table).to_owned()).await?;
            manager.alter_table(Table::alter().table(table).drop_column(column).to_owned()).await?;
        }
        for table in ["case_numbers", "refund_cases", "invoices", "subscriptions", "plans"] {
            manager.drop_table(Table::drop().table(table).if_exists().to_owned()).await?;
        }
        Ok(())
    }
}

async fn accounts(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let plans = Table::create()
        .table("plans")
        .col(string("tenant_id"))
        .col(string("code"))
        .col(string("name"))
        .col(big_integer("price_monthly"))
        .primary_key(Index::create().col("tenant_id").col("code"))
        .to_owned();
    let subscriptions = Table::create()
        .table("subscriptions")
        .col(string("tenant_id"))
        .col(string("user_id"))
        .col(string("plan_code"))
        .col(string("status"))
        .col(date("start_date"))
        .primary_key(Index::create().col("tenant_id").col("user_id"))
        .to_owned();
    let invoices = Table::create()
        .table("invoices")
        .col(string("tenant_id"))
        .col(string("number"))
        // Null after the customer's erasure.
        .col(string_null("user_id"))
        .col(big_integer("amount"))
        .col(date("issued_on"))
        .primary_key(Index::create().col("tenant_id").col("number"))
        .to_owned();
    for table in [plans, subscriptions, invoices] {
        manager.create_table(table).await?;
    }
    index(manager, "invoices", "invoices_by_user", &["tenant_id", "user_id", "issued_on"], false).await
}

async fn refund_cases(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let cases = Table::create()
        .table("refund_cases")
        .col(string("tenant_id"))
        .col(integer("number"))
        .col(string_null("user_id"))
        .col(string("invoice_number"))
        .col(string("reason"))
        .col(big_integer("amount"))
        .col(text_null("description"))
        .col(string("status"))
        .col(date("eta"))
        .col(uuid_null("conversation_id"))
        .col(timestamp_with_time_zone("opened_at"))
        .col(string_null("decided_by"))
        .col(text_null("decided_why"))
        .col(timestamp_with_time_zone_null("decided_at"))
        .primary_key(Index::create().col("tenant_id").col("number"))
        .to_owned();
    let numbers =
        Table::create().table("case_numbers").col(string("tenant_id").primary_key()).col(integer("last")).to_owned();
    manager.create_table(cases).await?;
    manager.create_table(numbers).await?;
    manager.get_connection().execute_unprepared(OPEN).await?;
    index(manager, "refund_cases", "refund_cases_by_invoice", &["tenant_id", "invoice_number"], false).await?;
    index(manager, "refund_cases", "refund_cases_by_user", &["tenant_id", "user_id"], false).await?;
    index(manager, "refund_cases", "refund_cases_by_conversation", &["conversation_id"], false).await
}
