use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

/// Cancellation, removal of events, and the number of turns per day.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // SQLite adds one column at a time.
        for column in
            [boolean("cancel_requested").default(false).to_owned(), boolean("events_kept").default(true).to_owned()]
        {
            manager.alter_table(Table::alter().table("turns").add_column(column).to_owned()).await?;
        }
        // Retention queries the oldest ended turns that still have events.
        manager
            .create_index(
                Index::create().name("turns_to_forget").table("turns").col("events_kept").col("ended_at").to_owned(),
            )
            .await?;
        manager
            .create_index(
                Index::create().name("idempotency_keys_by_age").table("idempotency_keys").col("created_at").to_owned(),
            )
            .await?;
        manager
            .create_index(Index::create().name("messages_by_age").table("messages").col("created_at").to_owned())
            .await?;
        manager
            .create_table(
                Table::create()
                    .table("daily_turns")
                    .col(string("tenant_id"))
                    .col(date("day"))
                    .col(integer("turns"))
                    .primary_key(Index::create().col("tenant_id").col("day"))
                    .to_owned(),
            )
            .await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("daily_turns").if_exists().to_owned()).await?;
        for (table, index) in [
            ("messages", "messages_by_age"),
            ("idempotency_keys", "idempotency_keys_by_age"),
            ("turns", "turns_to_forget"),
        ] {
            manager.drop_index(Index::drop().name(index).table(table).to_owned()).await?;
        }
        for column in ["cancel_requested", "events_kept"] {
            manager.alter_table(Table::alter().table("turns").drop_column(column).to_owned()).await?;
        }
        Ok(())
    }
}
