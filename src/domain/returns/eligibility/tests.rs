use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use proptest::prelude::*;

use super::super::damage::tests::shop_words;
use super::super::policy::Scope;
use super::super::rma::RmaStatus;
use super::*;
use crate::domain::commerce::money::{Currency, Money};
use crate::domain::commerce::order::{Customer, CustomerId, ItemReturn, Order, OrderItem, OrderStatus};
use crate::domain::identity::Email;

mod conflicts;
mod properties;

/// All that a decision depends on.
#[derive(Clone)]
struct Case {
    order: Option<Order>,
    lines: Vec<u32>,
    reason: String,
    damage_reported: bool,
    history: History,
    policies: Vec<Policy>,
    only_these_policies: bool,
    zone: Tz,
    today: NaiveDate,
}

fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

pub fn item(line: u32) -> OrderItem {
    OrderItem {
        line,
        sku: None,
        name: "Hiking Boots".to_owned(),
        category: Some("shoes".to_owned()),
        quantity: 1,
        unit_price: Money::new(12_999, Currency::Usd),
        is_returnable: true,
        is_final_sale: false,
        rma: None,
    }
}

/// Boots that were delivered ten days before 22 November 2026, to a customer without any history.
pub fn delivered_order() -> Order {
    let email: Email = "john.doe@example.com".parse().unwrap();
    let customer = Customer {
        id: CustomerId::of(&"default".parse().unwrap(), &email),
        name: "John Doe".to_owned(),
        email: email.clone(),
        phone: None,
        user_id: None,
        is_vip: false,
        fraud_flag: false,
    };
    Order {
        number: "77893".parse().unwrap(),
        customer,
        email,
        phone: None,
        status: OrderStatus::Delivered,
        ordered_at: at("2026-11-09T05:00:00Z"),
        shipped_at: None,
        delivered_at: Some(at("2026-11-12T05:00:00Z")),
        tracking: None,
        paid: Money::new(12_999, Currency::Usd),
        items: vec![item(1)],
    }
}

impl Case {
    /// A customer who has sent nothing back so far wants to return the boots after ten days.
    fn new() -> Self {
        Self {
            order: Some(delivered_order()),
            lines: vec![1],
            reason: "too small".to_owned(),
            damage_reported: false,
            history: History::default(),
            policies: Vec::new(),
            only_these_policies: false,
            zone: chrono_tz::Asia::Ho_Chi_Minh,
            today: day("2026-11-22"),
        }
    }

    fn order(&mut self) -> &mut Order {
        self.order.as_mut().unwrap()
    }

    fn item(&mut self) -> &mut OrderItem {
        &mut self.order().items[0]
    }

    /// Delivered at noon of that many days before today, and ordered three days earlier.
    fn delivered(&mut self, days_ago: i64) {
        let noon = self.today.and_hms_opt(5, 0, 0).unwrap().and_utc();
        self.order().delivered_at = Some(noon - TimeDelta::days(days_ago));
        self.order().ordered_at = noon - TimeDelta::days(days_ago + 3);
    }

    fn policy(&mut self, scope: Scope, return_days: u32, refund_days: Option<u32>) {
        let name = format!("{scope:?}").to_lowercase();
        self.policies.push(Policy { name, scope, return_days, refund_days });
    }

    fn vip(&mut self, days_ago: i64) {
        self.policy(Scope::Vip, 120, None);
        self.order().customer.is_vip = true;
        self.delivered(days_ago);
    }

    fn in_rma(&mut self, line: u32, status: RmaStatus) {
        let number = "RMA-1701234567-ABCD".parse().unwrap();
        let item = self.order().items.iter_mut().find(|item| item.line == line).unwrap();
        item.rma = Some(ItemReturn { number, status, amount: item.unit_price });
    }

    fn reviewed(&mut self, line: u32, review: Review) {
        self.history.reviews.insert(line, review);
    }

    fn returned_days_ago(&mut self, days: &[i64]) {
        self.history.returns = days.iter().map(|days| self.today - TimeDelta::days(*days)).collect();
    }

    fn decide(&self) -> Decision {
        let windows = Windows::default();
        let policies = match self.only_these_policies {
            true => Policies::exactly(self.policies.clone(), windows.refund_days),
            false => Policies::new(self.policies.clone(), windows),
        };
        let (frequency, damage_reported, time_zone) = (Frequency::default(), self.damage_reported, self.zone);
        let terms = Terms { windows, frequency, damage: shop_words(), damage_reported, time_zone };
        let rules = Rules { policies, terms };
        decide(self.order.as_ref(), &self.lines, &self.reason, &self.history, &rules, self.today)
    }
}

