//! Queries for orders with their customers and items.

use std::collections::HashMap;

use sea_orm::sea_query::LockType;
use sea_orm::{ColumnTrait, ConnectionTrait, QueryFilter, QueryOrder, QuerySelect};

use super::entities::{TenantEntity, customers, order_items, orders, rmas};
use super::returns::rows::list_rmas;
use super::{Result, TenantStore, from_db, unreadable};
use crate::domain::TenantId;
use crate::domain::commerce::{
    Currency, Customer, CustomerId, ItemReturn, Money, Order, OrderItem, OrderNumber, OrderStatus,
};
use crate::domain::identity::Email;

/// The maximum number of orders listed for a customer.
pub(super) const ORDERS_LISTED: u64 = 10;

impl TenantStore<'_> {
    /// Returns the order with this number.
    pub async fn find_order(&self, number: &OrderNumber) -> Result<Option<Order>> {
        Ok(list_orders_with(&self.store.read, self.tenant, &[number]).await?.pop())
    }

    /// Lists the ten newest orders with this e-mail address, newest first.
    pub async fn list_orders_by_email(&self, email: &Email) -> Result<Vec<Order>> {
        self.list_orders(orders::Column::Email.eq(email.as_str())).await
    }

    /// Lists the ten newest orders of the customer, newest first.
    pub async fn list_orders_of(&self, customer: CustomerId) -> Result<Vec<Order>> {
        self.list_orders(orders::Column::CustomerId.eq(customer.0)).await
    }

    async fn list_orders(&self, which: sea_orm::sea_query::SimpleExpr) -> Result<Vec<Order>> {
        let rows = self
            .rows::<orders::Entity>()
            .filter(which)
            .order_by_desc(orders::Column::OrderedAt)
            .order_by_desc(orders::Column::Number)
            .limit(ORDERS_LISTED)
            .all(&self.store.read)
            .await?;
        load(&self.store.read, self.tenant, rows).await
    }

    /// Returns the customer with this `user_id`.
    pub async fn find_customer_by_user(&self, user_id: &str) -> Result<Option<Customer>> {
        let row = self
            .rows::<customers::Entity>()
            .filter(customers::Column::UserId.eq(user_id))
            .order_by_asc(customers::Column::Id)
            .one(&self.store.read)
            .await?;
        row.map(read_customer).transpose()
    }
}

/// Returns the order and locks it until the transaction ends. Every change of an order or of its RMAs takes this lock
/// first.
pub(super) async fn lock_order(
    transaction: &impl ConnectionTrait,
    tenant: &TenantId,
    number: &OrderNumber,
) -> Result<Option<Order>> {
    Ok(lock_orders(transaction, tenant, &[number]).await?.into_iter().next())
}

/// Returns the existing orders and locks them, sorted by number to prevent deadlocks.
pub(super) async fn lock_orders(
    transaction: &impl ConnectionTrait,
    tenant: &TenantId,
    numbers: &[&OrderNumber],
) -> Result<Vec<Order>> {
    let rows = with_numbers(tenant, numbers).lock(LockType::Update).all(transaction).await?;
    load(transaction, tenant, rows).await
}

/// Returns the existing orders.
pub(super) async fn list_orders_with(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    numbers: &[&OrderNumber],
) -> Result<Vec<Order>> {
    let rows = with_numbers(tenant, numbers).all(connection).await?;
    load(connection, tenant, rows).await
}

fn with_numbers(tenant: &TenantId, numbers: &[&OrderNumber]) -> sea_orm::Select<orders::Entity> {
    orders::Entity::of(tenant)
        .filter(orders::Column::Number.is_in(numbers.iter().map(|number| number.as_str())))
        .order_by_asc(orders::Column::Number)
}

