//! A shop's list of orders: what a row must hold, and how rows become orders. One row is one item of an order.
//!
//! - `row`: one row, read field by field
//! - `customers`: what the orders of one customer say of them, made one

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono_tz::Tz;

use self::row::{OrderFields, Reader};
use crate::domain::TenantId;
use crate::domain::commerce::money::Money;
use crate::domain::commerce::order::{Order, OrderItem};
use crate::domain::commerce::order_number::OrderNumber;
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
        /// The item's place in the order; counted from 1 where it is missing.
        Line = "line",
        Quantity = "quantity",
        Sku = "sku",
        Category = "category",
        IsReturnable = "is_returnable",
        IsFinalSale = "is_final_sale",
        /// What was paid for the whole order; the sum of its items where it is missing.
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

impl Field {
    /// The fields that every row must have.
    pub const NEEDED: [Self; 8] = [
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

/// What a list says of an order; `None` in a flag: it says nothing of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedOrder {
    pub order: Order,
    pub is_vip: Option<bool>,
    pub fraud_flag: Option<bool>,
}

/// Why a row is refused: the field, its value, what is wrong with it and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRow {
    /// Where the row begins: a line of a CSV file, the place of an order in a JSON file.
    pub place: u64,
    pub field: Field,
    pub value: String,
    pub mend: String,
}

/// One row: the texts of its fields, trimmed; a field that is empty is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pub place: u64,
    pub fields: BTreeMap<Field, String>,
}

/// Makes orders of rows; all orders of a customer say the same of them. The second value are the rows that are refused; an
/// order that one of them belongs to is left out as a whole, since half an order is a wrong one.
pub fn orders_of(rows: &[Row], tenant: &TenantId, zone: Tz) -> (Vec<ListedOrder>, Vec<BadRow>) {
    let mut bad = Vec::new();
    let mut left_out: BTreeSet<String> = BTreeSet::new();
    let mut drafts: BTreeMap<OrderNumber, Draft> = BTreeMap::new();
    for row in rows {
        let read = Reader { row, zone };
        let taken = read.order(tenant).and_then(|order| {
            let item = read.item(order.order.paid.currency)?;
            match drafts.get_mut(&order.order.number) {
                Some(draft) => draft.add(row, order, item),
                None => drop(drafts.insert(order.order.number.clone(), Draft::new(row, order, item))),
            }
            Ok(())
        });
        if let Err(error) = taken {
            bad.push(*error);
            left_out.extend(row.fields.get(&Field::OrderNumber).map(|number| number.to_ascii_uppercase()));
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
                Err(error) => bad.push(*error),
            }
        }
    }
    let orders = customers::made_one(orders, &mut bad);
    bad.sort_by_key(|row| row.place);
    (orders, bad)
}

/// An order whose rows are still coming.
struct Draft {
    first: u64,
    listed: ListedOrder,
    paid: Option<Money>,
    /// What its rows say, and where each says it.
    rows: HashMap<BTreeMap<Field, String>, u64>,
    lines: BTreeSet<u32>,
    bad: Vec<BadRow>,
}

impl Draft {
    fn new(row: &Row, fields: OrderFields, item: OrderItem) -> Self {
        let OrderFields { mut order, paid, is_vip, fraud_flag } = fields;
        let item = number_line(item, 1);
        let lines = BTreeSet::from([item.line]);
        order.items.push(item);
        let listed = ListedOrder { order, is_vip, fraud_flag };
        let rows = HashMap::from([(row.fields.clone(), row.place)]);
        Self { first: row.place, listed, paid, rows, lines, bad: Vec::new() }
    }

    fn add(&mut self, row: &Row, fields: OrderFields, item: OrderItem) {
        let order = &mut self.listed.order;
        let item = number_line(item, order.items.len() as u32 + 1);
        let number = order.number.to_string();
        let items = std::mem::take(&mut order.items);
        let is_same = (&*order, self.paid, self.listed.is_vip, self.listed.fraud_flag)
            == (&fields.order, fields.paid, fields.is_vip, fields.fraud_flag);
        order.items = items;
        let mut refuse = |field, value: &str, mend: String| {
            self.bad.push(BadRow { place: row.place, field, value: value.to_owned(), mend });
        };
        if !is_same {
            let mend = format!(
                "row {} has the same order with another customer, state, date or sum; make them agree",
                self.first
            );
            refuse(Field::OrderNumber, &number, mend);
        } else if let Some(twin) = self.rows.get(&row.fields) {
            let mend = format!("row {twin} says the same; delete one, or write the quantity");
            refuse(Field::ItemName, &item.name, mend);
        } else if !self.lines.insert(item.line) {
            refuse(Field::Line, &item.line.to_string(), "the order has this line already; number them anew".to_owned());
        } else {
            self.listed.order.items.push(item);
            self.rows.insert(row.fields.clone(), row.place);
        }
    }

    fn finish(mut self) -> Result<ListedOrder, Box<BadRow>> {
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
                let mend = format!("{error}; fix the prices and quantities of the order");
                return Err(Box::new(BadRow { place: self.first, field: Field::UnitPrice, value, mend }));
            }
        }
        Ok(self.listed)
    }
}

/// A line that was not given is the next one.
fn number_line(item: OrderItem, next: u32) -> OrderItem {
    if item.line == 0 { OrderItem { line: next, ..item } } else { item }
}
