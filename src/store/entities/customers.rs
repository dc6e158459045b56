use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

/// A customer of a shop. `user_id` is what the shop's own system calls them.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "customers")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub tenant_id: String,
    #[sea_orm(column_type = "Text")]
    pub name: String,
    pub email: String,
    pub phone: Option<String>,
    pub user_id: Option<String>,
    pub is_vip: bool,
    pub fraud_flag: bool,
}

impl ActiveModelBehavior for ActiveModel {}
