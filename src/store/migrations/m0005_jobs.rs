use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

/// Background jobs, stored in the commit that they follow from.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table("jobs")
                    .col(string("kind"))
                    .col(string("subject"))
                    .col(string("tenant_id"))
                    .col(uuid_null("conversation_id"))
                    .col(timestamp_with_time_zone("created_at"))
                    .col(timestamp_with_time_zone("run_at"))
                    .col(boolean("leased").default(false))
                    .col(integer("attempts").default(0))
                    .col(boolean("dead").default(false))
                    .col(text_null("error"))
                    .primary_key(Index::create().col("kind").col("subject"))
                    .to_owned(),
            )
            .await?;
        // The worker queries due jobs, oldest first.
        manager
            .create_index(Index::create().name("jobs_due").table("jobs").col("dead").col("run_at").to_owned())
            .await?;
        manager
            .create_index(Index::create().name("jobs_of_conversation").table("jobs").col("conversation_id").to_owned())
            .await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("jobs").if_exists().to_owned()).await
    }
}
