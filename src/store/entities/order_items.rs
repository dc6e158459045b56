use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

/// A line of an order. `unit_price` is in minor units of the order's currency.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "order_items")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub tenant_id: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub order_number: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub line: i32,
    pub sku: Option<String>,
    #[sea_orm(column_type = "Text")]
    pub name: String,
    pub category: Option<String>,
    pub quantity: i32,
    pub unit_price: i64,
    pub is_returnable: bool,
    pub is_final_sale: bool,
}

impl ActiveModelBehavior for ActiveModel {}
