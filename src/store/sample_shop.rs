//! The sample shop: orders, policies and RMAs to try things out with.

use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, PaginatorTrait, QueryFilter};

use super::entities::{audit, jobs, labels, mails, order_items, order_misses, orders, rma_items, rmas, tickets};
use super::orders::lock_orders;
use super::orders_import::write_orders;
use super::policies::{list_policies, write_policies};
use super::returns::create::{item_rows, rma_row};
use super::{StoreError, TenantStore};
use crate::domain::commerce::Order;
use crate::domain::commerce::OrderNumber;
use crate::domain::identity::attempts::MissSubject;
use crate::domain::returns::{Policy, Rma};

/// A shop to try things out in.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleShop {
    pub policies: Vec<Policy>,
    pub orders: Vec<Order>,
    pub rmas: Vec<Rma>,
}

/// How making the sample shop ended. Whatever is not `Done` has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sampling {
    Done {
        /// Whether the sample's policies were written; a shop that has orders or policies of its own goes on without
        /// them.
        policies: bool,
    },
    /// The shop has so many orders of its own.
    RealOrders(u64),
    /// An order of another customer has the number of a sample.
    NumberTaken(OrderNumber),
}

impl TenantStore<'_> {
    /// Makes the sample shop; made again, it starts over. Orders that are none of its own are left as they are, and keep it
    /// out unless `beside_others`.
    pub async fn make_sample(&self, sample: &SampleShop, beside_others: bool) -> Result<Sampling, StoreError> {
        let transaction = self.store.begin().await?;
        self.store.check_fence(&transaction).await?;
        let numbers: Vec<&str> = sample.orders.iter().map(|order| order.number.as_str()).collect();
        let of_shop = || orders::Entity::find().filter(orders::Column::TenantId.eq(self.tenant.as_str()));
        let others =
            of_shop().filter(orders::Column::Number.is_not_in(numbers.iter().copied())).count(&transaction).await?;
        if others > 0 && !beside_others {
            return Ok(Sampling::RealOrders(others));
        }
        let ours: Vec<&OrderNumber> = sample.orders.iter().map(|order| &order.number).collect();
        for there in lock_orders(&transaction, self.tenant, &ours).await? {
            let sampled = sample.orders.iter().find(|order| order.number == there.number);
            if sampled.is_some_and(|order| order.customer.email != there.customer.email) {
                return Ok(Sampling::NumberTaken(there.number));
            }
        }
        self.forget_orders(&transaction, &numbers).await?;
        write_orders(&transaction, self.tenant, &sample.orders).await?;
        for rma in &sample.rmas {
            let order = sample.orders.iter().find(|order| order.number == rma.order);
            if let Some(order) = order {
                self.insert_sample_rma(&transaction, order, rma).await?;
            }
        }
        // A shop that sells goes by its settings, until it has policies of its own: the samples' are none of its promises.
        let policies = others == 0 && self.make_policies(&transaction, &sample.policies).await?;
        transaction.commit().await?;
        Ok(Sampling::Done { policies })
    }

    async fn insert_sample_rma(
        &self,
        transaction: &DatabaseTransaction,
        order: &Order,
        rma: &Rma,
    ) -> Result<(), StoreError> {
        rmas::Entity::insert(rma_row(self.tenant, order, rma)).exec_without_returning(transaction).await?;
        rma_items::Entity::insert_many(item_rows(self.tenant, rma)).exec_without_returning(transaction).await?;
        if let Some(label) = &rma.label {
            let row = labels::ActiveModel {
                rma_id: Set(rma.id.0),
                tenant_id: Set(self.tenant.to_string()),
                tracking: Set(label.tracking.to_string()),
                created_at: Set(label.created_at),
            };
            labels::Entity::insert(row).exec_without_returning(transaction).await?;
        }
        Ok(())
    }

    /// Writes the policies, unless the shop has others.
    async fn make_policies(&self, transaction: &DatabaseTransaction, policies: &[Policy]) -> Result<bool, StoreError> {
        let there = list_policies(transaction, self.tenant).await?;
        if there.iter().any(|own| policies.iter().all(|policy| policy.name != own.name)) {
            return Ok(false);
        }
        write_policies(transaction, self.tenant, policies).await?;
        Ok(true)
    }

    /// Removes orders with all that followed from them.
    async fn forget_orders(&self, transaction: &DatabaseTransaction, numbers: &[&str]) -> Result<(), StoreError> {
        let tenant = self.tenant.as_str();
        let numbers = || numbers.iter().copied();
        let found = rmas::Entity::find()
            .filter(rmas::Column::TenantId.eq(tenant))
            .filter(rmas::Column::OrderNumber.is_in(numbers()))
            .all(transaction)
            .await?;
        let mailed = mails::Entity::find()
            .filter(mails::Column::TenantId.eq(tenant))
            .filter(mails::Column::OrderNumber.is_in(numbers()))
            .all(transaction)
            .await?;
        let rma_ids = || found.iter().map(|rma| rma.id);
        let subjects = found.iter().map(|rma| rma.id.to_string()).chain(mailed.iter().map(|mail| mail.id.to_string()));
        jobs::Entity::delete_many().filter(jobs::Column::Subject.is_in(subjects)).exec(transaction).await?;
        rma_items::Entity::delete_many().filter(rma_items::Column::RmaId.is_in(rma_ids())).exec(transaction).await?;
        labels::Entity::delete_many().filter(labels::Column::RmaId.is_in(rma_ids())).exec(transaction).await?;
        rmas::Entity::delete_many().filter(rmas::Column::Id.is_in(rma_ids())).exec(transaction).await?;
        mails::Entity::delete_many()
            .filter(mails::Column::Id.is_in(mailed.iter().map(|mail| mail.id)))
            .exec(transaction)
            .await?;
        tickets::Entity::delete_many()
            .filter(tickets::Column::TenantId.eq(tenant))
            .filter(tickets::Column::OrderNumber.is_in(numbers()))
            .exec(transaction)
            .await?;
        audit::Entity::delete_many()
            .filter(audit::Column::TenantId.eq(tenant))
            .filter(audit::Column::OrderNumber.is_in(numbers()))
            .exec(transaction)
            .await?;
        let subjects = numbers().filter_map(|number| number.parse().ok()).map(|order| MissSubject::Order(order).name());
        order_misses::Entity::delete_many()
            .filter(order_misses::Column::TenantId.eq(tenant))
            .filter(order_misses::Column::Subject.is_in(subjects))
            .exec(transaction)
            .await?;
        order_items::Entity::delete_many()
            .filter(order_items::Column::TenantId.eq(tenant))
            .filter(order_items::Column::OrderNumber.is_in(numbers()))
            .exec(transaction)
            .await?;
        orders::Entity::delete_many()
            .filter(orders::Column::TenantId.eq(tenant))
            .filter(orders::Column::Number.is_in(numbers()))
            .exec(transaction)
            .await?;
        Ok(())
    }
}
