use sea_orm::entity::prelude::*;

/// Who changed what. Ids are UUIDv7: their order is the order of the changes.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "audit")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub tenant_id: String,
    pub kind: String,
    pub who: String,
    pub what: String,
    #[sea_orm(column_type = "JsonBinary", nullable)]
    pub before: Option<Json>,
    #[sea_orm(column_type = "JsonBinary", nullable)]
    pub after: Option<Json>,
    pub conversation_id: Option<Uuid>,
    pub order_number: Option<String>,
    pub rma_number: Option<String>,
    pub at: DateTimeUtc,
}

impl ActiveModelBehavior for ActiveModel {}
