//! Orders and returns: every change is atomic, idempotent and recorded.

mod escalations;
mod mails;
mod misses;
mod steps;

use std::collections::BTreeSet;

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use frontdesk::cli::seed::sample;
use frontdesk::domain::commerce::{Money, Order, OrderNumber, OrderStatus};
use frontdesk::domain::identity::Email;
use frontdesk::domain::returns::ticket::idempotency_key;
use frontdesk::domain::returns::{
    Action, Cause, DamageWords, Frequency, Hand, NoStep, Resolution, Rma, RmaStatus, Terms, TrackingNumber, Windows,
};
use frontdesk::domain::{AuditEntry, AuditKind, TenantId};
use frontdesk::store::Store;
use frontdesk::store::jobs::LeasedJob;
use frontdesk::store::mails::{MailOutcome, MailStatus, NewMail, SEND_MAIL};
use frontdesk::store::returns::advance::{Advance, LabelOutcome};
use frontdesk::store::returns::create::{CancelOutcome, NewReturn, ReturnOutcome};
use frontdesk::store::returns::resolve::{Resolving, Verdict};
use frontdesk::store::returns::{By, ISSUE_LABEL, SAY_DECISION};
use frontdesk::store::sample_shop::Sampling;

use super::{TestStore, count_jobs, opened, tenant};

const RETURNS_JOBS: [&str; 3] = [ISSUE_LABEL, SEND_MAIL, SAY_DECISION];

pub const ZONE: chrono_tz::Tz = chrono_tz::Asia::Ho_Chi_Minh;

/// A shop with the sample orders, at the time of their creation.
pub struct Shop {
    pub test: TestStore,
    pub tenant: TenantId,
    pub now: DateTime<Utc>,
    pub terms: Terms,
}

pub fn number(text: &str) -> OrderNumber {
    text.parse().unwrap()
}

impl Shop {
    pub async fn open() -> Self {
        let test = TestStore::open().await;
        // PostgreSQL stores microseconds.
        let (tenant, now) = (tenant("acme"), Utc::now().trunc_subsecs(6));
        let made = test.store.tenant(&tenant).make_sample(&sample::shop(&tenant, now, ZONE), false).await.unwrap();
        assert_eq!(made, Sampling::Done { policies: true });
        let damage = DamageWords::new(&["shattered"], &["not"]).unwrap();
        let terms = Terms { windows: Windows::default(), frequency: Frequency::default(), damage, time_zone: ZONE };
        Self { test, tenant, now, terms }
    }

    pub fn store(&self) -> &Store {
        &self.test.store
    }

