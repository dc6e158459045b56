use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

/// The label of an RMA.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "labels")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub rma_id: Uuid,
    pub tenant_id: String,
    pub tracking: String,
    pub created_at: DateTimeUtc,
}

impl ActiveModelBehavior for ActiveModel {}
