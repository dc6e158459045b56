//! The settings and sealed credentials of shops that sell over WhatsApp.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder};
use serde_json::{Value, json};

use super::audit::record;
use super::entities::{TenantEntity, tenant_credentials, tenants};
use super::{Result, Store, TenantStore, unreadable};
use crate::domain::commerce::tenant::CredentialName;
use crate::domain::commerce::{Tenant, TenantSettings};
use crate::domain::identity::e164::E164;
use crate::domain::{AuditEntry, TenantId};

/// Credentials to store, sealed. `None` removes one.
pub type CredentialChanges = BTreeMap<CredentialName, Option<Vec<u8>>>;

/// Returns the name under which a shop's credential is sealed.
pub fn credential_owner(tenant: &TenantId, name: CredentialName) -> String {
    format!("{tenant}/{name}")
}

/// The result of [`TenantStore::save_tenant`]. Only `Done` changes the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saving {
    Done,
    /// This shop has the WhatsApp number.
    NumberTaken(TenantId),
}

impl Store {
    /// Lists the shops that sell over WhatsApp, by name. For the operator of the server.
    pub async fn list_tenants(&self) -> Result<Vec<Tenant>> {
        let rows = tenants::Entity::find().order_by_asc(tenants::Column::TenantId).all(&self.read).await?;
        rows.into_iter().map(read_tenant).collect()
    }
}

impl TenantStore<'_> {
    /// Returns the shop's settings, if it sells over WhatsApp.
    pub async fn find_tenant(&self) -> Result<Option<Tenant>> {
        find_tenant(&self.store.read, self.tenant).await
    }

    /// Returns the shop's credentials, sealed.
    pub async fn list_credentials(&self) -> Result<BTreeMap<CredentialName, Vec<u8>>> {
        let rows = self.rows::<tenant_credentials::Entity>().all(&self.store.read).await?;
        let read = |row: tenant_credentials::Model| {
            let name = CredentialName::parse(&row.name).ok_or_else(|| unreadable("tenant_credentials", "name"))?;
            Ok((name, row.sealed))
        };
        rows.into_iter().map(read).collect()
    }

    /// Adds or changes the shop, and records who did it. The audit log names the credentials without their values.
    pub async fn save_tenant(
        &self,
        settings: &TenantSettings,
        whatsapp_number: Option<&E164>,
        credentials: &CredentialChanges,
        who: &str,
        now: DateTime<Utc>,
    ) -> Result<Saving> {
        let transaction = self.store.begin_fenced().await?;
        if let Some(number) = whatsapp_number {
            let others = tenants::Entity::find().filter(tenants::Column::TenantId.ne(self.tenant.as_str()));
            let other = others.filter(tenants::Column::WhatsappNumber.eq(number.as_str())).one(&transaction).await?;
            if let Some(other) = other {
                return Ok(Saving::NumberTaken(read_id(&other)?));
            }
        }
        let before = find_tenant(&transaction, self.tenant).await?;
        write_tenant(&transaction, self.tenant, settings, whatsapp_number).await?;
        let removed = credentials.iter().filter(|(_, sealed)| sealed.is_none());
        let removed: Vec<&str> = removed.map(|(name, _)| name.as_str()).collect();
        self.delete_where::<tenant_credentials::Entity, _>(&transaction, tenant_credentials::Column::Name, removed)
            .await?;
        let stored = credentials.iter().filter_map(|(name, sealed)| {
            Some(tenant_credentials::ActiveModel {
                tenant_id: Set(self.tenant.to_string()),
                name: Set(name.as_str().to_owned()),
                sealed: Set(sealed.clone()?),
            })
        });
        let stored: Vec<_> = stored.collect();
        if !stored.is_empty() {
            use tenant_credentials::Column as C;
            let replace = OnConflict::columns([C::TenantId, C::Name]).update_column(C::Sealed).to_owned();
            let insert = tenant_credentials::Entity::insert_many(stored).on_conflict(replace);
            insert.exec_without_returning(&transaction).await?;
        }
        let what = if before.is_some() { "tenant.changed" } else { "tenant.added" };
        let mut after = recorded(settings, whatsapp_number);
        if !credentials.is_empty() {
            after["credentials"] = json!(credentials.keys().collect::<Vec<_>>());
        }
        let entry = AuditEntry {
            before: before.map(|tenant| recorded(&tenant.settings, tenant.whatsapp_number.as_ref())),
            after: Some(after),
            ..AuditEntry::system(who, what, now)
        };
        record(&transaction, self.tenant, &[entry]).await?;
        transaction.commit().await?;
        Ok(Saving::Done)
    }
}

fn recorded(settings: &TenantSettings, whatsapp_number: Option<&E164>) -> Value {
    json!({"settings": settings, "whatsapp_number": whatsapp_number})
}

pub(super) async fn find_tenant(connection: &impl ConnectionTrait, tenant: &TenantId) -> Result<Option<Tenant>> {
    let row = tenants::Entity::of(tenant).one(connection).await?;
    row.map(read_tenant).transpose()
}

/// Inserts or replaces the shop's row.
pub(super) async fn write_tenant(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    settings: &TenantSettings,
    whatsapp_number: Option<&E164>,
) -> Result<()> {
    use tenants::Column as C;
    let row = tenants::ActiveModel {
        tenant_id: Set(tenant.to_string()),
        settings: Set(json!(settings)),
        whatsapp_number: Set(whatsapp_number.map(|number| number.as_str().to_owned())),
    };
    let replace = OnConflict::column(C::TenantId).update_columns([C::Settings, C::WhatsappNumber]).to_owned();
    tenants::Entity::insert(row).on_conflict(replace).exec_without_returning(connection).await?;
    Ok(())
}

fn read_id(row: &tenants::Model) -> Result<TenantId> {
    row.tenant_id.parse().map_err(|error| unreadable("tenants", error))
}

fn read_tenant(row: tenants::Model) -> Result<Tenant> {
    Ok(Tenant {
        id: read_id(&row)?,
        settings: serde_json::from_value(row.settings).map_err(|error| unreadable("tenants", error))?,
        whatsapp_number: row
            .whatsapp_number
            .map(|number| number.parse().map_err(|error| unreadable("tenants", error)))
            .transpose()?,
    })
}
