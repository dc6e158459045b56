//! Receipts of M-PESA: of payments to the shop's paybill or till that Daraja reported, or whose code a customer typed.
//!
//! A receipt counts once, for one order, after Daraja has confirmed it.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use tracing::warn;

use super::super::texts::Text;
use super::jobs::{SharedGateways, open_ticket, payments, say};
use super::{Payments, may_be_late};
use crate::desks::TextsOfShops;
use crate::domain::commerce::consent::MessagePurpose;
use crate::domain::commerce::payment::{
    CallbackPurpose, Payment, PaymentProvider, PaymentReport, PaymentRequest, PaymentStatus, find_awaiting_code,
    match_receipt,
};
use crate::domain::commerce::tenant::PaymentMethod;
use crate::domain::commerce::{Money, Sale};
use crate::domain::{Conversation, PaymentId};
use crate::jobs::{Job, JobContext, JobError, LeasedJob};
use crate::providers::payment::daraja::ReceiptResult;
use crate::replies::Replies;
use crate::store::payment_callbacks::{APPLY_RECEIPT, CHECK_RECEIPT, PaymentCallback};
use crate::store::{StoreError, TenantStore};
use crate::tools::payment_callback::OpenCallback;

/// How often Daraja is asked for the status of a receipt.
const QUESTIONS: u32 = 5;
/// How long Daraja has for a result, in polls.
const POLLS_FOR_A_RESULT: u32 = 12;
/// How soon to look again whether a prompt of the same order has ended.
const PROMPT_POLL: Duration = Duration::from_secs(2);

/// What follows from a typed receipt code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checking {
    /// Daraja is asked; the result follows as a message.
    Asked,
    /// The receipt has been counted.
    Counted,
    /// A person decides about the receipt.
    WithPerson,
}

impl Payments {
    /// Asks Daraja for the receipt whose code the customer typed. `known` are all of the customer's payments, newest first, and `likely`
    /// is the one that awaits a code. Returns the payment that the answer is about.
    pub(in crate::desks::commerce) async fn check_receipt<'a>(
        &self,
        conversation: &Conversation,
        (known, likely): (&'a [Payment], &'a Payment),
        code: &str,
    ) -> Result<(Checking, &'a Payment), StoreError> {
        let tenant = &conversation.tenant;
        let door = self.store.tenant(tenant);
        let opened = self.callbacks.open(tenant, CallbackPurpose::Receipt, code, Some(likely.id)).await?;
        let Some(OpenCallback { callback, .. }) = opened else { return Ok((Checking::Asked, likely)) };
        if callback.detail.is_counted || door.has_receipt(code).await? {
            return Ok((Checking::Counted, likely));
        }
        // The receipt belongs to the order in its account number, else to the customer who typed it first.
        let payment = match order_of(&door, &callback).await? {
            Some((sale, _)) => {
                let is_its = |payment: &Payment| payment.sale == sale.id;
                find_awaiting_code(known, is_its).or_else(|| known.iter().find(|payment| is_its(payment)))
            }
            None => Some(likely),
        };
        let Some(payment) = payment else { return Ok((Checking::Counted, likely)) };
        if callback.detail.is_with_person {
            return Ok((Checking::WithPerson, payment));
        }
        let name = if callback.detail.result.is_some() { APPLY_RECEIPT } else { CHECK_RECEIPT };
        // The customer reads the result in the conversation in which the code was typed.
        door.move_payment(payment.id, conversation.id).await?;
        let job = door.receipt_job(name, &callback, Some(conversation.id), Utc::now());
        let claim = |callback: &mut PaymentCallback| callback.payment = callback.payment.or(Some(payment.id));
        door.change_callback(callback.id, claim, &[job]).await?;
        Ok((Checking::Asked, payment))
    }

    /// Asks Daraja for the status of a receipt. Without a usable account, the attempt counts as well.
    async fn ask_receipt(&self, callback: &PaymentCallback) -> Result<(), StoreError> {
        let tenant = &callback.tenant;
        let count = |callback: &mut PaymentCallback| {
            callback.detail.asked += 1;
            callback.detail.asked_at = Some(Utc::now());
        };
        // Before the question, since the result may come before its answer.
        self.store.tenant(tenant).change_callback(callback.id, count, &[]).await?;
        let accounts = self.accounts(tenant).await?;
        let opened = self.callbacks.open(tenant, CallbackPurpose::Receipt, &callback.subject, None).await?;
        let (Some(daraja), Some(account), Some(opened)) = (&self.gateways.daraja, &accounts.daraja, opened) else {
            return Ok(());
        };
        if let Err(error) = daraja.ask_receipt(tenant, account, &callback.subject, &opened.url).await {
            warn!(%tenant, %error, "Daraja did not take a question about a receipt");
        }
        Ok(())
    }
}

