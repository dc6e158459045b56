//! Creates sample telecom accounts for trying things out.

use std::collections::BTreeSet;

use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};

use super::accounts::{invoice_row, plan_row, subscription_row};
use super::entities::{audit, invoices, order_misses, plans, refund_cases, subscriptions};
use super::{Result, TenantStore};
use crate::domain::identity::attempts::AttemptSubject;
use crate::domain::telecom::{Invoice, Plan, Subscription};

/// The sample data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleAccounts {
    pub plans: Vec<Plan>,
    pub subscriptions: Vec<Subscription>,
    pub invoices: Vec<Invoice>,
}

/// The result of [`TenantStore::make_sample_accounts`]. Only `Done` changes the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SampledAccounts {
    Done,
    /// The shop has this many real plans, subscriptions and invoices.
    RealAccounts(u64),
}

impl TenantStore<'_> {
    /// Creates the sample accounts, or resets them with their refund cases if they exist. A shop with real accounts stays
    /// unchanged.
    pub async fn make_sample_accounts(&self, sample: &SampleAccounts) -> Result<SampledAccounts> {
        let transaction = self.store.begin_fenced().await?;
        let codes: Vec<&str> = sample.plans.iter().map(|plan| plan.code.as_str()).collect();
        let users: BTreeSet<&str> = sample.subscriptions.iter().map(|one| one.user_id.as_str()).collect();
        let numbers: Vec<&str> = sample.invoices.iter().map(|invoice| invoice.number.as_str()).collect();
        let (codes, users, numbers) = (|| codes.iter().copied(), || users.iter().copied(), || numbers.iter().copied());
        let real =
            self.rows::<plans::Entity>().filter(plans::Column::Code.is_not_in(codes())).count(&transaction).await?
                + self
                    .rows::<subscriptions::Entity>()
                    .filter(subscriptions::Column::UserId.is_not_in(users()))
                    .count(&transaction)
                    .await?
                + self
                    .rows::<invoices::Entity>()
                    .filter(invoices::Column::Number.is_not_in(numbers()))
                    .count(&transaction)
                    .await?;
        if real > 0 {
            return Ok(SampledAccounts::RealAccounts(real));
        }
        let subjects = users().map(|user| AttemptSubject::Account(user.to_owned()).name());
        self.delete_where::<order_misses::Entity, _>(&transaction, order_misses::Column::Subject, subjects).await?;
        self.delete_where::<audit::Entity, _>(&transaction, audit::Column::UserId, users()).await?;
        self.delete_where::<refund_cases::Entity, _>(&transaction, refund_cases::Column::InvoiceNumber, numbers())
            .await?;
        self.delete_where::<invoices::Entity, _>(&transaction, invoices::Column::Number, numbers()).await?;
        self.delete_where::<subscriptions::Entity, _>(&transaction, subscriptions::Column::UserId, users()).await?;
        self.delete_where::<plans::Entity, _>(&transaction, plans::Column::Code, codes()).await?;
        let plans = sample.plans.iter().map(|plan| plan_row(self.tenant, plan));
        plans::Entity::insert_many(plans).exec_without_returning(&transaction).await?;
        let subscriptions = sample.subscriptions.iter().map(|one| subscription_row(self.tenant, one));
        subscriptions::Entity::insert_many(subscriptions).exec_without_returning(&transaction).await?;
        let invoices = sample.invoices.iter().map(|invoice| invoice_row(self.tenant, invoice));
        invoices::Entity::insert_many(invoices).exec_without_returning(&transaction).await?;
        transaction.commit().await?;
        Ok(SampledAccounts::Done)
    }
}
