//! PesaPal, version 3 of its API: customers pay by card on its page.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tracing::warn;

use super::api::{Answer, Api, Login, Unanswered, text_of};
use super::{Credentials, PaymentAnswer, PaymentGateway};
use crate::config::PaymentProvidersConfig;
use crate::domain::TenantId;
use crate::domain::commerce::Money;
use crate::domain::commerce::payment::{Payment, PaymentReport};
use crate::domain::commerce::tenant::CredentialName;
use crate::domain::text::hex;

const ID_MAX: usize = 50;
const DESCRIPTION_MAX: usize = 100;
/// How long a token lives whose expiry cannot be read.
const TOKEN_LIVES: Duration = Duration::from_secs(300);

/// The client for every shop.
pub struct Pesapal(Api);

/// A shop's account.
#[derive(Clone, PartialEq, Eq)]
pub struct PesapalAccount {
    consumer_key: String,
    consumer_secret: String,
    /// A notification address that the shop has registered.
    pub ipn_id: Option<String>,
}

/// The payment page of one shop.
pub struct Checkout<'a> {
    pub pesapal: &'a Pesapal,
    pub account: &'a PesapalAccount,
    /// Where the customer's browser goes after the payment.
    pub callback: String,
    /// The registered notification address; empty for a query.
    pub ipn_id: String,
}

/// A notification: of PesaPal, or of the browser that comes back from its page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PesapalNotice {
    pub kind: String,
    pub tracking_id: String,
    pub merchant_reference: String,
}

impl PesapalNotice {
    pub fn read(body: &Value) -> Option<Self> {
        let get = |field: &str| text_of(&body[field]);
        Some(Self {
            kind: get("OrderNotificationType").unwrap_or_default(),
            tracking_id: get("OrderTrackingId")?,
            merchant_reference: get("OrderMerchantReference")?,
        })
    }

    /// Returns what PesaPal expects as the answer.
    pub fn answer(&self) -> Value {
        json!({
            "orderNotificationType": self.kind, "orderTrackingId": self.tracking_id,
            "orderMerchantReference": self.merchant_reference, "status": 200,
        })
    }
}

impl PesapalAccount {
    /// Returns the account, if the shop has credentials of one.
    pub fn of(credentials: &Credentials) -> Option<Self> {
        let get = |name| credentials.get(&name).cloned();
        Some(Self {
            consumer_key: get(CredentialName::PesapalConsumerKey)?,
            consumer_secret: get(CredentialName::PesapalConsumerSecret)?,
            ipn_id: get(CredentialName::PesapalIpnId),
        })
    }

    /// Identifies the account without showing its key.
    pub fn fingerprint(&self) -> String {
        hex(&Sha256::digest(&self.consumer_key)[..8])
    }
}

impl Pesapal {
    /// # Errors
    /// The system's certificates cannot be used.
    pub fn new(base: reqwest::Url, config: &PaymentProvidersConfig) -> reqwest::Result<Self> {
        Api::new("pesapal", base, config).map(Self)
    }

    fn login(&self, account: &PesapalAccount) -> Login {
        let (key, secret) = (&account.consumer_key, &account.consumer_secret);
        Login {
            account: format!("{key}:{secret}"),
            request: self.0.post("api/Auth/RequestToken", &json!({"consumer_key": key, "consumer_secret": secret})),
            read: |body| {
                let expires = text_of(&body["expiryDate"]).and_then(|time| time.parse::<DateTime<Utc>>().ok());
                let lives = expires.map(|expires| (expires - Utc::now()).to_std().unwrap_or_default());
                Some((text_of(&body["token"])?, lives.unwrap_or(TOKEN_LIVES)))
            },
        }
    }

    /// Checks that PesaPal accepts the shop's credentials.
    pub async fn check(&self, tenant: &TenantId, account: &PesapalAccount) -> Result<(), Unanswered> {
        self.0.token(tenant, &self.login(account)).await.map(|_| ())
    }

    /// Registers where PesaPal reports changes of the shop's payments. Returns the address's id.
    pub async fn register_ipn(
        &self,
        tenant: &TenantId,
        account: &PesapalAccount,
        url: &str,
    ) -> Result<String, Unanswered> {
        let body = json!({"url": url, "ipn_notification_type": "POST"});
        let answer = self.0.call(tenant, &self.login(account), self.0.post("api/URLSetup/RegisterIPN", &body)).await?;
        let refused = || Unanswered::NotSent(format!("PesaPal registered no notification address ({})", answer.status));
        answer.text("ipn_id").ok_or_else(refused)
    }
}