    pub fn by<'a>(&self, hand: Hand, who: &'a str) -> By<'a> {
        By { hand, who, conversation: None, now: self.now }
    }

    pub fn desk(&self) -> By<'static> {
        self.by(Hand::Automatic, "desk")
    }

    pub fn person(&self) -> By<'static> {
        self.by(Hand::Person, "Thu")
    }

    pub async fn ask(&self, order: &str, lines: &[u32], action: Action, request: &str, reason: &str) -> ReturnOutcome {
        let order = number(order);
        let new = NewReturn {
            order: &order,
            lines,
            action,
            agreed: None,
            reason,
            request,
            terms: &self.terms,
            asked_at: self.now,
            random: [7; 4],
            mail: &|order, rma| Some(mail(order, rma)),
        };
        self.store().tenant(&self.tenant).create_return(&new, &self.desk()).await.unwrap()
    }

    /// Applies a person's decision on the escalation.
    pub async fn resolve(&self, id: &str, decision: Resolution, why: &str) -> Resolving {
        let verdict = Verdict { decision, why, terms: &self.terms, random: [9; 4] };
        self.store().tenant(&self.tenant).resolve_escalation(id, &verdict, &self.person()).await.unwrap()
    }

    /// Creates a return of the whole order.
    pub async fn returned(&self, order: &str) -> Rma {
        match self.ask(order, &[1], Action::Return, "r-1", "too small").await {
            ReturnOutcome::Created { rma, .. } => *rma,
            other => panic!("{other:?}"),
        }
    }

    pub async fn order(&self, order: &str) -> Order {
        self.store().tenant(&self.tenant).find_order(&number(order)).await.unwrap().unwrap()
    }

    pub async fn rma(&self, rma: &Rma) -> Rma {
        self.store().tenant(&self.tenant).find_rma(&rma.number).await.unwrap().unwrap()
    }

    /// Lists the audit entries of the order: who did what.
    pub async fn recorded(&self, order: &str) -> Vec<String> {
        let entries = self.store().tenant(&self.tenant).list_audit_of_order(&number(order)).await.unwrap();
        entries.iter().map(|entry| format!("{} {}", entry.who, entry.what)).collect()
    }

    /// Leases the due jobs of returns.
    pub async fn due_jobs(&self) -> Vec<LeasedJob> {
        self.store().lease_jobs(&RETURNS_JOBS, self.now, std::time::Duration::from_secs(60), 9).await.unwrap()
    }

    pub async fn waiting_jobs(&self) -> u64 {
        count_jobs(self.store(), &RETURNS_JOBS).await.waiting
    }

    /// Issues the RMA's label as the desk does.
    pub async fn labelled(&self, rma: &Rma) -> LabelOutcome {
        // Tracking numbers are unique within a shop.
        let tracking = TrackingNumber::new(rma.id.0.as_u64_pair().1);
        self.store().tenant(&self.tenant).issue_label(&rma.number, &tracking, &self.desk()).await.unwrap()
    }

    pub async fn advance(&self, rma: &Rma, to: RmaStatus) -> Advance {
        self.store().tenant(&self.tenant).advance_rma(&rma.number, to, &self.person()).await.unwrap()
    }

    /// Takes these steps, which must be allowed.
    pub async fn walk(&self, rma: &Rma, steps: &[RmaStatus]) {
        for to in steps {
            assert!(matches!(self.advance(rma, *to).await, Advance::Done(_)), "{to}");
        }
    }
}

fn mail(order: &Order, rma: &Rma) -> NewMail {
    NewMail {
        number: NewMail::number_for(rma, "return_approved"),
        to: order.email.clone(),
        template: "return_approved".to_owned(),
        language: "en".parse().unwrap(),
        context: serde_json::json!({"rma_number": rma.number}),
        conversation: rma.conversation,
        order: Some(order.number.clone()),
        rma: Some(rma.number.clone()),
    }
}

#[tokio::test]
async fn return_creates_ticket_jobs_mail_and_audit() {
    let shop = Shop::open().await;
    let rma = shop.returned("77893").await;
    assert_eq!((rma.status, rma.refund.to_string()), (RmaStatus::Initiated, "129.99 USD".to_owned()));
    assert_eq!(shop.rma(&rma).await.lines, rma.lines);
    let order = shop.order("77893").await;
    assert_eq!((order.status, order.open_lines()), (OrderStatus::ReturnInitiated, vec![]));
    assert_eq!(order.items[0].rma.as_ref().map(|item| &item.number), Some(&rma.number));
    let door = shop.store().tenant(&shop.tenant);
    let ticket = door.find_ticket(rma.number.as_str()).await.unwrap().unwrap();
    assert_eq!((ticket.rma.as_ref(), ticket.order), (Some(&rma.number), Some(number("77893"))));
    let mails = door.list_mails_of(&rma.number).await.unwrap();
    assert_eq!((mails.len(), mails[0].status, mails[0].to.as_str()), (1, MailStatus::Queued, "john.doe@example.com"));
    assert_eq!(shop.recorded("77893").await, ["desk rma.created", "desk order.status", "desk mail.queued"]);
    let jobs = shop.due_jobs().await;
    let found: BTreeSet<_> = jobs.iter().map(|job| (job.name.as_str(), job.subject)).collect();
    assert_eq!(found, BTreeSet::from([("issue_label", rma.id.0), ("send_mail", mails[0].id.0)]));
}