/// Asks Daraja for the status of a receipt, until the result has come.
pub(in crate::desks::commerce) struct CheckReceipt(pub SharedGateways);

#[async_trait]
impl Job for CheckReceipt {
    fn name(&self) -> &'static str {
        CHECK_RECEIPT
    }

    fn queue(&self) -> &'static str {
        "payments"
    }

    async fn run(&self, context: &JobContext, job: &LeasedJob) -> Result<(), JobError> {
        let payments = payments(&self.0, context)?;
        let Some(callback) = find(context, job).await?.filter(|callback| callback.detail.result.is_none()) else {
            return Ok(());
        };
        let wait = payments.config.poll * POLLS_FOR_A_RESULT;
        let age = callback.detail.asked_at.and_then(|asked| (Utc::now() - asked).to_std().ok());
        if let Some(left) = age.and_then(|age| wait.checked_sub(age)) {
            return Err(JobError::Later(left.max(Duration::from_millis(10))));
        }
        if callback.detail.asked < QUESTIONS {
            payments.ask_receipt(&callback).await?;
            return Err(JobError::Later(wait));
        }
        let store = context.store.tenant(&job.tenant);
        let summary = format!(
            "M-PESA receipt {}: Daraja gave no result\nAccount number: {}\nNext steps: look it up in the M-PESA portal",
            callback.subject,
            callback.detail.account.as_deref().unwrap_or("-"),
        );
        open_ticket(context, job, &format!("receipt:{}:unanswered", callback.subject), &summary).await?;
        Ok(note_person(&store, &callback).await?)
    }
}

/// Counts a receipt that Daraja has confirmed.
pub(in crate::desks::commerce) struct ApplyReceipt {
    pub texts: TextsOfShops<Replies<Text>>,
    pub gateways: SharedGateways,
}

#[async_trait]
impl Job for ApplyReceipt {
    fn name(&self) -> &'static str {
        APPLY_RECEIPT
    }

    fn queue(&self) -> &'static str {
        "payment callbacks"
    }

    async fn run(&self, context: &JobContext, job: &LeasedJob) -> Result<(), JobError> {
        let Some(callback) = find(context, job).await? else { return Ok(()) };
        let stored = callback.detail.result.as_ref().map(ReceiptResult::deserialize);
        let Some(Ok(result)) = stored else { return Ok(()) };
        let store = context.store.tenant(&job.tenant);
        let Some(amount) = result.amount else { return self.refuse(context, job, &callback).await };
        let Some((sale, typed)) = order_of(&store, &callback).await? else {
            let account = callback.detail.account.as_deref().unwrap_or("-");
            let summary = format!(
                "A payment without an order: M-PESA receipt {}, {amount}, account number {account}\nNext steps: find the customer, or send \
                 the money back",
                callback.subject
            );
            let job = LeasedJob { conversation: None, ..job.clone() };
            return open_ticket(context, &job, &format!("receipt:{}:no order", callback.subject), &summary).await;
        };
        let payments = payments(&self.gateways, context)?;
        let (sale, named) = match typed {
            None => (sale, None),
            Some(typed) => match match_typed(&payments, job, &callback, &typed, (amount, result.paid_at)).await? {
                Some((sale, payment)) => (sale, Some(payment)),
                None => return self.call_person(context, job, &callback, &typed, amount).await,
            },
        };
        let known = store.list_payments(&sale.id).await?;
        settle_prompts(&payments, job, &known).await?;
        let known = store.list_payments(&sale.id).await?;
        if !count(context, &callback, (&sale, &known), named.as_ref(), (amount, &result)).await? {
            return Ok(());
        }
        // No other message answers a customer who typed the code.
        let typed = match named {
            Some(named) => Some(named),
            None => named_payment(&store, &callback).await?,
        };
        let Some(typed) = typed else { return Ok(()) };
        say(&self.texts, context, job, (&typed, MessagePurpose::Reply), |texts, _| {
            texts.text(Text::ReceiptCounted, &[("receipt", callback.subject.as_str())]).map(Some)
        })
        .await
    }
}

