//! The addresses at which payment providers call back: `/webhooks/pay/{secret}`.
//!
//! A callback never decides: it makes the server ask the provider. Only the answer to a question about a receipt comes this way,
//! at an address that the provider alone was given with the question.

use chrono::Utc;
use rand::random;
use serde_json::{Value, json};
use subtle::ConstantTimeEq;
use uuid::Uuid;

use crate::config::Config;
use crate::domain::commerce::SaleId;
use crate::domain::commerce::payment::{CallbackPurpose, Payment, PaymentProvider, PaymentStatus};
use crate::domain::commerce::tenant::CredentialName;
use crate::domain::sealed::SealingKey;
use crate::domain::text::hex;
use crate::domain::{PaymentId, TenantId};
use crate::providers::payment::Credentials;
use crate::providers::payment::daraja::{C2bPayment, DarajaAccount, ReceiptResult, StkCallback, is_receipt};
use crate::providers::payment::pesapal::PesapalNotice;
use crate::store::payment_callbacks::{APPLY_RECEIPT, CHECK_RECEIPT, CallbackDetail, PaymentCallback};
use crate::store::tenants::credential_owner;
use crate::store::{Store, StoreError};

/// Hex digits of an address's id, and of its secret.
const ID_DIGITS: usize = 32;

/// The addresses of every shop.
#[derive(Clone)]
pub struct PaymentCallbacks {
    store: Store,
    key: Option<SealingKey>,
    /// The address of this server, without a slash at the end.
    base: String,
}

/// An address with its secret.
pub struct OpenCallback {
    pub callback: PaymentCallback,
    pub url: String,
}

/// The answer to a callback.
#[derive(Clone, Debug, PartialEq)]
pub enum CallbackAnswer {
    Json(Value),
    /// The customer's browser comes back from the payment page: send it to the shop's page, if there is one.
    Browser(Option<String>),
}

impl PaymentCallbacks {
    /// Without `PUBLIC_URL`, the addresses lead to this machine, and only programs on it can call back.
    pub fn new(store: &Store, config: &Config) -> Self {
        let bound = || format!("http://{}", config.http.bind);
        let base = config.http.public_url.clone().unwrap_or_else(bound);
        let key = config.commerce.tenant_key.clone();
        Self { store: store.clone(), key, base: base.trim_end_matches('/').to_owned() }
    }

    /// The address of this server.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Returns the subject of the addresses for payments to a paybill or till.
    pub fn c2b_subject(&self, account: &DarajaAccount) -> String {
        format!("{} {}", account.shortcode, self.base)
    }

    /// Whether Daraja keeps earlier addresses for payments to the paybill or till, and none of this server.
    pub async fn is_reported_elsewhere(&self, tenant: &TenantId, account: &DarajaAccount) -> Result<bool, StoreError> {
        let (door, subject) = (self.store.tenant(tenant), self.c2b_subject(account));
        let found = door.find_callback(CallbackPurpose::C2bConfirmation, &subject).await?;
        Ok(found.is_some_and(|found| found.detail.is_elsewhere && found.detail.registered.is_none()))
    }

    /// Returns the shop's credentials that the server's key opens.
    pub async fn credentials(&self, tenant: &TenantId) -> Result<Credentials, StoreError> {
        let Some(key) = &self.key else { return Ok(Credentials::new()) };
        let sealed = self.store.tenant(tenant).list_credentials().await?;
        let open = |(name, sealed): (CredentialName, Vec<u8>)| {
            Some((name, key.open(&credential_owner(tenant, name), &sealed).ok()?))
        };
        Ok(sealed.into_iter().filter_map(open).collect())
    }

    /// Returns the address for a subject, which is made once. `None` without `TENANT_SECRET_KEY`.
    pub async fn open(
        &self,
        tenant: &TenantId,
        purpose: CallbackPurpose,
        subject: &str,
        payment: Option<PaymentId>,
    ) -> Result<Option<OpenCallback>, StoreError> {
        let Some(key) = &self.key else { return Ok(None) };
        let door = self.store.tenant(tenant);
        loop {
            let (id, secret) = (uuid::Builder::from_random_bytes(random()).into_uuid(), hex(&random::<[u8; 16]>()));
            let Ok(sealed) = key.seal(&owner_of(tenant, id), &secret, random()) else { return Ok(None) };
            let new = PaymentCallback {
                id,
                tenant: tenant.clone(),
                purpose,
                subject: subject.to_owned(),
                payment,
                sealed,
                detail: CallbackDetail::default(),
                created_at: Utc::now(),
            };
            let callback = door.find_or_create_callback(&new).await?;
            match key.open(&owner_of(tenant, callback.id), &callback.sealed) {
                Ok(secret) => {
                    let url = format!("{}/webhooks/pay/{}{secret}", self.base, callback.id.simple());
                    return Ok(Some(OpenCallback { callback, url }));
                }
                // The key was replaced, and with it all secrets.
                Err(_) => door.delete_callback(callback.id).await?,
            }
        }
    }