#[tokio::test]
async fn concurrent_requests_create_one_return() {
    let shop = std::sync::Arc::new(Shop::open().await);
    let asking = (0..50).map(|n| {
        let shop = shop.clone();
        tokio::spawn(async move { shop.ask("77893", &[1], Action::Return, &format!("r-{n}"), "too small").await })
    });
    let asking: Vec<_> = asking.collect();
    let (mut created, mut numbers) = (0, BTreeSet::new());
    for asked in asking {
        match asked.await.unwrap() {
            ReturnOutcome::Created { rma, .. } => {
                created += 1;
                numbers.insert(rma.number);
            }
            ReturnOutcome::Duplicate { rma, .. } => drop(numbers.insert(rma.number)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((created, numbers.len()), (1, 1));
    let door = shop.store().tenant(&shop.tenant);
    assert_eq!(door.list_rmas_of(&number("77893")).await.unwrap().len(), 1);
    assert_eq!(shop.waiting_jobs().await, 2);
    assert_eq!(shop.recorded("77893").await.len(), 3);
}

#[tokio::test]
async fn repeated_request_is_created_another_is_duplicate() {
    let shop = Shop::open().await;
    let first = shop.returned("77893").await;
    for (request, is_new) in [("r-1", true), ("r-2", false)] {
        let again = shop.ask("77893", &[1], Action::Return, request, "too small").await;
        assert_eq!(matches!(&again, ReturnOutcome::Created { rma, .. } if rma.number == first.number), is_new);
        assert_eq!(matches!(&again, ReturnOutcome::Duplicate { rma, .. } if rma.number == first.number), !is_new);
    }
}

#[tokio::test]
async fn item_is_in_at_most_one_rma() {
    let shop = std::sync::Arc::new(Shop::open().await);
    let asks: [(&[u32], Action); 4] =
        [(&[1], Action::Return), (&[1], Action::Refund), (&[1, 1], Action::Return), (&[1], Action::Refund)];
    let asking = asks.into_iter().cycle().take(24).enumerate().map(|(n, (lines, action))| {
        let shop = shop.clone();
        // The electronics of this order may be returned and refunded.
        tokio::spawn(async move { shop.ask("ABC-100003", lines, action, &format!("r-{n}"), "x").await })
    });
    for asked in asking.collect::<Vec<_>>() {
        let asked = asked.await.unwrap();
        assert!(!matches!(asked, ReturnOutcome::BadAmounts));
    }
    let rmas = shop.store().tenant(&shop.tenant).list_rmas_of(&number("ABC-100003")).await.unwrap();
    assert_eq!(rmas.len(), 1, "{rmas:?}");
}

#[tokio::test]
async fn refused_return_stores_nothing() {
    let shop = Shop::open().await;
    for (order, lines, action, reason, why) in [
        ("77894", &[1][..], Action::Return, "x", Cause::WindowOver),
        ("77896", &[1], Action::Return, "x", Cause::FinalSale),
        ("77897", &[1], Action::Return, "x", Cause::FraudFlag),
        ("77898", &[1], Action::Return, "x", Cause::ReturnsTooFrequent),
        ("77899", &[1], Action::Return, "x", Cause::NotDelivered),
        ("77900", &[1], Action::Return, "x", Cause::AlreadyInRma),
        ("77893", &[1], Action::Return, "they are shattered", Cause::Damaged),
        ("77893", &[2], Action::Return, "x", Cause::ItemsUnknown),
        ("77893", &[], Action::Return, "x", Cause::ItemsUnknown),
        // The return window is open, the refund window has ended.
        ("77893", &[1], Action::Refund, "x", Cause::Approved),
        ("00000", &[1], Action::Return, "x", Cause::OrderNotFound),
    ] {
        match shop.ask(order, lines, action, "r-1", reason).await {
            ReturnOutcome::Refused(decision) => assert_eq!(decision.cause, why, "{order}"),
            other => panic!("{order} {other:?}"),
        }
        assert_eq!(shop.recorded(order).await, [""; 0], "{order}");
    }
    assert_eq!(shop.waiting_jobs().await, 0);
    assert!(matches!(shop.ask("77895", &[1], Action::Return, "r", "x").await, ReturnOutcome::Created { .. }));
    assert!(matches!(shop.ask("77900", &[2], Action::Return, "r", "x").await, ReturnOutcome::Created { .. }));
}

#[tokio::test]
async fn rejected_return_may_be_requested_again() {
    let shop = Shop::open().await;
    let first = shop.returned("77893").await;
    use RmaStatus::{InTransit, Inspected, Received, Rejected};
    shop.labelled(&first).await;
    shop.walk(&first, &[InTransit, Received, Inspected, Rejected]).await;
    let second = shop.ask("77893", &[1], Action::Return, "r-1", "too small").await;
    let ReturnOutcome::Created { rma: second, key } = second else { panic!("{second:?}") };
    assert_ne!(second.number, first.number);
    assert_eq!(key, idempotency_key(&first.order, Action::Return, None, 1), "the first attempt's key is taken");
    let third = shop.ask("77893", &[1], Action::Return, "r-9", "x").await;
    assert_eq!(third, ReturnOutcome::Duplicate { rma: Box::new(shop.rma(&second).await), key });
}

#[tokio::test]
async fn return_is_decided_by_its_request_day() {
    let shop = Shop::open().await;
    let order = number("77893");
    let made_at = shop.now + TimeDelta::days(20);
    let ask = async |asked_at: DateTime<Utc>| {
        let new = NewReturn {
            order: &order,
            lines: &[1],
            action: Action::Return,
            agreed: None,
            reason: "too small",
            request: "r-1",
            terms: &shop.terms,
            asked_at,
            random: [1; 4],
            mail: &|_, _| None,
        };
        let by = By { now: made_at, ..shop.desk() };
        shop.store().tenant(&shop.tenant).create_return(&new, &by).await.unwrap()
    };
    // 35 days after delivery.
    let late = ask(made_at).await;
    assert!(matches!(&late, ReturnOutcome::Refused(decision) if decision.cause == Cause::WindowOver), "{late:?}");
    let in_time = ask(shop.now).await;
    let ReturnOutcome::Created { rma, .. } = in_time else { panic!("{in_time:?}") };
    assert_eq!((rma.created_at, rma.number.made_at()), (made_at, made_at.timestamp()));
}

#[tokio::test]
async fn pending_order_is_cancelled_by_one_ticket() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let cancel = async |order: &str, request: &str| {
        door.create_cancellation(&number(order), None, "changed my mind", request, &shop.desk()).await.unwrap()
    };
    let CancelOutcome::Created(ticket) = cancel("ABC-100001", "r-1").await else { panic!() };
    assert!(ticket.id.starts_with("TICKET-"), "{ticket:?}");
    assert_eq!(cancel("ABC-100001", "r-1").await, CancelOutcome::Created(ticket.clone()));
    assert_eq!(cancel("ABC-100001", "r-2").await, CancelOutcome::Duplicate(ticket));
    assert_eq!(cancel("77899", "r-1").await, CancelOutcome::TooLate(OrderStatus::Shipped));
    assert_eq!(cancel("00000", "r-1").await, CancelOutcome::NotFound);
    assert_eq!(shop.recorded("ABC-100001").await, ["desk cancel.asked"]);
}

#[tokio::test]
async fn changed_amount_is_not_returned_or_cancelled() {
    let shop = Shop::open().await;
    let store = shop.store().tenant(&shop.tenant);
    let order = number("77893");
    let paid = shop.order("77893").await.paid;
    let less = Money::new(paid.minor - 1, paid.currency);
    let ask = async |agreed: Option<Money>, lines: &[u32]| {
        let new = NewReturn {
            order: &order,
            lines,
            action: Action::Return,
            agreed,
            reason: "too small",
            request: "r-1",
            terms: &shop.terms,
            asked_at: shop.now,
            random: [1; 4],
            mail: &|_, _| None,
        };
        store.create_return(&new, &shop.desk()).await.unwrap()
    };
    assert_eq!(ask(Some(less), &[1]).await, ReturnOutcome::OtherAmount(paid));
    assert_eq!(store.list_rmas_of(&order).await.unwrap(), []);
    let ReturnOutcome::Created { rma, .. } = ask(Some(paid), &[1]).await else { panic!() };
    assert_eq!(rma.refund, paid);
    let repeated = ask(Some(less), &[1]).await;
    assert!(matches!(repeated, ReturnOutcome::Created { .. }), "a repeated request finds what it made: {repeated:?}");

    let pending = number("ABC-100001");
    let paid = shop.order("ABC-100001").await.paid;
    let less = Money::new(paid.minor - 1, paid.currency);
    let cancel = async |agreed: Option<Money>| {
        store.create_cancellation(&pending, agreed, "changed my mind", "r-1", &shop.desk()).await.unwrap()
    };
    assert_eq!(cancel(Some(less)).await, CancelOutcome::OtherAmount(paid));
    assert!(matches!(cancel(Some(paid)).await, CancelOutcome::Created(_)));
}

#[tokio::test]
async fn other_shop_sees_and_changes_nothing() {
    let shop = Shop::open().await;
    let rma = shop.returned("77893").await;
    let other = tenant("bcme");
    let door = shop.store().tenant(&other);
    let by = shop.person();
    let mail = shop.store().tenant(&shop.tenant).list_mails_of(&rma.number).await.unwrap().remove(0);
    assert_eq!(door.find_order(&number("77893")).await.unwrap(), None);
    assert_eq!(door.list_orders_by_email(&mail.to).await.unwrap(), []);
    assert_eq!(door.list_orders_of(shop.order("77893").await.customer.id).await.unwrap(), []);
    assert_eq!(door.list_policies().await.unwrap(), []);
    assert_eq!(door.count_orders().await.unwrap(), 0);
    assert_eq!(door.find_rma(&rma.number).await.unwrap(), None);
    assert_eq!(door.find_rma_by_id(rma.id).await.unwrap(), None);
    assert_eq!(door.list_rmas_of(&rma.order).await.unwrap(), []);
    assert_eq!(door.find_ticket(rma.number.as_str()).await.unwrap(), None);
    assert_eq!(door.find_mail(mail.id).await.unwrap(), None);
    assert_eq!(door.list_mails_of(&rma.number).await.unwrap(), []);
    assert_eq!(door.list_audit_of_order(&rma.order).await.unwrap(), []);
    assert_eq!(door.advance_rma(&rma.number, RmaStatus::LabelSent, &by).await.unwrap(), Advance::NotFound);
    let tracking = TrackingNumber::new(1);
    assert_eq!(door.issue_label(&rma.number, &tracking, &by).await.unwrap(), LabelOutcome::NotFound);
    assert!(!door.finish_mail(mail.id, &mail.to, &MailOutcome::Sent { preview: "" }, shop.now).await.unwrap());
    assert_eq!(shop.rma(&rma).await, rma);
}

#[tokio::test]
async fn ten_newest_orders_are_listed() {
    let shop = Shop::open().await;
    let email: Email = "buyer-77898@example.com".parse().unwrap();
    let orders = shop.store().tenant(&shop.tenant).list_orders_by_email(&email).await.unwrap();
    let numbers: Vec<&str> = orders.iter().map(|order| order.number.as_str()).collect();
    assert_eq!(numbers, ["77898", "77913", "77912", "77911"]);
}

#[tokio::test]
async fn return_outlives_its_conversation() {
    let shop = Shop::open().await;
    let conversation = opened(shop.store(), &shop.tenant).await;
    let order = number("77893");
    let new = NewReturn {
        order: &order,
        lines: &[1],
        action: Action::Return,
        agreed: None,
        reason: "too small",
        request: "r-1",
        terms: &shop.terms,
        asked_at: shop.now,
        random: [1; 4],
        mail: &|order, rma| Some(mail(order, rma)),
    };
    let by = By { conversation: Some(conversation), ..shop.desk() };
    let door = shop.store().tenant(&shop.tenant);
    assert!(matches!(door.create_return(&new, &by).await.unwrap(), ReturnOutcome::Created { .. }));
    assert_eq!(door.list_rmas_in(conversation).await.unwrap().len(), 1);
    assert_eq!(door.list_tickets_in(conversation).await.unwrap().len(), 1);
    let asked = AuditEntry {
        kind: AuditKind::Tool,
        who: "desk".to_owned(),
        what: "tool.get_order_details".to_owned(),
        before: None,
        after: None,
        conversation: Some(conversation),
        order: None,
        rma: None,
        at: shop.now,
        account: None,
    };
    door.record(&asked).await.unwrap();
    assert_eq!(door.list_audit(conversation).await.unwrap().len(), 4);
    assert!(door.delete_conversation(conversation).await.unwrap());
    assert_eq!(shop.waiting_jobs().await, 2);
    assert_eq!(door.list_rmas_of(&order).await.unwrap().len(), 1);
    assert_eq!(shop.recorded("77893").await.len(), 3);
    assert_eq!(door.list_audit(conversation).await.unwrap().len(), 3, "what concerned no order went with it");
}
