//! Refund cases: one open case for each invoice, numbered without gaps or repeats, and decided once.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use frontdesk::cli::seed::accounts::accounts;
use frontdesk::domain::commerce::{Currency, Money};
use frontdesk::domain::identity::attempts::{AttemptLimit, AttemptSubject};
use frontdesk::domain::telecom::{CaseStatus, Invoice, RefundCase, RefundClaim, RefundReason, Verdict};
use frontdesk::domain::{ActorKind, ConversationId, TenantId};
use frontdesk::store::account_snapshot::AskedAccount;
use frontdesk::store::attempts::{AttemptBy, Verification};
use frontdesk::store::audit::Actor;
use frontdesk::store::personal::person::Named;
use frontdesk::store::refund_cases::{Deciding, Opening};
use frontdesk::store::samples::SampledAccounts;

use super::{TestStore, tenant};

const WARSAW: chrono_tz::Tz = chrono_tz::Europe::Warsaw;

/// A telecom operator with the sample accounts, and invoices `N-0` to `N-99` of u123.
struct Operator {
    test: TestStore,
    tenant: TenantId,
    now: DateTime<Utc>,
}

impl Operator {
    async fn open() -> Self {
        let (test, tenant) = (TestStore::open().await, tenant("acme"));
        let mut sample = accounts();
        let first = sample.invoices[0].clone();
        let more = (0..100).map(|n| Invoice { number: format!("N-{n}").parse().unwrap(), ..first.clone() });
        sample.invoices.extend(more);
        let made = test.store.tenant(&tenant).make_sample_accounts(&sample).await.unwrap();
        assert_eq!(made, SampledAccounts::Done);
        // PostgreSQL stores microseconds.
        Self { test, tenant, now: Utc::now().trunc_subsecs(6) }
    }

    fn by<'a>(&self, kind: ActorKind, who: &'a str) -> Actor<'a> {
        Actor { kind, who, conversation: None, now: self.now }
    }

    async fn claim(&self, user: &str, invoice: &str, minor: i64, reason: RefundReason) -> Opening {
        let claim = claim(invoice, minor, reason);
        let desk = self.by(ActorKind::Automatic, "desk");
        self.test.store.tenant(&self.tenant).open_refund_case(user, &claim, WARSAW, &desk).await.unwrap()
    }

    async fn opened(&self, invoice: &str, minor: i64, reason: RefundReason) -> RefundCase {
        match self.claim("u123", invoice, minor, reason).await {
            Opening::Opened(case) => *case,
            other => panic!("{other:?}"),
        }
    }

    async fn decide(&self, case: &RefundCase, verdict: Verdict) -> Deciding {
        let person = self.by(ActorKind::Person, "Ola");
        self.test.store.tenant(&self.tenant).decide_refund_case(case.id, verdict, "checked", &person).await.unwrap()
    }

    async fn cases(&self) -> Vec<RefundCase> {
        self.test.store.tenant(&self.tenant).list_refund_cases_of("u123").await.unwrap()
    }
}

fn claim(invoice: &str, minor: i64, reason: RefundReason) -> RefundClaim {
    RefundClaim::new(invoice.parse().unwrap(), reason, Money::new(minor, Currency::Pln), None).unwrap()
}

