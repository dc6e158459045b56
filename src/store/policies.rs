//! Stores the return policies of a shop.

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::{ConnectionTrait, EntityTrait, QueryOrder};
use serde_json::json;

use super::audit::record;
use super::entities::{TenantEntity, return_policies};
use super::{Result, TenantStore, from_db, to_db, unreadable};
use crate::domain::returns::{Policy, Scope};
use crate::domain::{AuditEntry, TenantId};

impl TenantStore<'_> {
    /// Lists the shop's policies by name. [`crate::domain::returns::Policies::new`] adds those from the settings.
    pub async fn list_policies(&self) -> Result<Vec<Policy>> {
        list_policies(&self.store.read, self.tenant).await
    }

    /// Replaces all policies of the shop and records who did it. Returns the earlier policies.
    pub async fn replace_policies(&self, policies: &[Policy], who: &str, now: DateTime<Utc>) -> Result<Vec<Policy>> {
        let transaction = self.store.begin_fenced().await?;
        let before = list_policies(&transaction, self.tenant).await?;
        write_policies(&transaction, self.tenant, policies).await?;
        let entry = AuditEntry {
            before: Some(json!(before)),
            after: Some(json!(policies)),
            ..AuditEntry::system(who, "policies.replaced", now)
        };
        record(&transaction, self.tenant, &[entry]).await?;
        transaction.commit().await?;
        Ok(before)
    }
}

pub(super) async fn list_policies(connection: &impl ConnectionTrait, tenant: &TenantId) -> Result<Vec<Policy>> {
    let rows = return_policies::Entity::of(tenant).order_by_asc(return_policies::Column::Name).all(connection).await?;
    rows.into_iter().map(read_policy).collect()
}

/// Replaces all policies of the shop.
pub(super) async fn write_policies(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    policies: &[Policy],
) -> Result<()> {
    return_policies::Entity::delete_of(tenant).exec(connection).await?;
    let rows = policies.iter().map(|policy| policy_row(tenant, policy));
    return_policies::Entity::insert_many(rows).exec_without_returning(connection).await?;
    Ok(())
}

fn policy_row(tenant: &TenantId, policy: &Policy) -> return_policies::ActiveModel {
    let (scope, category) = match &policy.scope {
        Scope::Vip => ("vip", None),
        Scope::Category(category) => ("category", Some(category.clone())),
        Scope::General => ("general", None),
    };
    return_policies::ActiveModel {
        tenant_id: Set(tenant.to_string()),
        name: Set(policy.name.clone()),
        scope: Set(scope.to_owned()),
        category: Set(category),
        return_days: Set(to_db(policy.return_days)),
        refund_days: Set(policy.refund_days.map(to_db)),
    }
}

fn read_policy(row: return_policies::Model) -> Result<Policy> {
    let scope = match (row.scope.as_str(), row.category) {
        ("vip", _) => Scope::Vip,
        ("general", _) => Scope::General,
        ("category", Some(category)) => Scope::Category(category),
        _ => return Err(unreadable("return_policies", "scope")),
    };
    Ok(Policy {
        name: row.name,
        scope,
        return_days: from_db(row.return_days),
        refund_days: row.refund_days.map(from_db),
    })
}
