use sea_orm::entity::prelude::*;

/// A return policy of a shop. `category` is set where `scope` is `category`.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "return_policies")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub tenant_id: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub name: String,
    pub scope: String,
    pub category: Option<String>,
    pub return_days: i32,
    pub refund_days: Option<i32>,
}

impl ActiveModelBehavior for ActiveModel {}
