//! Reads one row of the list, field by field.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, SubsecRound, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

use super::{BadRow, Field, Row};
use crate::domain::TenantId;
use crate::domain::commerce::money::{Currency, Money};
use crate::domain::commerce::order::{Customer, CustomerId, Order, OrderItem, OrderStatus};
use crate::domain::commerce::order_number::OrderNumber;
use crate::domain::identity::contact::{Email, Phone};
use crate::domain::warranty::parse_date;

/// The longest name, in characters.
const MAX_NAME_LENGTH: usize = 500;

/// The fields of an order, without those of its items.
pub(super) struct OrderFields {
    pub order: Order,
    pub paid: Option<Money>,
    pub is_vip: Option<bool>,
    pub fraud_flag: Option<bool>,
}

/// Reads one row.
pub(super) struct Reader<'a> {
    pub row: &'a Row,
    pub zone: Tz,
}

/// Boxed, since most rows are good.
pub(super) type Read<T> = Result<T, Box<BadRow>>;

impl Reader<'_> {
    pub(super) fn order(&self, tenant: &TenantId) -> Read<OrderFields> {
        let parse_number = |text: &str| {
            text.parse().map_err(|error| {
                format!("{error}; an order number is 5 to 40 of A-Z, 0-9 and '-', with a digit among them")
            })
        };
        let number: OrderNumber = self.needed(Field::OrderNumber, parse_number)?;
        let email: Email = self.needed(Field::CustomerEmail, parse)?;
        let customer_name = self.needed(Field::CustomerName, name)?;
        let status = self.needed(Field::Status, status)?;
        let currency = self.needed(Field::Currency, |text| one_of(Currency::parse(text), Currency::ALL))?;
        let ordered_at = self.needed(Field::OrderedAt, |text| self.moment(text))?;
        let shipped_at = self.find(Field::ShippedAt, |text| self.later(text, ordered_at))?;
        let delivered_at = self.find(Field::DeliveredAt, |text| {
            if matches!(status, OrderStatus::Pending | OrderStatus::Shipped) {
                return Err(format!(
                    "an order that is {status} has not been delivered; fix the status or leave it empty"
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
            // A phone number on the order opens that order alone. On the customer it would open all of theirs.
            phone: None,
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
            // Set when the order's last row is read.
            paid: Money::zero(currency),
            items: Vec::new(),
        };
        Ok(OrderFields { order, paid, is_vip, fraud_flag })
    }

    /// Line 0 means that the row has no line number.
    pub(super) fn item(&self, currency: Currency) -> Read<OrderItem> {
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
        read(text).map(Some).map_err(|hint| self.bad(field, text, hint))
    }

    fn bad(&self, field: Field, value: &str, hint: String) -> Box<BadRow> {
        Box::new(BadRow { place: self.row.place, field, value: value.to_owned(), hint })
    }

    fn later(&self, text: &str, than: DateTime<Utc>) -> Result<DateTime<Utc>, String> {
        let at = self.moment(text)?;
        // A day without a time means noon, so a moment of the same day may be later than now.
        if at + TimeDelta::hours(24) < than {
            return Err("it lies before the order or its shipping; correct one of the dates".to_owned());
        }
        Ok(at)
    }

    /// `2026-11-22T08:30:00Z`, or, in the shop's time zone, `2026-11-22 08:30`, `2026-11-22` and `22/11/2026`; a day
    /// without a time is its noon.
    fn moment(&self, text: &str) -> Result<DateTime<Utc>, String> {
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
