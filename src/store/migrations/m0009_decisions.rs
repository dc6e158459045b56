use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::add_column;

/// The return that a ticket requests, and the payload of jobs.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for (table, column) in [("tickets", json_binary_null("claim")), ("jobs", json_binary_null("payload"))] {
            add_column(manager, table, column).await?;
        }
        Ok(())
    }
}
