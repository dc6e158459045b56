//! The jobs that follow a payment to its end, and say it in the conversation.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use chrono::Utc;

use super::super::say;
use super::super::texts::Text;
use super::{FOLLOWED_FOR, Gateways, Payments, about};
use crate::config::Config;
use crate::desks::TextsOfShops;
use crate::domain::commerce::consent::MessagePurpose;
use crate::domain::commerce::payment::{Payment, PaymentProblem, PaymentProvider, PaymentStatus};
use crate::domain::returns::Priority;
use crate::domain::{ActorKind, Kind, Metadata, PaymentId};
use crate::jobs::{Job, JobContext, JobError, LeasedJob};
use crate::replies::Replies;
use crate::store::audit::Actor;
use crate::store::payments::{POLL_PAYMENT, PaymentNotice, SAY_PAYMENT, SETTLE_PAYMENT};
use crate::store::returns::escalate::{NewEscalation, PAYMENT};

/// How soon the sandbox is asked again.
const SANDBOX_POLL: Duration = Duration::from_secs(2);
/// The longest time between two queries about a payment.
const POLL_MAX: Duration = Duration::from_secs(1800);

/// What the jobs need of the server. It is known once a desk is opened.
pub(in crate::desks::commerce) type SharedGateways = Arc<OnceLock<(Arc<Config>, Arc<Gateways>)>>;

/// Returns the payments on the store of a job.
pub(super) fn payments(shared: &SharedGateways, context: &JobContext) -> Result<Payments, JobError> {
    let waiting = || JobError::Unavailable("no persona uses the commerce desk".to_owned());
    let (config, gateways) = shared.get().ok_or_else(waiting)?;
    Ok(Payments::new(config, &context.store, gateways))
}

/// Asks the provider about a payment until it is settled.
pub(in crate::desks::commerce) struct PollPayment(pub SharedGateways);

#[async_trait]
impl Job for PollPayment {
    fn name(&self) -> &'static str {
        POLL_PAYMENT
    }

    fn queue(&self) -> &'static str {
        "payments"
    }

    async fn run(&self, context: &JobContext, job: &LeasedJob) -> Result<(), JobError> {
        let (payments, id) = (payments(&self.0, context)?, PaymentId(job.subject));
        let Some(payment) = context.store.tenant(&job.tenant).find_payment(id).await? else { return Ok(()) };
        let may_change = payment.request.status.is_open() || payment.request.status == PaymentStatus::Timeout;
        if !may_change {
            return Ok(());
        }
        match payments.settle(&job.tenant, id).await? {
            Some(settled) if !settled.is_over => Err(JobError::Later(wait(&settled.payment, payments.config.poll))),
            _ => Ok(()),
        }
    }
}

/// Returns how long to wait for the next query: a quarter of the payment's age.
fn wait(payment: &Payment, first: Duration) -> Duration {
    if payment.provider == PaymentProvider::Sandbox {
        return SANDBOX_POLL;
    }
    let age = (Utc::now() - payment.created_at).to_std().unwrap_or_default();
    (age / 4).clamp(first, POLL_MAX.max(first))
}

/// Asks the provider about a payment, after it called back, until it answers. [`PollPayment`] has ended for most payments by then.
pub(in crate::desks::commerce) struct SettlePayment(pub SharedGateways);

#[async_trait]
impl Job for SettlePayment {
    fn name(&self) -> &'static str {
        SETTLE_PAYMENT
    }

    fn queue(&self) -> &'static str {
        "payment callbacks"
    }

    async fn run(&self, context: &JobContext, job: &LeasedJob) -> Result<(), JobError> {
        let settled = payments(&self.0, context)?.settle(&job.tenant, PaymentId(job.subject)).await?;
        let is_unanswered = settled.is_some_and(|settled| settled.is_unanswered);
        match is_unanswered && Utc::now() - job.created_at < FOLLOWED_FOR {
            true => Err(JobError::failed("the payment provider did not answer")),
            false => Ok(()),
        }
    }
}

