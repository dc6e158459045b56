//! Addresses at which payment providers call back. Each has a secret, which is stored sealed.

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::LockType;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use super::entities::{TenantEntity, payment_callbacks};
use super::jobs::{NewJob, delete_job, enqueue};
use super::payments::SETTLE_PAYMENT;
use super::{Result, Store, StoreError, TenantStore, unreadable};
use crate::domain::commerce::payment::CallbackPurpose;
use crate::domain::{ConversationId, PaymentId, TenantId};

/// Asks Daraja for the status of a receipt, until there is a result; the subject is the callback's id.
pub const CHECK_RECEIPT: &str = "check_receipt";
/// Applies the result; the subject is the callback's id.
pub const APPLY_RECEIPT: &str = "apply_receipt";

/// An address at which a provider calls back.
#[derive(Clone, Debug)]
pub struct PaymentCallback {
    pub id: Uuid,
    pub tenant: TenantId,
    pub purpose: CallbackPurpose,
    pub subject: String,
    /// The payment request that it belongs to, if one is known.
    pub payment: Option<PaymentId>,
    /// The secret, sealed.
    pub sealed: Vec<u8>,
    pub detail: CallbackDetail,
    pub created_at: DateTime<Utc>,
}

/// Further details of an address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallbackDetail {
    /// The receipt that the first callback of the prompt named. It is shown, and decides nothing.
    pub receipt: Option<String>,
    /// The page on which the customer pays.
    pub page: Option<String>,
    /// The account number that the customer typed.
    pub account: Option<String>,
    /// The provider's name of the address; set once it is registered.
    pub registered: Option<String>,
    /// Whether the provider refused the address because it keeps an earlier one.
    pub is_elsewhere: bool,
    /// How often the status was asked for, and when the last time.
    pub asked: u32,
    pub asked_at: Option<DateTime<Utc>>,
    /// What the provider said about the receipt.
    pub result: Option<serde_json::Value>,
    /// Whether the receipt has been counted for an order.
    pub is_counted: bool,
    /// Whether a person has a ticket about the receipt.
    pub is_with_person: bool,
}

impl Store {
    /// Returns the address with this id. The address says which shop it belongs to, so the caller must compare its secret before it
    /// uses anything of it.
    pub async fn find_payment_callback(&self, id: Uuid) -> Result<Option<PaymentCallback>> {
        payment_callbacks::Entity::find_by_id(id).one(&self.read).await?.map(read_callback).transpose()
    }
}

impl TenantStore<'_> {
    /// Stores an address, or returns the one of the same purpose and subject.
    pub async fn find_or_create_callback(&self, new: &PaymentCallback) -> Result<PaymentCallback> {
        let row = payment_callbacks::ActiveModel {
            id: Set(new.id),
            tenant_id: Set(self.tenant.to_string()),
            purpose: Set(new.purpose.as_str().to_owned()),
            subject: Set(new.subject.clone()),
            payment_id: Set(new.payment.map(|id| id.0)),
            sealed: Set(new.sealed.clone()),
            detail: Set(json!(new.detail)),
            created_at: Set(new.created_at),
        };
        let transaction = self.store.begin_fenced().await?;
        use payment_callbacks::Column as C;
        let insert = payment_callbacks::Entity::insert(row);
        let insert = insert.on_conflict_do_nothing_on([C::TenantId, C::Purpose, C::Subject]);
        insert.exec_without_returning(&transaction).await?;
        let stored = self.its_callback(new.purpose, &new.subject).one(&transaction).await?;
        transaction.commit().await?;
        read_callback(stored.ok_or(StoreError::Conflict { table: "payment_callbacks" })?)
    }

    /// Returns the address of this purpose and subject.
    pub async fn find_callback(&self, purpose: CallbackPurpose, subject: &str) -> Result<Option<PaymentCallback>> {
        self.its_callback(purpose, subject).one(&self.store.read).await?.map(read_callback).transpose()
    }

    fn its_callback(&self, purpose: CallbackPurpose, subject: &str) -> sea_orm::Select<payment_callbacks::Entity> {
        use payment_callbacks::Column as C;
        self.rows::<payment_callbacks::Entity>().filter(C::Purpose.eq(purpose.as_str())).filter(C::Subject.eq(subject))
    }

    /// Changes the details of an address and stores jobs. Returns the changed address.
    pub async fn change_callback(
        &self,
        id: Uuid,
        change: impl FnOnce(&mut PaymentCallback),
        jobs: &[NewJob<'_>],
    ) -> Result<Option<PaymentCallback>> {
        use payment_callbacks::Column as C;
        let transaction = self.store.begin_fenced().await?;
        let row = self.rows::<payment_callbacks::Entity>().filter(C::Id.eq(id)).lock(LockType::Update);
        let row = row.one(&transaction).await?;
        let Some(mut callback) = row.map(read_callback).transpose()? else { return Ok(None) };
        change(&mut callback);
        let row = payment_callbacks::ActiveModel {
            payment_id: Set(callback.payment.map(|id| id.0)),
            detail: Set(json!(callback.detail)),
            ..Default::default()
        };
        let update = payment_callbacks::Entity::update_of(self.tenant).set(row);
        update.filter(C::Id.eq(id)).exec(&transaction).await?;
        enqueue(&transaction, jobs).await?;
        transaction.commit().await?;
        Ok(Some(callback))
    }

    pub async fn delete_callback(&self, id: Uuid) -> Result<()> {
        let delete = payment_callbacks::Entity::delete_of(self.tenant).filter(payment_callbacks::Column::Id.eq(id));
        delete.exec(self.store.writer()?).await?;
        Ok(())
    }

    /// Stores the job that asks the provider about a payment that called back.
    pub async fn enqueue_settle(&self, payment: PaymentId, now: DateTime<Utc>) -> Result<()> {
        let transaction = self.store.begin_fenced().await?;
        // A running job may have asked the provider before this callback.
        delete_job(&transaction, SETTLE_PAYMENT, payment.0).await?;
        enqueue(&transaction, &[NewJob::new(SETTLE_PAYMENT, payment.0, self.tenant, now)]).await?;
        transaction.commit().await
    }

    /// Returns a job about a receipt.
    pub fn receipt_job<'a>(
        &'a self,
        name: &'a str,
        callback: &PaymentCallback,
        conversation: Option<ConversationId>,
        now: DateTime<Utc>,
    ) -> NewJob<'a> {
        NewJob { conversation, ..NewJob::new(name, callback.id, self.tenant, now) }
    }
}

fn read_callback(row: payment_callbacks::Model) -> Result<PaymentCallback> {
    let unreadable = |what: &str| unreadable("payment_callbacks", what);
    Ok(PaymentCallback {
        id: row.id,
        tenant: row.tenant_id.parse().map_err(|_| unreadable("tenant_id"))?,
        purpose: CallbackPurpose::parse(&row.purpose).ok_or_else(|| unreadable("purpose"))?,
        subject: row.subject,
        payment: row.payment_id.map(PaymentId),
        sealed: row.sealed,
        detail: serde_json::from_value(row.detail).map_err(|_| unreadable("detail"))?,
        created_at: row.created_at,
    })
}
