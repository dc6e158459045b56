//! Imports a list of orders in one transaction.
//!
//! The import writes only orders that differ. The list is authoritative up to the delivery, and this database for
//! returns: the import changes neither the status of an order that is being returned nor a line in an RMA.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use serde_json::json;

use super::audit::record;
use super::entities::{TenantEntity, customers, order_items, orders};
use super::orders::{list_customers, list_orders_with, lock_orders};
use super::{Result, TenantStore, to_db};
use crate::domain::commerce::{Customer, CustomerId, Order, OrderItem, OrderNumber, OrderStatus};
use crate::domain::returns::ListedOrder;
use crate::domain::{AuditEntry, TenantId};

/// The number of orders and of items in one statement. Databases accept at least 32,766 values.
const ORDERS_AT_ONCE: usize = 200;
const ITEMS_AT_ONCE: usize = 1_000;
/// The author of the import's changes in the audit log.
const WHO: &str = "import";

/// How a list of orders differs from the shop's orders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderComparison {
    pub new: u64,
    pub changed: u64,
    pub unchanged: u64,
    /// Orders that cannot be imported. They are not included in the counts.
    pub conflicts: Vec<(OrderNumber, Conflict)>,
}

/// Why a listed order cannot replace the existing one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// The quantity or price of this line would change, but it is in an RMA.
    InRma(u32),
    /// The status in the list is earlier than the order's.
    Backward { from: OrderStatus, to: OrderStatus },
}

/// The existing orders and customers for a part of the list.
struct Existing {
    orders: Vec<Order>,
    customers: HashMap<CustomerId, Customer>,
}

impl TenantStore<'_> {
    /// Compares the list with the shop's orders. Writes and locks nothing.
    pub async fn compare_orders(&self, list: &[ListedOrder]) -> Result<OrderComparison> {
        let mut comparison = OrderComparison::default();
        for part in list.chunks(ORDERS_AT_ONCE) {
            let orders = list_orders_with(&self.store.read, self.tenant, &numbers(part)).await?;
            let customers = list_customers(&self.store.read, self.tenant, buyers(part)).await?;
            differing(part, &Existing { orders, customers }, &mut comparison);
        }
        Ok(comparison)
    }

    /// Writes the orders that differ in one transaction. If there are conflicts, it writes nothing, or with
    /// `skip_conflicts` only the other orders. Returns what was written or would have been.
    ///
    /// On SQLite, all other writers wait meanwhile; on PostgreSQL, only writers of the same orders.
    pub async fn import_orders(
        &self,
        list: &[ListedOrder],
        skip_conflicts: bool,
        now: DateTime<Utc>,
    ) -> Result<OrderComparison> {
        let transaction = self.store.begin_fenced().await?;
        let mut comparison = OrderComparison::default();
        // Compare everything before writing: a customer that one order changes differs in the other orders as well.
        let (mut changed, mut steps) = (Vec::new(), Vec::new());
        for part in list.chunks(ORDERS_AT_ONCE) {
            let orders = lock_orders(&transaction, self.tenant, &numbers(part)).await?;
            let customers = list_customers(&transaction, self.tenant, buyers(part)).await?;
            let existing = Existing { orders, customers };
            let differing = differing(part, &existing, &mut comparison);
            steps.extend(existing.audit_entries(&differing, now));
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

impl Existing {
    /// Returns an audit entry for each order whose status changes.
    fn audit_entries(&self, changed: &[Order], now: DateTime<Utc>) -> Vec<AuditEntry> {
        let before: HashMap<&OrderNumber, OrderStatus> =
            self.orders.iter().map(|order| (&order.number, order.status)).collect();
        let step = |order: &Order| {
            let before = before.get(&order.number).filter(|before| **before != order.status)?;
            Some(AuditEntry {
                before: Some(json!({"status": before})),
                after: Some(json!({"status": order.status})),
                order: Some(order.number.clone()),
                ..AuditEntry::system(WHO, "order.status", now)
            })
        };
        changed.iter().filter_map(step).collect()
    }
}

/// Returns the orders to write, and adds the list to the comparison.
fn differing(list: &[ListedOrder], existing: &Existing, comparison: &mut OrderComparison) -> Vec<Order> {
    let orders: HashMap<&OrderNumber, &Order> = existing.orders.iter().map(|order| (&order.number, order)).collect();
    let mut changed = Vec::new();
    for listed in list {
        let new = with_customer(listed, existing.customers.get(&listed.order.customer.id));
        match orders.get(&listed.order.number).map(|earlier| (*earlier, merged(earlier, new.clone()))) {
            None => {
                comparison.new += 1;
                changed.push(new);
            }
            Some((earlier, Ok(order))) if *earlier == order => comparison.unchanged += 1,
            Some((_, Ok(order))) => {
                comparison.changed += 1;
                changed.push(order);
            }
            Some((_, Err(conflict))) => comparison.conflicts.push((listed.order.number.clone(), conflict)),
        }
    }
    changed
}

/// Returns the listed order with the existing order's later status and RMAs.
fn merged(existing: &Order, listed: Order) -> Result<Order, Conflict> {
    let mut order = listed;
    // Statuses compare by their place in an order's life. A returned order was delivered before.
    if order.status < existing.status.min(OrderStatus::Delivered) {
        return Err(Conflict::Backward { from: existing.status, to: order.status });
    }
    order.status = order.status.max(existing.status);
    let mut lines: HashMap<u32, &mut OrderItem> = order.items.iter_mut().map(|item| (item.line, item)).collect();
    for item in existing.items.iter().filter(|item| item.rma.is_some()) {
        let new = lines.get_mut(&item.line).ok_or(Conflict::InRma(item.line))?;
        new.rma.clone_from(&item.rma);
        if (item.quantity, item.unit_price) != (new.quantity, new.unit_price) {
            return Err(Conflict::InRma(item.line));
        }
    }
    Ok(order)
}

/// Returns the listed order, with customer fields that the list omits taken from the existing customer.
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

/// Inserts or replaces orders with their customers and items.
pub(super) async fn write_orders(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    written: &[Order],
) -> Result<()> {
    // One row per customer: a statement cannot write a row twice.
    let buyers: BTreeMap<_, _> = written.iter().map(|order| (order.customer.id, &order.customer)).collect();
    let rows = buyers.values().map(|customer| customer_row(tenant, customer));
    let insert = customers::Entity::insert_many(rows).on_conflict(customers::Entity::replace_existing());
    insert.exec_without_returning(connection).await?;
    let rows = written.iter().map(|order| order_row(tenant, order));
    let insert = orders::Entity::insert_many(rows).on_conflict(orders::Entity::replace_existing());
    insert.exec_without_returning(connection).await?;
    order_items::Entity::delete_of(tenant)
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