/// Says a payment's result in the conversation, and opens a ticket for a problem.
pub(in crate::desks::commerce) struct SayPayment(pub TextsOfShops<Replies<Text>>);

#[async_trait]
impl Job for SayPayment {
    fn name(&self) -> &'static str {
        SAY_PAYMENT
    }

    async fn run(&self, context: &JobContext, job: &LeasedJob) -> Result<(), JobError> {
        let store = context.store.tenant(&job.tenant);
        let Some(notice) = job.payload::<PaymentNotice>() else { return Ok(()) };
        let Some(payment) = store.find_payment(notice.payment).await? else { return Ok(()) };
        if let Some(problem) = notice.problem {
            let receipt = notice.receipt.as_deref().unwrap_or_default();
            let once = format!("payment:{}:{problem}:{receipt}", payment.id);
            open_ticket(context, job, &once, &summary(&payment, problem)).await?;
        }
        // The end of a payment answers the customer who began it. That the money went back later is a notification.
        let purpose = match notice.status {
            PaymentStatus::Reversed => MessagePurpose::Notification,
            _ => MessagePurpose::Reply,
        };
        let text = |texts: &_, format: &_| say::result(texts, format, &payment, &notice);
        say(&self.0, context, job, (&payment, purpose), text).await
    }
}

/// Says something about a payment in the job's conversation, once.
pub(super) async fn say(
    texts: &TextsOfShops<Replies<Text>>,
    context: &JobContext,
    job: &LeasedJob,
    (payment, purpose): (&Payment, MessagePurpose),
    text: impl FnOnce(
        &Replies<Text>,
        &crate::domain::language::NumberFormat,
    ) -> Result<Option<String>, crate::replies::MissingValue>,
) -> Result<(), JobError> {
    let Some(id) = job.conversation else { return Ok(()) };
    let store = context.store.tenant(&job.tenant);
    let Some(conversation) = store.find_conversation(id).await? else { return Ok(()) };
    // A channel checks the consent when it sends the message.
    let is_checked = purpose == MessagePurpose::Reply || conversation.channel.is_some();
    let shopper = if is_checked { None } else { store.find_shopper_of_sale(&payment.sale).await? };
    if shopper.is_some_and(|shopper| !shopper.consent.permits(purpose)) {
        return Ok(());
    }
    // A persona may come back at a reload: the message waits for it.
    let Some((texts, common)) = texts.get(&job.tenant) else {
        return Err(JobError::without_persona(job));
    };
    let language = texts.closest(conversation.language);
    let format = &common.get(language).number_format;
    let Some(text) = text(texts.get(language), format).map_err(JobError::failed)? else { return Ok(()) };
    let metadata = Metadata::of(Kind::Agent).with("payment", about(payment)).with("purpose", purpose);
    context.announce(job, text, metadata).await
}

/// Opens a ticket about money, once for each `once`. The job's conversation waits for a person, and the console shows it.
pub(super) async fn open_ticket(
    context: &JobContext,
    job: &LeasedJob,
    once: &str,
    summary: &str,
) -> Result<(), JobError> {
    let by = Actor { kind: ActorKind::Automatic, who: "job", conversation: job.conversation, now: Utc::now() };
    let new = NewEscalation {
        rma: None,
        order: None,
        locks_returns: false,
        priority: Priority::High,
        reason: PAYMENT,
        summary,
        claim: None,
        once: Some(once),
    };
    context.store.tenant(&job.tenant).escalate(&new, &by).await?;
    if let (Some(id), Some(announcer)) = (job.conversation, &context.announcer) {
        announcer.note_change(&job.tenant, id);
    }
    Ok(())
}

fn summary(payment: &Payment, problem: PaymentProblem) -> String {
    let receipts = payment.request.receipts.join(", ");
    format!(
        "Payment problem: {problem}\nOrder {}, confirmed {}, receipts [{receipts}], provider {}\nNext steps: compare with the provider, then \
         answer the customer",
        payment.sale, payment.request.amount, payment.provider
    )
}
