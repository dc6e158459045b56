//! A whole list of orders at once, all or nothing.
//!
//! The list is compared with what the shop has, and only what differs is written, in one transaction. The shop's own system
//! is right about everything up to the delivery; about returns this database is: an order that is coming back stays so,
//! and a line that stands in an RMA stays as it was.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use serde_json::json;

use super::audit::record;
use super::columns::to_db;
use super::entities::{customers, order_items, orders};
use super::orders::{list_customers, list_orders_with, lock_orders};
use super::{StoreError, TenantStore};
use crate::domain::AuditEntry;
use crate::domain::AuditKind;
use crate::domain::TenantId;
use crate::domain::commerce::Customer;
use crate::domain::commerce::CustomerId;
use crate::domain::commerce::Order;
use crate::domain::commerce::OrderItem;
use crate::domain::commerce::OrderNumber;
use crate::domain::commerce::OrderStatus;
use crate::domain::returns::ListedOrder;

/// Orders that are compared and written in one statement each, and items likewise: databases bind 32,766 values and more.
const ORDERS_AT_ONCE: usize = 200;
const ITEMS_AT_ONCE: usize = 1_000;
/// Who changed an order's state, in the record.
const WHO: &str = "import";

/// How a list of orders differs from what the shop has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderComparison {
    pub new: u64,
    pub changed: u64,
    pub unchanged: u64,
    /// Orders that cannot be taken over, and why; they are in none of the numbers.
    pub conflicts: Vec<(OrderNumber, Conflict)>,
}

/// Why a listed order cannot stand in place of the one that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// This line stands in an RMA, and its quantity or price would change.
    InRma(u32),
    /// The order is further than the list says.
    Backward { from: OrderStatus, to: OrderStatus },
}

/// What there is of the orders and customers of a part of the list.
struct There {
    orders: Vec<Order>,
    customers: HashMap<CustomerId, Customer>,
}

impl TenantStore<'_> {
    /// Compares the list with the shop's orders; writes nothing and locks nothing.
    pub async fn compare_orders(&self, list: &[ListedOrder]) -> Result<OrderComparison, StoreError> {
        let mut comparison = OrderComparison::default();
        for part in list.chunks(ORDERS_AT_ONCE) {
            let orders = list_orders_with(&self.store.read, self.tenant, &numbers(part)).await?;
            let customers = list_customers(&self.store.read, self.tenant, buyers(part)).await?;
            differing(part, &There { orders, customers }, &mut comparison);
        }
        Ok(comparison)
    }

    /// Writes what differs in one transaction, unless an order is in conflict with what is there. With `skip_conflicts` those
    /// orders are left as they are. The answer says what was written, or, with conflicts, what would have been.
    ///
    /// On SQLite others who write wait as long as it takes, on PostgreSQL those who write the same orders.
    pub async fn import_orders(
        &self,
        list: &[ListedOrder],
        skip_conflicts: bool,
        now: DateTime<Utc>,
    ) -> Result<OrderComparison, StoreError> {
        let transaction = self.store.begin().await?;
        self.store.check_fence(&transaction).await?;
        let mut comparison = OrderComparison::default();
        // All is compared before anything is written: a customer whom one order changes differs in their other orders as well.
        let (mut changed, mut steps) = (Vec::new(), Vec::new());
        for part in list.chunks(ORDERS_AT_ONCE) {
            let orders = lock_orders(&transaction, self.tenant, &numbers(part)).await?;
            let customers = list_customers(&transaction, self.tenant, buyers(part)).await?;
            let there = There { orders, customers };
            let differing = differing(part, &there, &mut comparison);
            steps.extend(there.steps(&differing, now));
            changed.extend(differing);
        }
        if !skip_conflicts && !comparison.conflicts.is_empty() {
            return Ok(comparison);
        }
        for part in changed.chunks(ORDERS_AT_ONCE) {
            write_orders(&transaction, self.tenant, part).await?;
        }
        for part in steps.chunks(ORDERS_AT_ONCE) {
            record(&transaction, self.tenant, part).await?;
        }
        transaction.commit().await?;
        Ok(comparison)
    }
}

