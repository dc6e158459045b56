//! Refuses the writes of a server that another one has replaced.
//!
//! A server claims the database by storing a fresh name, and its writes to turns check that name. A server that has
//! lost the lock without noticing therefore cannot write into a turn that its successor has recovered.

use std::sync::Arc;

use sea_orm::sea_query::{LockType, Query, SelectStatement};
use sea_orm::{ColumnTrait, ConnectionTrait};
use uuid::Uuid;

use super::entities::settings;
use super::settings::SERVING;
use super::transaction::Transaction;
use super::{Result, Store, StoreError};
use crate::domain::TenantId;

/// The name under which a server has claimed the database.
#[derive(Clone, Debug)]
pub(super) struct Fence(Arc<str>);

impl Store {
    /// Claims the database for a server: from now on, other servers' writes to turns are refused.
    pub async fn claim(&self) -> Result<Self> {
        let name = Uuid::now_v7().to_string();
        self.set_setting(SERVING, &name).await?;
        Ok(Self { fence: Some(Fence(name.into())), ..self.clone() })
    }

    /// Whether [`Store::claim`] still holds: no other server has claimed the database since.
    pub async fn is_claimed(&self) -> Result<bool> {
        match self.check_fence(&self.write).await {
            Ok(()) => Ok(true),
            Err(StoreError::Fenced) => Ok(false),
            Err(cause) => Err(cause),
        }
    }

    /// Begins a transaction that writes. Fails if another server has claimed the database.
    pub(super) async fn begin_fenced(&self) -> Result<Transaction> {
        let transaction = self.begin().await?;
        self.check_fence(&transaction).await?;
        Ok(transaction)
    }

    /// Fails if another server has claimed the database. In a transaction, the result holds until the transaction ends.
    /// Always succeeds for a store without a claim.
    pub(super) async fn check_fence(&self, connection: &impl ConnectionTrait) -> Result<()> {
        let Some(fence) = &self.fence else { return Ok(()) };
        match connection.query_one(&fence.holds()).await? {
            Some(_) => Ok(()),
            None => Err(StoreError::Fenced),
        }
    }
}

impl Fence {
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Selects one row if the claim still holds. On PostgreSQL, a new claim waits for transactions that have run this.
    /// `NUMBER_TURN` of `acceptance` and `CLAIMED` of `journal` have the same condition: all must agree.
    pub fn holds(&self) -> SelectStatement {
        Query::select()
            .column(settings::Column::Value)
            .from(settings::Entity)
            .and_where(settings::Column::TenantId.eq(TenantId::DEFAULT))
            .and_where(settings::Column::Name.eq(SERVING))
            .and_where(settings::Column::Value.eq(&*self.0))
            .lock(LockType::Share)
            .to_owned()
    }
}
