//! Creates the sample shop: orders, policies and RMAs for trying things out.

use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, PaginatorTrait, QueryFilter};

use super::entities::{audit, jobs, labels, mails, order_items, order_misses, orders, rma_items, rmas, tickets};
use super::orders::lock_orders;
use super::orders_import::write_orders;
use super::policies::{list_policies, write_policies};
use super::returns::advance::insert_label;
use super::returns::create::{item_rows, rma_row};
use super::transaction::Transaction;
use super::{Result, TenantStore};
use crate::domain::commerce::{Order, OrderNumber};
use crate::domain::identity::attempts::AttemptSubject;
use crate::domain::returns::{Policy, Rma};

/// The sample data.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleShop {
    pub policies: Vec<Policy>,
    pub orders: Vec<Order>,
    pub rmas: Vec<Rma>,
}

/// The result of [`TenantStore::make_sample`]. Only `Done` changes the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sampling {
    Done {
        /// Whether the sample policies were written. A shop with real orders or policies does not get them.
        policies: bool,
    },
    /// The shop has this many real orders.
    RealOrders(u64),
    /// A real order has the number of a sample order.
    NumberTaken(OrderNumber),
}

impl TenantStore<'_> {
    /// Creates the sample shop, or resets it if it exists. Fails if the shop has real orders, unless `allow_others`;
    /// they are never changed.
    pub async fn make_sample(&self, sample: &SampleShop, allow_others: bool) -> Result<Sampling> {
        let transaction = self.store.begin_fenced().await?;
        let numbers: Vec<&str> = sample.orders.iter().map(|order| order.number.as_str()).collect();
        let of_shop = || self.rows::<orders::Entity>();
        let others =
            of_shop().filter(orders::Column::Number.is_not_in(numbers.iter().copied())).count(&transaction).await?;
        if others > 0 && !allow_others {
            return Ok(Sampling::RealOrders(others));
        }
        let ours: Vec<&OrderNumber> = sample.orders.iter().map(|order| &order.number).collect();
        for there in lock_orders(&transaction, self.tenant, &ours).await? {
            let sampled = sample.orders.iter().find(|order| order.number == there.number);
            if sampled.is_some_and(|order| !is_of_sample(&there, order)) {
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
        // A shop with real orders has made its customers no promise of the sample policies.
        let policies = others == 0 && self.make_policies(&transaction, &sample.policies).await?;
        transaction.commit().await?;
        Ok(Sampling::Done { policies })
    }

    async fn insert_sample_rma(&self, transaction: &DatabaseTransaction, order: &Order, rma: &Rma) -> Result<()> {
        rmas::Entity::insert(rma_row(self.tenant, order, rma)).exec_without_returning(transaction).await?;
        rma_items::Entity::insert_many(item_rows(self.tenant, rma)).exec_without_returning(transaction).await?;
        if let Some(label) = &rma.label {
            insert_label(transaction, self.tenant, rma.id, label).await?;
        }
        Ok(())
    }

    /// Writes the policies, unless the shop has other ones.
    async fn make_policies(&self, transaction: &DatabaseTransaction, policies: &[Policy]) -> Result<bool> {
        let there = list_policies(transaction, self.tenant).await?;
        if there.iter().any(|own| policies.iter().all(|policy| policy.name != own.name)) {
            return Ok(false);
        }
        write_policies(transaction, self.tenant, policies).await?;
        Ok(true)
    }

    /// Removes orders and everything that belongs to them.
    async fn forget_orders(&self, transaction: &Transaction, numbers: &[&str]) -> Result<()> {
        let numbers = || numbers.iter().copied();
        let found = self.rows::<rmas::Entity>().filter(rmas::Column::OrderNumber.is_in(numbers()));
        let found = found.all(transaction).await?;
        let mailed = self.rows::<mails::Entity>().filter(mails::Column::OrderNumber.is_in(numbers()));
        let mailed = mailed.all(transaction).await?;
        let rmas = || found.iter().map(|rma| rma.id);
        let jobs = rmas().chain(mailed.iter().map(|mail| mail.id)).map(|id| id.to_string());
        let orders = numbers().filter_map(|number| number.parse().ok());
        let subjects = orders.map(|order| AttemptSubject::Order(order).name());
        self.delete_where::<jobs::Entity, _>(transaction, jobs::Column::Subject, jobs).await?;
        self.delete_where::<rma_items::Entity, _>(transaction, rma_items::Column::RmaId, rmas()).await?;
        self.delete_where::<labels::Entity, _>(transaction, labels::Column::RmaId, rmas()).await?;
        self.delete_where::<rmas::Entity, _>(transaction, rmas::Column::Id, rmas()).await?;
        let mailed = mailed.iter().map(|mail| mail.id);
        self.delete_where::<mails::Entity, _>(transaction, mails::Column::Id, mailed).await?;
        self.delete_where::<tickets::Entity, _>(transaction, tickets::Column::OrderNumber, numbers()).await?;
        self.delete_where::<audit::Entity, _>(transaction, audit::Column::OrderNumber, numbers()).await?;
        self.delete_where::<order_misses::Entity, _>(transaction, order_misses::Column::Subject, subjects).await?;
        self.delete_where::<order_items::Entity, _>(transaction, order_items::Column::OrderNumber, numbers()).await?;
        self.delete_where::<orders::Entity, _>(transaction, orders::Column::Number, numbers()).await
    }
}

/// Whether an order of the shop is this order of the sample. An erasure removes the e-mail address, so then the items are compared.
fn is_of_sample(there: &Order, sampled: &Order) -> bool {
    let names = |order: &Order| order.items.iter().map(|item| item.name.clone()).collect::<Vec<_>>();
    let is_erased = there.customer.email.is_erased() && names(there) == names(sampled);
    is_erased || there.customer.email == sampled.customer.email
}
