//! Payment requests: stored before a provider is asked, and changed by its reports alone.

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::Expr;
use sea_orm::sea_query::{self, LockType, Query};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select};
use serde::{Deserialize, Serialize};

use super::entities::{TenantEntity, payment_requests, sales};
use super::jobs::{NewJob, enqueue};
use super::sales::{SaleOwner, can_be_sold, lock_sale, take_stock, write_sale};
use super::transaction::Transaction;
use super::{Result, TenantStore, unreadable};
use crate::domain::commerce::payment::{
    CannotPay, Payment, PaymentProblem, PaymentProvider, PaymentReport, PaymentRequest, PaymentStatus,
    check_new_request,
};
use crate::domain::commerce::sale::{PRICE_HOLD, Sale, SaleStatus};
use crate::domain::commerce::tenant::PaymentMethod;
use crate::domain::commerce::{Currency, Money, SaleId};
use crate::domain::identity::e164::E164;
use crate::domain::{ConversationId, PaymentId, ShopperId, TenantId};

/// Asks the provider about a payment; the subject is the payment's id.
pub const POLL_PAYMENT: &str = "poll_payment";
/// Asks the provider about a payment that called back, until it answers; the subject is the payment's id.
pub const SETTLE_PAYMENT: &str = "settle_payment";
/// Says a payment's result in the conversation, and opens a ticket for a problem. The payload is a [`PaymentNotice`].
pub const SAY_PAYMENT: &str = "say_payment";

/// The result of a payment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentNotice {
    pub payment: PaymentId,
    pub status: PaymentStatus,
    pub problem: Option<PaymentProblem>,
    /// The receipt of the report, if it is new.
    #[serde(default)]
    pub receipt: Option<String>,
    /// Whether the request was closed without a result, so that the customer may have paid.
    #[serde(default)]
    pub has_no_result: bool,
}

/// A payment to begin.
#[derive(Clone, Debug)]
pub struct NewPayment<'a> {
    pub sale: &'a SaleId,
    pub method: PaymentMethod,
    pub phone: Option<&'a E164>,
    /// The amount to which the customer said yes.
    pub confirmed: Money,
    pub provider: PaymentProvider,
}

/// The result of [`TenantStore::begin_payment`]. Only `Begun` changes the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Beginning {
    Begun(Box<Payment>),
    /// The customer has no such unpaid order.
    NoOrder,
    /// The order costs this much, not what was confirmed.
    OtherAmount(Money),
    /// The prices hold no longer.
    Expired,
    /// The shop has no longer all of the goods.
    GoodsChanged,
    Refused(CannotPay),
}

