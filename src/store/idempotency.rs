//! Idempotency keys: recognize repeated requests.

use sea_orm::ActiveValue::Set;
use sea_orm::{ConnectionTrait, DatabaseTransaction, EntityTrait};

use super::entities::idempotency_keys;
use super::{Result, to_db};
use crate::domain::{Message, TenantId};

/// How long an `Idempotency-Key` is kept, as the wire contract promises.
pub const IDEMPOTENCY_HOURS: i64 = 24;

/// The `Idempotency-Key` of a request, with a hash of its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    pub key: String,
    /// The same key with another hash is the client's mistake.
    pub body_hash: String,
}

impl IdempotencyKey {
    /// Returns the row that remembers the result of the request: a message and its turn.
    pub(super) fn row(&self, tenant: &TenantId, scope: &str, message: &Message) -> idempotency_keys::ActiveModel {
        idempotency_keys::ActiveModel {
            tenant_id: Set(tenant.to_string()),
            scope: Set(scope.to_owned()),
            key: Set(self.key.clone()),
            body_hash: Set(self.body_hash.clone()),
            conversation_id: Set(message.conversation_id.0),
            turn: Set(to_db(message.turn)),
            message_id: Set(message.id.0),
            created_at: Set(message.created_at),
        }
    }
}

pub(super) async fn find_key(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    scope: &str,
    key: &str,
) -> Result<Option<idempotency_keys::Model>> {
    let id = (tenant.to_string(), scope.to_owned(), key.to_owned());
    Ok(idempotency_keys::Entity::find_by_id(id).one(connection).await?)
}

pub(super) async fn forget_key(transaction: &DatabaseTransaction, row: &idempotency_keys::Model) -> Result<()> {
    let id = (row.tenant_id.clone(), row.scope.clone(), row.key.clone());
    idempotency_keys::Entity::delete_by_id(id).exec(transaction).await?;
    Ok(())
}
