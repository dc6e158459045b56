//! Turns as they are counted.

use chrono::{DateTime, Utc};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};

use super::columns::from_db;
use super::entities::turns;
use super::{StoreError, TenantStore};
use crate::domain::figures::CountedTurn;
use crate::domain::{Kind, Sender, TurnStatus};

/// The columns that figures are made of, in the order of the query below.
type Row = (DateTime<Utc>, String, Option<String>, Option<String>, Option<i32>, bool, bool);

impl TenantStore<'_> {
    /// The customers' turns that were accepted from `since` on.
    pub async fn list_counted_turns(&self, since: DateTime<Utc>) -> Result<Vec<CountedTurn>, StoreError> {
        let rows: Vec<Row> = turns::Entity::find()
            .select_only()
            .columns([
                turns::Column::AcceptedAt,
                turns::Column::Status,
                turns::Column::Intent,
                turns::Column::Kind,
                turns::Column::FirstTextMs,
                turns::Column::AskedPerson,
                turns::Column::ModelFailed,
            ])
            .filter(turns::Column::TenantId.eq(self.tenant.as_str()))
            .filter(turns::Column::AcceptedAt.gte(since))
            .filter(turns::Column::Sender.eq(Sender::User.as_str()))
            .into_tuple()
            .all(&self.store.read)
            .await?;
        rows.into_iter().map(counted).collect()
    }
}

fn counted(row: Row) -> Result<CountedTurn, StoreError> {
    let (accepted_at, status, intent, kind, first_text_ms, asked_person, model_failed) = row;
    let status = TurnStatus::parse(&status)
        .ok_or_else(|| StoreError::Unreadable { table: "turns", reason: "status".to_owned() })?;
    Ok(CountedTurn {
        accepted_at,
        status,
        intent,
        answered: kind.is_some_and(|kind| kind != Kind::ErrorNotice.as_str()),
        first_text_ms: first_text_ms.map(from_db),
        asked_person,
        model_failed,
    })
}