    /// Returns the address that has this secret. The id finds the row, and the secret is compared in constant time.
    async fn find(&self, secret: &str) -> Result<Option<PaymentCallback>, StoreError> {
        let Some((id, secret)) = secret.split_at_checked(ID_DIGITS) else { return Ok(None) };
        let (Ok(id), Some(key)) = (Uuid::try_parse(id), &self.key) else { return Ok(None) };
        let Some(callback) = self.store.find_payment_callback(id).await? else { return Ok(None) };
        let known = key.open(&owner_of(&callback.tenant, id), &callback.sealed).unwrap_or_default();
        let is_same = !known.is_empty() && bool::from(known.as_bytes().ct_eq(secret.as_bytes()));
        Ok(is_same.then_some(callback))
    }

    /// Receives a callback: stores what to ask the provider. `None` if the secret is unknown.
    pub async fn receive(&self, secret: &str, body: &Value) -> Result<Option<CallbackAnswer>, StoreError> {
        let Some(callback) = self.find(secret).await? else { return Ok(None) };
        let code = match callback.purpose {
            CallbackPurpose::Payment => return self.receive_payment(&callback, body).await.map(Some),
            CallbackPurpose::PesapalIpn => return self.receive_ipn(&callback, body).await.map(Some),
            CallbackPurpose::C2bValidation => self.validate(&callback, body).await?,
            CallbackPurpose::C2bConfirmation => self.receive_confirmation(&callback, body).await?,
            CallbackPurpose::Receipt => self.receive_result(&callback, body).await?,
        };
        Ok(Some(accepted(code)))
    }

    /// The end of one payment request.
    async fn receive_payment(&self, callback: &PaymentCallback, body: &Value) -> Result<CallbackAnswer, StoreError> {
        let (door, now) = (self.store.tenant(&callback.tenant), Utc::now());
        let Some(payment) = callback.payment else { return Ok(accepted("0")) };
        let (stk, notice) = (StkCallback::read(body), PesapalNotice::read(body));
        let reference = stk.as_ref().map(|stk| &stk.reference).or(notice.as_ref().map(|notice| &notice.tracking_id));
        if let Some(reference) = reference {
            door.note_payment_reference(payment, reference).await?;
        }
        // A receipt that a callback of another prompt names is not this payment's.
        let known = door.find_payment(payment).await?.and_then(|payment| payment.reference);
        let receipt = stk.filter(|stk| Some(&stk.reference) == known.as_ref()).and_then(|stk| stk.receipt);
        let note =
            |callback: &mut PaymentCallback| callback.detail.receipt = callback.detail.receipt.take().or(receipt);
        door.change_callback(callback.id, note, &[]).await?;
        door.enqueue_settle(payment, now).await?;
        match notice {
            Some(notice) if notice.kind == "CALLBACKURL" => {
                let shop = door.find_tenant().await?;
                let page = shop.and_then(|shop| shop.settings.catalog_link_base).map(|link| link.to_string());
                Ok(CallbackAnswer::Browser(page))
            }
            Some(notice) => Ok(CallbackAnswer::Json(notice.answer())),
            None => Ok(accepted("0")),
        }
    }

    /// A change of one of the shop's payments at PesaPal.
    async fn receive_ipn(&self, callback: &PaymentCallback, body: &Value) -> Result<CallbackAnswer, StoreError> {
        let Some(notice) = PesapalNotice::read(body) else { return Ok(accepted("0")) };
        let (door, now) = (self.store.tenant(&callback.tenant), Utc::now());
        let payment = match Uuid::try_parse(&notice.merchant_reference) {
            Ok(id) => door.find_payment(PaymentId(id)).await?,
            Err(_) => None,
        };
        if let Some(Payment { id, .. }) = payment.filter(|payment| payment.provider == PaymentProvider::Pesapal) {
            door.note_payment_reference(id, &notice.tracking_id).await?;
            door.enqueue_settle(id, now).await?;
        }
        Ok(CallbackAnswer::Json(notice.answer()))
    }

