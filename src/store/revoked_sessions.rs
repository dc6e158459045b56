//! Console sessions that were signed out before they expired.

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use super::entities::revoked_sessions;
use super::{Store, StoreError, TenantStore};

impl TenantStore<'_> {
    /// Stores that the session is over. Idempotent.
    pub async fn revoke_session(&self, session: &str, expires_at: DateTime<Utc>) -> Result<(), StoreError> {
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

impl Store {
    /// Lists the revoked sessions of all shops that would not have expired at `now`.
    pub async fn list_revoked_sessions(&self, now: DateTime<Utc>) -> Result<Vec<(String, DateTime<Utc>)>, StoreError> {
        let rows = revoked_sessions::Entity::find().filter(revoked_sessions::Column::ExpiresAt.gt(now));
        Ok(rows.all(&self.read).await?.into_iter().map(|row| (row.session, row.expires_at)).collect())
    }

    /// Removes revoked sessions that have expired at `now`.
    pub async fn forget_revoked_sessions(&self, now: DateTime<Utc>) -> Result<(), StoreError> {
        let expired = revoked_sessions::Entity::delete_many().filter(revoked_sessions::Column::ExpiresAt.lte(now));
        expired.exec(self.writer()?).await?;
        Ok(())
    }
}
