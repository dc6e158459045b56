use sea_orm::entity::prelude::*;

/// A conversation. `last_turn` is the number of the last accepted turn, `last_event_*` the last event of the last
/// ended one, `state` what the desk remembers; `folded_user` is the user's name as it is searched,
/// `visitor` that a page opened it without a key.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "conversations")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub tenant_id: String,
    pub user_id: Option<String>,
    pub persona: String,
    pub preferred_language: String,
    pub language_source: String,
    pub status: String,
    pub created_at: DateTimeUtc,
    #[sea_orm(column_type = "JsonBinary")]
    pub metadata: Json,
    pub last_turn: i32,
    pub last_event_turn: i32,
    pub last_event_n: i32,
    #[sea_orm(column_type = "JsonBinary")]
    pub state: Json,
    pub agent: Option<String>,
    pub waiting_since: Option<DateTimeUtc>,
    pub last_activity_at: DateTimeUtc,
    #[sea_orm(column_type = "Text")]
    pub folded_user: String,
    pub visitor: bool,
}

impl ActiveModelBehavior for ActiveModel {}
