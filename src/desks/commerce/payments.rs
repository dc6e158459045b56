//! Payments: which ways a shop offers, how a payment begins, and what its provider says about it.
//!
//! [`jobs`] follow a payment to its end, and [`receipt`] counts payments that customers made by themselves.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use tracing::warn;

use super::kind;
use super::sandbox::{PAYBILL, Sandbox};
use super::tools::payment::Started;
use super::tools::{CallError, ToolContext};
use crate::config::{Config, PaymentMode, PaymentProvidersConfig};
use crate::domain::commerce::payment::{
    CallbackPurpose, CannotPay, Payment, PaymentProvider, PaymentReport, PaymentStatus,
};
use crate::domain::commerce::tenant::PaymentMethod;
use crate::domain::commerce::{Money, SaleId, Tenant};
use crate::domain::identity::e164::E164;
use crate::domain::{Metadata, PaymentId, TenantId};
use crate::providers::payment::daraja::{Daraja, DarajaAccount, Registration, StkPush};
use crate::providers::payment::pesapal::{Checkout, Pesapal, PesapalAccount};
use crate::providers::payment::{PaymentAnswer, PaymentGateway};
use crate::store::payments::{Beginning, NewPayment};
use crate::store::{Store, StoreError};
use crate::tools::payment_callback::{OpenCallback, PaymentCallbacks};

pub(super) mod jobs;
pub(super) mod receipt;

pub use receipt::Checking;

/// How long the provider is asked about a payment that has no final result.
const FOLLOWED_FOR: TimeDelta = TimeDelta::hours(24);

/// The clients of the providers, which live as long as the server.
pub struct Gateways {
    daraja: Option<Daraja>,
    pesapal: Option<Pesapal>,
}

/// The payments of every shop.
#[derive(Clone)]
pub struct Payments {
    mode: PaymentMode,
    config: PaymentProvidersConfig,
    store: Store,
    gateways: Arc<Gateways>,
    callbacks: PaymentCallbacks,
    pub(super) sandbox: Sandbox,
}

/// A shop's accounts at the providers.
pub(super) struct Accounts {
    daraja: Option<DarajaAccount>,
    pesapal: Option<PesapalAccount>,
    /// Whether the shop pays at the sandbox.
    is_sandbox: bool,
}

/// The ways to pay that a shop offers.
#[derive(Clone, Debug, Default)]
pub struct PaymentOffers {
    pub methods: Vec<PaymentMethod>,
    /// The number of the shop's paybill or till.
    pub pay_to: String,
    pub is_till: bool,
}

/// What is known of a payment after its provider was asked.
pub(super) struct CheckedPayment {
    pub payment: Payment,
    /// Whether to ask no more.
    pub is_over: bool,
    /// Whether the provider did not answer.
    pub is_unanswered: bool,
}

impl Gateways {
    /// A provider without a client is one whose address is not valid, which the configuration refuses.
    pub fn new(config: &PaymentProvidersConfig) -> Self {
        let report = |error: reqwest::Error| warn!(%error, "A payment provider cannot be used");
        let daraja = config.daraja.clone().and_then(|url| Daraja::new(url, config).map_err(report).ok());
        let pesapal = config.pesapal.clone().and_then(|url| Pesapal::new(url, config).map_err(report).ok());
        Self { daraja, pesapal }
    }
}

impl Accounts {
    /// Only customers whom the channel knows by a number get real prompts: a customer must not type another person's number.
    fn can(&self, method: PaymentMethod, has_number: bool) -> bool {
        let daraja = self.daraja.as_ref();
        self.is_sandbox
            || match method {
                PaymentMethod::MpesaStk => has_number && daraja.is_some_and(DarajaAccount::can_push),
                PaymentMethod::MpesaC2b => daraja.is_some_and(DarajaAccount::can_check),
                PaymentMethod::Pesapal => self.pesapal.is_some(),
            }
    }

    fn provider_of(&self, method: PaymentMethod) -> PaymentProvider {
        match method {
            _ if self.is_sandbox => PaymentProvider::Sandbox,
            PaymentMethod::MpesaStk | PaymentMethod::MpesaC2b => PaymentProvider::Daraja,
            PaymentMethod::Pesapal => PaymentProvider::Pesapal,
        }
    }
}

impl Payments {
    pub fn new(config: &Config, store: &Store, gateways: &Arc<Gateways>) -> Self {
        Self {
            mode: config.commerce.payments,
            config: config.commerce.providers.clone(),
            store: store.clone(),
            gateways: gateways.clone(),
            callbacks: PaymentCallbacks::new(store, config),
            sandbox: Sandbox::new(store),
        }
    }

