//! Only the server that serves writes turns.
//!
//! A server takes the database by writing a name of its own; whatever one with another name writes into turns is refused
//! from then on. So a server that lost its lock without noticing, and wakes up late, cannot write into a turn that another
//! one has recovered.

use std::sync::Arc;

use sea_orm::sea_query::{LockType, Query, SelectStatement};
use sea_orm::{ColumnTrait, ConnectionTrait};
use uuid::Uuid;

use super::entities::settings;
use super::settings::SERVING;
use super::{Store, StoreError};
use crate::domain::TenantId;

/// The name under which a server took the database.
#[derive(Clone, Debug)]
pub(super) struct Fence(Arc<str>);

impl Store {
    /// This store for a server: from now on no other server's turns are stored.
    pub async fn claim(&self) -> Result<Self, StoreError> {
        let name = Uuid::now_v7().to_string();
        self.set_setting(SERVING, &name).await?;
        Ok(Self { fence: Some(Fence(name.into())), ..self.clone() })
    }

    /// Whether nobody has taken the database since [`Store::claim`].
    pub async fn is_claimed(&self) -> Result<bool, StoreError> {
        match self.check_fence(&self.write).await {
            Ok(()) => Ok(true),
            Err(StoreError::Fenced) => Ok(false),
            Err(cause) => Err(cause),
        }
    }

    /// Refuses what a server wants to write that does not serve any more. Within a transaction the answer holds to its
    /// end. A store that nobody claimed is none of a server's.
    pub(super) async fn check_fence(&self, connection: &impl ConnectionTrait) -> Result<(), StoreError> {
        let Some(fence) = &self.fence else { return Ok(()) };
        match connection.query_one(&fence.holds()).await? {
            Some(_) => Ok(()),
            None => Err(StoreError::Fenced),
        }
    }
}

impl Fence {
    /// Selects one row while the fence holds. In PostgreSQL whoever takes the database waits for those who have asked.
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
