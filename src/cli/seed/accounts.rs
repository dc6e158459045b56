//! The sample telecom accounts: two customers, three plans and their invoices.

use chrono::NaiveDate;

use crate::domain::commerce::{Currency, Money};
use crate::domain::telecom::{Invoice, InvoiceNumber, Plan, Subscription, SubscriptionStatus};
use crate::store::samples::SampleAccounts;

/// Year, month and day.
type Day = (i32, u32, u32);

/// Code, name, and monthly price in grosze.
const PLANS: [(&str, &str, i64); 3] = [("S", "S 50 GB", 3_500), ("M", "M 100 GB", 4_500), ("L", "L Unlimited", 6_500)];
/// User id, plan, and first day.
const SUBSCRIPTIONS: [(&str, &str, Day); 2] = [("u123", "M", (2025, 8, 15)), ("u456", "L", (2025, 6, 1))];
/// Number, user id, amount in grosze, and day.
const INVOICES: [(&str, &str, i64, Day); 3] = [
    ("INV-20251001", "u123", 14_500, (2025, 10, 1)),
    ("INV-12345", "u123", 14_500, (2025, 11, 1)),
    ("INV-45601", "u456", 6_500, (2025, 11, 1)),
];

/// Returns the sample accounts, which are the same on every machine.
pub fn accounts() -> SampleAccounts {
    let plans: Vec<Plan> = PLANS
        .iter()
        .map(|(code, name, price)| Plan {
            code: (*code).to_owned(),
            name: (*name).to_owned(),
            price_monthly: grosze(*price),
        })
        .collect();
    let subscriptions = SUBSCRIPTIONS.iter().filter_map(|(user, code, start)| {
        let plan = plans.iter().find(|plan| plan.code == *code)?.clone();
        Some(Subscription {
            user_id: (*user).to_owned(),
            plan,
            status: SubscriptionStatus::Active,
            start_date: day(*start),
        })
    });
    let subscriptions = subscriptions.collect();
    let invoices = INVOICES.iter().filter_map(|(number, user, amount, issued_on)| {
        let number: InvoiceNumber = number.parse().ok()?;
        Some(Invoice { number, user_id: (*user).to_owned(), amount: grosze(*amount), issued_on: day(*issued_on) })
    });
    SampleAccounts { subscriptions, invoices: invoices.collect(), plans }
}

fn grosze(minor: i64) -> Money {
    Money::new(minor, Currency::Pln)
}

fn day((year, month, day): Day) -> NaiveDate {
    NaiveDate::from_ymd_opt(year, month, day).unwrap_or_default()
}