impl TenantStore<'_> {
    /// Stores a payment request, before the provider is asked. The order costs exactly what the customer confirmed, its prices hold,
    /// and no other request of it is open. The goods stay reserved meanwhile.
    pub async fn begin_payment(&self, owner: SaleOwner, new: &NewPayment<'_>, now: DateTime<Utc>) -> Result<Beginning> {
        let transaction = self.store.begin_fenced().await?;
        let found = lock_sale(&transaction, self.tenant, new.sale).await?;
        let Some((_, sale)) = found.filter(|(shopper, _)| *shopper == owner.shopper) else {
            return Ok(Beginning::NoOrder);
        };
        let earlier = payments_of(&transaction, self.tenant, new.sale).await?;
        let statuses: Vec<PaymentStatus> = earlier.iter().map(|payment| payment.request.status).collect();
        if let Err(refused) = check_new_request(&statuses, sale.status == SaleStatus::Paid) {
            return Ok(Beginning::Refused(refused));
        }
        match sale.status {
            SaleStatus::Draft if !sale.is_held(now) => return Ok(Beginning::Expired),
            SaleStatus::Draft if sale.totals.total != new.confirmed => {
                return Ok(Beginning::OtherAmount(sale.totals.total));
            }
            SaleStatus::Draft => {}
            SaleStatus::Paid => return Ok(Beginning::Refused(CannotPay::Paid)),
            SaleStatus::Cancelled => return Ok(Beginning::NoOrder),
        }
        if !can_be_sold(&transaction, self.tenant, &sale, now).await? {
            return Ok(Beginning::GoodsChanged);
        }
        let payment = Payment {
            id: PaymentId::now(),
            sale: sale.id.clone(),
            conversation: Some(owner.conversation),
            method: new.method,
            phone: new.phone.cloned(),
            provider: new.provider,
            reference: None,
            request: PaymentRequest { status: PaymentStatus::Created, amount: new.confirmed, receipts: Vec::new() },
            created_at: now,
        };
        payment_requests::Entity::insert(row_of(self.tenant, &payment)).exec_without_returning(&transaction).await?;
        let sale = Sale { held_until: sale.held_until.max(now + PRICE_HOLD), updated_at: now, ..sale };
        write_sale(&transaction, self.tenant, owner.shopper, &sale, now).await?;
        enqueue(&transaction, &[poll(self.tenant, payment.id, now)]).await?;
        transaction.commit().await?;
        Ok(Beginning::Begun(Box::new(payment)))
    }

    /// Stores what follows from a provider's report: the states, the paid order with its goods, and the message to the customer.
    /// Returns the changed payment. A report that says nothing new changes nothing.
    pub async fn report_payment(
        &self,
        id: PaymentId,
        report: &PaymentReport,
        now: DateTime<Utc>,
    ) -> Result<Option<Payment>> {
        let transaction = self.store.begin_fenced().await?;
        let row = self.rows::<payment_requests::Entity>().filter(payment_requests::Column::Id.eq(id.0));
        let found = row.one(&transaction).await?.map(read_payment).transpose()?;
        let Some(sale_id) = found.map(|payment| payment.sale) else { return Ok(None) };
        // Payments of one order wait for each other here.
        let sale = lock_sale(&transaction, self.tenant, &sale_id).await?;
        let rows = payments_of(&transaction, self.tenant, &sale_id).await?;
        let Some(mut payment) = rows.into_iter().find(|payment| payment.id == id) else { return Ok(None) };
        let is_paid = sale.as_ref().is_some_and(|(_, sale)| sale.status == SaleStatus::Paid);
        let late = payment.late_receipt(report);
        if let Some(receipt) = &late {
            payment.request.receipts = vec![receipt.clone()];
        }
        let report = payment.same_payment(report);
        let decided =
            payment.request.decide(&report, is_paid).map_err(|error| unreadable("payment_requests", error))?;
        // A card's report has no time. The customer confirmed the total when the checkout was made.
        let paid_at = report.paid_at().unwrap_or(payment.created_at);
        let mut outcome = decided.for_order(sale.as_ref().map(|(_, sale)| sale), payment.request.amount, paid_at);
        let says_nothing = outcome.steps.is_empty() && outcome.problem.is_none() && outcome.receipt.is_none();
        if says_nothing && late.is_none() {
            return Ok(Some(payment));
        }
        if let Some(step) = outcome.steps.last() {
            payment.request.status = step.to();
        }
        payment.request.receipts.extend(outcome.receipt.clone());
        let row = payment_requests::ActiveModel {
            status: Set(payment.request.status.as_str().to_owned()),
            receipts: Set(payment.request.receipts.clone().into()),
            updated_at: Set(now),
            ..Default::default()
        };
        let update = payment_requests::Entity::update_of(self.tenant).set(row);
        update.filter(payment_requests::Column::Id.eq(id.0)).exec(&transaction).await?;
        // A reversal does not change the order: a person decides.
        if let (true, Some((shopper, sale))) = (outcome.settles_order, sale) {
            if !take_stock(&transaction, self.tenant, &sale).await? {
                outcome.problem = outcome.problem.or(Some(PaymentProblem::OutOfStock));
            }
            let sale = Sale { status: SaleStatus::Paid, updated_at: now, ..sale };
            write_sale(&transaction, self.tenant, shopper, &sale, now).await?;
        }
        let status = payment.request.status;
        if !says_nothing && (outcome.problem.is_some() || !status.is_open()) {
            let has_no_result = report == PaymentReport::NoResult;
            let (problem, receipt) = (outcome.problem, outcome.receipt);
            let notice = PaymentNotice { payment: id, status, problem, receipt, has_no_result };
            enqueue(&transaction, &[say(self.tenant, &payment, &notice, now)]).await?;
        }
        transaction.commit().await?;
        Ok(Some(payment))
    }

    /// Stores a payment that a customer made without being asked, such as one to the shop's paybill. A stored one stays unchanged.
    pub async fn add_payment(&self, payment: &Payment) -> Result<()> {
        let insert = payment_requests::Entity::insert(row_of(self.tenant, payment)).on_conflict_do_nothing();
        insert.exec_without_returning(self.store.writer()?).await?;
        Ok(())
    }

    /// Stores the provider's number of a request that has none. A number of another request is refused.
    pub async fn note_payment_reference(&self, id: PaymentId, reference: &str) -> Result<()> {
        use payment_requests::Column as C;
        let others = self.rows::<payment_requests::Entity>().filter(C::ProviderReference.eq(reference));
        if others.limit(1).one(&self.store.read).await?.is_some() {
            return Ok(());
        }
        let row =
            payment_requests::ActiveModel { provider_reference: Set(Some(reference.to_owned())), ..Default::default() };
        let update = payment_requests::Entity::update_of(self.tenant).set(row);
        update.filter(C::Id.eq(id.0)).filter(C::ProviderReference.is_null()).exec(self.store.writer()?).await?;
        Ok(())
    }

    /// Moves a payment to the conversation in which the customer now writes about it.
    pub async fn move_payment(&self, id: PaymentId, conversation: ConversationId) -> Result<()> {
        let row = payment_requests::ActiveModel { conversation_id: Set(Some(conversation.0)), ..Default::default() };
        let update = payment_requests::Entity::update_of(self.tenant).set(row);
        update.filter(payment_requests::Column::Id.eq(id.0)).exec(self.store.writer()?).await?;
        Ok(())
    }

    /// Whether a payment of the shop has this receipt.
    pub async fn has_receipt(&self, receipt: &str) -> Result<bool> {
        // The receipts are a list of texts in quotes.
        let receipts = Expr::col(payment_requests::Column::Receipts);
        let receipts = sea_query::ExprTrait::cast_as(receipts, "text");
        let has_it = sea_query::ExprTrait::like(receipts, format!("%\"{receipt}\"%"));
        let row = self.rows::<payment_requests::Entity>().filter(has_it).limit(1).one(&self.store.read).await?;
        Ok(row.is_some())
    }

    pub async fn find_payment(&self, id: PaymentId) -> Result<Option<Payment>> {
        let row = self.rows::<payment_requests::Entity>().filter(payment_requests::Column::Id.eq(id.0));
        row.one(&self.store.read).await?.map(read_payment).transpose()
    }

    /// Lists the payments of an order, oldest first.
    pub async fn list_payments(&self, sale: &SaleId) -> Result<Vec<Payment>> {
        let rows = self.rows::<payment_requests::Entity>();
        let rows = rows.filter(payment_requests::Column::SaleId.eq(sale.as_str()));
        let rows = oldest_first(rows).all(&self.store.read).await?;
        rows.into_iter().map(read_payment).collect()
    }

    /// Returns the last payment that began in a conversation.
    pub async fn find_last_payment(&self, conversation: ConversationId) -> Result<Option<Payment>> {
        let rows = self.rows::<payment_requests::Entity>();
        let rows = rows.filter(payment_requests::Column::ConversationId.eq(conversation.0));
        newest_first(rows).limit(1).one(&self.store.read).await?.map(read_payment).transpose()
    }

    /// Lists at most `limit` payments of the shop, newest first: those that began before `after`.
    pub async fn list_recent_payments(&self, after: Option<PaymentId>, limit: u64) -> Result<Vec<Payment>> {
        let mut rows = self.rows::<payment_requests::Entity>();
        if let Some(after) = after {
            rows = rows.filter(payment_requests::Column::Id.lt(after.0));
        }
        // The ids grow with the time.
        let rows = rows.order_by_desc(payment_requests::Column::Id).limit(limit).all(&self.store.read).await?;
        rows.into_iter().map(read_payment).collect()
    }

    /// Lists the payments of a customer's orders in any conversation, newest first.
    pub async fn list_payments_of(&self, shopper: ShopperId) -> Result<Vec<Payment>> {
        let own = Query::select()
            .column(sales::Column::SaleId)
            .from(sales::Entity)
            .and_where(sales::Column::TenantId.eq(self.tenant.as_str()))
            .and_where(sales::Column::ShopperId.eq(shopper.0))
            .to_owned();
        let rows = self.rows::<payment_requests::Entity>();
        let rows = rows.filter(payment_requests::Column::SaleId.in_subquery(own));
        let rows = newest_first(rows).all(&self.store.read).await?;
        rows.into_iter().map(read_payment).collect()
    }
}

