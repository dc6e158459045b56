//! A whole list of orders at once, all or nothing; and the sample shop.
//!
//! The list is compared with what the shop has, and only what differs is written, in one transaction. The shop's own system
//! is right about everything up to the delivery; about returns this database is: an order that is coming back stays so,
//! and a line that stands in an RMA stays as it was.

use std::collections::{BTreeMap, HashMap};

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, PaginatorTrait, QueryFilter};

use super::columns::to_db;
use super::entities::{
    audit, customers, jobs, labels, mails, order_items, order_misses, orders, return_policies, rma_items, rmas, tickets,
};
use super::orders::{list_orders_with, lock_orders};
use super::returns::create::{item_rows, rma_row};
use super::{StoreError, TenantStore};
use crate::domain::TenantId;
use crate::domain::returns::misses::MissSubject;
use crate::domain::returns::{Customer, ListedOrder, Order, OrderItem, OrderNumber, OrderStatus, Policy, Rma, Scope};

/// Orders that are compared and written in one statement each, and items likewise: databases bind 32,766 values and more.
const ORDERS_AT_ONCE: usize = 200;
const ITEMS_AT_ONCE: usize = 1_000;

/// How a list of orders differs from what the shop has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderComparison {
    pub new: u64,
    pub changed: u64,
    pub unchanged: u64,
    /// Orders that cannot be taken over, and the line that stands in an RMA; they are in none of the numbers.
    pub conflicts: Vec<(OrderNumber, u32)>,
}

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
        /// Whether the sample's policies were written; a shop that has policies of its own keeps them.
        policies: bool,
    },
    /// The shop has so many orders of its own.
    RealOrders(u64),
    /// An order of another customer has the number of a sample.
    NumberTaken(OrderNumber),
}