#[tokio::test]
async fn fifty_claims_at_once_open_one_case() {
    let operator = Arc::new(Operator::open().await);
    let claims = (0..50).map(|_| {
        let operator = operator.clone();
        tokio::spawn(async move { operator.claim("u123", "INV-12345", 10_000, RefundReason::Overcharge).await })
    });
    let (mut opened, mut named) = (Vec::new(), BTreeSet::new());
    for claim in claims.collect::<Vec<_>>() {
        match claim.await.unwrap() {
            Opening::Opened(case) => opened.push(*case),
            Opening::AlreadyOpen(case) => drop(named.insert(case.id)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(opened.iter().map(|case| case.id.to_string()).collect::<Vec<_>>(), ["R10001"]);
    assert_eq!(named, BTreeSet::from([opened[0].id]));
    assert_eq!(operator.cases().await, opened);
}

#[tokio::test]
async fn hundred_invoices_get_distinct_numbers() {
    let operator = Arc::new(Operator::open().await);
    let claims = (0..100).map(|n| {
        let operator = operator.clone();
        tokio::spawn(async move { operator.opened(&format!("N-{n}"), 100, RefundReason::Other).await.id.number() })
    });
    let mut numbers = BTreeSet::new();
    for claim in claims.collect::<Vec<_>>() {
        numbers.insert(claim.await.unwrap());
    }
    assert_eq!(numbers, (10_001..=10_100).collect());
    // Another shop counts by itself.
    let (other, door) = (tenant("other"), &operator.test.store);
    door.tenant(&other).make_sample_accounts(&accounts()).await.unwrap();
    let (claim, desk) = (claim("INV-12345", 100, RefundReason::Other), operator.by(ActorKind::Automatic, "desk"));
    match door.tenant(&other).open_refund_case("u123", &claim, WARSAW, &desk).await.unwrap() {
        Opening::Opened(case) => assert_eq!(case.id.number(), 10_001),
        refused => panic!("{refused:?}"),
    }
}

#[tokio::test]
async fn claim_needs_the_customers_own_invoice() {
    let operator = Operator::open().await;
    for (user, invoice) in [("u456", "INV-12345"), ("u123", "INV-45601"), ("u123", "INV-99999"), ("", "INV-12345")] {
        let refused = operator.claim(user, invoice, 100, RefundReason::Other).await;
        assert_eq!(refused, Opening::NoInvoice, "{user} {invoice}");
    }
    let too_much = operator.claim("u123", "INV-12345", 14_501, RefundReason::Other).await;
    assert_eq!(too_much, Opening::AboveInvoice { left: Money::new(14_500, Currency::Pln) });
    assert_eq!(operator.cases().await, []);
}

#[tokio::test]
async fn person_decides_a_case_once() {
    let operator = Operator::open().await;
    let case = operator.opened("INV-12345", 10_000, RefundReason::WithinCoolingOff).await;
    assert_eq!(case.status, CaseStatus::PendingReview);
    let Deciding::Done(approved) = operator.decide(&case, Verdict::Approve).await else { panic!("not decided") };
    assert_eq!(approved.status, CaseStatus::Approved);
    assert_eq!(operator.decide(&case, Verdict::Reject).await, Deciding::Decided(approved.clone()));
    // The invoice has 45.00 PLN left.
    let too_much = operator.claim("u123", "INV-12345", 4_501, RefundReason::Other).await;
    assert_eq!(too_much, Opening::AboveInvoice { left: Money::new(4_500, Currency::Pln) });
    let second = operator.opened("INV-12345", 4_500, RefundReason::Other).await;
    assert!(matches!(operator.decide(&second, Verdict::Reject).await, Deciding::Done(_)));
    let third = operator.opened("INV-12345", 4_500, RefundReason::Other).await;
    let statuses: Vec<CaseStatus> = operator.cases().await.iter().map(|case| case.status).collect();
    assert_eq!(statuses, [CaseStatus::Opened, CaseStatus::Rejected, CaseStatus::Approved]);
    let door = operator.test.store.tenant(&operator.tenant);
    assert_eq!(door.list_open_refund_cases().await.unwrap(), [third]);
    assert_eq!(door.find_refund_case(approved.id).await.unwrap(), Some(*approved));
}

#[tokio::test]
async fn account_has_its_last_three_invoices() {
    let operator = Operator::open().await;
    let door = operator.test.store.tenant(&operator.tenant);
    let case = operator.opened("N-7", 100, RefundReason::Other).await;
    let account = door.find_account("u123").await.unwrap().unwrap();
    let numbers: Vec<&str> = account.invoices.iter().map(|invoice| invoice.number.as_str()).collect();
    assert_eq!(numbers, ["INV-12345", "N-99", "N-98"]);
    assert_eq!(account.subscription, accounts().subscriptions[0]);
    assert_eq!(account.cases, [case]);
    assert_eq!(door.find_account("u999").await.unwrap(), None);
}

#[tokio::test]
async fn sample_resets_but_spares_real_accounts() {
    let operator = Operator::open().await;
    let door = operator.test.store.tenant(&operator.tenant);
    operator.opened("INV-12345", 100, RefundReason::Other).await;
    assert_eq!(door.make_sample_accounts(&accounts()).await.unwrap(), SampledAccounts::RealAccounts(100));
    assert_eq!(operator.cases().await.len(), 1);
    let other = tenant("other");
    let (door, sample) = (operator.test.store.tenant(&other), accounts());
    door.make_sample_accounts(&sample).await.unwrap();
    let claim = claim("INV-12345", 100, RefundReason::Other);
    door.open_refund_case("u123", &claim, WARSAW, &operator.by(ActorKind::Automatic, "desk")).await.unwrap();
    assert_eq!(door.make_sample_accounts(&sample).await.unwrap(), SampledAccounts::Done);
    let account = door.find_account("u123").await.unwrap().unwrap();
    assert_eq!(account.cases, []);
    assert!(sample.plans.contains(&account.subscription.plan));
}

#[tokio::test]
async fn snapshot_has_the_cases_as_of_the_question() {
    let mut operator = Operator::open().await;
    let first = operator.opened("INV-12345", 10_000, RefundReason::WithinCoolingOff).await;
    let asked_at = operator.now + TimeDelta::seconds(1);
    operator.now += TimeDelta::seconds(2);
    operator.decide(&first, Verdict::Approve).await;
    operator.opened("INV-20251001", 10_000, RefundReason::Other).await;
    let asked = AskedAccount {
        conversation: ConversationId::now(),
        at: asked_at,
        users: vec!["U123".to_owned(), "refund".to_owned()],
        invoices: vec!["INV-45601".parse().unwrap()],
    };
    let snapshot = operator.test.store.tenant(&operator.tenant).snapshot_accounts(&asked).await.unwrap();
    // Evaluation cases store it as JSON.
    let stored = serde_json::to_value(&snapshot).unwrap();
    let other = TestStore::open().await;
    other.store.restore_accounts(serde_json::from_value(stored).unwrap()).await.unwrap();
    let door = other.store.tenant(&operator.tenant);
    let account = door.find_account("u123").await.unwrap().unwrap();
    assert_eq!(account.cases, [first]);
    assert!(door.find_invoice_of("u456", &asked.invoices[0]).await.unwrap().is_some());
    assert_eq!(door.find_account("u456").await.unwrap(), None, "the conversation does not name it");
    let claim = claim("INV-20251001", 100, RefundReason::Other);
    let desk = operator.by(ActorKind::Automatic, "desk");
    match door.open_refund_case("u123", &claim, WARSAW, &desk).await.unwrap() {
        Opening::Opened(case) => assert_eq!(case.id.to_string(), "R10002"),
        refused => panic!("{refused:?}"),
    }
}

#[tokio::test]
async fn account_needs_its_id_and_invoice() {
    let operator = Operator::open().await;
    let door = operator.test.store.tenant(&operator.tenant);
    let limit = AttemptLimit { misses: 3, ..AttemptLimit::default() };
    let verify_as = async |subject: AttemptSubject, claimed: &str, invoice: Option<&str>| {
        let invoice = invoice.map(|invoice| invoice.parse().unwrap());
        let by = AttemptBy { subjects: &[subject], limit: &limit, now: operator.now };
        door.verify_account(claimed, invoice.as_ref(), by).await.unwrap()
    };
    let verify = async |claimed: &str, invoice: Option<&str>| {
        verify_as(AttemptSubject::Account(claimed.to_owned()), claimed, invoice).await
    };
    let verified = Verification::Verified("u123".to_owned());
    assert_eq!(verify("U123", Some("inv-12345")).await, verified);
    assert_eq!(verify("u123", Some("12345")).await, verified, "the letters may be missing");
    assert_eq!(verify("u123", None).await, verified, "without proof");
    assert_eq!(verify("u999", None).await, Verification::Missed);
    // A wrong invoice is answered like an unknown one, and counts in either case.
    for (claimed, invoice) in [("u123", "INV-45601"), ("U123", "INV-99999"), ("u123", "2345")] {
        assert_eq!(verify(claimed, Some(invoice)).await, Verification::Missed, "{claimed} {invoice}");
    }
    assert!(matches!(verify("u123", Some("INV-12345")).await, Verification::Locked { .. }));
    assert_eq!(verify("u456", Some("INV-45601")).await, Verification::Verified("u456".to_owned()));
    // One client that tries several accounts is locked out of all.
    let client = || AttemptSubject::Client("browser".to_owned());
    for claimed in ["u1", "u2", "u3"] {
        assert_eq!(verify_as(client(), claimed, Some("INV-45601")).await, Verification::Missed, "{claimed}");
    }
    assert!(matches!(verify_as(client(), "u456", Some("INV-45601")).await, Verification::Locked { .. }));
}

#[tokio::test]
async fn erased_customer_leaves_amounts_only() {
    let operator = Operator::open().await;
    let door = operator.test.store.tenant(&operator.tenant);
    let case = operator.opened("INV-12345", 10_000, RefundReason::Other).await;
    operator.decide(&case, Verdict::Reject).await;
    let user = Named::User("u123".to_owned());
    let (_, tables) = door.export_person(&user).await.unwrap();
    let exported: Vec<&str> = tables.keys().map(String::as_str).collect();
    assert_eq!(exported, ["subscriptions", "invoices", "refund_cases", "audit"]);
    door.erase_person(&user, "Ola", false, operator.now).await.unwrap();
    let left = door.find_refund_case(case.id).await.unwrap().unwrap();
    assert_eq!((left.user_id.as_str(), left.amount, left.decided.unwrap().why), ("", case.amount, String::new()));
    assert_eq!(door.find_account("u123").await.unwrap(), None);
    assert!(door.export_person(&user).await.unwrap().1.is_empty());
    assert_eq!(operator.claim("u123", "N-1", 100, RefundReason::Other).await, Opening::NoInvoice);
}
