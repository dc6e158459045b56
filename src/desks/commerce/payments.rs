//! Payments: which ways a shop offers, how a payment begins, and the jobs that follow it to its end.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::Utc;

use super::sandbox::Sandbox;
use super::texts::Text;
use super::tools::payment::Started;
use super::tools::{CallError, ToolContext};
use super::{kind, say};
use crate::config::PaymentMode;
use crate::desks::TextsOfShops;
use crate::domain::commerce::consent::MessagePurpose;
use crate::domain::commerce::payment::{
    CannotPay, Payment, PaymentProblem, PaymentProvider, PaymentReport, PaymentStatus,
};
use crate::domain::commerce::tenant::PaymentMethod;
use crate::domain::commerce::{Money, SaleId, Tenant};
use crate::domain::identity::e164::E164;
use crate::domain::returns::{Hand, Priority};
use crate::domain::{Kind, Metadata, PaymentId, TenantId};
use crate::jobs::{Job, JobContext, JobError, JobRunner, LeasedJob};
use crate::providers::payment::PaymentGateway;
use crate::replies::Replies;
use crate::store::payments::{Beginning, NewPayment, POLL_PAYMENT, PaymentNotice, SAY_PAYMENT};
use crate::store::returns::By;
use crate::store::returns::escalate::NewEscalation;
use crate::store::{Store, StoreError};

/// How long to wait before the provider is asked about an open payment again.
const POLL_EVERY: Duration = Duration::from_secs(2);

/// The payments of every shop.
#[derive(Clone)]
pub struct Payments {
    mode: PaymentMode,
    store: Store,
    jobs: Arc<JobRunner>,
    pub(super) sandbox: Sandbox,
}

impl Payments {
    pub fn new(mode: PaymentMode, store: &Store, jobs: &Arc<JobRunner>) -> Self {
        Self { mode, store: store.clone(), jobs: jobs.clone(), sandbox: Sandbox::new(store) }
    }

    /// Returns the ways to pay that the shop has enabled and the server can offer. The sandbox never serves a shop that has credentials
    /// of a real provider.
    pub async fn methods(&self, tenant: &Tenant) -> Result<Vec<PaymentMethod>, StoreError> {
        if self.mode == PaymentMode::Off {
            return Ok(Vec::new());
        }
        let credentials = self.store.tenant(&tenant.id).list_credentials().await?;
        if credentials.keys().any(|name| name.is_for_payments()) {
            return Ok(Vec::new());
        }
        Ok(tenant.settings.payments_enabled.iter().copied().collect())
    }

    /// The number of the shop's paybill.
    pub fn paybill(&self) -> &str {
        self.sandbox.paybill()
    }

    /// Stores a payment, then asks its provider. The row precedes the request, so that a payment that a customer may have made is
    /// always known.
    pub async fn start(
        &self,
        context: &ToolContext<'_>,
        sale: &SaleId,
        method: PaymentMethod,
        phone: Option<&E164>,
        confirmed: Money,
    ) -> Result<Started, CallError> {
        if !self.methods(context.tenant).await?.contains(&method) {
            return Err(CallError::refused("method_not_enabled"));
        }
        if !method.takes(confirmed) {
            return Err(CallError::refused("amount_out_of_range"));
        }
        let new = NewPayment { sale, method, phone, confirmed, provider: PaymentProvider::Sandbox };
        let payment = match context.door().begin_payment(context.owner()?, &new, context.now).await? {
            Beginning::Begun(payment) => payment,
            Beginning::NoOrder => return Err(CallError::refused("no_such_order")),
            Beginning::OtherAmount(_) => return Err(CallError::refused("amount_changed")),
            Beginning::Expired => return Err(CallError::refused("price_expired")),
            Beginning::GoodsChanged => return Err(CallError::refused("goods_changed")),
            Beginning::Refused(CannotPay::Open) => return Err(CallError::refused("payment_open")),
            Beginning::Refused(CannotPay::UnderReview) => return Err(CallError::refused("payment_under_review")),
            Beginning::Refused(CannotPay::Paid) => return Err(CallError::refused("already_paid")),
        };
        let report = self.gateway(payment.provider).request(&context.tenant.id, &payment).await;
        let after = self.store.tenant(&context.tenant.id).report_payment(payment.id, &report, Utc::now()).await?;
        self.jobs.wake();
        let status = after.map_or(payment.request.status, |payment| payment.request.status);
        Ok(Started { payment_request_id: payment.id, status })
    }

