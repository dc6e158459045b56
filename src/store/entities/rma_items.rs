use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

/// A line of the order that comes back, and what is paid back for it.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "rma_items")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub rma_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub line: i32,
    pub tenant_id: String,
    pub amount: i64,
}

impl ActiveModelBehavior for ActiveModel {}