impl TenantStore<'_> {
    /// Compares the list with the shop's orders; writes nothing and locks nothing.
    pub async fn compare_orders(&self, list: &[ListedOrder]) -> Result<OrderComparison, StoreError> {
        let mut comparison = OrderComparison::default();
        for part in list.chunks(ORDERS_AT_ONCE) {
            let numbers: Vec<&OrderNumber> = part.iter().map(|listed| &listed.order.number).collect();
            let there = list_orders_with(&self.store.read, self.tenant, &numbers).await?;
            differing(part, &there, &mut comparison);
        }
        Ok(comparison)
    }

    /// Writes what differs in one transaction, unless an order is in conflict with its RMAs. With `skip_conflicts` those
    /// orders are left as they are. The answer says what was written, or, with conflicts, what would have been.
    ///
    /// On SQLite others who write wait as long as it takes, on PostgreSQL those who write the same orders.
    pub async fn import_orders(
        &self,
        list: &[ListedOrder],
        skip_conflicts: bool,
    ) -> Result<OrderComparison, StoreError> {
        let transaction = self.store.begin().await?;
        self.store.check_fence(&transaction).await?;
        let mut comparison = OrderComparison::default();
        for part in list.chunks(ORDERS_AT_ONCE) {
            let numbers: Vec<&OrderNumber> = part.iter().map(|listed| &listed.order.number).collect();
            let there = lock_orders(&transaction, self.tenant, &numbers).await?;
            let changed = differing(part, &there, &mut comparison);
            write_orders(&transaction, self.tenant, &changed).await?;
        }
        if skip_conflicts || comparison.conflicts.is_empty() {
            transaction.commit().await?;
        }
        Ok(comparison)
    }

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
        let policies = self.write_policies(&transaction, &sample.policies).await?;
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
    async fn write_policies(&self, transaction: &DatabaseTransaction, policies: &[Policy]) -> Result<bool, StoreError> {
        let names = policies.iter().map(|policy| policy.name.as_str());
        let of_shop =
            || return_policies::Entity::find().filter(return_policies::Column::TenantId.eq(self.tenant.as_str()));
        if of_shop().filter(return_policies::Column::Name.is_not_in(names)).count(transaction).await? > 0 {
            return Ok(false);
        }
        return_policies::Entity::delete_many()
            .filter(return_policies::Column::TenantId.eq(self.tenant.as_str()))
            .exec(transaction)
            .await?;
        let rows = policies.iter().map(|policy| policy_row(self.tenant, policy));
        return_policies::Entity::insert_many(rows).exec_without_returning(transaction).await?;
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

/// The orders of the list that are not there as they are listed, counted as such.
fn differing(list: &[ListedOrder], there: &[Order], comparison: &mut OrderComparison) -> Vec<Order> {
    let there: HashMap<&OrderNumber, &Order> = there.iter().map(|order| (&order.number, order)).collect();
    let mut changed = Vec::new();
    for listed in list {
        match there.get(&listed.order.number).map(|there| (*there, merged(there, listed))) {
            None => {
                comparison.new += 1;
                changed.push(with_flags(listed, None));
            }
            Some((there, Ok(order))) if *there == order => comparison.unchanged += 1,
            Some((_, Ok(order))) => {
                comparison.changed += 1;
                changed.push(order);
            }
            Some((_, Err(line))) => comparison.conflicts.push((listed.order.number.clone(), line)),
        }
    }
    changed
}

/// The listed order as it is to stand in place of `there`. The error is the line that stands in an RMA and would change.
fn merged(there: &Order, listed: &ListedOrder) -> Result<Order, u32> {
    let mut order = with_flags(listed, Some(there));
    if matches!(there.status, OrderStatus::ReturnInitiated | OrderStatus::Returned) {
        order.status = there.status;
    }
    for item in there.items.iter().filter(|item| item.rma.is_some()) {
        let new = order.items.iter_mut().find(|new| new.line == item.line).ok_or(item.line)?;
        new.rma.clone_from(&item.rma);
        let is_same = |a: &OrderItem, b: &OrderItem| a.quantity == b.quantity && a.unit_price == b.unit_price;
        if !is_same(item, new) {
            return Err(item.line);
        }
    }
    Ok(order)
}

fn with_flags(listed: &ListedOrder, there: Option<&Order>) -> Order {
    let mut order = listed.order.clone();
    let earlier = there.map(|there| &there.customer).filter(|earlier| earlier.id == order.customer.id);
    order.customer.is_vip = listed.is_vip.or(earlier.map(|earlier| earlier.is_vip)).unwrap_or(false);
    order.customer.fraud_flag = listed.fraud_flag.or(earlier.map(|earlier| earlier.fraud_flag)).unwrap_or(false);
    if let Some(earlier) = earlier {
        let customer = &mut order.customer;
        customer.phone = customer.phone.take().or_else(|| earlier.phone.clone());
        customer.user_id = customer.user_id.take().or_else(|| earlier.user_id.clone());
    }
    order
}

/// Writes orders with their customers and items, over what is there.
async fn write_orders(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    written: &[Order],
) -> Result<(), StoreError> {
    use {customers::Column as Of, orders::Column as C};
    if written.is_empty() {
        return Ok(());
    }
    // One row for each customer: a statement cannot write the same row twice.
    let buyers: BTreeMap<_, _> = written.iter().map(|order| (order.customer.id, &order.customer)).collect();
    let mut replace = OnConflict::column(Of::Id);
    replace.update_columns([Of::Name, Of::Email, Of::Phone, Of::UserId, Of::IsVip, Of::FraudFlag]);
    let rows = buyers.values().map(|customer| customer_row(tenant, customer));
    customers::Entity::insert_many(rows).on_conflict(replace).exec_without_returning(connection).await?;
    let mut replace = OnConflict::columns([C::TenantId, C::Number]);
    replace.update_columns([C::CustomerId, C::Email, C::Phone, C::Status, C::Currency, C::Paid]);
    replace.update_columns([C::OrderedAt, C::ShippedAt, C::DeliveredAt, C::Tracking]);
    let rows = written.iter().map(|order| order_row(tenant, order));
    orders::Entity::insert_many(rows).on_conflict(replace).exec_without_returning(connection).await?;
    order_items::Entity::delete_many()
        .filter(order_items::Column::TenantId.eq(tenant.as_str()))
        .filter(order_items::Column::OrderNumber.is_in(written.iter().map(|order| order.number.as_str())))
        .exec(connection)
        .await?;
    let items = written.iter().flat_map(|order| order.items.iter().map(|item| item_row(tenant, &order.number, item)));
    let items: Vec<order_items::ActiveModel> = items.collect();
    for part in items.chunks(ITEMS_AT_ONCE) {
        order_items::Entity::insert_many(part.to_vec()).exec_without_returning(connection).await?;
    }
    Ok(())
}

fn customer_row(tenant: &TenantId, customer: &Customer) -> customers::ActiveModel {
    customers::ActiveModel {
        id: Set(customer.id.0),
        tenant_id: Set(tenant.to_string()),
        name: Set(customer.name.clone()),
        email: Set(customer.email.as_str().to_owned()),
        phone: Set(customer.phone.as_ref().map(|phone| phone.as_str().to_owned())),
        user_id: Set(customer.user_id.clone()),
        is_vip: Set(customer.is_vip),
        fraud_flag: Set(customer.fraud_flag),
    }
}

fn order_row(tenant: &TenantId, order: &Order) -> orders::ActiveModel {
    orders::ActiveModel {
        tenant_id: Set(tenant.to_string()),
        number: Set(order.number.to_string()),
        customer_id: Set(order.customer.id.0),
        email: Set(order.email.as_str().to_owned()),
        phone: Set(order.phone.as_ref().map(|phone| phone.as_str().to_owned())),
        status: Set(order.status.as_str().to_owned()),
        currency: Set(order.paid.currency.as_str().to_owned()),
        paid: Set(order.paid.minor),
        ordered_at: Set(order.ordered_at),
        shipped_at: Set(order.shipped_at),
        delivered_at: Set(order.delivered_at),
        tracking: Set(order.tracking.clone()),
    }
}

fn item_row(tenant: &TenantId, number: &OrderNumber, item: &OrderItem) -> order_items::ActiveModel {
    order_items::ActiveModel {
        tenant_id: Set(tenant.to_string()),
        order_number: Set(number.to_string()),
        line: Set(to_db(item.line)),
        sku: Set(item.sku.clone()),
        name: Set(item.name.clone()),
        category: Set(item.category.clone()),
        quantity: Set(to_db(item.quantity)),
        unit_price: Set(item.unit_price.minor),
        is_returnable: Set(item.is_returnable),
        is_final_sale: Set(item.is_final_sale),
    }
}

fn policy_row(tenant: &TenantId, policy: &Policy) -> return_policies::ActiveModel {
    let (scope, category) = match &policy.scope {
        Scope::Vip => ("vip", None),
        Scope::Category(category) => ("category", Some(category.clone())),
        Scope::General => ("general", None),
    };
    return_policies::ActiveModel {
        tenant_id: Set(tenant.to_string()),
        name: Set(policy.name.clone()),
        scope: Set(scope.to_owned()),
        category: Set(category),
        return_days: Set(to_db(policy.return_days)),
        refund_days: Set(policy.refund_days.map(to_db)),
    }
}