    /// Asks the provider about a payment, and stores the report.
    pub async fn settle(&self, tenant: &TenantId, id: PaymentId) -> Result<Option<Payment>, StoreError> {
        let after = settle(&self.store, &self.sandbox, tenant, id).await?;
        self.jobs.wake();
        Ok(after)
    }

    fn gateway(&self, provider: PaymentProvider) -> &dyn PaymentGateway {
        match provider {
            PaymentProvider::Sandbox => &self.sandbox,
        }
    }
}

async fn settle(
    store: &Store,
    gateway: &dyn PaymentGateway,
    tenant: &TenantId,
    id: PaymentId,
) -> Result<Option<Payment>, StoreError> {
    let Some(payment) = store.tenant(tenant).find_payment(id).await? else { return Ok(None) };
    let report = gateway.query(tenant, &payment).await;
    if report == PaymentReport::StillRunning {
        return Ok(Some(payment));
    }
    store.tenant(tenant).report_payment(id, &report, Utc::now()).await
}

/// Asks the provider about a payment until it is settled.
pub(super) struct PollPayment;

#[async_trait]
impl Job for PollPayment {
    fn name(&self) -> &'static str {
        POLL_PAYMENT
    }

    fn queue(&self) -> &'static str {
        "payments"
    }

    fn has_attempt_limit(&self) -> bool {
        false
    }

    async fn run(&self, context: &JobContext, job: &LeasedJob) -> Result<(), JobError> {
        let sandbox = Sandbox::new(&context.store);
        match settle(&context.store, &sandbox, &job.tenant, PaymentId(job.subject)).await? {
            Some(payment) if payment.request.status.is_open() => Err(JobError::Later(POLL_EVERY)),
            _ => Ok(()),
        }
    }
}

/// Says a payment's result in the conversation, and opens a ticket for a problem.
pub(super) struct SayPayment(pub TextsOfShops<Replies<Text>>);

#[async_trait]
impl Job for SayPayment {
    fn name(&self) -> &'static str {
        SAY_PAYMENT
    }

    fn has_attempt_limit(&self) -> bool {
        false
    }

    async fn run(&self, context: &JobContext, job: &LeasedJob) -> Result<(), JobError> {
        let store = context.store.tenant(&job.tenant);
        let (Some(notice), Some(id)) = (job.payload::<PaymentNotice>(), job.conversation) else { return Ok(()) };
        let (Some(conversation), Some(payment)) =
            (store.find_conversation(id).await?, store.find_payment(notice.payment).await?)
        else {
            return Ok(());
        };
        // A persona may come back at a reload: the message waits for it.
        let Some((texts, common)) = self.0.get(&job.tenant) else {
            return Err(JobError::Unavailable("no persona uses the commerce desk".to_owned()));
        };
        if let Some(problem) = notice.problem {
            let by = By { hand: Hand::Automatic, who: "job", conversation: Some(id), now: Utc::now() };
            let summary = summary(&payment, problem);
            let new = NewEscalation {
                rma: None,
                order: None,
                priority: Priority::High,
                reason: "a payment needs a decision",
                summary: &summary,
                claim: None,
            };
            store.escalate(&new, &by).await?;
        }
        // The end of a payment answers the customer who began it. That the money went back later is a notification.
        let is_notification = notice.status == PaymentStatus::Reversed;
        let shopper = if is_notification { store.find_shopper_of_sale(&payment.sale).await? } else { None };
        if shopper.is_some_and(|shopper| !shopper.consent.permits(MessagePurpose::Notification)) {
            return Ok(());
        }
        let language = texts.closest(conversation.language);
        let format = &common.get(language).number_format;
        let text = say::result(texts.get(language), format, &payment, &notice).map_err(JobError::failed)?;
        let Some(text) = text else { return Ok(()) };
        let metadata = Metadata::of(Kind::Agent).with("payment", about(&payment));
        context.announce(job, text, metadata).await
    }
}

/// Returns the payment as clients see it.
pub(super) fn about(payment: &Payment) -> serde_json::Value {
    serde_json::json!({
        "payment_request_id": payment.id, "order_id": payment.sale, "status": payment.request.status,
        "method": payment.method, "provider": payment.provider,
    })
}

/// Returns the metadata of a message about a payment.
pub(super) fn metadata(payment: &Payment) -> Metadata {
    Metadata::of(kind::PAYMENT).with("payment", about(payment))
}

fn summary(payment: &Payment, problem: PaymentProblem) -> String {
    let receipts = payment.request.receipts.join(", ");
    format!(
        "Payment problem: {problem}\nOrder {}, confirmed {}, receipts [{receipts}], provider {}\nNext steps: compare with the provider, then \
         answer the customer",
        payment.sale, payment.request.amount, payment.provider
    )
}
