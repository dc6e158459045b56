//! The settings and sealed credentials of shops that sell over WhatsApp.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::LockType;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, SqlErr};
use serde_json::{Value, json};

use super::audit::record;
use super::entities::{TenantEntity, tenant_credentials, tenants};
use super::transaction::Transaction;
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
    Done(Box<Tenant>),
    /// The shop was to be added and exists already.
    Exists,
    /// The shop was to be changed and does not exist.
    Missing,
    /// This shop has the WhatsApp number.
    NumberTaken(TenantId),
}

impl Store {
    /// Lists the shops that sell over WhatsApp, by name. For the operator of the server.
    pub async fn list_tenants(&self) -> Result<Vec<Tenant>> {
        let rows = tenants::Entity::find().order_by_asc(tenants::Column::TenantId).all(&self.read).await?;
        rows.into_iter().map(read_tenant).collect()
    }

    /// Lists the shops that have credentials of a provider of payments. For the operator of the server.
    pub async fn list_shops_with_payments(&self) -> Result<Vec<TenantId>> {
        let mut shops = Vec::new();
        for Tenant { id, .. } in self.list_tenants().await? {
            if self.tenant(&id).list_credentials().await?.keys().any(|name| name.is_for_payments()) {
                shops.push(id);
            }
        }
        Ok(shops)
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

    /// Adds or changes the shop, and records who did it. The audit log names the credentials without their values. `change`
    /// returns the new settings for the stored ones, or why there are none.
    pub async fn save_tenant(
        &self,
        change: impl FnOnce(Option<Tenant>) -> std::result::Result<Tenant, Saving>,
        credentials: &CredentialChanges,
        who: &str,
        now: DateTime<Utc>,
    ) -> Result<Saving> {
        let transaction = self.store.begin_fenced().await?;
        let before = tenants::Entity::of(self.tenant).lock(LockType::Update).one(&transaction).await?;
        let before = before.map(read_tenant).transpose()?;
        let after = match change(before.clone()) {
            Ok(after) => after,
            Err(refusal) => return Ok(refusal),
        };
        if credentials.is_empty() && before.as_ref() == Some(&after) {
            return Ok(Saving::Done(Box::new(after)));
        }
        if let Some(other) = self.owner_of_number(&transaction, &after).await? {
            return Ok(Saving::NumberTaken(other));
        }
        let insert = tenants::Entity::insert(tenant_row(self.tenant, &after.settings, after.whatsapp_number.as_ref()));
        let insert = if before.is_some() { insert.on_conflict(tenants::Entity::replace_existing()) } else { insert };
        let written = insert.exec_without_returning(&transaction).await;
        match written {
            // Another transaction has added the shop or taken the number in the meantime.
            Err(cause) if matches!(cause.sql_err(), Some(SqlErr::UniqueConstraintViolation(_))) => {
                transaction.rollback().await?;
                let other = self.owner_of_number(&self.store.read, &after).await?;
                return Ok(other.map_or(Saving::Exists, Saving::NumberTaken));
            }
            written => {
                written?;
            }
        }
        self.write_credentials(&transaction, credentials).await?;
        let what = if before.is_some() { "tenant.changed" } else { "tenant.added" };
        let mut recorded_after = recorded(&after);
        if !credentials.is_empty() {
            let named = |is_stored: bool| {
                let names = credentials.iter().filter(move |(_, sealed)| sealed.is_some() == is_stored);
                names.map(|(name, _)| *name).collect::<Vec<CredentialName>>()
            };
            recorded_after["credentials"] = json!({"stored": named(true), "removed": named(false)});
        }
        let entry = AuditEntry {
            before: before.as_ref().map(recorded),
            after: Some(recorded_after),
            ..AuditEntry::system(who, what, now)
        };
        record(&transaction, self.tenant, &[entry]).await?;
        transaction.commit().await?;
        Ok(Saving::Done(Box::new(after)))
    }

    /// Returns the other shop that has this shop's WhatsApp number.
    async fn owner_of_number(&self, connection: &impl ConnectionTrait, tenant: &Tenant) -> Result<Option<TenantId>> {
        let Some(number) = &tenant.whatsapp_number else { return Ok(None) };
        let others = tenants::Entity::find().filter(tenants::Column::TenantId.ne(self.tenant.as_str()));
        let other = others.filter(tenants::Column::WhatsappNumber.eq(number.as_str())).one(connection).await?;
        other.map(|other| read_id(&other)).transpose()
    }

    async fn write_credentials(&self, transaction: &Transaction, credentials: &CredentialChanges) -> Result<()> {
        let removed = credentials.iter().filter(|(_, sealed)| sealed.is_none()).map(|(name, _)| name.as_str());
        self.delete_where::<tenant_credentials::Entity, _>(transaction, tenant_credentials::Column::Name, removed)
            .await?;
        let stored = credentials.iter().filter_map(|(name, sealed)| {
            Some(tenant_credentials::ActiveModel {
                tenant_id: Set(self.tenant.to_string()),
                name: Set(name.as_str().to_owned()),
                sealed: Set(sealed.clone()?),
            })
        });
        let insert = tenant_credentials::Entity::insert_many(stored);
        let insert = insert.on_conflict(tenant_credentials::Entity::replace_existing());
        insert.exec_without_returning(transaction).await?;
        Ok(())
    }
}

fn recorded(tenant: &Tenant) -> Value {
    json!({"settings": tenant.settings, "whatsapp_number": tenant.whatsapp_number})
}

pub(super) fn tenant_row(
    id: &TenantId,
    settings: &TenantSettings,
    whatsapp_number: Option<&E164>,
) -> tenants::ActiveModel {
    tenants::ActiveModel {
        tenant_id: Set(id.to_string()),
        settings: Set(json!(settings)),
        whatsapp_number: Set(whatsapp_number.map(|number| number.as_str().to_owned())),
    }
}

pub(super) async fn find_tenant(connection: &impl ConnectionTrait, tenant: &TenantId) -> Result<Option<Tenant>> {
    let row = tenants::Entity::of(tenant).one(connection).await?;
    row.map(read_tenant).transpose()
}

fn read_id(row: &tenants::Model) -> Result<TenantId> {
    row.tenant_id.parse().map_err(|error| unreadable("tenants", error))
}

pub(super) fn read_tenant(row: tenants::Model) -> Result<Tenant> {
    Ok(Tenant {
        id: read_id(&row)?,
        settings: serde_json::from_value(row.settings).map_err(|error| unreadable("tenants", error))?,
        whatsapp_number: row
            .whatsapp_number
            .map(|number| number.parse().map_err(|error| unreadable("tenants", error)))
            .transpose()?,
    })
}
