use sea_orm::entity::prelude::*;

/// How many turns a shop had on a day (UTC).
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "daily_turns")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub tenant_id: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub day: Date,
    pub turns: i32,
}

impl ActiveModelBehavior for ActiveModel {}
