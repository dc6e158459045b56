use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::index;

/// Addresses at which payment providers call back, each with a secret.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let callbacks = Table::create()
            .table("payment_callbacks")
            .col(uuid("id").primary_key())
            .col(string("tenant_id"))
            .col(string("purpose"))
            .col(string("subject"))
            .col(uuid_null("payment_id"))
            .col(blob("sealed"))
            .col(json_binary("detail"))
            .col(timestamp_with_time_zone("created_at"))
            .to_owned();
        manager.create_table(callbacks).await?;
        let columns = &["tenant_id", "purpose", "subject"];
        index(manager, "payment_callbacks", "payment_callbacks_by_subject", columns, true).await?;
        let columns = &["tenant_id", "provider_reference"];
        index(manager, "payment_requests", "payment_requests_by_reference", columns, false).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .drop_index(Index::drop().name("payment_requests_by_reference").table("payment_requests").to_owned())
            .await?;
        manager.drop_table(Table::drop().table("payment_callbacks").if_exists().to_owned()).await
    }
}
