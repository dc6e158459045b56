use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::index;

/// Conversations over a channel: their customers, and the deliveries of their messages.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let channel = Table::alter().table("conversations").add_column(string_null("channel")).to_owned();
        manager.alter_table(channel).await?;
        let deliveries = Table::create()
            .table("deliveries")
            .col(uuid("message_id").primary_key())
            .col(string("tenant_id"))
            .col(uuid("conversation_id"))
            .col(integer("turn"))
            .col(integer("position"))
            .col(string("purpose"))
            .col(string("status"))
            .col(integer("part"))
            .col(integer("parts"))
            .col(string_null("reference"))
            .col(string_null("error"))
            .col(timestamp_with_time_zone_null("attempted_at"))
            .col(timestamp_with_time_zone("created_at"))
            .col(timestamp_with_time_zone("updated_at"))
            .to_owned();
        let sessions = Table::create()
            .table("channel_sessions")
            .col(string("tenant_id"))
            .col(string("channel"))
            .col(string("address"))
            .col(uuid("conversation_id"))
            .col(timestamp_with_time_zone("received_at"))
            .primary_key(Index::create().col("tenant_id").col("channel").col("address"))
            .to_owned();
        for table in [deliveries, sessions] {
            manager.create_table(table).await?;
        }
        for (table, name) in
            [("deliveries", "deliveries_of_conversation"), ("channel_sessions", "channel_sessions_of_conversation")]
        {
            index(manager, table, name, &["conversation_id"], false).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["channel_sessions", "deliveries"] {
            manager.drop_table(Table::drop().table(table).if_exists().to_owned()).await?;
        }
        manager.alter_table(Table::alter().table("conversations").drop_column("channel").to_owned()).await
    }
}
