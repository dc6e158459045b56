//! The sample shop: orders that each show one rule of the returns desk, and more orders in every status.

use chrono::{DateTime, Days, NaiveTime, TimeZone, Utc};
use chrono_tz::Tz;
use serde::Deserialize;
use uuid::Uuid;

use crate::domain::TenantId;
use crate::domain::calendar::day_of;
use crate::domain::commerce::{Currency, Customer, CustomerId, ItemReturn, Money, Order, OrderItem, OrderStatus};
use crate::domain::identity::Email;
use crate::domain::returns::{
    Action, Label, Policy, ReasonCode, Rma, RmaId, RmaLine, RmaNumber, RmaStatus, Scope, TrackingNumber,
};
use crate::store::samples::SampleShop;

/// The orders. Each of the first ones shows one rule. The addresses are under a reserved domain (RFC 2606).
const ORDERS: &str = include_str!("orders.csv");

/// A line of the list: an item of an order.
#[derive(Deserialize)]
struct Line {
    order: String,
    line: u32,
    name: String,
    email: String,
    status: OrderStatus,
    /// How many days ago the order was delivered.
    days: u64,
    item: String,
    category: String,
    /// In minor units.
    price: i64,
    currency: Currency,
    quantity: u32,
    /// `vip`, `fraud` or `final_sale`, if the order shows that.
    shows: String,
    /// The status of the item's return, if it was returned.
    rma: Option<RmaStatus>,
    rma_days: Option<u64>,
    /// Makes the return's number and id unique.
    rma_letter: Option<u8>,
}

/// Creates the sample shop with dates relative to the day of `now` in the zone.
pub fn shop(tenant: &TenantId, now: DateTime<Utc>, zone: Tz) -> SampleShop {
    let maker = Maker { tenant, now, zone };
    let (mut orders, mut rmas) = (Vec::<Order>::new(), Vec::<Rma>::new());
    for line in csv::Reader::from_reader(ORDERS.as_bytes()).into_deserialize::<Line>().flatten() {
        if line.line == 1 {
            orders.extend(maker.order(&line));
        }
        let Some(order) = orders.last_mut() else { continue };
        let rma = maker.rma(order, &line);
        add_item(order, line, rma.as_ref());
        rmas.extend(rma);
    }
    SampleShop { policies: policies(), orders, rmas }
}

fn policies() -> Vec<Policy> {
    let policy = |name: &str, scope, return_days, refund_days| Policy {
        name: name.to_owned(),
        scope,
        return_days,
        refund_days: Some(refund_days),
    };
    let category = |name: &str| Scope::Category(name.to_owned());
    vec![
        policy("vip", Scope::Vip, 120, 14),
        policy("electronics", category("electronics"), 15, 7),
        policy("clothing", category("clothing"), 45, 14),
        policy("food", category("food"), 3, 3),
        policy("general", Scope::General, 30, 14),
    ]
}

struct Maker<'a> {
    tenant: &'a TenantId,
    now: DateTime<Utc>,
    zone: Tz,
}

impl Maker<'_> {
    /// Returns noon in the shop's time zone, `days` ago.
    fn days_ago(&self, days: u64) -> DateTime<Utc> {
        let day = day_of(self.now, self.zone) - Days::new(days);
        let noon = day.and_time(NaiveTime::MIN) + chrono::TimeDelta::hours(12);
        // Noon exists once in every zone and on every day.
        self.zone.from_local_datetime(&noon).earliest().map_or(self.now, |at| at.with_timezone(&Utc))
    }

    /// Creates the order of a line, without items.
    fn order(&self, line: &Line) -> Option<Order> {
        let email: Email = line.email.parse().ok()?;
        let customer = Customer {
            id: CustomerId::of(self.tenant, &email),
            name: line.name.clone(),
            email: email.clone(),
            phone: None,
            user_id: None,
            is_vip: line.shows == "vip",
            fraud_flag: line.shows == "fraud",
        };
        let is_sent = line.status != OrderStatus::Pending;
        let has_arrived = is_sent && line.status != OrderStatus::Shipped;
        let digits = line.order.bytes().filter(u8::is_ascii_digit);
        let digits: u64 = digits.fold(0, |sum, b| sum * 10 + u64::from(b - b'0'));
        Some(Order {
            number: line.order.parse().ok()?,
            email,
            phone: None,
            customer,
            status: line.status,
            ordered_at: self.days_ago(line.days + 4),
            shipped_at: is_sent.then(|| self.days_ago(line.days + 2)),
            delivered_at: has_arrived.then(|| self.days_ago(line.days)),
            tracking: is_sent.then(|| TrackingNumber::new(digits * 7_919).to_string()),
            paid: Money::new(0, line.currency),
            items: Vec::new(),
        })
    }

    /// Creates the return of a line's item.
    fn rma(&self, order: &Order, line: &Line) -> Option<Rma> {
        let (status, letter) = (line.rma?, line.rma_letter?);
        let (created_at, refund) = (self.days_ago(line.rma_days?), Money::new(line.price, line.currency));
        Some(Rma {
            id: RmaId(Uuid::from_u128(order.customer.id.0.as_u128() ^ u128::from(letter))),
            number: RmaNumber::new(created_at, [0, 0, 0, letter]),
            order: order.number.clone(),
            action: Action::Return,
            status,
            lines: vec![RmaLine { line: line.line, amount: refund }],
            refund,
            reason: "too small".to_owned(),
            reason_code: ReasonCode::Approved,
            escalated: false,
            escalation_reason: None,
            conversation: None,
            label: Some(Label { tracking: TrackingNumber::new(u64::from(letter) * 1_234_567_891), created_at }),
            created_at,
            updated_at: created_at,
        })
    }
}

