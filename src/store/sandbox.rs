//! Payments at the sandbox, which replaces a provider. Like a provider it remembers them whatever happens to the server.

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use super::entities::{TenantEntity, sandbox_payments};
use super::{Result, TenantStore, unreadable};
use crate::domain::PaymentId;
use crate::domain::commerce::payment::SandboxState;

/// A payment at the sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxPayment {
    pub state: SandboxState,
    pub receipt: Option<String>,
    pub asked_at: DateTime<Utc>,
}

impl TenantStore<'_> {
    /// Stores that the customer is asked to pay. A repeated request is the same one.
    pub async fn ask_sandbox(&self, id: PaymentId, now: DateTime<Utc>) -> Result<()> {
        let row = sandbox_payments::ActiveModel {
            id: Set(id.0),
            tenant_id: Set(self.tenant.to_string()),
            state: Set(SandboxState::Asked.as_str().to_owned()),
            receipt: Set(None),
            asked_at: Set(now),
        };
        let insert = sandbox_payments::Entity::insert(row).on_conflict_do_nothing();
        insert.exec_without_returning(self.store.writer()?).await?;
        Ok(())
    }

    /// Stores the customer's answer.
    pub async fn answer_sandbox(&self, id: PaymentId, state: SandboxState, receipt: Option<&str>) -> Result<()> {
        let row = sandbox_payments::ActiveModel {
            state: Set(state.as_str().to_owned()),
            receipt: Set(receipt.map(str::to_owned)),
            ..Default::default()
        };
        let update = sandbox_payments::Entity::update_of(self.tenant).set(row);
        update.filter(sandbox_payments::Column::Id.eq(id.0)).exec(self.store.writer()?).await?;
        Ok(())
    }

    /// Lets the time of a payment run out that the customer has not answered.
    pub async fn expire_sandbox(&self, id: PaymentId) -> Result<()> {
        use sandbox_payments::Column as C;
        let row = sandbox_payments::ActiveModel {
            state: Set(SandboxState::TimedOut.as_str().to_owned()),
            ..Default::default()
        };
        let update = sandbox_payments::Entity::update_of(self.tenant).set(row).filter(C::Id.eq(id.0));
        update.filter(C::State.eq(SandboxState::Asked.as_str())).exec(self.store.writer()?).await?;
        Ok(())
    }

    pub async fn find_sandbox_payment(&self, id: PaymentId) -> Result<Option<SandboxPayment>> {
        let row = self.rows::<sandbox_payments::Entity>().filter(sandbox_payments::Column::Id.eq(id.0));
        let read = |row: sandbox_payments::Model| {
            let state = SandboxState::parse(&row.state).ok_or_else(|| unreadable("sandbox_payments", "state"))?;
            Ok(SandboxPayment { state, receipt: row.receipt, asked_at: row.asked_at })
        };
        row.one(&self.store.read).await?.map(read).transpose()
    }
}