/// Returns the existing customers.
pub(super) async fn list_customers(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    ids: impl Iterator<Item = CustomerId>,
) -> Result<HashMap<CustomerId, Customer>> {
    let rows =
        customers::Entity::of(tenant).filter(customers::Column::Id.is_in(ids.map(|id| id.0))).all(connection).await?;
    rows.into_iter().map(|row| read_customer(row).map(|customer| (customer.id, customer))).collect()
}

/// Loads the customers, items and RMAs of orders. Keeps the order of the rows.
async fn load(connection: &impl ConnectionTrait, tenant: &TenantId, rows: Vec<orders::Model>) -> Result<Vec<Order>> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let ids = rows.iter().map(|row| CustomerId(row.customer_id));
    let buyers = list_customers(connection, tenant, ids).await?;
    let items = order_items::Entity::of(tenant)
        .filter(order_items::Column::OrderNumber.is_in(rows.iter().map(|row| row.number.as_str())))
        .order_by_asc(order_items::Column::Line)
        .all(connection)
        .await?;
    let numbers: Vec<&str> = rows.iter().map(|row| row.number.as_str()).collect();
    let mut returns = latest_returns(connection, tenant, &numbers).await?;
    let mut items_of: HashMap<String, Vec<order_items::Model>> = HashMap::new();
    for item in items {
        items_of.entry(item.order_number.clone()).or_default().push(item);
    }
    rows.into_iter()
        .map(|row| {
            let customer = buyers.get(&CustomerId(row.customer_id)).cloned();
            let customer = customer.ok_or_else(|| unreadable("orders", "the customer is missing"))?;
            let items = items_of.remove(&row.number).unwrap_or_default();
            read_order(row, customer, items, &mut returns)
        })
        .collect()
}

/// Returns the latest RMA of each item, by order number and line.
async fn latest_returns(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    orders: &[&str],
) -> Result<HashMap<(OrderNumber, u32), ItemReturn>> {
    let of_orders = rmas::Column::OrderNumber.is_in(orders.iter().copied());
    let mut latest = HashMap::new();
    for rma in list_rmas(connection, tenant, of_orders).await? {
        for line in rma.lines {
            let item_return = ItemReturn { number: rma.number.clone(), status: rma.status, amount: line.amount };
            latest.insert((rma.order.clone(), line.line), item_return);
        }
    }
    Ok(latest)
}

fn read_order(
    row: orders::Model,
    customer: Customer,
    items: Vec<order_items::Model>,
    returns: &mut HashMap<(OrderNumber, u32), ItemReturn>,
) -> Result<Order> {
    let currency = Currency::parse(&row.currency).ok_or_else(|| unreadable("orders", "currency"))?;
    let number: OrderNumber = row.number.parse().map_err(|error| unreadable("orders", error))?;
    let items = items.into_iter().map(|item| OrderItem {
        line: from_db(item.line),
        sku: item.sku,
        name: item.name,
        category: item.category,
        quantity: from_db(item.quantity),
        unit_price: Money::new(item.unit_price, currency),
        is_returnable: item.is_returnable,
        is_final_sale: item.is_final_sale,
        rma: returns.remove(&(number.clone(), from_db(item.line))),
    });
    Ok(Order {
        items: items.collect(),
        number,
        customer,
        email: row.email.parse().map_err(|error| unreadable("orders", error))?,
        phone: row.phone.and_then(|phone| phone.parse().ok()),
        status: OrderStatus::parse(&row.status).ok_or_else(|| unreadable("orders", "status"))?,
        ordered_at: row.ordered_at,
        shipped_at: row.shipped_at,
        delivered_at: row.delivered_at,
        tracking: row.tracking,
        paid: Money::new(row.paid, currency),
    })
}

fn read_customer(row: customers::Model) -> Result<Customer> {
    Ok(Customer {
        id: CustomerId(row.id),
        name: row.name,
        email: row.email.parse().map_err(|error| unreadable("customers", error))?,
        phone: row.phone.and_then(|phone| phone.parse().ok()),
        user_id: row.user_id,
        is_vip: row.is_vip,
        fraud_flag: row.fraud_flag,
    })
}
