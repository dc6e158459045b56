//! A shop's list of orders: reads its rows and makes orders of them. One row is one item of an order.
//!
//! - `row`: reads one row, field by field
//! - `customers`: joins the customer data of several orders

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono_tz::Tz;

use self::row::OrderFields;
use crate::domain::TenantId;
use crate::domain::commerce::money::Money;
use crate::domain::commerce::order::{Order, OrderItem};
use crate::domain::commerce::order_number::OrderNumber;
use crate::domain::list::{BadValue, Column, Row as ListRow};
use crate::domain::string_enum::string_enum;

mod customers;
mod row;
#[cfg(test)]
mod tests;

string_enum! {
    /// A column of the list, or a field of its JSON.
    pub enum Field {
        OrderNumber = "order_number",
        CustomerEmail = "customer_email",
        CustomerName = "customer_name",
        Status = "status",
        OrderedAt = "ordered_at",
        Currency = "currency",
        ItemName = "item_name",
        UnitPrice = "unit_price",
        /// The item's place in the order. If missing, items are counted from 1.
        Line = "line",
        Quantity = "quantity",
        Sku = "sku",
        Category = "category",
        IsReturnable = "is_returnable",
        IsFinalSale = "is_final_sale",
        /// What was paid for the whole order. If missing, the sum of its items.
        Paid = "paid",
        ShippedAt = "shipped_at",
        DeliveredAt = "delivered_at",
        Tracking = "tracking",
        /// The phone number on the order.
        Phone = "phone",
        UserId = "user_id",
        IsVip = "is_vip",
        FraudFlag = "fraud_flag",
    }
}

impl Column for Field {
    const NEEDED: &'static [Self] = &[
        Self::OrderNumber,
        Self::CustomerEmail,
        Self::CustomerName,
        Self::Status,
        Self::OrderedAt,
        Self::Currency,
        Self::ItemName,
        Self::UnitPrice,
    ];
}

/// An order in a list. A flag is `None` if the list does not set it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedOrder {
    pub order: Order,
    pub is_vip: Option<bool>,
    pub fraud_flag: Option<bool>,
}

/// One row: one item of an order.
pub type Row = ListRow<Field>;

/// A refused value of a row.
pub type BadRow = BadValue<Field>;

/// Makes orders of rows. All orders of a customer get the same customer data. Also returns all refused values; an order with
/// a refused row is left out as a whole.
pub fn orders_of(rows: &[Row], tenant: &TenantId, zone: Tz) -> (Vec<ListedOrder>, Vec<BadRow>) {
    let mut bad = Vec::new();
    let mut left_out: BTreeSet<String> = BTreeSet::new();
    let mut drafts: BTreeMap<OrderNumber, Draft> = BTreeMap::new();
    for row in rows {
        match row::read(row, tenant, zone) {
            Ok(((listed, paid), item)) => match drafts.get_mut(&listed.order.number) {
                Some(draft) => draft.add(row, (listed, paid), item),
                None => drop(drafts.insert(listed.order.number.clone(), Draft::new(row, (listed, paid), item))),
            },
            Err(refused) => {
                bad.extend(refused);
                left_out.extend(row.fields.get(&Field::OrderNumber).map(|number| number.to_ascii_uppercase()));
            }
        }
    }
    let mut orders = Vec::new();
    for (number, draft) in drafts {
        if !draft.bad.is_empty() {
            bad.extend(draft.bad);
        } else if !left_out.contains(number.as_str()) {
            let place = draft.first;
            match draft.finish() {
                Ok(order) => orders.push((place, order)),
                Err(error) => bad.push(error),
            }
        }
    }
    let orders = customers::made_one(orders, &mut bad);
    bad.sort_by_key(|row| row.place);
    (orders, bad)
}

/// An order that may get more rows.
struct Draft {
    first: u64,
    listed: ListedOrder,
    paid: Option<Money>,
    /// The values of its rows, with their places.
    rows: HashMap<BTreeMap<Field, String>, u64>,
    lines: BTreeSet<u32>,
    bad: Vec<BadRow>,
}

impl Draft {
    fn new(row: &Row, (mut listed, paid): OrderFields, item: OrderItem) -> Self {
        let item = number_line(item, 1);
        let lines = BTreeSet::from([item.line]);
        listed.order.items.push(item);
        let rows = HashMap::from([(row.fields.clone(), row.place)]);
        Self { first: row.place, listed, paid, rows, lines, bad: Vec::new() }
    }

    fn add(&mut self, row: &Row, (listed, paid): OrderFields, item: OrderItem) {
        let order = &mut self.listed.order;
        let item = number_line(item, order.items.len() as u32 + 1);
        let number = order.number.to_string();
        let items = std::mem::take(&mut order.items);
        let is_same = (&self.listed, self.paid) == (&listed, paid);
        self.listed.order.items = items;
        let mut refuse = |field, value: &str, hint: String| {
            self.bad.push(BadRow { place: row.place, field, value: value.to_owned(), hint });
        };
        if !is_same {
            let hint = format!(
                "row {} has the same order with another customer, state, date or sum; make them agree",
                self.first
            );
            refuse(Field::OrderNumber, &number, hint);
        } else if let Some(twin) = self.rows.get(&row.fields) {
            let hint = format!("row {twin} says the same; delete one, or write the quantity");
            refuse(Field::ItemName, &item.name, hint);
        } else if !self.lines.insert(item.line) {
            refuse(
                Field::Line,
                &item.line.to_string(),
                "the order has this line already; renumber its lines".to_owned(),
            );
        } else {
            self.listed.order.items.push(item);
            self.rows.insert(row.fields.clone(), row.place);
        }
    }

    fn finish(mut self) -> Result<ListedOrder, BadRow> {
        let order = &mut self.listed.order;
        order.items.sort_by_key(|item| item.line);
        let sum = order
            .items
            .iter()
            .try_fold(Money::zero(order.paid.currency), |sum, item| sum.plus(item.unit_price.times(item.quantity)?));
        match (self.paid, sum) {
            (Some(paid), Ok(_)) | (None, Ok(paid)) => order.paid = paid,
            (_, Err(error)) => {
                let value = order.number.to_string();
                let hint = format!("{error}; fix the prices and quantities of the order");
                return Err(BadRow { place: self.first, field: Field::UnitPrice, value, hint });
            }
        }
        Ok(self.listed)
    }
}

/// Numbers the lines that have no number.
fn number_line(item: OrderItem, next: u32) -> OrderItem {
    if item.line == 0 { OrderItem { line: next, ..item } } else { item }
}