fn poll(tenant: &TenantId, id: PaymentId, now: DateTime<Utc>) -> NewJob<'_> {
    NewJob::new(POLL_PAYMENT, id.0, tenant, now)
}

fn say<'a>(tenant: &'a TenantId, payment: &Payment, notice: &PaymentNotice, now: DateTime<Utc>) -> NewJob<'a> {
    // A payment that times out and is paid late has two results.
    let receipt = notice.receipt.as_deref().unwrap_or_default();
    let subject = format!("{}{}{:?}{receipt}", payment.id, notice.status, notice.problem);
    let subject = super::jobs::subject_of(&subject);
    let payload = serde_json::to_value(notice).unwrap_or_default();
    let job = NewJob::new(SAY_PAYMENT, subject, tenant, now).with_payload(payload);
    match payment.conversation {
        Some(conversation) => job.in_conversation(conversation),
        None => job,
    }
}

async fn payments_of(transaction: &Transaction, tenant: &TenantId, sale: &SaleId) -> Result<Vec<Payment>> {
    let rows = payment_requests::Entity::of(tenant).filter(payment_requests::Column::SaleId.eq(sale.as_str()));
    let rows = oldest_first(rows).lock(LockType::Update).all(transaction).await?;
    rows.into_iter().map(read_payment).collect()
}

