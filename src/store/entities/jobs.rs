use sea_orm::entity::prelude::*;

/// Something to be done after the commit that stored it.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "jobs")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub kind: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub subject: String,
    pub tenant_id: String,
    pub conversation_id: Option<Uuid>,
    pub created_at: DateTimeUtc,
    pub run_at: DateTimeUtc,
    pub leased: bool,
    pub attempts: i32,
    pub dead: bool,
    #[sea_orm(column_type = "Text", nullable)]
    pub error: Option<String>,
    /// What the job says; `None`: its subject is enough.
    #[sea_orm(column_type = "JsonBinary", nullable)]
    pub payload: Option<Json>,
}

impl ActiveModelBehavior for ActiveModel {}