fn add_item(order: &mut Order, line: Line, rma: Option<&Rma>) {
    order.paid.minor += line.price * i64::from(line.quantity);
    order.items.push(OrderItem {
        line: line.line,
        sku: None,
        name: line.item,
        category: Some(line.category),
        quantity: line.quantity,
        unit_price: Money::new(line.price, line.currency),
        is_returnable: true,
        is_final_sale: line.shows == "final_sale",
        rma: rma.map(|rma| ItemReturn { number: rma.number.clone(), status: rma.status, amount: rma.refund }),
    });
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::domain::calendar::days_between;

    fn at(now: &str) -> SampleShop {
        shop(&TenantId::default(), now.parse().unwrap(), chrono_tz::Asia::Ho_Chi_Minh)
    }

    #[test]
    fn sample_contains_every_documented_order() {
        let shop = at("2026-11-22T01:00:00Z");
        let customers: BTreeSet<_> = shop.orders.iter().map(|order| order.customer.id).collect();
        let states: BTreeSet<_> = shop.orders.iter().map(|order| order.status).collect();
        assert_eq!((customers.len(), states.len(), shop.policies.len()), (20, 5, 5));
        assert!(shop.orders.len() >= 50);
        assert!(shop.rmas.len() >= 3);
        let numbers: BTreeSet<_> = shop.orders.iter().map(|order| &order.number).collect();
        assert_eq!(numbers.len(), shop.orders.len());
        let order = |number: &str| shop.orders.iter().find(|order| order.number.as_str() == number).unwrap();
        let john = order("77893");
        let seen =
            (john.customer.name.as_str(), john.email.as_str(), john.items[0].name.as_str(), john.paid.to_string());
        assert_eq!(seen, ("John Doe", "john.doe@example.com", "Hiking Boots", "129.99 USD".to_owned()));
        let zone = chrono_tz::Asia::Ho_Chi_Minh;
        let delivered = |number: &str| {
            let today = day_of("2026-11-22T01:00:00Z".parse().unwrap(), zone);
            order(number).delivered_at.map(|at| days_between(day_of(at, zone), today))
        };
        let days = ["77893", "77894", "77895", "77899"].map(delivered);
        assert_eq!(days, [Some(15), Some(45), Some(100), None]);
        assert!(order("77895").customer.is_vip && order("77896").items[0].is_final_sale);
        assert!(order("77897").customer.fraud_flag);
        let two = order("77900");
        assert_eq!((two.items.len(), two.open_lines()), (2, vec![2]));
        for number in 77_894..=77_900 {
            assert_eq!(order(&number.to_string()).email.as_str(), format!("buyer-{number}@example.com"));
        }
    }

    #[test]
    fn another_day_changes_only_dates() {
        assert_eq!(at("2026-11-22T01:00:00Z"), at("2026-11-22T02:00:00Z"));
        let (today, tomorrow) = (at("2026-11-22T01:00:00Z"), at("2026-11-23T01:00:00Z"));
        for (one, other) in today.orders.iter().zip(&tomorrow.orders) {
            assert_eq!(other.ordered_at - one.ordered_at, chrono::TimeDelta::days(1));
            assert_eq!((&one.number, &one.customer, one.paid), (&other.number, &other.customer, other.paid));
        }
    }
}