impl ApplyReceipt {
    /// Calls a person about a typed receipt that is not clearly for one order.
    async fn call_person(
        &self,
        context: &JobContext,
        job: &LeasedJob,
        callback: &PaymentCallback,
        typed: &Payment,
        amount: Money,
    ) -> Result<(), JobError> {
        let summary = format!(
            "The customer of order {} named M-PESA receipt {}, {amount}, which is not clearly for one of their orders: it was paid before \
             they were asked for, or its amount is not that of one order\nNext steps: decide which order it is for",
            typed.sale, callback.subject
        );
        open_ticket(context, job, &format!("receipt:{}:unclear", callback.subject), &summary).await?;
        note_person(&context.store.tenant(&job.tenant), callback).await?;
        say(&self.texts, context, job, (typed, MessagePurpose::Reply), |texts, _| {
            texts.text(Text::ResultProblem, &[("order", typed.sale.as_str())]).map(Some)
        })
        .await
    }

    /// Says that there is no such payment. The same code can be typed again. A person looks at a payment that Daraja had reported.
    async fn refuse(&self, context: &JobContext, job: &LeasedJob, callback: &PaymentCallback) -> Result<(), JobError> {
        let (store, receipt) = (context.store.tenant(&job.tenant), callback.subject.as_str());
        if let Some(account) = &callback.detail.account {
            let summary = format!(
                "M-PESA receipt {receipt}: Daraja reported a payment to the shop, and its status query finds none\nAccount number: \
                 {account}\nNext steps: look it up in the M-PESA portal"
            );
            open_ticket(context, job, &format!("receipt:{receipt}:denied"), &summary).await?;
            note_person(&store, callback).await?;
        }
        if let Some(payment) = named_payment(&store, callback).await? {
            let key = if callback.detail.account.is_some() { Text::ResultProblem } else { Text::ReceiptUnknown };
            say(&self.texts, context, job, (&payment, MessagePurpose::Reply), |texts, _| {
                texts.text(key, &[("receipt", receipt), ("order", payment.sale.as_str())]).map(Some)
            })
            .await?;
        }
        if callback.detail.account.is_none() {
            store.delete_callback(callback.id).await?;
        }
        Ok(())
    }
}

/// Returns the order and the request that a typed receipt is for, by its amount and time; `None` if a person decides. The customer's
/// prompts that it may be the receipt of end first.
async fn match_typed(
    payments: &Payments,
    job: &LeasedJob,
    callback: &PaymentCallback,
    typed: &Payment,
    (amount, paid_at): (Money, Option<DateTime<Utc>>),
) -> Result<Option<(Sale, Payment)>, JobError> {
    let store = payments.store.tenant(&job.tenant);
    let shopper = store.find_shopper_of_sale(&typed.sale).await?;
    let (Some(shopper), Some(paid_at)) = (shopper, paid_at) else { return Ok(None) };
    let may_be_its = |payment: &Payment| payment.may_be_answered_by(amount, paid_at);
    let mut prompts = store.list_payments_of(shopper.id).await?;
    prompts.retain(may_be_its);
    settle_prompts(payments, job, &prompts).await?;
    let mut known = store.list_payments_of(shopper.id).await?;
    let cancelled = store.list_cancelled_sales(shopper.id).await?;
    known.sort_by_key(|payment| cancelled.contains(&payment.sale));
    let Some(found) = match_receipt(&known, &callback.subject, amount, paid_at) else {
        // The callback that names the receipt of a paid prompt may be on its way.
        let (closes_at, now) = (payments.config.stk_wait, Utc::now());
        let is_named_later = |payment: &Payment| {
            may_be_its(payment) && payment.is_unnamed() && payment.may_still_report(closes_at, job.created_at, now)
        };
        return match known.iter().any(is_named_later) {
            true => Err(JobError::Later(PROMPT_POLL)),
            false => Ok(None),
        };
    };
    let Some(sale) = store.find_any_sale(&found.sale).await? else { return Ok(None) };
    // The result is said where the code was typed.
    if let Some(conversation) = typed.conversation {
        store.move_payment(found.id, conversation).await?;
    }
    store.change_callback(callback.id, |callback| callback.payment = Some(found.id), &[]).await?;
    Ok(Some((sale, Payment { conversation: typed.conversation.or(found.conversation), ..found.clone() })))
}

/// Waits for the end of the prompts, since M-PESA also reports a paid prompt as a payment to the paybill. A prompt that was
/// closed may have been paid.
async fn settle_prompts(payments: &Payments, job: &LeasedJob, known: &[Payment]) -> Result<(), JobError> {
    let now = Utc::now();
    for prompt in known.iter().filter(|payment| payment.is_prompt()) {
        if prompt.request.status.is_open() {
            return Err(JobError::Later(PROMPT_POLL));
        }
        if may_be_late(prompt, now) {
            let settled = payments.settle(&job.tenant, prompt.id).await?;
            let is_over = settled.is_none_or(|settled| settled.is_over);
            if !is_over && prompt.may_still_report(payments.config.stk_wait, job.created_at, now) {
                return Err(JobError::Later(PROMPT_POLL));
            }
        }
    }
    Ok(())
}

