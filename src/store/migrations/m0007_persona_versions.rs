use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

/// Earlier texts of persona files, and an index for unanswered questions.
#[derive(DeriveMigrationName)]
pub struct Migration;

/// A partial index by an expression, which the schema builder does not support. The query in `src/store/unanswered.rs` must use
/// the same expression.
const UNANSWERED: &str = "CREATE INDEX messages_unanswered ON messages (tenant_id, created_at) \
     WHERE (metadata ->> 'type' = 'clarify' OR metadata ->> 'no_context' IS NOT NULL)";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table("persona_versions")
                    .col(string("tenant_id"))
                    .col(string("persona"))
                    .col(integer("version"))
                    .col(text("text"))
                    .col(timestamp_with_time_zone("saved_at"))
                    .col(string_null("saved_by"))
                    .primary_key(Index::create().col("tenant_id").col("persona").col("version"))
                    .to_owned(),
            )
            .await?;
        manager.get_connection().execute_unprepared(UNANSWERED).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_index(Index::drop().name("messages_unanswered").table("messages").to_owned()).await?;
        manager.drop_table(Table::drop().table("persona_versions").if_exists().to_owned()).await
    }
}
