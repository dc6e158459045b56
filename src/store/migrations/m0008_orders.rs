use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::index;

/// Orders, returns, tickets and mails, with their audit log.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        orders(manager).await?;
        returns(manager).await?;
        tickets(manager).await?;
        records(manager).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in TABLES {
            manager.drop_table(Table::drop().table(table).if_exists().to_owned()).await?;
        }
        Ok(())
    }
}

const TABLES: [&str; 11] = [
    "customers",
    "orders",
    "order_items",
    "return_policies",
    "rmas",
    "rma_items",
    "labels",
    "tickets",
    "mails",
    "audit",
    "order_misses",
];

async fn orders(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    manager
        .create_table(
            Table::create()
                .table("customers")
                .col(uuid("id").primary_key())
                .col(string("tenant_id"))
                .col(text("name"))
                .col(string("email"))
                .col(string_null("phone"))
                .col(string_null("user_id"))
                .col(boolean("is_vip"))
                .col(boolean("fraud_flag"))
                .to_owned(),
        )
        .await?;
    index(manager, "customers", "customers_by_email", &["tenant_id", "email"], true).await?;
    index(manager, "customers", "customers_by_user", &["tenant_id", "user_id"], false).await?;
    manager
        .create_table(
            Table::create()
                .table("orders")
                .col(string("tenant_id"))
                .col(string("number"))
                .col(uuid("customer_id"))
                .col(string("email"))
                .col(string_null("phone"))
                .col(string("status"))
                .col(string("currency"))
                .col(big_integer("paid"))
                .col(timestamp_with_time_zone("ordered_at"))
                .col(timestamp_with_time_zone_null("shipped_at"))
                .col(timestamp_with_time_zone_null("delivered_at"))
                .col(string_null("tracking"))
                .primary_key(Index::create().col("tenant_id").col("number"))
                .to_owned(),
        )
        .await?;
    index(manager, "orders", "orders_by_email", &["tenant_id", "email", "ordered_at"], false).await?;
    index(manager, "orders", "orders_by_customer", &["tenant_id", "customer_id", "ordered_at"], false).await?;
    manager
        .create_table(
            Table::create()
                .table("order_items")
                .col(string("tenant_id"))
                .col(string("order_number"))
                .col(integer("line"))
                .col(string_null("sku"))
                .col(text("name"))
                .col(string_null("category"))
                .col(integer("quantity"))
                .col(big_integer("unit_price"))
                .col(boolean("is_returnable"))
                .col(boolean("is_final_sale"))
                .primary_key(Index::create().col("tenant_id").col("order_number").col("line"))
                .to_owned(),
        )
        .await
}

async fn returns(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    manager
        .create_table(
            Table::create()
                .table("return_policies")
                .col(string("tenant_id"))
                .col(string("name"))
                .col(string("scope"))
                .col(string_null("category"))
                .col(integer("return_days"))
                .col(integer_null("refund_days"))
                .primary_key(Index::create().col("tenant_id").col("name"))
                .to_owned(),
        )
        .await?;
    manager
        .create_table(
            Table::create()
                .table("rmas")
                .col(uuid("id").primary_key())
                .col(string("tenant_id"))
                .col(string("number"))
                .col(string("order_number"))
                .col(uuid("customer_id"))
                .col(string("action"))
                .col(string("status"))
                .col(string("currency"))
                .col(big_integer("refund"))
                .col(text("reason"))
                .col(string("reason_code"))
                .col(boolean("escalated"))
                .col(text_null("escalation_reason"))
                .col(string_null("escalation_ticket"))
                .col(uuid_null("conversation_id"))
                .col(timestamp_with_time_zone("created_at"))
                .col(timestamp_with_time_zone("updated_at"))
                .to_owned(),
        )
        .await?;
    index(manager, "rmas", "rmas_by_number", &["tenant_id", "number"], true).await?;
    index(manager, "rmas", "rmas_by_order", &["tenant_id", "order_number"], false).await?;
    // Every decision counts the customer's recent returns.
    index(manager, "rmas", "rmas_by_customer", &["tenant_id", "customer_id", "created_at"], false).await?;
    index(manager, "rmas", "rmas_by_conversation", &["conversation_id"], false).await?;
    manager
        .create_table(
            Table::create()
                .table("rma_items")
                .col(uuid("rma_id"))
                .col(integer("line"))
                .col(string("tenant_id"))
                .col(big_integer("amount"))
                .primary_key(Index::create().col("rma_id").col("line"))
                .to_owned(),
        )
        .await?;
    manager
        .create_table(
            Table::create()
                .table("labels")
                .col(uuid("rma_id").primary_key())
                .col(string("tenant_id"))
                .col(string("tracking"))
                .col(timestamp_with_time_zone("created_at"))
                .to_owned(),
        )
        .await?;
    index(manager, "labels", "labels_by_tracking", &["tenant_id", "tracking"], true).await
}

