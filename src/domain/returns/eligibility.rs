//! Decides whether goods may come back, in nine steps and without a model. The rules are described in `docs/desks/returns.md`.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::damage::DamageWords;
use super::policy::{Policies, Policy, Windows};
use crate::domain::calendar::{day_of, days_between};
use crate::domain::commerce::order::{Order, OrderItem, OrderStatus};

mod cause;
#[cfg(test)]
pub(super) mod tests;

pub use cause::{Cause, ReasonCode};

/// How many returns in how many days need a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frequency {
    /// `RETURN_REVIEW_COUNT`
    pub count: usize,
    /// `RETURN_REVIEW_DAYS`
    pub days: u32,
}

impl Default for Frequency {
    fn default() -> Self {
        Self { count: 3, days: 30 }
    }
}

/// A shop's settings for returns.
#[derive(Clone, Debug)]
pub struct Terms {
    pub windows: Windows,
    pub frequency: Frequency,
    pub damage: DamageWords,
    /// The caller knows of damage, whatever the reason for the return says.
    pub damage_reported: bool,
    /// `SHOP_TIME_ZONE`
    pub time_zone: Tz,
}

impl Terms {
    /// Returns the rules with the shop's own policies.
    pub fn with(&self, policies: Vec<Policy>) -> Rules {
        Rules { policies: Policies::new(policies, self.windows), terms: self.clone() }
    }
}

/// A shop's rules for returns.
#[derive(Clone, Debug)]
pub struct Rules {
    pub policies: Policies,
    pub terms: Terms,
}

/// A person's decision about a line of an order that has no RMA yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Review {
    /// Damage, a fraud flag and frequent returns do not stop this line.
    Approved,
    /// The line does not come back, whatever reason the customer names.
    Rejected,
}

/// What happened before the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The days on which RMAs were made for the customer.
    pub returns: Vec<NaiveDate>,
    /// The last decision of a person about each line. An approval counts until its RMA is made.
    pub reviews: BTreeMap<u32, Review>,
}

impl History {
    /// Whether a person has approved each of these lines.
    pub fn approves(&self, lines: &[u32]) -> bool {
        !lines.is_empty() && lines.iter().all(|line| self.reviews.get(line) == Some(&Review::Approved))
    }

    fn rejected(&self, lines: &[u32]) -> Vec<u32> {
        lines.iter().copied().filter(|line| self.reviews.get(line) == Some(&Review::Rejected)).collect()
    }
}

/// The day from which days are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountedFrom {
    Delivery,
    /// No day of delivery is known.
    Order,
}

/// The result of [`decide`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// A return or a refund is open.
    pub eligible: bool,
    pub reason_code: ReasonCode,
    /// Stored and sent as `why`.
    #[serde(rename = "why")]
    pub cause: Cause,
    /// The lines that caused the refusal, if not all did. Without them the decision may be another.
    pub refused_lines: Vec<u32>,
    /// The name of the policy with the shortest window among those of the items.
    pub policy_applied: Option<String>,
    pub policy_version: String,
    /// `None` if the order does not exist.
    pub days_since_order: Option<i64>,
    /// A person decides.
    pub requires_manual_review: bool,
    pub is_return_eligible: bool,
    pub is_refund_eligible: bool,
    /// Days of the return window, the shortest among the items.
    pub cutoff_days: Option<u32>,
    /// Days of the refund window, the shortest among the items.
    pub refund_cutoff_days: Option<u32>,
    /// Days since delivery, or since the order if the day of delivery is unknown. `None` if not delivered.
    pub computed_days_since_delivery: Option<i64>,
    pub counted_from: Option<CountedFrom>,
}

impl Decision {
    /// Returns the decision while a person looks at the order: an approval waits for the person, a refusal stays.
    pub fn under_review(self) -> Self {
        if !self.eligible {
            return self;
        }
        Self {
            eligible: false,
            reason_code: Cause::UnderReview.code(),
            cause: Cause::UnderReview,
            requires_manual_review: true,
            is_return_eligible: false,
            is_refund_eligible: false,
            ..self
        }
    }