/// What a case changes, what decides, and whether a return and a refund are open.
type Row = (&'static str, fn(&mut Case), Cause, (bool, bool));

const BOTH: (bool, bool) = (true, true);
const RETURN: (bool, bool) = (true, false);
const REFUND: (bool, bool) = (false, true);
const NONE: (bool, bool) = (false, false);

#[rustfmt::skip]
const TABLE: &[Row] = &[
    ("nothing in the way", |_| {}, Cause::Approved, BOTH),
    // The two windows, to the day.
    ("delivered today", |c| c.delivered(0), Cause::Approved, BOTH),
    ("delivered 13 days ago", |c| c.delivered(13), Cause::Approved, BOTH),
    ("delivered 14 days ago", |c| c.delivered(14), Cause::Approved, BOTH),
    ("delivered 15 days ago", |c| c.delivered(15), Cause::Approved, RETURN),
    ("delivered 29 days ago", |c| c.delivered(29), Cause::Approved, RETURN),
    ("delivered 30 days ago", |c| c.delivered(30), Cause::Approved, RETURN),
    ("delivered 31 days ago", |c| c.delivered(31), Cause::WindowOver, NONE),
    ("delivered 45 days ago", |c| c.delivered(45), Cause::WindowOver, NONE),
    ("delivered ten years ago", |c| c.delivered(3_650), Cause::WindowOver, NONE),
    // VIP customers.
    ("a VIP, 14 days", |c| c.vip(14), Cause::Approved, BOTH),
    ("a VIP, 15 days", |c| c.vip(15), Cause::Approved, RETURN),
    ("a VIP, 31 days", |c| c.vip(31), Cause::Approved, RETURN),
    ("a VIP, 119 days", |c| c.vip(119), Cause::Approved, RETURN),
    ("a VIP, 120 days", |c| c.vip(120), Cause::Approved, RETURN),
    ("a VIP, 121 days", |c| c.vip(121), Cause::WindowOver, NONE),
    ("a VIP where the shop has no policy for them", |c| { c.order().customer.is_vip = true; c.delivered(31) }, Cause::WindowOver, NONE),
    ("a VIP policy and another customer", |c| { c.policy(Scope::Vip, 120, None); c.delivered(31) }, Cause::WindowOver, NONE),
    ("a VIP before a shorter category", |c| { c.policy(Scope::Category("shoes".into()), 7, None); c.vip(100) }, Cause::Approved, RETURN),
    ("a VIP policy with a refund window", |c| { c.policy(Scope::Vip, 120, Some(60)); c.order().customer.is_vip = true; c.delivered(60) }, Cause::Approved, BOTH),
    ("a VIP policy's refund window is over", |c| { c.policy(Scope::Vip, 120, Some(60)); c.order().customer.is_vip = true; c.delivered(61) }, Cause::Approved, RETURN),
    // Categories.
    ("a short category, last day", |c| { c.policy(Scope::Category("shoes".into()), 7, Some(3)); c.delivered(7) }, Cause::Approved, RETURN),
    ("a short category, a day later", |c| { c.policy(Scope::Category("shoes".into()), 7, Some(3)); c.delivered(8) }, Cause::WindowOver, NONE),
    ("a long category", |c| { c.policy(Scope::Category("shoes".into()), 60, None); c.delivered(60) }, Cause::Approved, RETURN),
    ("a long category, a day later", |c| { c.policy(Scope::Category("shoes".into()), 60, None); c.delivered(61) }, Cause::WindowOver, NONE),
    ("a category in other letters", |c| { c.policy(Scope::Category("Shoes ".into()), 60, None); c.delivered(60) }, Cause::Approved, RETURN),
    ("another category", |c| { c.policy(Scope::Category("books".into()), 60, None); c.delivered(60) }, Cause::WindowOver, NONE),
    ("an item without a category", |c| { c.policy(Scope::Category("shoes".into()), 60, None); c.item().category = None; c.delivered(60) }, Cause::WindowOver, NONE),
    ("a refund that outlasts the return", |c| { c.policy(Scope::Category("shoes".into()), 7, Some(20)); c.delivered(10) }, Cause::Approved, REFUND),
    ("a refund that outlasts the return, over too", |c| { c.policy(Scope::Category("shoes".into()), 7, Some(20)); c.delivered(21) }, Cause::WindowOver, NONE),
    ("a category of no days, on the day", |c| { c.policy(Scope::Category("shoes".into()), 0, Some(0)); c.delivered(0) }, Cause::Approved, BOTH),
    ("a category of no days, a day later", |c| { c.policy(Scope::Category("shoes".into()), 0, Some(0)); c.delivered(1) }, Cause::WindowOver, NONE),
    ("a general policy of the shop", |c| { c.policy(Scope::General, 90, Some(45)); c.delivered(45) }, Cause::Approved, BOTH),
    ("no policy at all", |c| c.only_these_policies = true, Cause::NoPolicy, NONE),
    ("policies for others alone", |c| { c.policy(Scope::Category("books".into()), 60, None); c.only_these_policies = true }, Cause::NoPolicy, NONE),
    // Two items.
    ("two items", |c| { c.order().items.push(item(2)); c.lines = vec![1, 2] }, Cause::Approved, BOTH),
    ("two items, the shorter window holds", |c| { c.policy(Scope::Category("food".into()), 7, Some(3)); c.order().items.push(OrderItem { category: Some("food".into()), ..item(2) }); c.lines = vec![1, 2]; c.delivered(8) }, Cause::WindowOver, NONE),
    ("the longer one alone", |c| { c.policy(Scope::Category("food".into()), 7, Some(3)); c.order().items.push(OrderItem { category: Some("food".into()), ..item(2) }); c.delivered(8) }, Cause::Approved, BOTH),
    ("one of two is in an RMA, the other is asked for", |c| { c.order().items.push(item(2)); c.in_rma(2, RmaStatus::Received); c.order().status = OrderStatus::ReturnInitiated }, Cause::Approved, BOTH),
    ("one of two is in an RMA, both are asked for", |c| { c.order().items.push(item(2)); c.in_rma(2, RmaStatus::Received); c.order().status = OrderStatus::ReturnInitiated; c.lines = vec![1, 2] }, Cause::AlreadyInRma, NONE),
    ("one of two is a final sale, both are asked for", |c| { c.order().items.push(OrderItem { is_final_sale: true, ..item(2) }); c.lines = vec![1, 2] }, Cause::FinalSale, NONE),
    // Steps 1 and 3.
    ("no such order", |c| c.order = None, Cause::OrderNotFound, NONE),
    ("no items", |c| c.lines = vec![], Cause::ItemsUnknown, NONE),
    ("an item that the order has not", |c| c.lines = vec![2], Cause::ItemsUnknown, NONE),
    ("one of two that the order has not", |c| c.lines = vec![1, 2], Cause::ItemsUnknown, NONE),
    ("an item twice", |c| c.lines = vec![1, 1], Cause::Approved, BOTH),
    // The order's own state.
    ("in the shop", |c| c.order().status = OrderStatus::Pending, Cause::NotShipped, NONE),
    ("on its way", |c| c.order().status = OrderStatus::Shipped, Cause::NotDelivered, NONE),
    ("all of it came back", |c| c.order().status = OrderStatus::Returned, Cause::AlreadyInRma, NONE),
    ("a return was begun, by another item", |c| c.order().status = OrderStatus::ReturnInitiated, Cause::Approved, BOTH),
    ("delivered tomorrow", |c| c.delivered(-1), Cause::DateInFuture, NONE),
    ("ordered tomorrow", |c| { c.order().delivered_at = None; c.order().ordered_at = at("2026-11-23T05:00:00Z") }, Cause::DateInFuture, NONE),
    ("no day of delivery, ordered 14 days ago", |c| { c.delivered(11); c.order().delivered_at = None }, Cause::Approved, BOTH),
    ("no day of delivery, ordered 15 days ago", |c| { c.delivered(12); c.order().delivered_at = None }, Cause::Approved, RETURN),
    ("no day of delivery, ordered 30 days ago", |c| { c.delivered(27); c.order().delivered_at = None }, Cause::Approved, RETURN),
    ("no day of delivery, ordered 31 days ago", |c| { c.delivered(28); c.order().delivered_at = None }, Cause::WindowOver, NONE),
    ("ordered 33 days ago, delivered 30 days ago", |c| c.delivered(30), Cause::Approved, RETURN),
    // Items in RMAs.
    ("in an RMA that was begun", |c| c.in_rma(1, RmaStatus::Initiated), Cause::AlreadyInRma, NONE),
    ("in an RMA that is paid back", |c| c.in_rma(1, RmaStatus::Refunded), Cause::AlreadyInRma, NONE),
    ("in an RMA that is approved", |c| c.in_rma(1, RmaStatus::Approved), Cause::AlreadyInRma, NONE),
    ("in an RMA that was rejected", |c| c.in_rma(1, RmaStatus::Rejected), Cause::Approved, BOTH),
    ("in a rejected RMA that was processed", |c| c.in_rma(1, RmaStatus::Processed), Cause::Approved, BOTH),
    // Step 4.
    ("damaged", |c| c.reason = "it came damaged".into(), Cause::Damaged, NONE),
    ("defective", |c| c.reason = "the zipper is DEFECTIVE".into(), Cause::Damaged, NONE),
    ("shattered", |c| c.reason = "Actually, the boots are shattered.".into(), Cause::Damaged, NONE),
    ("torn, in Vietnamese", |c| c.reason = "giày bị rách".into(), Cause::Damaged, NONE),
    ("broken, without marks", |c| c.reason = "hang bi hu hong".into(), Cause::Damaged, NONE),
    ("not damaged", |c| c.reason = "too small, not damaged".into(), Cause::Approved, BOTH),
    ("damage known to the caller", |c| c.damage_reported = true, Cause::Damaged, NONE),
    ("approved, damage known to the caller", |c| { c.reviewed(1, Review::Approved); c.damage_reported = true }, Cause::Approved, BOTH),
    ("no reason", |c| c.reason = String::new(), Cause::Approved, BOTH),
    // Steps 5 and 6.
    ("the fraud flag", |c| c.order().customer.fraud_flag = true, Cause::FraudFlag, NONE),
    ("a VIP with the fraud flag", |c| { c.vip(1); c.order().customer.fraud_flag = true }, Cause::FraudFlag, NONE),
    ("two returns in 30 days", |c| c.returned_days_ago(&[1, 2]), Cause::Approved, BOTH),
    ("three returns in 30 days", |c| c.returned_days_ago(&[1, 2, 3]), Cause::ReturnsTooFrequent, NONE),
    ("three returns today", |c| c.returned_days_ago(&[0, 0, 0]), Cause::ReturnsTooFrequent, NONE),
    ("the third one 30 days ago", |c| c.returned_days_ago(&[1, 2, 30]), Cause::ReturnsTooFrequent, NONE),
    ("the third one 31 days ago", |c| c.returned_days_ago(&[1, 2, 31]), Cause::Approved, BOTH),
    ("four returns", |c| c.returned_days_ago(&[1, 2, 3, 4]), Cause::ReturnsTooFrequent, NONE),
    // What a person decided, before steps 4 to 6.
    ("approved, damaged", |c| { c.reviewed(1, Review::Approved); c.reason = "they came shattered".into() }, Cause::Approved, BOTH),
    ("approved, suspected of fraud", |c| { c.reviewed(1, Review::Approved); c.order().customer.fraud_flag = true }, Cause::Approved, BOTH),
    ("approved, three returns", |c| { c.reviewed(1, Review::Approved); c.returned_days_ago(&[1, 2, 3]) }, Cause::Approved, BOTH),
    ("approved, in a return already", |c| { c.reviewed(1, Review::Approved); c.in_rma(1, RmaStatus::Initiated) }, Cause::AlreadyInRma, NONE),
    ("approved, a final sale", |c| { c.reviewed(1, Review::Approved); c.item().is_final_sale = true }, Cause::FinalSale, NONE),
    ("approved, too late", |c| { c.reviewed(1, Review::Approved); c.delivered(400) }, Cause::WindowOver, NONE),
    ("another line approved", |c| { c.reviewed(2, Review::Approved); c.order().customer.fraud_flag = true }, Cause::FraudFlag, NONE),
    ("one of two lines approved", |c| { c.order().items.push(item(2)); c.lines = vec![1, 2]; c.reviewed(1, Review::Approved); c.order().customer.fraud_flag = true }, Cause::FraudFlag, NONE),
    ("rejected", |c| c.reviewed(1, Review::Rejected), Cause::Rejected, NONE),
    ("another line rejected", |c| c.reviewed(2, Review::Rejected), Cause::Approved, BOTH),
    // Step 7.
    ("a final sale", |c| c.item().is_final_sale = true, Cause::FinalSale, NONE),
    ("never returnable", |c| c.item().is_returnable = false, Cause::NotReturnable, NONE),
    ("a VIP's final sale", |c| { c.vip(1); c.item().is_final_sale = true }, Cause::FinalSale, NONE),
    // Days, by the shop's calendar: Vietnam is seven hours ahead of UTC.
    ("delivered at 23:59 of the 31st day", |c| c.order().delivered_at = Some(at("2026-10-22T16:59:59Z")), Cause::WindowOver, NONE),
    ("delivered at 23:59 of the 30th day", |c| c.order().delivered_at = Some(at("2026-10-23T16:59:59Z")), Cause::Approved, RETURN),
    ("delivered at midnight of the 30th day", |c| c.order().delivered_at = Some(at("2026-10-22T17:00:00Z")), Cause::Approved, RETURN),
    ("ordered at 23:59, no day of delivery, 31st day", |c| { c.order().delivered_at = None; c.order().ordered_at = at("2026-10-22T16:59:00Z") }, Cause::WindowOver, NONE),
    ("ordered at 23:59, no day of delivery, 30th day", |c| { c.order().delivered_at = None; c.order().ordered_at = at("2026-10-23T16:59:00Z") }, Cause::Approved, RETURN),
    ("the same moment in UTC is another day", |c| { c.zone = chrono_tz::UTC; c.order().delivered_at = Some(at("2026-10-22T17:00:00Z")) }, Cause::WindowOver, NONE),
    ("a leap day within the window, 30 days", |c| { c.today = day("2028-03-15"); c.order().ordered_at = at("2028-02-10T05:00:00Z"); c.order().delivered_at = Some(at("2028-02-14T05:00:00Z")) }, Cause::Approved, RETURN),
    ("a leap day within the window, 31 days", |c| { c.today = day("2028-03-16"); c.order().ordered_at = at("2028-02-10T05:00:00Z"); c.order().delivered_at = Some(at("2028-02-14T05:00:00Z")) }, Cause::WindowOver, NONE),
    ("delivered on a leap day, 30 days", |c| { c.today = day("2028-03-30"); c.order().ordered_at = at("2028-02-20T05:00:00Z"); c.order().delivered_at = Some(at("2028-02-29T05:00:00Z")) }, Cause::Approved, RETURN),
    ("delivered on a leap day, 31 days", |c| { c.today = day("2028-03-31"); c.order().ordered_at = at("2028-02-20T05:00:00Z"); c.order().delivered_at = Some(at("2028-02-29T05:00:00Z")) }, Cause::WindowOver, NONE),
    ("the same days in a common year, 30 days", |c| { c.today = day("2027-03-16"); c.order().ordered_at = at("2027-02-10T05:00:00Z"); c.order().delivered_at = Some(at("2027-02-14T05:00:00Z")) }, Cause::Approved, RETURN),
    ("clocks go forward within the window, 30 days", |c| { c.zone = chrono_tz::America::New_York; c.today = day("2026-03-31"); c.order().ordered_at = at("2026-02-25T05:30:00Z"); c.order().delivered_at = Some(at("2026-03-01T05:30:00Z")) }, Cause::Approved, RETURN),
    ("clocks go forward within the window, 31 days", |c| { c.zone = chrono_tz::America::New_York; c.today = day("2026-03-31"); c.order().ordered_at = at("2026-02-25T05:30:00Z"); c.order().delivered_at = Some(at("2026-03-01T04:30:00Z")) }, Cause::WindowOver, NONE),
    ("clocks go back within the window, 30 days", |c| { c.zone = chrono_tz::America::New_York; c.today = day("2026-11-22"); c.order().ordered_at = at("2026-10-20T03:30:00Z"); c.order().delivered_at = Some(at("2026-10-24T03:30:00Z")) }, Cause::Approved, RETURN),
    ("clocks go back within the window, 31 days", |c| { c.zone = chrono_tz::America::New_York; c.today = day("2026-11-22"); c.order().ordered_at = at("2026-10-20T03:30:00Z"); c.order().delivered_at = Some(at("2026-10-23T03:30:00Z")) }, Cause::WindowOver, NONE),
    ("over the turn of a year, 30 days", |c| { c.today = day("2027-01-14"); c.order().ordered_at = at("2026-12-10T05:00:00Z"); c.order().delivered_at = Some(at("2026-12-15T05:00:00Z")) }, Cause::Approved, RETURN),
];

#[test]
fn every_eligibility_case_is_decided_as_listed() {
    assert!(TABLE.len() >= 60, "{}", TABLE.len());
    let mut wrong = Vec::new();
    for (name, change, cause, open) in TABLE {
        let mut case = Case::new();
        change(&mut case);
        let decision = case.decide();
        let found = (decision.cause, (decision.is_return_eligible, decision.is_refund_eligible));
        if found != (*cause, *open) {
            wrong.push(format!("{name}: {found:?}"));
        }
        assert_eq!(decision.reason_code, cause.code(), "{name}");
        assert_eq!(decision.eligible, open.0 || open.1, "{name}");
        assert_eq!(decision.eligible, decision.reason_code == ReasonCode::Approved, "{name}");
        let manual = [ReasonCode::DamagedManual, ReasonCode::RiskManual].contains(&decision.reason_code);
        assert_eq!(decision.requires_manual_review, manual, "{name}");
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn refusal_names_its_items() {
    let two = |change: fn(&mut Case)| {
        let mut case = Case::new();
        case.order().items.push(item(2));
        case.lines = vec![1, 2];
        change(&mut case);
        case.decide().refused_lines
    };
    assert_eq!(two(|_| {}), [0; 0]);
    assert_eq!(two(|c| c.in_rma(2, RmaStatus::Received)), [2]);
    assert_eq!(two(|c| c.reviewed(2, Review::Rejected)), [2]);
    assert_eq!(two(|c| c.order().items[1].is_final_sale = true), [2]);
    assert_eq!(two(|c| c.order().items[1].is_returnable = false), [2]);
    assert_eq!(two(|c| c.lines = vec![1, 2, 3]), [3]);
    let expired = |c: &mut Case| {
        c.policy(Scope::Category("food".into()), 7, Some(3));
        c.order().items[1].category = Some("food".into());
        c.delivered(8);
    };
    assert_eq!(two(expired), [2]);
}

#[test]
fn approval_names_its_rule_and_day() {
    let mut case = Case::new();
    case.policy(Scope::Category("shoes".into()), 20, None);
    let decision = case.decide();
    let said = (decision.policy_applied.as_deref(), decision.cutoff_days, decision.refund_cutoff_days);
    assert_eq!(said, (Some("category(\"shoes\")"), Some(20), Some(14)));
    let days = (decision.days_since_order, decision.computed_days_since_delivery, decision.counted_from);
    assert_eq!(days, (Some(13), Some(10), Some(CountedFrom::Delivery)));
    case.order().delivered_at = None;
    let decision = case.decide();
    let days = (decision.days_since_order, decision.computed_days_since_delivery, decision.counted_from);
    assert_eq!(days, (Some(13), Some(13), Some(CountedFrom::Order)));
    case.order().status = OrderStatus::Shipped;
    assert_eq!(case.decide().computed_days_since_delivery, None);
}

#[test]
fn metadata_has_every_field_of_the_contract() {
    let metadata = Case::new().decide().to_metadata("Good news.");
    let fields: Vec<&str> = metadata.as_object().unwrap().keys().map(String::as_str).collect();
    for field in [
        "eligible",
        "reason_code",
        "policy_applied",
        "message",
        "days_since_order",
        "requires_manual_review",
        "is_return_eligible",
        "is_refund_eligible",
        "reason",
        "policy_version",
        "cutoff_days",
        "computed_days_since_delivery",
    ] {
        assert!(fields.contains(&field), "{field}");
    }
    assert_eq!((&metadata["reason_code"], &metadata["message"]), (&json!("APPROVED"), &json!("Good news.")));
}

#[test]
fn risk_reasons_are_in_the_record_only() {
    for cause in [Cause::FraudFlag, Cause::ReturnsTooFrequent] {
        let decision = Decision { cause, ..Case::new().decide() };
        assert_eq!(decision.to_metadata("")["reason"], "under_review");
        assert_eq!(decision.to_record()["reason"], cause.as_str());
    }
    assert_eq!(Decision { cause: Cause::Damaged, ..Case::new().decide() }.to_metadata("")["reason"], "damaged");
}