fn numbers(list: &[ListedOrder]) -> Vec<&OrderNumber> {
    list.iter().map(|listed| &listed.order.number).collect()
}

fn buyers(list: &[ListedOrder]) -> impl Iterator<Item = CustomerId> {
    list.iter().map(|listed| listed.order.customer.id)
}

impl There {
    /// The record of the orders whose state changes.
    fn steps(&self, changed: &[Order], now: DateTime<Utc>) -> Vec<AuditEntry> {
        let before: HashMap<&OrderNumber, OrderStatus> =
            self.orders.iter().map(|order| (&order.number, order.status)).collect();
        let step = |order: &Order| {
            let before = before.get(&order.number).filter(|before| **before != order.status)?;
            Some(AuditEntry {
                kind: AuditKind::System,
                who: WHO.to_owned(),
                what: "order.status".to_owned(),
                before: Some(json!({"status": before})),
                after: Some(json!({"status": order.status})),
                conversation: None,
                order: Some(order.number.clone()),
                rma: None,
                at: now,
            })
        };
        changed.iter().filter_map(step).collect()
    }
}

/// The orders of the list that are not there as they are listed, counted as such.
fn differing(list: &[ListedOrder], there: &There, comparison: &mut OrderComparison) -> Vec<Order> {
    let orders: HashMap<&OrderNumber, &Order> = there.orders.iter().map(|order| (&order.number, order)).collect();
    let mut changed = Vec::new();
    for listed in list {
        let new = with_customer(listed, there.customers.get(&listed.order.customer.id));
        match orders.get(&listed.order.number).map(|there| (*there, merged(there, new.clone()))) {
            None => {
                comparison.new += 1;
                changed.push(new);
            }
            Some((there, Ok(order))) if *there == order => comparison.unchanged += 1,
            Some((_, Ok(order))) => {
                comparison.changed += 1;
                changed.push(order);
            }
            Some((_, Err(conflict))) => comparison.conflicts.push((listed.order.number.clone(), conflict)),
        }
    }
    changed
}

/// The listed order as it is to stand in place of `there`.
fn merged(there: &Order, listed: Order) -> Result<Order, Conflict> {
    let mut order = listed;
    // The states are in the order of an order's life. What came back had been delivered.
    if order.status < there.status.min(OrderStatus::Delivered) {
        return Err(Conflict::Backward { from: there.status, to: order.status });
    }
    order.status = order.status.max(there.status);
    let mut lines: HashMap<u32, &mut OrderItem> = order.items.iter_mut().map(|item| (item.line, item)).collect();
    for item in there.items.iter().filter(|item| item.rma.is_some()) {
        let new = lines.get_mut(&item.line).ok_or(Conflict::InRma(item.line))?;
        new.rma.clone_from(&item.rma);
        if (item.quantity, item.unit_price) != (new.quantity, new.unit_price) {
            return Err(Conflict::InRma(item.line));
        }
    }
    Ok(order)
}

/// The listed order with its customer as they are to be: what the list says nothing of stays as it is.
fn with_customer(listed: &ListedOrder, earlier: Option<&Customer>) -> Order {
    let mut order = listed.order.clone();
    let customer = &mut order.customer;
    customer.is_vip = listed.is_vip.unwrap_or(earlier.is_some_and(|earlier| earlier.is_vip));
    customer.fraud_flag = listed.fraud_flag.unwrap_or(earlier.is_some_and(|earlier| earlier.fraud_flag));
    if let Some(earlier) = earlier {
        customer.phone = customer.phone.take().or_else(|| earlier.phone.clone());
        customer.user_id = customer.user_id.take().or_else(|| earlier.user_id.clone());
    }
    order
}

/// Writes orders with their customers and items, over what is there.
pub(super) async fn write_orders(
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
