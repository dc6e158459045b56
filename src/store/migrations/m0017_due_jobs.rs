use sea_orm_migration::prelude::*;

use super::index;

/// Due jobs by their name: those that wait for a service do not slow down the search for others.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        index(manager, "jobs", "jobs_due_by_name", &["kind", "dead", "run_at", "subject"], false).await?;
        // SQLite would choose it, and read the jobs of all names.
        let mut old = Index::drop();
        manager.drop_index(old.name("jobs_due").table("jobs").to_owned()).await
    }
}