/// Reports the receipt for a payment of the order. Returns whether it only names a prompt that was paid before, so that the report says
/// nothing to the customer.
async fn count(
    context: &JobContext,
    callback: &PaymentCallback,
    (sale, all): (&Sale, &[Payment]),
    named: Option<&Payment>,
    (amount, result): (Money, &ReceiptResult),
) -> Result<bool, JobError> {
    let (store, receipt) = (context.store.tenant(&callback.tenant), callback.subject.clone());
    let has_it = |payment: &Payment| payment.request.receipts.contains(&receipt);
    let report = match result.is_reversed {
        true => PaymentReport::Reversed { receipt: Some(receipt.clone()) },
        // Without a time, the payment is not younger than the first report of its receipt.
        false => PaymentReport::Paid {
            amount,
            receipt: receipt.clone(),
            paid_at: Some(result.paid_at.unwrap_or(callback.created_at)),
        },
    };
    let may_be_its = |of: &Payment| result.paid_at.is_none_or(|paid_at| of.may_be_answered_by(amount, paid_at));
    let is_its_name = |of: &&Payment| of.is_prompt() && may_be_its(of) && of.late_receipt(&report).is_some();
    let known = all.iter().find(|payment| has_it(payment)).or(all.iter().find(is_its_name));
    if result.is_reversed || !all.iter().any(has_it) {
        // The order may cost more or less now than a request that ran out of time.
        let amounts = [amount, sale.totals.total];
        let fits = |of: &&Payment| of.method == PaymentMethod::MpesaC2b && amounts.contains(&of.request.amount);
        let id = match known.or(named.filter(fits)).or(all.iter().rev().find(fits)) {
            Some(payment) => payment.id,
            None => {
                let payment = made_unasked(PaymentId(callback.id), sale, named);
                store.add_payment(&payment).await?;
                payment.id
            }
        };
        store.report_payment(id, &report, Utc::now()).await?;
    }
    store.change_callback(callback.id, |callback| callback.detail.is_counted = true, &[]).await?;
    Ok(!result.is_reversed && known.is_some_and(Payment::is_prompt))
}

/// Returns a payment to the paybill for which the customer asked for no instructions. Its result is said where the receipt's code was
/// typed.
fn made_unasked(id: PaymentId, sale: &Sale, named: Option<&Payment>) -> Payment {
    Payment {
        id,
        sale: sale.id.clone(),
        conversation: named.map_or(sale.conversation, |payment| payment.conversation),
        method: PaymentMethod::MpesaC2b,
        phone: None,
        provider: PaymentProvider::Daraja,
        reference: None,
        request: PaymentRequest { status: PaymentStatus::Created, amount: sale.totals.total, receipts: Vec::new() },
        created_at: Utc::now(),
    }
}

/// Returns the order that a receipt belongs to: the one in its account number, else the one for whose payment it was typed.
async fn order_of(
    store: &TenantStore<'_>,
    callback: &PaymentCallback,
) -> Result<Option<(Sale, Option<Payment>)>, StoreError> {
    if let Some(Ok(order)) = callback.detail.account.as_ref().map(|account| account.parse())
        && let Some(sale) = store.find_any_sale(&order).await?
    {
        return Ok(Some((sale, None)));
    }
    let Some(payment) = named_payment(store, callback).await? else { return Ok(None) };
    Ok(store.find_any_sale(&payment.sale).await?.map(|sale| (sale, Some(payment))))
}

/// Returns the payment for which a customer typed the receipt's code.
async fn named_payment(store: &TenantStore<'_>, callback: &PaymentCallback) -> Result<Option<Payment>, StoreError> {
    match callback.payment {
        Some(id) => store.find_payment(id).await,
        None => Ok(None),
    }
}

/// Stores that a person has a ticket about the receipt.
async fn note_person(store: &TenantStore<'_>, callback: &PaymentCallback) -> Result<(), StoreError> {
    store.change_callback(callback.id, |callback| callback.detail.is_with_person = true, &[]).await?;
    Ok(())
}

async fn find(context: &JobContext, job: &LeasedJob) -> Result<Option<PaymentCallback>, StoreError> {
    let callback = context.store.find_payment_callback(job.subject).await?;
    Ok(callback.filter(|callback| callback.tenant == job.tenant && callback.purpose == CallbackPurpose::Receipt))
}
