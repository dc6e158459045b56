use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

/// An order. `paid` is in minor units of `currency`.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "orders")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub tenant_id: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub number: String,
    pub customer_id: Uuid,
    pub email: String,
    pub phone: Option<String>,
    pub status: String,
    pub currency: String,
    pub paid: i64,
    pub ordered_at: DateTimeUtc,
    pub shipped_at: Option<DateTimeUtc>,
    pub delivered_at: Option<DateTimeUtc>,
    pub tracking: Option<String>,
}

impl ActiveModelBehavior for ActiveModel {}