    /// Returns the decision for `metadata.eligibility` and for tool results. `message` is the text for the customer. Browsers
    /// receive it, so it does not show which risk the shop sees.
    pub fn to_metadata(&self, message: &str) -> Value {
        self.fields(message, self.cause.shown_to_customer())
    }

    /// Returns the decision for the audit log, with the true cause.
    pub fn to_record(&self) -> Value {
        self.fields("", self.cause)
    }

    fn fields(&self, message: &str, reason: Cause) -> Value {
        json!({
            "eligible": self.eligible,
            "reason_code": self.reason_code,
            "policy_applied": self.policy_applied,
            "message": message,
            "days_since_order": self.days_since_order,
            "requires_manual_review": self.requires_manual_review,
            "is_return_eligible": self.is_return_eligible,
            "is_refund_eligible": self.is_refund_eligible,
            "reason": reason,
            "policy_version": self.policy_version,
            "cutoff_days": self.cutoff_days,
            "refund_cutoff_days": self.refund_cutoff_days,
            "computed_days_since_delivery": self.computed_days_since_delivery,
            "refused_items": self.refused_lines,
        })
    }
}

/// Decides whether these lines of the order may come back today. `reason` is in the customer's words.
///
/// The same arguments give the same decision. A person's approval of all these lines skips steps 4 to 6, which only ask for a
/// person.
pub fn decide(
    order: Option<&Order>,
    lines: &[u32],
    reason: &str,
    history: &History,
    rules: &Rules,
    today: NaiveDate,
) -> Decision {
    let nothing = Decision {
        eligible: false,
        reason_code: ReasonCode::DataError,
        cause: Cause::OrderNotFound,
        refused_lines: Vec::new(),
        policy_applied: None,
        policy_version: rules.policies.version().to_owned(),
        days_since_order: None,
        requires_manual_review: false,
        is_return_eligible: false,
        is_refund_eligible: false,
        cutoff_days: None,
        refund_cutoff_days: None,
        computed_days_since_delivery: None,
        counted_from: None,
    };
    // 1: the order
    let Some(order) = order else { return nothing };
    // 2: its days
    let days = Days::of(order, rules.terms.time_zone, today);
    let known = Decision {
        days_since_order: Some(days.since_order),
        computed_days_since_delivery: days.counted.map(|(_, days)| days),
        counted_from: days.counted.map(|(from, _)| from),
        ..nothing
    };
    let refuse = |cause: Cause, refused_lines: Vec<u32>| Decision {
        cause,
        reason_code: cause.code(),
        requires_manual_review: matches!(cause.code(), ReasonCode::DamagedManual | ReasonCode::RiskManual),
        refused_lines,
        ..known.clone()
    };
    // 3: the items
    let items: Vec<&OrderItem> = lines.iter().filter_map(|line| order.find_item(*line)).collect();
    if items.is_empty() || items.len() < lines.len() {
        return refuse(
            Cause::ItemsUnknown,
            lines.iter().copied().filter(|line| order.find_item(*line).is_none()).collect(),
        );
    }
    let that =
        |is: fn(&OrderItem) -> bool| items.iter().filter(|item| is(item)).map(|item| item.line).collect::<Vec<_>>();
    // After 3, the order's own state
    match order.status {
        OrderStatus::Pending => return refuse(Cause::NotShipped, Vec::new()),
        OrderStatus::Shipped => return refuse(Cause::NotDelivered, Vec::new()),
        OrderStatus::Returned => return refuse(Cause::AlreadyInRma, lines.to_vec()),
        OrderStatus::Delivered | OrderStatus::ReturnInitiated => {}
    }
    let Some((_, counted)) = days.counted.filter(|(_, counted)| *counted >= 0 && days.since_order >= 0) else {
        return refuse(Cause::DateInFuture, Vec::new());
    };
    let in_rma = that(OrderItem::is_in_rma);
    if !in_rma.is_empty() {
        return refuse(Cause::AlreadyInRma, in_rma);
    }
    // After 3, a person's decision
    let rejected = history.rejected(lines);
    if !rejected.is_empty() {
        return refuse(Cause::Rejected, rejected);
    }
    // 4 to 6: what needs a person
    if !history.approves(lines)
        && let Some(cause) = needs_review(order, reason, history, &rules.terms, today)
    {
        return refuse(cause, Vec::new());
    }
    // 7: goods that never come back
    let (final_sale, kept) = (that(|item| item.is_final_sale), that(|item| !item.is_returnable));
    if !final_sale.is_empty() {
        return refuse(Cause::FinalSale, final_sale);
    }
    if !kept.is_empty() {
        return refuse(Cause::NotReturnable, kept);
    }
    // 8: the policies
    let windows: Option<Vec<Window<'_>>> = items.iter().map(|item| Window::of(order, item, &rules.policies)).collect();
    let windows = windows.unwrap_or_default();
    let Some(strictest) = windows.iter().min_by_key(|window| (window.policy.return_days, window.line)) else {
        return refuse(Cause::NoPolicy, Vec::new());
    };
    // 9: the windows
    let is_within = |days: u32| counted <= i64::from(days);
    let late: Vec<u32> = windows.iter().filter(|w| !is_within(w.policy.return_days)).map(|w| w.line).collect();
    let is_return_eligible = late.is_empty();
    let is_refund_eligible = windows.iter().all(|window| is_within(window.refund_days));
    let eligible = is_return_eligible || is_refund_eligible;
    let (cause, refused_lines) = if eligible { (Cause::Approved, Vec::new()) } else { (Cause::WindowOver, late) };
    Decision {
        eligible,
        is_return_eligible,
        is_refund_eligible,
        policy_applied: Some(strictest.policy.name.clone()),
        cutoff_days: Some(strictest.policy.return_days),
        refund_cutoff_days: windows.iter().map(|window| window.refund_days).min(),
        ..refuse(cause, refused_lines)
    }
}

