//! A shop's list of orders: what a row must hold, and how rows become orders. One row is one item of an order.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, SubsecRound, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

use super::contact::{Email, Phone};
use super::money::{Currency, Money};
use super::order::{Customer, CustomerId, Order, OrderItem, OrderStatus};
use super::order_number::OrderNumber;
use super::step::named;
use crate::domain::TenantId;
use crate::domain::warranty::parse_date;

#[cfg(test)]
mod tests;

named! {
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

/// The longest name, in characters: far beyond any real one.
const MAX_NAME_LENGTH: usize = 500;

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

/// Makes orders of rows. The second value are the rows that are refused; an order that one of them belongs to is left out
/// as a whole, since half an order is a wrong one.
pub fn orders_of(rows: &[Row], tenant: &TenantId, zone: Tz) -> (Vec<ListedOrder>, Vec<BadRow>) {
    let mut bad = Vec::new();
    let mut left_out: Vec<String> = Vec::new();
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
        } else if !left_out.iter().any(|left| left == number.as_str()) {
            match draft.finish() {
                Ok(order) => orders.push(order),
                Err(error) => bad.push(*error),
            }
        }
    }
    bad.sort_by_key(|row| row.place);
    (orders, bad)
}

/// An order whose rows are still coming.
struct Draft {
    first: u64,
    listed: ListedOrder,
    paid: Option<Money>,
    rows: Vec<Row>,
    bad: Vec<BadRow>,
}

/// An order's own fields, and an item.
struct OrderFields {
    order: Order,
    paid: Option<Money>,
    is_vip: Option<bool>,
    fraud_flag: Option<bool>,
}

impl Draft {
    fn new(row: &Row, fields: OrderFields, item: OrderItem) -> Self {
        let OrderFields { mut order, paid, is_vip, fraud_flag } = fields;
        order.items.push(number_line(item, 1));
        let listed = ListedOrder { order, is_vip, fraud_flag };
        Self { first: row.place, listed, paid, rows: vec![row.clone()], bad: Vec::new() }
    }

