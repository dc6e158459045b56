//! Reads one row of the list, field by field.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, SubsecRound, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

use super::{BadRow, Field, ListedOrder, Row};
use crate::domain::TenantId;
use crate::domain::commerce::money::{Currency, Money};
use crate::domain::commerce::order::{Customer, CustomerId, Order, OrderItem, OrderStatus};
use crate::domain::commerce::order_number::OrderNumber;
use crate::domain::identity::contact::{Email, Phone};
use crate::domain::list::Reader;
use crate::domain::warranty::parse_date;

/// The longest name, in characters.
const MAX_NAME_LENGTH: usize = 500;

/// An order without its items, and what the row says was paid for it.
pub(super) type OrderFields = (ListedOrder, Option<Money>);

/// Reads a row: the fields of its order, and its item. Returns all values that are refused.
pub(super) fn read(row: &Row, tenant: &TenantId, zone: Tz) -> Result<(OrderFields, OrderItem), Vec<BadRow>> {
    let mut reader = Reader::new(row);
    let currency = reader.needed(Field::Currency, |text| one_of(Currency::parse(text), Currency::ALL));
    let order = read_order(&mut reader, tenant, zone, currency);
    let item = read_item(&mut reader, currency);
    reader.finish(order.zip(item))
}

fn read_order(
    reader: &mut Reader<'_, Field>,
    tenant: &TenantId,
    zone: Tz,
    currency: Option<Currency>,
) -> Option<OrderFields> {
    let number: Option<OrderNumber> = reader.needed(Field::OrderNumber, |text| {
        text.parse().map_err(|error| {
            format!("{error}; an order number is 5 to 40 of A-Z, 0-9 and '-', with a digit among them")
        })
    });
    let email: Option<Email> = reader.needed(Field::CustomerEmail, parse);
    let customer_name = reader.needed(Field::CustomerName, name);
    let status = reader.needed(Field::Status, status);
    let ordered_at = reader.needed(Field::OrderedAt, |text| moment(text, zone));
    let shipped_at = reader.find(Field::ShippedAt, |text| later(text, zone, ordered_at));
    let delivered_at = reader.find(Field::DeliveredAt, |text| match status {
        Some(status @ (OrderStatus::Pending | OrderStatus::Shipped)) => {
            Err(format!("an order that is {status} has not been delivered; fix the status or leave it empty"))
        }
        _ => later(text, zone, shipped_at.or(ordered_at)),
    });
    let phone: Option<Phone> = reader.find(Field::Phone, parse);
    let paid = currency.and_then(|currency| reader.find(Field::Paid, |text| amount(text, currency)));
    let is_vip = reader.find(Field::IsVip, yes_or_no);
    let fraud_flag = reader.find(Field::FraudFlag, yes_or_no);
    let user_id = reader.find(Field::UserId, name);
    let tracking = reader.find(Field::Tracking, name);
    let email = email?;
    let customer = Customer {
        id: CustomerId::of(tenant, &email),
        name: customer_name?,
        email: email.clone(),
        // The phone number of an order verifies that order alone. Stored with the customer, it would verify all orders of the customer.
        phone: None,
        user_id,
        is_vip: false,
        fraud_flag: false,
    };
    let order = Order {
        number: number?,
        customer,
        email,
        phone,
        status: status?,
        ordered_at: ordered_at?,
        shipped_at,
        delivered_at,
        tracking,
        // Set when the order's last row is read.
        paid: Money::zero(currency?),
        items: Vec::new(),
    };
    Some((ListedOrder { order, is_vip, fraud_flag }, paid))
}

/// Line 0 means that the row has no line number.
fn read_item(reader: &mut Reader<'_, Field>, currency: Option<Currency>) -> Option<OrderItem> {
    let line = reader.find(Field::Line, count).unwrap_or(0);
    let sku = reader.find(Field::Sku, name);
    let item_name = reader.needed(Field::ItemName, name);
    let category = reader.find(Field::Category, name);
    let quantity = reader.find(Field::Quantity, count).unwrap_or(1);
    let unit_price = currency.and_then(|currency| reader.needed(Field::UnitPrice, |text| amount(text, currency)));
    let is_returnable = reader.find(Field::IsReturnable, yes_or_no).unwrap_or(true);
    let is_final_sale = reader.find(Field::IsFinalSale, yes_or_no).unwrap_or(false);
    let (name, unit_price) = (item_name?, unit_price?);
    Some(OrderItem { line, sku, name, category, quantity, unit_price, is_returnable, is_final_sale, rma: None })
}

/// Reads a time that is not before another one.
fn later(text: &str, zone: Tz, than: Option<DateTime<Utc>>) -> Result<DateTime<Utc>, String> {
    let at = moment(text, zone)?;
    // A day without a time means noon, so a moment of the same day may be later than now.
    if than.is_some_and(|than| at + TimeDelta::hours(24) < than) {
        return Err("it lies before the order or its shipping; correct one of the dates".to_owned());
    }
    Ok(at)
}

/// `2026-11-22T08:30:00Z`, or, in the shop's time zone, `2026-11-22 08:30`, `2026-11-22` and `22/11/2026`; a day
/// without a time is its noon.
fn moment(text: &str, zone: Tz) -> Result<DateTime<Utc>, String> {
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        // Databases store microseconds: a finer time would always differ from the stored one.
        return Ok(at.with_timezone(&Utc).trunc_subsecs(6));
    }
    let formats = ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%d/%m/%Y %H:%M"];
    let local = formats.iter().find_map(|format| NaiveDateTime::parse_from_str(text, format).ok());
    let local = match local {
        Some(local) => local,
        None => noon(parse_date(text).map_err(|error| error.to_string())?),
    };
    // A time that the clocks skip becomes one hour later.
    let at = zone.from_local_datetime(&local);
    let at = at.earliest().or_else(|| zone.from_local_datetime(&(local + TimeDelta::hours(1))).earliest());
    at.map(|at| at.with_timezone(&Utc)).ok_or_else(|| "there is no such time in the shop's time zone".to_owned())
}

fn amount(text: &str, currency: Currency) -> Result<Money, String> {
    Money::parse(text, currency).map_err(|error| error.to_string())
}

fn noon(day: NaiveDate) -> NaiveDateTime {
    day.and_time(NaiveTime::MIN) + TimeDelta::hours(12)
}

fn parse<T: std::str::FromStr<Err: ToString>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// The statuses that a list may set. Returns are known here, not in the list.
fn status(text: &str) -> Result<OrderStatus, String> {
    const LISTED: [OrderStatus; 3] = [OrderStatus::Pending, OrderStatus::Shipped, OrderStatus::Delivered];
    let found = OrderStatus::parse(text).filter(|status| LISTED.contains(status));
    one_of(found, &LISTED).map_err(|error| match OrderStatus::parse(text) {
        Some(_) => format!("{error}; returns are not listed, so list the order as Delivered"),
        None => error,
    })
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
