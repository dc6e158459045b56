//! What the server itself keeps between starts.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ConnectionTrait, EntityTrait};

use super::entities::settings;
use super::{Store, StoreError};
use crate::domain::TenantId;

/// The setting that holds the secret which conversation tokens are signed with.
pub const TOKEN_SECRET: &str = "token_secret";
/// The setting that holds the address of the server that runs, as `http://…`.
pub const SERVING_AT: &str = "serving_at";
/// The setting that holds the name of the server that runs.
pub(super) const SERVING: &str = "serving";
/// The setting that a readiness probe writes and reads back.
pub(super) const PROBE: &str = "probe";

impl Store {
    pub async fn find_setting(&self, name: &str) -> Result<Option<String>, StoreError> {
        let row = settings::Entity::find_by_id((TenantId::DEFAULT.to_owned(), name.to_owned())).one(&self.read).await?;
        Ok(row.map(|row| row.value))
    }

    /// Writes the setting, over an earlier value.
    pub async fn set_setting(&self, name: &str, value: &str) -> Result<(), StoreError> {
        set(self.writer()?, name, value).await
    }

    /// The setting's value, which is `value` from now on if there was none.
    pub async fn get_or_set_setting(&self, name: &str, value: &str) -> Result<String, StoreError> {
        settings::Entity::insert(row(name, value))
            .on_conflict_do_nothing()
            .exec_without_returning(self.writer()?)
            .await?;
        Ok(self.find_setting(name).await?.unwrap_or_else(|| value.to_owned()))
    }
}

/// Writes the setting, over an earlier value.
pub(super) async fn set(connection: &impl ConnectionTrait, name: &str, value: &str) -> Result<(), StoreError> {
    let mut replace = OnConflict::columns([settings::Column::TenantId, settings::Column::Name]);
    replace.update_column(settings::Column::Value);
    settings::Entity::insert(row(name, value)).on_conflict(replace).exec_without_returning(connection).await?;
    Ok(())
}

fn row(name: &str, value: &str) -> settings::ActiveModel {
    settings::ActiveModel {
        tenant_id: Set(TenantId::DEFAULT.to_owned()),
        name: Set(name.to_owned()),
        value: Set(value.to_owned()),
    }
}
