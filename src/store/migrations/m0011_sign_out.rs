use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

/// Console sessions that were signed out before they expired, and conversations that a visitor opened without a key.
#[derive(DeriveMigrationName)]
pub struct Migration;

/// A partial index with only the rows that `Store::forget_empty_conversations` queries.
const EMPTY: &str = "CREATE INDEX conversations_empty ON conversations (created_at) WHERE (visitor AND last_turn = 0)";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table("revoked_sessions")
                    .col(string("tenant_id"))
                    .col(string("session"))
                    .col(timestamp_with_time_zone("expires_at"))
                    .primary_key(Index::create().col("tenant_id").col("session"))
                    .to_owned(),
            )
            .await?;
        let visitor = boolean("visitor").default(false).to_owned();
        manager.alter_table(Table::alter().table("conversations").add_column(visitor).to_owned()).await?;
        manager.get_connection().execute_unprepared(EMPTY).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_index(Index::drop().name("conversations_empty").table("conversations").to_owned()).await?;
        manager.alter_table(Table::alter().table("conversations").drop_column("visitor").to_owned()).await?;
        manager.drop_table(Table::drop().table("revoked_sessions").if_exists().to_owned()).await
    }
}
