//! Orders and returns: every change is atomic, idempotent and recorded.

mod cancel;
mod create;
mod escalations;
mod mails;
mod misses;
mod reading;
mod resolving;
mod reviews;
mod steps;

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use frontdesk::cli::seed::sample;
use frontdesk::domain::commerce::{Order, OrderNumber, OrderStatus};
use frontdesk::domain::returns::{
    Action, Cause, DamageWords, Frequency, NoStep, Resolution, Rma, RmaStatus, Terms, TrackingNumber, Windows,
};
use frontdesk::domain::{ActorKind, TenantId};
use frontdesk::store::Store;
use frontdesk::store::audit::Actor;
use frontdesk::store::jobs::LeasedJob;
use frontdesk::store::mails::{MailOutcome, MailStatus, NewMail, SEND_MAIL};
use frontdesk::store::returns::advance::{Advance, LabelOutcome};
use frontdesk::store::returns::create::{NewReturn, ReturnOutcome};
use frontdesk::store::returns::resolve::{Resolving, Verdict};
use frontdesk::store::returns::{ISSUE_LABEL, SAY_DECISION};
use frontdesk::store::samples::Sampling;

use super::{TestStore, count_jobs, opened, tenant};
use crate::support::audit;

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
        let (windows, frequency) = (Windows::default(), Frequency::default());
        let terms = Terms { windows, frequency, damage, damage_reported: false, time_zone: ZONE };
        Self { test, tenant, now, terms }
    }

    pub fn store(&self) -> &Store {
        &self.test.store
    }

    pub fn by<'a>(&self, kind: ActorKind, who: &'a str) -> Actor<'a> {
        Actor { kind, who, conversation: None, now: self.now }
    }

    pub fn desk(&self) -> Actor<'static> {
        self.by(ActorKind::Automatic, "desk")
    }

    pub fn person(&self) -> Actor<'static> {
        self.by(ActorKind::Person, "Thu")
    }

    /// Returns a return of the order's first line, with a mail.
    pub fn new_return<'a>(&'a self, order: &'a OrderNumber) -> NewReturn<'a> {
        NewReturn {
            order,
            lines: &[1],
            action: Action::Return,
            agreed: None,
            reason: "too small",
            request: "r-1",
            terms: &self.terms,
            asked_at: self.now,
            random: [7; 4],
            mail: &|order, rma| Some(mail(order, rma)),
        }
    }

    pub async fn ask(&self, order: &str, lines: &[u32], action: Action, request: &str, reason: &str) -> ReturnOutcome {
        let order = number(order);
        let new = NewReturn { lines, action, reason, request, ..self.new_return(&order) };
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
        let entries = audit::of_order(&self.store().tenant(&self.tenant), &number(order)).await;
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
