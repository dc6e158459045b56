use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

/// The audit log of the console.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table("console_audit")
                    .col(uuid("id").primary_key())
                    .col(string("tenant_id"))
                    .col(string("who"))
                    .col(string("what"))
                    .col(string_null("client"))
                    .col(uuid_null("conversation_id"))
                    .col(string_null("subject"))
                    .col(string_null("detail"))
                    .col(timestamp_with_time_zone("at"))
                    .to_owned(),
            )
            .await?;
        for (name, columns) in [
            ("console_audit_in_order", ["tenant_id", "id"].as_slice()),
            ("console_audit_by_person", &["tenant_id", "who", "id"]),
            ("console_audit_by_age", &["at"]),
        ] {
            let mut index = Index::create().name(name).table("console_audit").to_owned();
            for column in columns {
                index.col(*column);
            }
            manager.create_index(index).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("console_audit").if_exists().to_owned()).await
    }
}
