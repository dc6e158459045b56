//! Earlier texts of a shop's persona files.

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, Select};

use super::entities::TenantEntity;
use super::entities::persona_versions::{ActiveModel, Column, Entity, Model};
use super::{Result, TenantStore, console_audit, from_db, to_db};
use crate::domain::{ConsoleAct, TenantId};

/// A stored text of a persona's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonaVersion {
    /// Counted from 1.
    pub version: u32,
    pub text: String,
    pub saved_at: DateTime<Utc>,
    /// Who saved it in the console, or `None` if the file was edited on disk.
    pub saved_by: Option<String>,
}

impl TenantStore<'_> {
    /// Lists the stored versions, newest first.
    pub async fn list_persona_versions(&self, persona: &str) -> Result<Vec<PersonaVersion>> {
        Ok(self.versions(persona).all(&self.store.read).await?.into_iter().map(read_version).collect())
    }

    pub async fn find_persona_version(&self, persona: &str, version: u32) -> Result<Option<PersonaVersion>> {
        let found = self.versions(persona).filter(Column::Version.eq(to_db(version))).one(&self.store.read).await?;
        Ok(found.map(read_version))
    }

    /// Adds the text as a new version, unless it equals the newest one, and removes all but the newest `keep` versions.
    /// `act` is stored in the console's audit log.
    pub async fn add_persona_version(
        &self,
        persona: &str,
        text: &str,
        saved_at: DateTime<Utc>,
        saved_by: Option<&str>,
        keep: u32,
        act: Option<(&TenantId, &ConsoleAct)>,
    ) -> Result<()> {
        let transaction = self.store.begin().await?;
        let newest = self.versions(persona).one(&transaction).await?;
        if newest.as_ref().is_some_and(|newest| newest.text == text) {
            return Ok(());
        }
        let version = newest.map_or(0, |newest| from_db(newest.version)) + 1;
        let row = ActiveModel {
            tenant_id: Set(self.tenant.to_string()),
            persona: Set(persona.to_owned()),
            version: Set(to_db(version)),
            text: Set(text.to_owned()),
            saved_at: Set(saved_at),
            saved_by: Set(saved_by.map(str::to_owned)),
        };
        Entity::insert(row).exec_without_returning(&transaction).await?;
        Entity::delete_of(self.tenant)
            .filter(Column::Persona.eq(persona))
            .filter(Column::Version.lte(to_db(version.saturating_sub(keep))))
            .exec(&transaction)
            .await?;
        if let Some((tenant, act)) = act {
            console_audit::insert(&transaction, tenant, act).await?;
        }
        transaction.commit().await
    }

    /// Selects the persona's versions, newest first.
    fn versions(&self, persona: &str) -> Select<Entity> {
        self.rows::<Entity>().filter(Column::Persona.eq(persona)).order_by_desc(Column::Version)
    }
}

fn read_version(row: Model) -> PersonaVersion {
    PersonaVersion { version: from_db(row.version), text: row.text, saved_at: row.saved_at, saved_by: row.saved_by }
}
