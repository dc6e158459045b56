//! The sample shop: orders that each show one rule of the returns desk, and more orders in every status.

use chrono::{DateTime, Days, NaiveTime, TimeZone, Utc};
use chrono_tz::Tz;
use uuid::Uuid;

use crate::domain::TenantId;
use crate::domain::calendar::day_of;
use crate::domain::commerce::{Currency, Customer, CustomerId, ItemReturn, Money, Order, OrderItem, OrderStatus};
use crate::domain::identity::Email;
use crate::domain::returns::{
    Action, Label, Policy, ReasonCode, Rma, RmaId, RmaLine, RmaNumber, RmaStatus, Scope, TrackingNumber,
};
use crate::store::sample_shop::SampleShop;

/// A name and an e-mail address under a reserved domain (RFC 2606).
type Person = (&'static str, &'static str);

/// The customers of the orders 77893 to 77900.
const NAMED: [Person; 8] = [
    ("John Doe", "john.doe@example.com"),
    ("Ana Silva", "buyer-77894@example.com"),
    ("Trần Thu Hà", "buyer-77895@example.com"),
    ("Peter Novak", "buyer-77896@example.com"),
    ("Max Muster", "buyer-77897@example.com"),
    ("Lê Minh Quân", "buyer-77898@example.com"),
    ("Grace Kim", "buyer-77899@example.com"),
    ("Omar Haddad", "buyer-77900@example.com"),
];

/// The customers of the orders from ABC-100001 on.
const OTHERS: [Person; 12] = [
    ("Nguyễn Văn An", "an.nguyen@example.com"),
    ("Phạm Thị Mai", "mai.pham@example.com"),
    ("Julia Weber", "julia.weber@example.com"),
    ("Kenji Sato", "kenji.sato@example.com"),
    ("Marie Dubois", "marie.dubois@example.com"),
    ("Đỗ Quang Huy", "huy.do@example.com"),
    ("Sarah Miller", "sarah.miller@example.com"),
    ("Luca Rossi", "luca.rossi@example.com"),
    ("Võ Ngọc Lan", "lan.vo@example.com"),
    ("Emma Jones", "emma.jones@example.com"),
    ("Yuki Tanaka", "yuki.tanaka@example.com"),
    ("Bùi Anh Tuấn", "tuan.bui@example.com"),
];

/// The items of those orders, in turn: name, category, price in minor units, currency.
const GOODS: [(&str, &str, i64, Currency); 8] = [
    ("Trail Running Shoes", "shoes", 8_950, Currency::Usd),
    ("Rain Jacket", "clothing", 11_900, Currency::Eur),
    ("Tai nghe không dây", "electronics", 1_290_000, Currency::Vnd),
    ("Water Bottle", "outdoor", 1_850, Currency::Usd),
    ("Energy Bars, box of 12", "food", 2_400, Currency::Usd),
    ("キャンプ用ランタン", "outdoor", 4_800, Currency::Jpy),
    ("Áo khoác gió", "clothing", 450_000, Currency::Vnd),
    ("Headlamp", "electronics", 3_995, Currency::Eur),
];

/// The number of orders from ABC-100001 on.
const OTHER_ORDERS: u32 = 44;

