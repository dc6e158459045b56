use sea_orm::entity::prelude::*;

/// A message. History is ordered by (`turn`, `position`); `folded` is its text as it is searched.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "messages")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub tenant_id: String,
    pub conversation_id: Uuid,
    pub turn: i32,
    pub position: i32,
    pub sender: String,
    #[sea_orm(column_type = "Text")]
    pub text: String,
    pub created_at: DateTimeUtc,
    #[sea_orm(column_type = "JsonBinary")]
    pub metadata: Json,
    #[sea_orm(column_type = "JsonBinary", nullable)]
    pub receipt: Option<Json>,
    #[sea_orm(column_type = "Text")]
    pub folded: String,
}

impl ActiveModelBehavior for ActiveModel {}