/// Returns why a person has to decide, if one has to.
fn needs_review(order: &Order, reason: &str, history: &History, terms: &Terms, today: NaiveDate) -> Option<Cause> {
    // 4: damage
    if terms.damage_reported || terms.damage.is_reported_in(reason) {
        return Some(Cause::Damaged);
    }
    // 5: the fraud flag
    if order.customer.fraud_flag {
        return Some(Cause::FraudFlag);
    }
    // 6: how often goods came back
    let recent = |day: &&NaiveDate| (0..=i64::from(terms.frequency.days)).contains(&days_between(**day, today));
    let is_too_often = history.returns.iter().filter(recent).count() >= terms.frequency.count;
    is_too_often.then_some(Cause::ReturnsTooFrequent)
}

/// The days of an order, counted by the shop's calendar.
struct Days {
    since_order: i64,
    /// The days that are compared with the windows. `None` if the goods have not arrived.
    counted: Option<(CountedFrom, i64)>,
}

impl Days {
    fn of(order: &Order, zone: Tz, today: NaiveDate) -> Self {
        let since = |at| days_between(day_of(at, zone), today);
        let since_order = since(order.ordered_at);
        let counted = match (order.delivered_at, order.status) {
            (_, OrderStatus::Pending | OrderStatus::Shipped) => None,
            (Some(delivered), _) => Some((CountedFrom::Delivery, since(delivered))),
            (None, _) => Some((CountedFrom::Order, since_order)),
        };
        Self { since_order, counted }
    }
}

/// How long one item may come back.
struct Window<'a> {
    line: u32,
    policy: &'a Policy,
    refund_days: u32,
}

impl<'a> Window<'a> {
    fn of(order: &Order, item: &OrderItem, policies: &'a Policies) -> Option<Self> {
        let policy = policies.find(order.customer.is_vip, item.category.as_deref())?;
        Some(Self { line: item.line, policy, refund_days: policies.refund_days(policy) })
    }
}