fn oldest_first(rows: Select<payment_requests::Entity>) -> Select<payment_requests::Entity> {
    rows.order_by_asc(payment_requests::Column::CreatedAt).order_by_asc(payment_requests::Column::Id)
}

fn newest_first(rows: Select<payment_requests::Entity>) -> Select<payment_requests::Entity> {
    rows.order_by_desc(payment_requests::Column::CreatedAt).order_by_desc(payment_requests::Column::Id)
}

fn row_of(tenant: &TenantId, payment: &Payment) -> payment_requests::ActiveModel {
    payment_requests::ActiveModel {
        id: Set(payment.id.0),
        tenant_id: Set(tenant.to_string()),
        sale_id: Set(payment.sale.to_string()),
        conversation_id: Set(payment.conversation.map(|id| id.0)),
        method: Set(payment.method.as_str().to_owned()),
        phone_e164: Set(payment.phone.as_ref().map(|phone| phone.as_str().to_owned())),
        amount: Set(payment.request.amount.minor),
        currency: Set(payment.request.amount.currency.as_str().to_owned()),
        status: Set(payment.request.status.as_str().to_owned()),
        provider: Set(payment.provider.as_str().to_owned()),
        provider_reference: Set(payment.reference.clone()),
        receipts: Set(payment.request.receipts.clone().into()),
        created_at: Set(payment.created_at),
        updated_at: Set(payment.created_at),
    }
}

fn read_payment(row: payment_requests::Model) -> Result<Payment> {
    let unreadable = |reason: &str| unreadable("payment_requests", reason);
    let currency = Currency::parse(&row.currency).ok_or_else(|| unreadable("currency"))?;
    Ok(Payment {
        id: PaymentId(row.id),
        sale: row.sale_id.parse().map_err(|_| unreadable("sale_id"))?,
        conversation: row.conversation_id.map(ConversationId),
        method: PaymentMethod::parse(&row.method).ok_or_else(|| unreadable("method"))?,
        phone: row.phone_e164.map(|phone| phone.parse()).transpose().map_err(|_| unreadable("phone_e164"))?,
        provider: PaymentProvider::parse(&row.provider).ok_or_else(|| unreadable("provider"))?,
        reference: row.provider_reference,
        request: PaymentRequest {
            status: PaymentStatus::parse(&row.status).ok_or_else(|| unreadable("status"))?,
            amount: Money::new(row.amount, currency),
            receipts: serde_json::from_value(row.receipts).map_err(|_| unreadable("receipts"))?,
        },
        created_at: row.created_at,
    })
}
