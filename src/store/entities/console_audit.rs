use sea_orm::entity::prelude::*;

/// What a person did at the console. Ids are UUIDv7: their order is the order of the acts.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "console_audit")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub tenant_id: String,
    pub who: String,
    pub what: String,
    pub client: Option<String>,
    pub conversation_id: Option<Uuid>,
    pub subject: Option<String>,
    pub detail: Option<String>,
    pub at: DateTimeUtc,
}

impl ActiveModelBehavior for ActiveModel {}
