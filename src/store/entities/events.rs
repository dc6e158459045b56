use sea_orm::entity::prelude::*;

/// An event as the customer sees it: `body` is the JSON of the SSE frame, letter for letter.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "events")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub conversation_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub turn: i32,
    #[sea_orm(primary_key, auto_increment = false)]
    pub n: i32,
    pub tenant_id: String,
    #[sea_orm(column_type = "Text")]
    pub body: String,
    pub created_at: DateTimeUtc,
}

impl ActiveModelBehavior for ActiveModel {}
