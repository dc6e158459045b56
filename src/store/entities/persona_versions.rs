use sea_orm::entity::prelude::*;

/// What a persona's file said. Versions of a persona count from 1; the newest ones are kept.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "persona_versions")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub tenant_id: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub persona: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub version: i32,
    #[sea_orm(column_type = "Text")]
    pub text: String,
    pub saved_at: DateTimeUtc,
    pub saved_by: Option<String>,
}

impl ActiveModelBehavior for ActiveModel {}