impl Checkout<'_> {
    fn order(&self, payment: &Payment) -> Value {
        let cut = |text: String, max: usize| text.chars().take(max).collect::<String>();
        let amount = payment.request.amount;
        let phone = payment.phone.as_ref().map(|phone| phone.as_str());
        json!({
            "id": cut(payment.id.to_string(), ID_MAX), "currency": amount.currency, "amount": amount.minor / 100,
            "description": cut(format!("Order {}", payment.sale), DESCRIPTION_MAX),
            "callback_url": self.callback, "notification_id": self.ipn_id,
            "billing_address": {"phone_number": phone, "country_code": "KE"},
        })
    }

    async fn send(&self, tenant: &TenantId, path: &str, body: Option<&Value>) -> Result<Answer, Unanswered> {
        let api = &self.pesapal.0;
        let request = match body {
            Some(body) => api.post(path, body),
            None => api.get(path),
        };
        api.call(tenant, &self.pesapal.login(self.account), request).await
    }
}

#[async_trait]
impl PaymentGateway for Checkout<'_> {
    async fn request(&self, tenant: &TenantId, payment: &Payment) -> PaymentAnswer {
        let answer = self.send(tenant, "api/Transactions/SubmitOrderRequest", Some(&self.order(payment))).await;
        match answer {
            Ok(answer) => {
                let page = answer.text("redirect_url").filter(|page| page.starts_with("http"));
                if let (Some(reference), Some(page)) = (answer.text("order_tracking_id"), page) {
                    let (reference, page) = (Some(reference), Some(page));
                    return PaymentAnswer { reference, page, ..PaymentReport::Accepted.into() };
                }
                let code = text_of(&answer.body["error"]["code"]).unwrap_or_default();
                warn!(%tenant, payment = %payment.id, status = %answer.status, code, "PesaPal refused an order");
                PaymentReport::Failed.into()
            }
            // Without the page, the customer cannot pay.
            Err(cause) => {
                warn!(%tenant, payment = %payment.id, error = %cause, "PesaPal did not answer an order");
                PaymentAnswer::unavailable()
            }
        }
    }

    async fn query(&self, tenant: &TenantId, payment: &Payment) -> PaymentReport {
        let Some(reference) = &payment.reference else { return PaymentReport::StillRunning };
        let tracking: String = url::form_urlencoded::byte_serialize(reference.as_bytes()).collect();
        let path = format!("api/Transactions/GetTransactionStatus?orderTrackingId={tracking}");
        match self.send(tenant, &path, None).await {
            Ok(answer) => read_status(tenant, payment, reference, &answer),
            Err(cause) => {
                warn!(%tenant, payment = %payment.id, error = %cause, "PesaPal did not answer a query");
                PaymentReport::AnswerLost
            }
        }
    }
}

/// Reads the status of a payment. An answer about another one says nothing.
fn read_status(tenant: &TenantId, payment: &Payment, reference: &str, answer: &Answer) -> PaymentReport {
    let wanted = payment.request.amount.currency;
    let is_its = answer.text("merchant_reference").is_some_and(|id| id == payment.id.to_string());
    let currency = answer.text("currency");
    if !answer.status.is_success() || !is_its {
        warn!(%tenant, payment = %payment.id, status = %answer.status, "PesaPal's answer is about no payment of ours");
        return PaymentReport::AnswerLost;
    }
    let amount = answer.text("amount").and_then(|amount| Money::parse(&amount, wanted).ok());
    let amount = amount.filter(|_| currency.is_none_or(|currency| currency == wanted.as_str()));
    let receipt = answer.text("confirmation_code");
    match (answer.text("status_code").as_deref(), amount) {
        (Some("1"), Some(amount)) => {
            let receipt = receipt.unwrap_or_else(|| reference.to_owned());
            PaymentReport::Paid { amount, receipt, paid_at: None }
        }
        (Some("2"), _) => PaymentReport::Failed,
        (Some("3"), _) => PaymentReport::Reversed { receipt: None },
        // 0: the customer has not paid yet.
        (Some("0"), _) => PaymentReport::StillRunning,
        _ => PaymentReport::AnswerLost,
    }
}
