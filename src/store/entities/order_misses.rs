use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

/// How often somebody guessed whose order it is.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "order_misses")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub tenant_id: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub subject: String,
    pub misses: i32,
    pub last_at: DateTimeUtc,
    pub locked_until: Option<DateTimeUtc>,
}

impl ActiveModelBehavior for ActiveModel {}