/// Creates the sample shop with dates relative to the day of `now` in the zone.
pub fn shop(tenant: &TenantId, now: DateTime<Utc>, zone: Tz) -> SampleShop {
    let maker = Maker { tenant, now, zone };
    let mut orders = maker.named_orders();
    orders.extend(maker.orders_of_the_frequent_returner());
    orders.extend((0..OTHER_ORDERS).filter_map(|index| maker.other_order(index)));
    let rmas = maker.returned(&mut orders);
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

    fn customer(&self, (name, address): Person) -> Option<Customer> {
        let email: Email = address.parse().ok()?;
        Some(Customer {
            id: CustomerId::of(self.tenant, &email),
            name: name.to_owned(),
            email,
            phone: None,
            user_id: None,
            is_vip: false,
            fraud_flag: false,
        })
    }

    /// Creates an order of one item. `days` is how long ago it was delivered.
    fn order(&self, number: &str, person: Person, status: OrderStatus, days: u64, item: OrderItem) -> Option<Order> {
        let customer = self.customer(person)?;
        let is_sent = status != OrderStatus::Pending;
        let has_arrived = is_sent && status != OrderStatus::Shipped;
        let digits: u64 = number.bytes().filter(u8::is_ascii_digit).fold(0, |sum, b| sum * 10 + u64::from(b - b'0'));
        Some(Order {
            number: number.parse().ok()?,
            email: customer.email.clone(),
            phone: None,
            customer,
            status,
            ordered_at: self.days_ago(days + 4),
            shipped_at: is_sent.then(|| self.days_ago(days + 2)),
            delivered_at: has_arrived.then(|| self.days_ago(days)),
            tracking: is_sent.then(|| TrackingNumber::new(digits * 7_919).to_string()),
            paid: item.unit_price.times(item.quantity).ok()?,
            items: vec![item],
        })
    }

    /// Creates the orders 77893 to 77900, each of which shows one rule.
    fn named_orders(&self) -> Vec<Order> {
        use OrderStatus::{Delivered, ReturnInitiated, Shipped};
        let boots = || item(1, "Hiking Boots", "shoes", 12_999, Currency::Usd);
        let [john, late, vip, sale, fraud, frequent, shipped, two] = NAMED;
        let mut orders = Vec::new();
        let mut add = |number: &str, person, status, days, change: &dyn Fn(&mut Order)| {
            let order = self.order(number, person, status, days, boots());
            orders.extend(order.map(|mut order| {
                change(&mut order);
                order
            }));
        };
        add("77893", john, Delivered, 15, &|_| {});
        add("77894", late, Delivered, 45, &|_| {});
        add("77895", vip, Delivered, 100, &|order| order.customer.is_vip = true);
        add("77896", sale, Delivered, 5, &|order| order.items[0].is_final_sale = true);
        add("77897", fraud, Delivered, 5, &|order| order.customer.fraud_flag = true);
        add("77898", frequent, Delivered, 5, &|_| {});
        add("77899", shipped, Shipped, 0, &|_| {});
        add("77900", two, ReturnInitiated, 10, &|order| {
            let poles = item(2, "Trekking Poles", "outdoor", 5_900, Currency::Usd);
            order.paid.minor += poles.unit_price.minor;
            order.items.push(poles);
        });
        orders
    }

    /// Creates the recent returns of the customer of 77898.
    fn orders_of_the_frequent_returner(&self) -> Vec<Order> {
        let frequent = NAMED[5];
        let socks = || item(1, "Wool Socks", "clothing", 1_990, Currency::Usd);
        [
            ("77911", OrderStatus::Returned, 28),
            ("77912", OrderStatus::ReturnInitiated, 20),
            ("77913", OrderStatus::ReturnInitiated, 12),
        ]
        .into_iter()
        .filter_map(|(number, status, days)| self.order(number, frequent, status, days, socks()))
        .collect()
    }

    fn other_order(&self, index: u32) -> Option<Order> {
        let at = index as usize;
        let (name, category, price, currency) = GOODS[at % GOODS.len()];
        let status = match index % 4 {
            0 => OrderStatus::Pending,
            1 => OrderStatus::Shipped,
            _ => OrderStatus::Delivered,
        };
        let bought = OrderItem { quantity: 1 + index % 3, ..item(1, name, category, price, currency) };
        let days = if status == OrderStatus::Delivered { u64::from(index) * 2 } else { u64::from(index % 3) };
        let number = format!("ABC-{}", 100_001 + index);
        self.order(&number, OTHERS[at % OTHERS.len()], status, days, bought)
    }

    /// Creates the RMAs of returned orders and links their items to them.
    fn returned(&self, orders: &mut [Order]) -> Vec<Rma> {
        use RmaStatus::{LabelSent, Received, Refunded};
        let made = [
            ("77911", Refunded, 24, 1),
            ("77912", Received, 16, 2),
            ("77913", LabelSent, 2, 3),
            ("77900", Refunded, 8, 4),
        ];
        let mut rmas = Vec::new();
        for (number, status, days, letter) in made {
            let Some(order) = orders.iter_mut().find(|order| order.number.as_str() == number) else { continue };
            let created_at = self.days_ago(days);
            let Some(item) = order.items.first_mut() else { continue };
            let number = RmaNumber::new(created_at, [0, 0, 0, letter]);
            item.rma = Some(ItemReturn { number: number.clone(), status, amount: item.unit_price });
            let id = CustomerId::of(self.tenant, &order.customer.email).0;
            rmas.push(Rma {
                // The letter makes the id unique per customer.
                id: RmaId(Uuid::from_u128(id.as_u128() ^ u128::from(letter))),
                number,
                order: order.number.clone(),
                action: Action::Return,
                status,
                lines: vec![RmaLine { line: 1, amount: item.unit_price }],
                refund: item.unit_price,
                reason: "too small".to_owned(),
                reason_code: ReasonCode::Approved,
                escalated: false,
                escalation_reason: None,
                conversation: None,
                label: Some(Label { tracking: TrackingNumber::new(u64::from(letter) * 1_234_567_891), created_at }),
                created_at,
                updated_at: created_at,
            });
        }
        rmas
    }
}

fn item(line: u32, name: &str, category: &str, price: i64, currency: Currency) -> OrderItem {
    OrderItem {
        line,
        sku: None,
        name: name.to_owned(),
        category: Some(category.to_owned()),
        quantity: 1,
        unit_price: Money::new(price, currency),
        is_returnable: true,
        is_final_sale: false,
        rma: None,
    }
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
