//! Idempotency keys: recognize repeated requests.

use sea_orm::{ConnectionTrait, DatabaseTransaction, EntityTrait};

use super::StoreError;
use super::entities::idempotency_keys;
use crate::domain::TenantId;

/// How long an `Idempotency-Key` is kept, as the wire contract promises.
pub const IDEMPOTENCY_HOURS: i64 = 24;

/// The `Idempotency-Key` of a request, with a hash of its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    pub key: String,
    /// The same key with another hash is the client's mistake.
    pub body_hash: String,
}

pub(super) async fn find_key(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    scope: &str,
    key: &str,
) -> Result<Option<idempotency_keys::Model>, StoreError> {
    let id = (tenant.to_string(), scope.to_owned(), key.to_owned());
    Ok(idempotency_keys::Entity::find_by_id(id).one(connection).await?)
}

pub(super) async fn forget_key(
    transaction: &DatabaseTransaction,
    row: &idempotency_keys::Model,
) -> Result<(), StoreError> {
    let id = (row.tenant_id.clone(), row.scope.clone(), row.key.clone());
    idempotency_keys::Entity::delete_by_id(id).exec(transaction).await?;
    Ok(())
}
