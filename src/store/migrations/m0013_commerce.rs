use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::index;

/// Shops that sell over WhatsApp: their settings, sealed credentials and goods.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let tenants = Table::create()
            .table("tenants")
            .col(string("tenant_id").primary_key())
            .col(json_binary("settings"))
            .col(string_null("whatsapp_number"))
            .to_owned();
        let credentials = Table::create()
            .table("tenant_credentials")
            .col(string("tenant_id"))
            .col(string("name"))
            .col(blob("sealed"))
            .primary_key(Index::create().col("tenant_id").col("name"))
            .to_owned();
        let items = Table::create()
            .table("catalog_items")
            .col(string("tenant_id"))
            .col(string("item_id"))
            .col(string("name"))
            .col(string("category"))
            .col(text("description"))
            .col(big_integer("price"))
            .col(string("currency"))
            .col(integer("stock"))
            .col(json_binary("attributes"))
            .col(json_binary("variants"))
            .col(text_null("url"))
            // The texts of the item, folded.
            .col(text("searched"))
            .primary_key(Index::create().col("tenant_id").col("item_id"))
            .to_owned();
        for table in [tenants, credentials, items] {
            manager.create_table(table).await?;
        }
        // Shops without a number do not conflict: null differs from null.
        index(manager, "tenants", "tenants_by_number", &["whatsapp_number"], true).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["catalog_items", "tenant_credentials", "tenants"] {
            manager.drop_table(Table::drop().table(table).if_exists().to_owned()).await?;
        }
        Ok(())
    }
}
