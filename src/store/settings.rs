//! The server's own settings, and console sessions that were signed out before they expired.

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};

use super::entities::{TenantEntity, revoked_sessions, settings};
use super::{Result, Store, TenantStore};
use crate::domain::TenantId;

/// The secret that signs conversation tokens.
pub const TOKEN_SECRET: &str = "token_secret";
/// The address of the running server, `http://…`.
pub const SERVING_AT: &str = "serving_at";
/// The name of the running server.
pub(super) const SERVING: &str = "serving";
/// Written and read back by the readiness probe.
pub(super) const PROBE: &str = "probe";

impl Store {
    pub async fn find_setting(&self, name: &str) -> Result<Option<String>> {
        let row = settings::Entity::find_by_id((TenantId::DEFAULT.to_owned(), name.to_owned())).one(&self.read).await?;
        Ok(row.map(|row| row.value))
    }

    /// Writes the setting.
    pub async fn set_setting(&self, name: &str, value: &str) -> Result<()> {
        set(self.writer()?, name, value).await
    }

    /// Returns the setting's value, after setting it to `value` if it was not set.
    pub async fn get_or_set_setting(&self, name: &str, value: &str) -> Result<String> {
        settings::Entity::insert(row(&TenantId::default(), name, value))
            .on_conflict_do_nothing()
            .exec_without_returning(self.writer()?)
            .await?;
        Ok(self.find_setting(name).await?.unwrap_or_else(|| value.to_owned()))
    }

    /// Lists the revoked sessions of all shops that would not have expired at `now`.
    pub async fn list_revoked_sessions(&self, now: DateTime<Utc>) -> Result<Vec<(String, DateTime<Utc>)>> {
        let rows = revoked_sessions::Entity::find().filter(revoked_sessions::Column::ExpiresAt.gt(now));
        Ok(rows.all(&self.read).await?.into_iter().map(|row| (row.session, row.expires_at)).collect())
    }

    /// Removes revoked sessions that have expired at `now`.
    pub async fn forget_revoked_sessions(&self, now: DateTime<Utc>) -> Result<()> {
        let expired = revoked_sessions::Entity::delete_many().filter(revoked_sessions::Column::ExpiresAt.lte(now));
        expired.exec(self.writer()?).await?;
        Ok(())
    }
}

impl TenantStore<'_> {
    /// Revokes a session. Idempotent.
    pub async fn revoke_session(&self, session: &str, expires_at: DateTime<Utc>) -> Result<()> {
        let row = revoked_sessions::ActiveModel {
            tenant_id: Set(self.tenant.to_string()),
            session: Set(session.to_owned()),
            expires_at: Set(expires_at),
        };
        let insert = revoked_sessions::Entity::insert(row).on_conflict_do_nothing();
        insert.exec_without_returning(self.store.writer()?).await?;
        Ok(())
    }
}

/// Writes the setting.
pub(super) async fn set(connection: &impl ConnectionTrait, name: &str, value: &str) -> Result<()> {
    set_for(connection, &TenantId::default(), name, value).await
}

/// Writes the setting of a shop.
pub(super) async fn set_for(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    name: &str,
    value: &str,
) -> Result<()> {
    let insert = settings::Entity::insert(row(tenant, name, value)).on_conflict(settings::Entity::replace_existing());
    insert.exec_without_returning(connection).await?;
    Ok(())
}

fn row(tenant: &TenantId, name: &str, value: &str) -> settings::ActiveModel {
    settings::ActiveModel {
        tenant_id: Set(tenant.to_string()),
        name: Set(name.to_owned()),
        value: Set(value.to_owned()),
    }
}
