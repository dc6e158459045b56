use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

/// Vectors of texts, and their collections.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table("vector_collections")
                    .col(string("tenant_id"))
                    .col(string("name"))
                    .col(string("model"))
                    .col(integer("dimension"))
                    .col(uuid("generation"))
                    .col(big_integer("version"))
                    .col(big_integer("removed_version"))
                    .primary_key(Index::create().col("tenant_id").col("name"))
                    .to_owned(),
            )
            .await?;
        manager
            .create_table(
                Table::create()
                    .table("vectors")
                    .col(string("tenant_id"))
                    .col(string("collection"))
                    .col(text("id"))
                    .col(text_null("conversation_id"))
                    .col(big_integer("version"))
                    .col(blob("vector"))
                    .col(text("text"))
                    .col(json_binary("metadata"))
                    .primary_key(Index::create().col("tenant_id").col("collection").col("id"))
                    .to_owned(),
            )
            .await?;
        manager
            .create_index(
                Index::create()
                    .name("vectors_by_conversation")
                    .table("vectors")
                    .col("tenant_id")
                    .col("conversation_id")
                    .to_owned(),
            )
            .await?;
        // An outdated collection in memory queries the rows that changed since its version.
        manager
            .create_index(
                Index::create()
                    .name("vectors_by_version")
                    .table("vectors")
                    .col("tenant_id")
                    .col("collection")
                    .col("version")
                    .to_owned(),
            )
            .await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["vectors", "vector_collections"] {
            manager.drop_table(Table::drop().table(table).if_exists().to_owned()).await?;
        }
        Ok(())
    }
}
