use sea_orm::entity::prelude::*;

/// A turn. `events` is how many it had when it ended; the row outlives them.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "turns")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub conversation_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub turn: i32,
    pub tenant_id: String,
    pub message_id: Uuid,
    pub status: String,
    pub accepted_at: DateTimeUtc,
    pub started_at: Option<DateTimeUtc>,
    pub ended_at: Option<DateTimeUtc>,
    #[sea_orm(column_type = "JsonBinary")]
    pub timings: Json,
    pub events: i32,
    pub cancel_requested: bool,
    /// Whether its events are still there.
    pub events_kept: bool,
    /// Who wrote the message that began it.
    pub sender: String,
    pub intent: Option<String>,
    /// Of its main message; none: nothing was said.
    pub kind: Option<String>,
    pub first_text_ms: Option<i32>,
    pub asked_person: bool,
    pub model_failed: bool,
}

impl ActiveModelBehavior for ActiveModel {}