    fn add(&mut self, row: &Row, fields: OrderFields, item: OrderItem) {
        let mut mine = self.listed.order.clone();
        mine.items.clear();
        let item = number_line(item, self.listed.order.items.len() as u32 + 1);
        let number = self.listed.order.number.to_string();
        let mut refuse = |field, value: &str, mend: String| {
            self.bad.push(BadRow { place: row.place, field, value: value.to_owned(), mend });
        };
        let same = (mine, self.paid, self.listed.is_vip, self.listed.fraud_flag);
        if same != (fields.order, fields.paid, fields.is_vip, fields.fraud_flag) {
            let mend = format!(
                "row {} has the same order with another customer, state, date or sum; make them agree",
                self.first
            );
            refuse(Field::OrderNumber, &number, mend);
        } else if let Some(twin) = self.rows.iter().find(|other| other.fields == row.fields) {
            let mend = format!("row {} says the same; delete one, or write the quantity", twin.place);
            refuse(Field::ItemName, &item.name, mend);
        } else if self.listed.order.items.iter().any(|other| other.line == item.line) {
            refuse(Field::Line, &item.line.to_string(), "the order has this line already; number them anew".to_owned());
        } else {
            self.listed.order.items.push(item);
            self.rows.push(row.clone());
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
                let mend = format!("{error}; mend the prices and quantities of the order");
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

struct Reader<'a> {
    row: &'a Row,
    zone: Tz,
}

/// Boxed, since most rows are good.
type Read<T> = Result<T, Box<BadRow>>;

impl Reader<'_> {
    fn order(&self, tenant: &TenantId) -> Read<OrderFields> {
        let parse_number = |text: &str| {
            text.parse().map_err(|error| {
                format!("{error}; an order number is 5 to 40 of A-Z, 0-9 and '-', with a digit among them")
            })
        };
        let number: OrderNumber = self.needed(Field::OrderNumber, parse_number)?;
        let email: Email = self.needed(Field::CustomerEmail, parse)?;
        let customer_name = self.needed(Field::CustomerName, name)?;
        let status = self.needed(Field::Status, |text| one_of(OrderStatus::parse(text), OrderStatus::ALL))?;
        let currency = self.needed(Field::Currency, |text| one_of(Currency::parse(text), Currency::ALL))?;
        let ordered_at = self.needed(Field::OrderedAt, |text| self.moment(text))?;
        let shipped_at = self.find(Field::ShippedAt, |text| self.later(text, ordered_at))?;
        let delivered_at = self.find(Field::DeliveredAt, |text| {
            if matches!(status, OrderStatus::Pending | OrderStatus::Shipped) {
                return Err(format!(
                    "an order that is {status} has not been delivered; mend the status or leave it empty"
                ));
            }
            self.later(text, shipped_at.unwrap_or(ordered_at))
        })?;
        let phone: Option<Phone> = self.find(Field::Phone, parse)?;
        let paid = self.find(Field::Paid, |text| Money::parse(text, currency).map_err(|error| error.to_string()))?;
        let is_vip = self.find(Field::IsVip, yes_or_no)?;
        let fraud_flag = self.find(Field::FraudFlag, yes_or_no)?;
        let customer = Customer {
            id: CustomerId::of(tenant, &email),
            name: customer_name,
            email: email.clone(),
            phone: phone.clone(),
            user_id: self.find(Field::UserId, name)?,
            is_vip: false,
            fraud_flag: false,
        };
        let tracking = self.find(Field::Tracking, name)?;
        let order = Order {
            number,
            customer,
            email,
            phone,
            status,
            ordered_at,
            shipped_at,
            delivered_at,
            tracking,
            // The draft's, until its last row has come.
            paid: Money::zero(currency),
            items: Vec::new(),
        };
        Ok(OrderFields { order, paid, is_vip, fraud_flag })
    }

    /// Line 0: it was not given.
    fn item(&self, currency: Currency) -> Read<OrderItem> {
        Ok(OrderItem {
            line: self.find(Field::Line, count)?.unwrap_or(0),
            sku: self.find(Field::Sku, name)?,
            name: self.needed(Field::ItemName, name)?,
            category: self.find(Field::Category, name)?,
            quantity: self.find(Field::Quantity, count)?.unwrap_or(1),
            unit_price: self
                .needed(Field::UnitPrice, |text| Money::parse(text, currency).map_err(|error| error.to_string()))?,
            is_returnable: self.find(Field::IsReturnable, yes_or_no)?.unwrap_or(true),
            is_final_sale: self.find(Field::IsFinalSale, yes_or_no)?.unwrap_or(false),
            rma: None,
        })
    }

    fn needed<T>(&self, field: Field, read: impl FnOnce(&str) -> Result<T, String>) -> Read<T> {
        match self.find(field, read)? {
            Some(value) => Ok(value),
            None => Err(self.bad(field, "", "it is empty; every row must have it".to_owned())),
        }
    }

    fn find<T>(&self, field: Field, read: impl FnOnce(&str) -> Result<T, String>) -> Read<Option<T>> {
        let Some(text) = self.row.fields.get(&field) else { return Ok(None) };
        read(text).map(Some).map_err(|mend| self.bad(field, text, mend))
    }

    fn bad(&self, field: Field, value: &str, mend: String) -> Box<BadRow> {
        Box::new(BadRow { place: self.row.place, field, value: value.to_owned(), mend })
    }

    fn later(&self, text: &str, than: DateTime<Utc>) -> Result<DateTime<Utc>, String> {
        let at = self.moment(text)?;
        // A day of the list stands for its noon, so that a moment of the same day may lie behind it.
        if at + TimeDelta::hours(24) < than {
            return Err("it lies before the order or its shipping; mend one of the dates".to_owned());
        }
        Ok(at)
    }

    /// `2026-11-22T08:30:00Z`, or, in the shop's time zone, `2026-11-22 08:30`, `2026-11-22` and `22/11/2026`; a day
    /// without a time is its noon.
    fn moment(&self, text: &str) -> Result<DateTime<Utc>, String> {
        if let Ok(at) = DateTime::parse_from_rfc3339(text) {
            // Finer than databases keep it, it would differ from what is stored for ever.
            return Ok(at.with_timezone(&Utc).trunc_subsecs(6));
        }
        let formats = ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%d/%m/%Y %H:%M"];
        let local = formats.iter().find_map(|format| NaiveDateTime::parse_from_str(text, format).ok());
        let local = match local {
            Some(local) => local,
            None => noon(parse_date(text).map_err(|error| error.to_string())?),
        };
        // A time that the clocks jump over is taken an hour later.
        let at = self.zone.from_local_datetime(&local);
        let at = at.earliest().or_else(|| self.zone.from_local_datetime(&(local + TimeDelta::hours(1))).earliest());
        at.map(|at| at.with_timezone(&Utc)).ok_or_else(|| "there is no such time in the shop's time zone".to_owned())
    }
}

fn noon(day: NaiveDate) -> NaiveDateTime {
    day.and_time(NaiveTime::MIN) + TimeDelta::hours(12)
}

fn parse<T: std::str::FromStr<Err: ToString>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

fn one_of<T: ToString>(found: Option<T>, all: &[T]) -> Result<T, String> {
    let known = || all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    found.ok_or_else(|| format!("it is none of {}", known()))
}

fn name(text: &str) -> Result<String, String> {
    let length = text.chars().count();
    if length > MAX_NAME_LENGTH {
        return Err(format!("it is {length} characters long, more than {MAX_NAME_LENGTH}; look for a stray quote"));
    }
    if text.chars().any(|c| c.is_control() && !matches!(c, '\t' | '\r' | '\n')) {
        return Err("it holds a control character; type it again".to_owned());
    }
    Ok(text.to_owned())
}

fn count(text: &str) -> Result<u32, String> {
    let wrong = || "it is no whole number from 1 to 100000".to_owned();
    text.parse().ok().filter(|count| (1..=100_000).contains(count)).ok_or_else(wrong)
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" | "y" => Ok(true),
        "false" | "no" | "0" | "n" => Ok(false),
        _ => Err("write true or false".to_owned()),
    }
}
