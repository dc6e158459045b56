use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

/// A return merchandise authorization. `refund` is in minor units of `currency`.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "rmas")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub tenant_id: String,
    pub number: String,
    pub order_number: String,
    pub customer_id: Uuid,
    pub action: String,
    pub status: String,
    pub currency: String,
    pub refund: i64,
    #[sea_orm(column_type = "Text")]
    pub reason: String,
    pub reason_code: String,
    pub escalated: bool,
    #[sea_orm(column_type = "Text", nullable)]
    pub escalation_reason: Option<String>,
    pub escalation_ticket: Option<String>,
    pub conversation_id: Option<Uuid>,
    pub created_at: DateTimeUtc,
    pub updated_at: DateTimeUtc,
}

impl ActiveModelBehavior for ActiveModel {}
