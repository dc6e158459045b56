use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

/// A mail to a customer. `number` is its Message-ID, `context` what its template is filled with.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "mails")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub tenant_id: String,
    pub number: String,
    pub conversation_id: Option<Uuid>,
    pub order_number: Option<String>,
    pub rma_number: Option<String>,
    pub recipient: String,
    pub template: String,
    pub language: String,
    #[sea_orm(column_type = "JsonBinary")]
    pub context: Json,
    pub status: String,
    #[sea_orm(column_type = "Text", nullable)]
    pub preview: Option<String>,
    #[sea_orm(column_type = "Text", nullable)]
    pub error: Option<String>,
    pub created_at: DateTimeUtc,
    pub sent_at: Option<DateTimeUtc>,
}

impl ActiveModelBehavior for ActiveModel {}