    /// Returns the shop's accounts. The sandbox never serves a shop that has credentials of a real provider.
    async fn accounts(&self, tenant: &TenantId) -> Result<Accounts, StoreError> {
        let stored = self.store.tenant(tenant).list_credentials().await?;
        let has_real = stored.keys().any(|name| name.is_for_payments());
        let is_live = has_real && matches!(self.mode, PaymentMode::Auto | PaymentMode::Live);
        let credentials = if is_live { self.callbacks.credentials(tenant).await? } else { Default::default() };
        Ok(Accounts {
            daraja: DarajaAccount::of(&credentials),
            pesapal: PesapalAccount::of(&credentials),
            is_sandbox: !has_real && matches!(self.mode, PaymentMode::Auto | PaymentMode::Sandbox),
        })
    }

    /// Returns the ways to pay that the shop has enabled and the server can offer this customer.
    pub async fn offers(&self, tenant: &Tenant, has_number: bool) -> Result<PaymentOffers, StoreError> {
        let accounts = self.accounts(&tenant.id).await?;
        let enabled = tenant.settings.payments_enabled.iter().copied();
        let pay_to = accounts.daraja.as_ref().map_or(PAYBILL, DarajaAccount::pay_to).to_owned();
        Ok(PaymentOffers {
            methods: enabled.filter(|method| accounts.can(*method, has_number)).collect(),
            pay_to,
            is_till: accounts.daraja.is_some_and(|account| account.is_till),
        })
    }

    /// Stores a payment, then asks its provider. The row precedes the request, so that a payment that a customer may have made is
    /// always known. The request is not repeated, whatever happens to its answer.
    pub async fn start(
        &self,
        context: &ToolContext<'_>,
        sale: &SaleId,
        method: PaymentMethod,
        phone: Option<&E164>,
        confirmed: Money,
    ) -> Result<Started, CallError> {
        let tenant = &context.tenant.id;
        let accounts = self.accounts(tenant).await?;
        let is_enabled = context.tenant.settings.payments_enabled.contains(&method);
        if !is_enabled || !accounts.can(method, context.has_number()) {
            return Err(CallError::refused("method_not_enabled"));
        }
        if !method.takes(confirmed) {
            return Err(CallError::refused("amount_out_of_range"));
        }
        let new = NewPayment { sale, method, phone, confirmed, provider: accounts.provider_of(method) };
        let payment = match context.door().begin_payment(context.owner(), &new, context.now).await? {
            Beginning::Begun(payment) => payment,
            Beginning::NoOrder => return Err(CallError::refused("no_such_order")),
            Beginning::OtherAmount(_) => return Err(CallError::refused("amount_changed")),
            Beginning::Expired => return Err(CallError::refused("price_expired")),
            Beginning::GoodsChanged => return Err(CallError::refused("goods_changed")),
            Beginning::Refused(CannotPay::Open) => return Err(CallError::refused("payment_open")),
            Beginning::Refused(CannotPay::UnderReview) => return Err(CallError::refused("payment_under_review")),
            Beginning::Refused(CannotPay::Paid) => return Err(CallError::refused("already_paid")),
        };
        let answer = self.request(tenant, &payment, &accounts).await?;
        let PaymentAnswer { report, reference, page, is_unavailable } = answer;
        let door = self.store.tenant(tenant);
        if let Some(reference) = &reference {
            door.note_payment_reference(payment.id, reference).await?;
        }
        if page.is_some()
            && let Some(callback) = self.callback_of(tenant, payment.id).await?
        {
            door.change_callback(callback.id, |callback| callback.detail.page = page.clone(), &[]).await?;
        }
        let after = door.report_payment(payment.id, &report, Utc::now()).await?;
        let status = after.map_or(payment.request.status, |payment| payment.request.status);
        let started = Started { payment_request_id: payment.id, status, page };
        if is_unavailable { Err(CallError::unavailable()) } else { Ok(started) }
    }

