//! Creates sample data for trying things out: orders, telecom accounts, and shops that sell over WhatsApp.

use std::collections::BTreeSet;

use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, PaginatorTrait, QueryFilter};

use super::accounts::{invoice_row, plan_row, subscription_row};
use super::catalog::write_items;
use super::entities::{
    TenantEntity, audit, catalog_items, invoices, jobs, labels, mails, order_items, order_misses, orders, plans,
    refund_cases, rma_items, rmas, subscriptions, tenant_credentials, tenants, tickets,
};
use super::offers::write_offers;
use super::orders::lock_orders;
use super::orders_import::write_orders;
use super::policies::{list_policies, write_policies};
use super::returns::advance::insert_label;
use super::returns::create::{item_rows, rma_row};
use super::tenants::{find_tenant, tenant_row};
use super::transaction::Transaction;
use super::{Result, Store, TenantStore};
use crate::domain::TenantId;
use crate::domain::commerce::sale::Offer;
use crate::domain::commerce::{CatalogItem, Order, OrderNumber, Tenant, TenantSettings};
use crate::domain::identity::attempts::AttemptSubject;
use crate::domain::returns::{Policy, Rma};
use crate::domain::telecom::{Invoice, Plan, Subscription};

/// The sample orders, with policies and RMAs.
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

/// The sample telecom accounts.
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

/// A sample shop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleTenant {
    pub id: TenantId,
    pub settings: TenantSettings,
    pub items: Vec<CatalogItem>,
    pub offers: Vec<Offer>,
}

/// The result of [`Store::make_sample_tenants`]. Only `Done` changes the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SampledTenants {
    Done,
    /// This shop has another name, a WhatsApp number, credentials or other items.
    RealShop(TenantId),
}

impl Store {
    /// Creates the sample shops, or resets them if they exist. If one is a real shop, nothing changes.
    pub async fn make_sample_tenants(&self, samples: &[SampleTenant]) -> Result<SampledTenants> {
        let transaction = self.begin_fenced().await?;
        for SampleTenant { id, settings, items, offers } in samples {
            let found = find_tenant(&transaction, id).await?;
            let is_named_otherwise = |found: &Tenant| found.settings.name != settings.name;
            let is_real = found.is_some_and(|found| found.whatsapp_number.is_some() || is_named_otherwise(&found));
            let credentials = tenant_credentials::Entity::of(id).count(&transaction).await?;
            let own: BTreeSet<String> = self.tenant(id).list_item_ids(&transaction).await?.into_iter().collect();
            let is_sample = |id: &String| items.iter().any(|item| item.id.as_str() == id);
            if is_real || credentials > 0 || !own.iter().all(is_sample) {
                return Ok(SampledTenants::RealShop(id.clone()));
            }
            let insert = tenants::Entity::insert(tenant_row(id, settings, None));
            insert.on_conflict(tenants::Entity::replace_existing()).exec_without_returning(&transaction).await?;
            catalog_items::Entity::delete_of(id).exec(&transaction).await?;
            write_items(&transaction, id, &items.iter().collect::<Vec<_>>()).await?;
            write_offers(&transaction, id, offers).await?;
        }
        transaction.commit().await?;
        Ok(SampledTenants::Done)
    }
}
