use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::index;

/// The commerce desk: customers with their consent, orders, payments and offers.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let customers = Table::create()
            .table("shoppers")
            .col(uuid("id").primary_key())
            .col(string("tenant_id"))
            .col(string_null("phone_e164"))
            // Names a customer whose number is not known.
            .col(uuid_null("conversation_id"))
            .col(string_null("language_preference"))
            .col(boolean("marketing_opt_in"))
            .col(boolean("notifications"))
            .col(json_binary("tags"))
            .col(timestamp_with_time_zone("last_seen"))
            .to_owned();
        let consent = Table::create()
            .table("consent_changes")
            .col(uuid("id").primary_key())
            .col(string("tenant_id"))
            .col(uuid("shopper_id"))
            .col(string("who"))
            .col(timestamp_with_time_zone("at"))
            .col(json_binary("before"))
            .col(json_binary("after"))
            .col(uuid_null("message_id"))
            .to_owned();
        let sales = Table::create()
            .table("sales")
            .col(string("tenant_id"))
            .col(string("sale_id"))
            .col(uuid("shopper_id"))
            .col(uuid_null("conversation_id"))
            .col(string("status"))
            .col(json_binary("lines"))
            .col(json_binary("totals"))
            .col(string_null("coupon"))
            .col(timestamp_with_time_zone("held_until"))
            .col(timestamp_with_time_zone("created_at"))
            .col(timestamp_with_time_zone("updated_at"))
            .primary_key(Index::create().col("tenant_id").col("sale_id"))
            .to_owned();
        let payments = Table::create()
            .table("payment_requests")
            .col(uuid("id").primary_key())
            .col(string("tenant_id"))
            .col(string("sale_id"))
            .col(uuid_null("conversation_id"))
            .col(string("method"))
            .col(string_null("phone_e164"))
            .col(big_integer("amount"))
            .col(string("currency"))
            .col(string("status"))
            .col(string("provider"))
            .col(string_null("provider_reference"))
            .col(json_binary("receipts"))
            .col(timestamp_with_time_zone("created_at"))
            .col(timestamp_with_time_zone("updated_at"))
            .to_owned();
        let offers = Table::create()
            .table("offers")
            .col(string("tenant_id"))
            .col(string("code"))
            .col(json_binary("offer"))
            .col(timestamp_with_time_zone("ends_at"))
            .primary_key(Index::create().col("tenant_id").col("code"))
            .to_owned();
        let sandbox = Table::create()
            .table("sandbox_payments")
            .col(uuid("id").primary_key())
            .col(string("tenant_id"))
            .col(string("state"))
            .col(string_null("receipt"))
            .col(timestamp_with_time_zone("asked_at"))
            .to_owned();
        for table in [customers, consent, sales, payments, offers, sandbox] {
            manager.create_table(table).await?;
        }
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

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["sandbox_payments", "offers", "payment_requests", "sales", "consent_changes", "shoppers"] {
            manager.drop_table(Table::drop().table(table).if_exists().to_owned()).await?;
        }
        Ok(())
    }
}