async fn tickets(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    manager
        .create_table(
            Table::create()
                .table("tickets")
                .col(string("tenant_id"))
                .col(string("id"))
                .col(string("kind"))
                .col(string("idempotency_key"))
                .col(string("request"))
                .col(string_null("order_number"))
                .col(string_null("rma_number"))
                .col(uuid_null("conversation_id"))
                .col(string_null("priority"))
                .col(text("reason"))
                .col(text("summary"))
                .col(timestamp_with_time_zone("created_at"))
                .col(string_null("resolution"))
                .col(string_null("resolved_by"))
                .col(text_null("resolved_why"))
                .col(timestamp_with_time_zone_null("resolved_at"))
                .primary_key(Index::create().col("tenant_id").col("id"))
                .to_owned(),
        )
        .await?;
    // Makes the creation of a ticket idempotent.
    index(manager, "tickets", "tickets_by_key", &["tenant_id", "idempotency_key"], true).await?;
    index(manager, "tickets", "tickets_by_conversation", &["conversation_id"], false).await?;
    index(manager, "tickets", "tickets_by_rma", &["tenant_id", "rma_number"], false).await?;
    manager
        .create_table(
            Table::create()
                .table("mails")
                .col(uuid("id").primary_key())
                .col(string("tenant_id"))
                .col(string("number"))
                .col(uuid_null("conversation_id"))
                .col(string_null("order_number"))
                .col(string_null("rma_number"))
                .col(string("recipient"))
                .col(string("template"))
                .col(string("language"))
                .col(json_binary("context"))
                .col(string("status"))
                .col(text_null("preview"))
                .col(text_null("error"))
                .col(timestamp_with_time_zone("created_at"))
                .col(timestamp_with_time_zone_null("sent_at"))
                .to_owned(),
        )
        .await?;
    index(manager, "mails", "mails_by_number", &["tenant_id", "number"], true).await?;
    index(manager, "mails", "mails_by_rma", &["tenant_id", "rma_number"], false).await
}

async fn records(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    manager
        .create_table(
            Table::create()
                .table("audit")
                .col(uuid("id").primary_key())
                .col(string("tenant_id"))
                .col(string("kind"))
                .col(string("who"))
                .col(string("what"))
                .col(json_binary_null("before"))
                .col(json_binary_null("after"))
                .col(uuid_null("conversation_id"))
                .col(string_null("order_number"))
                .col(string_null("rma_number"))
                .col(timestamp_with_time_zone("at"))
                .to_owned(),
        )
        .await?;
    index(manager, "audit", "audit_by_conversation", &["conversation_id", "id"], false).await?;
    index(manager, "audit", "audit_by_order", &["tenant_id", "order_number", "id"], false).await?;
    manager
        .create_table(
            Table::create()
                .table("order_misses")
                .col(string("tenant_id"))
                .col(string("subject"))
                .col(integer("misses"))
                .col(timestamp_with_time_zone("last_at"))
                .col(timestamp_with_time_zone_null("locked_until"))
                .primary_key(Index::create().col("tenant_id").col("subject"))
                .to_owned(),
        )
        .await
}
