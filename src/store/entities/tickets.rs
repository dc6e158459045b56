use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

/// What was asked of the shop, once for each `idempotency_key`.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "tickets")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub tenant_id: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub kind: String,
    pub idempotency_key: String,
    pub request: String,
    pub order_number: Option<String>,
    pub rma_number: Option<String>,
    pub conversation_id: Option<Uuid>,
    pub priority: Option<String>,
    #[sea_orm(column_type = "Text")]
    pub reason: String,
    #[sea_orm(column_type = "Text")]
    pub summary: String,
    /// The return that a person is to decide about.
    #[sea_orm(column_type = "JsonBinary", nullable)]
    pub claim: Option<Json>,
    pub created_at: DateTimeUtc,
    pub resolution: Option<String>,
    pub resolved_by: Option<String>,
    #[sea_orm(column_type = "Text", nullable)]
    pub resolved_why: Option<String>,
    pub resolved_at: Option<DateTimeUtc>,
}

impl ActiveModelBehavior for ActiveModel {}