    /// Decides whether M-PESA may take a payment to the paybill: for an order, its total while its prices hold, unless a payment
    /// of it stands. Other account numbers than those of orders are accepted: the shop may have other customers.
    async fn validate(&self, callback: &PaymentCallback, body: &Value) -> Result<&'static str, StoreError> {
        const UNKNOWN_ACCOUNT: &str = "C2B00012";
        const WRONG_AMOUNT: &str = "C2B00013";
        const OTHER: &str = "C2B00016";
        let payment = C2bPayment::read(body);
        let order = payment.as_ref().and_then(|payment| payment.account.as_ref()?.parse::<SaleId>().ok());
        let (Some(payment), Some(order)) = (payment, order) else { return Ok("0") };
        let door = self.store.tenant(&callback.tenant);
        let Some(sale) = door.find_any_sale(&order).await? else { return Ok(UNKNOWN_ACCOUNT) };
        let stands = |payment: &Payment| payment.request.status == PaymentStatus::Paid;
        if !sale.is_held(Utc::now()) || door.list_payments(&order).await?.iter().any(stands) {
            return Ok(OTHER);
        }
        let is_wrong = payment.amount.is_some_and(|amount| amount != sale.totals.total);
        Ok(if is_wrong { WRONG_AMOUNT } else { "0" })
    }

    /// A payment to the paybill or till. Daraja is asked whether it was made. A till names no account, so there the customer types
    /// the receipt's code.
    async fn receive_confirmation(&self, callback: &PaymentCallback, body: &Value) -> Result<&'static str, StoreError> {
        let door = self.store.tenant(&callback.tenant);
        if callback.detail.registered.is_none() {
            // Daraja has this address: the answer to its registration was lost.
            let note = |of: &mut PaymentCallback| of.detail.registered = Some(of.subject.clone());
            door.change_callback(callback.id, note, &[]).await?;
        }
        let payment = C2bPayment::read(body).filter(|payment| is_receipt(&payment.receipt));
        let Some(C2bPayment { receipt, account: Some(account), .. }) = payment else { return Ok("0") };
        let receipt = receipt.to_ascii_uppercase();
        let opened = self.open(&callback.tenant, CallbackPurpose::Receipt, &receipt, None).await?;
        if let Some(OpenCallback { callback: of_receipt, .. }) = opened {
            let job = door.receipt_job(CHECK_RECEIPT, &of_receipt, None, Utc::now());
            let note = |of: &mut PaymentCallback| of.detail.account = of.detail.account.take().or(Some(account));
            door.change_callback(of_receipt.id, note, &[job]).await?;
        }
        Ok("0")
    }

    /// The status of a receipt, for which Daraja was asked.
    async fn receive_result(&self, callback: &PaymentCallback, body: &Value) -> Result<&'static str, StoreError> {
        let Some(account) = DarajaAccount::of(&self.credentials(&callback.tenant).await?) else { return Ok("0") };
        let Some(result) = ReceiptResult::read(body, &callback.subject, &account) else { return Ok("0") };
        let door = self.store.tenant(&callback.tenant);
        let payment = match callback.payment {
            Some(id) => door.find_payment(id).await?,
            None => None,
        };
        let conversation = payment.and_then(|payment| payment.conversation);
        let job = door.receipt_job(APPLY_RECEIPT, callback, conversation, Utc::now());
        let note = |of: &mut PaymentCallback| of.detail.result = of.detail.result.take().or(Some(json!(result)));
        door.change_callback(callback.id, note, &[job]).await?;
        Ok("0")
    }
}

/// Returns the answer that Daraja expects. Any other code than 0 refuses a payment.
pub fn accepted(code: &str) -> CallbackAnswer {
    let description = if code == "0" { "Accepted" } else { "Rejected" };
    CallbackAnswer::Json(json!({"ResultCode": code, "ResultDesc": description}))
}

/// Returns the name under which an address's secret is sealed.
fn owner_of(tenant: &TenantId, id: Uuid) -> String {
    format!("{tenant}/callback/{id}")
}