    async fn request(
        &self,
        tenant: &TenantId,
        payment: &Payment,
        accounts: &Accounts,
    ) -> Result<PaymentAnswer, StoreError> {
        if payment.provider == PaymentProvider::Sandbox {
            return Ok(self.sandbox.request(tenant, payment).await);
        }
        if payment.method == PaymentMethod::MpesaC2b {
            self.register_c2b(tenant, accounts).await?;
            return Ok(PaymentReport::Accepted.into());
        }
        let subject = payment.id.to_string();
        let opened = self.callbacks.open(tenant, CallbackPurpose::Payment, &subject, Some(payment.id)).await?;
        let Some(OpenCallback { url, .. }) = opened else { return Ok(PaymentReport::Failed.into()) };
        match self.gateway(payment, accounts, url, self.ipn_id(tenant, payment, accounts).await?) {
            Some(gateway) => Ok(gateway.request(tenant, payment).await),
            None => Ok(PaymentAnswer::unavailable()),
        }
    }

    /// Returns the shop's gateway for a payment; `None` if the shop has no account of its provider any more.
    fn gateway<'a>(
        &'a self,
        payment: &Payment,
        accounts: &'a Accounts,
        callback: String,
        ipn_id: Option<String>,
    ) -> Option<Box<dyn PaymentGateway + 'a>> {
        Some(match payment.provider {
            PaymentProvider::Sandbox => Box::new(self.sandbox.clone()),
            PaymentProvider::Daraja => {
                let (daraja, account) = (self.gateways.daraja.as_ref()?, accounts.daraja.as_ref()?);
                Box::new(StkPush { daraja, account, callback })
            }
            PaymentProvider::Pesapal => {
                let (pesapal, account) = (self.gateways.pesapal.as_ref()?, accounts.pesapal.as_ref()?);
                Box::new(Checkout { pesapal, account, callback, ipn_id: ipn_id? })
            }
        })
    }

    /// Registers the addresses for payments to the shop's paybill or till, once. Without them, customers send receipt codes.
    async fn register_c2b(&self, tenant: &TenantId, accounts: &Accounts) -> Result<(), StoreError> {
        let (Some(daraja), Some(account)) = (&self.gateways.daraja, &accounts.daraja) else { return Ok(()) };
        let subject = self.callbacks.c2b_subject(account);
        let validation = self.callbacks.open(tenant, CallbackPurpose::C2bValidation, &subject, None).await?;
        let confirmation = self.callbacks.open(tenant, CallbackPurpose::C2bConfirmation, &subject, None).await?;
        let (Some(validation), Some(confirmation)) = (validation, confirmation) else { return Ok(()) };
        if confirmation.callback.detail.registered.is_some() {
            return Ok(());
        }
        match daraja.register_c2b(tenant, account, &validation.url, &confirmation.url).await {
            Ok(Registration::Done) => self.note_registered(tenant, &confirmation, account.shortcode.clone()).await,
            Ok(Registration::KeptEarlier) => {
                warn!(
                    %tenant, shortcode = account.shortcode,
                    "Daraja keeps earlier addresses for payments to the shop's paybill or till: delete them at Safaricom"
                );
                let door = self.store.tenant(tenant);
                door.change_callback(confirmation.callback.id, |of| of.detail.is_elsewhere = true, &[]).await?;
                Ok(())
            }
            Err(error) => {
                warn!(%tenant, %error, "Daraja did not register the addresses for payments to the shop's paybill or till");
                Ok(())
            }
        }
    }

    /// Returns the notification address of the shop at PesaPal, which is registered once. `None` if it cannot be.
    async fn ipn_id(
        &self,
        tenant: &TenantId,
        payment: &Payment,
        accounts: &Accounts,
    ) -> Result<Option<String>, StoreError> {
        let (Some(pesapal), Some(account)) = (&self.gateways.pesapal, &accounts.pesapal) else { return Ok(None) };
        if payment.provider != PaymentProvider::Pesapal || account.ipn_id.is_some() {
            return Ok(account.ipn_id.clone());
        }
        let subject = format!("{} {}", account.fingerprint(), self.callbacks.base());
        let Some(opened) = self.callbacks.open(tenant, CallbackPurpose::PesapalIpn, &subject, None).await? else {
            return Ok(None);
        };
        if let Some(id) = &opened.callback.detail.registered {
            return Ok(Some(id.clone()));
        }
        match pesapal.register_ipn(tenant, account, &opened.url).await {
            Ok(id) => {
                self.note_registered(tenant, &opened, id.clone()).await?;
                Ok(Some(id))
            }
            Err(error) => {
                warn!(%tenant, %error, "PesaPal did not register the shop's notification address");
                Ok(None)
            }
        }
    }

    async fn note_registered(&self, tenant: &TenantId, opened: &OpenCallback, name: String) -> Result<(), StoreError> {
        let door = self.store.tenant(tenant);
        door.change_callback(opened.callback.id, |callback| callback.detail.registered = Some(name), &[]).await?;
        Ok(())
    }

    async fn callback_of(
        &self,
        tenant: &TenantId,
        payment: PaymentId,
    ) -> Result<Option<crate::store::payment_callbacks::PaymentCallback>, StoreError> {
        self.store.tenant(tenant).find_callback(CallbackPurpose::Payment, &payment.to_string()).await
    }

    /// Returns the page on which the customer pays.
    pub(super) async fn page_of(&self, tenant: &TenantId, payment: &Payment) -> Result<Option<String>, StoreError> {
        if payment.provider != PaymentProvider::Pesapal || !payment.request.status.is_open() {
            return Ok(None);
        }
        Ok(self.callback_of(tenant, payment.id).await?.and_then(|callback| callback.detail.page))
    }

    /// Asks the provider about a payment, and stores the report. A payment that stays open too long is closed; a late success
    /// counts.
    pub(super) async fn settle(&self, tenant: &TenantId, id: PaymentId) -> Result<Option<CheckedPayment>, StoreError> {
        let door = self.store.tenant(tenant);
        let Some(payment) = door.find_payment(id).await? else { return Ok(None) };
        let report = self.query(tenant, &payment).await?;
        let is_unanswered = report == PaymentReport::AnswerLost;
        let is_definite = !is_unanswered && report != PaymentReport::StillRunning;
        let report = self.close_if_old(&payment, report, Utc::now());
        let payment = match report {
            PaymentReport::StillRunning => payment,
            report => door.report_payment(id, &report, Utc::now()).await?.unwrap_or(payment),
        };
        let is_open = payment.request.status.is_open();
        let is_over = !is_open && (is_definite || !may_be_late(&payment, Utc::now()));
        Ok(Some(CheckedPayment { payment, is_over, is_unanswered }))
    }

    async fn query(&self, tenant: &TenantId, payment: &Payment) -> Result<PaymentReport, StoreError> {
        // Nobody can be asked about a payment to the paybill before its receipt is known.
        if payment.provider == PaymentProvider::Daraja && payment.method == PaymentMethod::MpesaC2b {
            return Ok(PaymentReport::StillRunning);
        }
        let accounts = self.accounts(tenant).await?;
        let Some(gateway) = self.gateway(payment, &accounts, String::new(), Some(String::new())) else {
            return Ok(PaymentReport::AnswerLost);
        };
        let report = gateway.query(tenant, payment).await;
        match report {
            PaymentReport::Paid { amount, receipt, paid_at } if payment.method == PaymentMethod::MpesaStk => {
                let named = self.callback_of(tenant, payment.id).await?.and_then(|callback| callback.detail.receipt);
                // The receipt of another payment is not taken from a callback.
                let is_free = match &named {
                    Some(named) => !self.store.tenant(tenant).has_receipt(named).await?,
                    None => false,
                };
                let receipt = named.filter(|_| is_free).unwrap_or(receipt);
                Ok(PaymentReport::Paid { amount, receipt, paid_at })
            }
            report => Ok(report),
        }
    }

    fn close_if_old(&self, payment: &Payment, report: PaymentReport, now: DateTime<Utc>) -> PaymentReport {
        let wait = match (payment.provider, payment.method) {
            // The sandbox closes its payments itself.
            (PaymentProvider::Sandbox, _) => return report,
            (_, PaymentMethod::MpesaStk) => self.config.stk_wait,
            (_, PaymentMethod::MpesaC2b | PaymentMethod::Pesapal) => self.config.checkout_wait,
        };
        let age = now - payment.created_at;
        let is_over = TimeDelta::from_std(wait).is_ok_and(|wait| age >= wait);
        match report {
            PaymentReport::StillRunning if is_over => PaymentReport::NoResult,
            // The provider does not answer, so the customer may have paid.
            PaymentReport::AnswerLost if age < FOLLOWED_FOR => PaymentReport::StillRunning,
            PaymentReport::AnswerLost => PaymentReport::NoResult,
            report => report,
        }
    }
}

/// Whether a payment that was closed may still be paid, and its provider can be asked.
fn may_be_late(payment: &Payment, now: DateTime<Utc>) -> bool {
    payment.request.status == PaymentStatus::Timeout
        && payment.reference.is_some()
        && now - payment.created_at < FOLLOWED_FOR
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
