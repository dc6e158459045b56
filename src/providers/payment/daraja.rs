//! Daraja, Safaricom's API of M-PESA: prompts on a phone (STK push), payments to a paybill or till (C2B), and the status of a receipt.

use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, FixedOffset, Utc};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tracing::warn;

use super::api::{Answer, Api, Login, Unanswered, text_of};
use super::{Credentials, PaymentAnswer, PaymentGateway};
use crate::config::PaymentProvidersConfig;
use crate::domain::TenantId;
use crate::domain::commerce::payment::{Payment, PaymentReport};
use crate::domain::commerce::tenant::{CredentialName, PaymentMethod};

mod callback;

pub use callback::{C2bPayment, ReceiptResult, StkCallback, is_receipt};

/// Kenya's country code, with which M-PESA's numbers begin.
const COUNTRY: &str = "+254";
/// M-PESA cuts these off or refuses them.
const REFERENCE_MAX: usize = 12;
const DESCRIPTION_MAX: usize = 13;
/// Hours that Nairobi is ahead of UTC, all year round.
const NAIROBI: i32 = 3;
/// A prompt is still open, or M-PESA is busy with another one of the same phone.
const RUNNING: &str = "500.001.1001";

/// Words that Daraja refuses in the address of a callback.
const REFUSED: [&str; 2] = ["mpesa", "safaricom"];

/// The client for every shop.
pub struct Daraja(Api);

/// Returns the word because of which Daraja refuses callbacks at an address.
pub fn refused_word(address: &str) -> Option<&'static str> {
    REFUSED.into_iter().find(|word| address.to_ascii_lowercase().contains(word))
}

/// A shop's account.
#[derive(Clone, PartialEq, Eq)]
pub struct DarajaAccount {
    consumer_key: String,
    consumer_secret: String,
    /// Identifies the shop at Daraja.
    pub shortcode: String,
    passkey: Option<String>,
    /// A till (buy goods) takes no account number.
    pub is_till: bool,
    till: Option<String>,
    initiator: Option<(String, String)>,
}

/// What became of the registration of addresses for payments to a paybill or till.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registration {
    Done,
    /// Daraja keeps addresses that were registered earlier, perhaps by another system of the shop.
    KeptEarlier,
}

/// Prompts of one shop.
pub struct StkPush<'a> {
    pub daraja: &'a Daraja,
    pub account: &'a DarajaAccount,
    /// Where Daraja reports the end of the prompt.
    pub callback: String,
}

impl DarajaAccount {
    /// Returns the account, if the shop has credentials of one.
    pub fn of(credentials: &Credentials) -> Option<Self> {
        let get = |name| credentials.get(&name).cloned();
        let initiator = get(CredentialName::DarajaInitiator).zip(get(CredentialName::DarajaSecurityCredential));
        Some(Self {
            consumer_key: get(CredentialName::DarajaConsumerKey)?,
            consumer_secret: get(CredentialName::DarajaConsumerSecret)?,
            shortcode: get(CredentialName::DarajaShortcode)?,
            passkey: get(CredentialName::DarajaPasskey),
            is_till: get(CredentialName::DarajaType).as_deref() == Some("till"),
            till: get(CredentialName::DarajaTillNumber),
            initiator,
        })
    }

    /// The number to which customers pay.
    pub fn pay_to(&self) -> &str {
        self.till.as_ref().unwrap_or(&self.shortcode)
    }

    /// Whether it can prompt customers for their PIN.
    pub fn can_push(&self) -> bool {
        self.passkey.is_some()
    }

    /// Whether it can check receipts, without which no payment to the paybill is believed.
    pub fn can_check(&self) -> bool {
        self.initiator.is_some()
    }
}

impl Daraja {
    /// # Errors
    /// The system's certificates cannot be used.
    pub fn new(base: reqwest::Url, config: &PaymentProvidersConfig) -> reqwest::Result<Self> {
        Api::new("daraja", base, config).map(Self)
    }

    fn login(&self, account: &DarajaAccount) -> Login {
        let request = self.0.get("oauth/v1/generate?grant_type=client_credentials");
        Login {
            account: format!("{}:{}", account.consumer_key, account.consumer_secret),
            request: request.basic_auth(&account.consumer_key, Some(&account.consumer_secret)),
            read: |body| {
                let seconds = text_of(&body["expires_in"])?.parse().ok()?;
                Some((text_of(&body["access_token"])?, Duration::from_secs(seconds)))
            },
        }
    }

    /// Checks that Daraja accepts the shop's credentials.
    pub async fn check(&self, tenant: &TenantId, account: &DarajaAccount) -> Result<(), Unanswered> {
        self.0.token(tenant, &self.login(account)).await.map(|_| ())
    }

    async fn call(
        &self,
        tenant: &TenantId,
        account: &DarajaAccount,
        path: &str,
        body: &Value,
    ) -> Result<Answer, Unanswered> {
        self.0.call(tenant, &self.login(account), self.0.post(path, body)).await
    }

    /// Registers where payments to the paybill or till are reported.
    pub async fn register_c2b(
        &self,
        tenant: &TenantId,
        account: &DarajaAccount,
        validation: &str,
        confirmation: &str,
    ) -> Result<Registration, Unanswered> {
        let body = json!({
            "ShortCode": account.shortcode, "ResponseType": "Completed",
            "ConfirmationURL": confirmation, "ValidationURL": validation,
        });
        let answer = self.call(tenant, account, "mpesa/c2b/v1/registerurl", &body).await?;
        if is_accepted(&answer) {
            return Ok(Registration::Done);
        }
        if is_registered(&answer) {
            return Ok(Registration::KeptEarlier);
        }
        let code = answer.text("errorCode").unwrap_or_default();
        Err(Unanswered::NotSent(format!("Daraja refused the addresses ({} {code})", answer.status)))
    }

    /// Asks for the status of a receipt. The answer comes later, at `result_url`.
    pub async fn ask_receipt(
        &self,
        tenant: &TenantId,
        account: &DarajaAccount,
        receipt: &str,
        result_url: &str,
    ) -> Result<(), Unanswered> {
        let Some((initiator, credential)) = &account.initiator else {
            return Err(Unanswered::NotSent("the shop has no daraja_initiator".to_owned()));
        };
        let body = json!({
            "Initiator": initiator, "SecurityCredential": credential, "CommandID": "TransactionStatusQuery",
            "TransactionID": receipt, "PartyA": account.shortcode, "IdentifierType": "4",
            "ResultURL": result_url, "QueueTimeOutURL": result_url, "Remarks": "Order", "Occasion": "Order",
        });
        let answer = self.call(tenant, account, "mpesa/transactionstatus/v1/query", &body).await?;
        match is_accepted(&answer) {
            true => Ok(()),
            false => Err(Unanswered::NotSent(format!("Daraja refused the query ({})", answer.status))),
        }
    }
}

fn is_accepted(answer: &Answer) -> bool {
    answer.status.is_success() && answer.text("ResponseCode").as_deref() == Some("0")
}

/// Whether the answer says that the shop has registered addresses before. Daraja has no code for it.
fn is_registered(answer: &Answer) -> bool {
    let mut texts = ["errorMessage", "ResponseDescription"].into_iter().filter_map(|field| answer.text(field));
    texts.any(|text| text.to_ascii_lowercase().contains("already registered"))
}

impl StkPush<'_> {
    /// Returns the timestamp of now in Nairobi, and the password made of it.
    fn password(&self, now: DateTime<Utc>) -> (String, String) {
        let timestamp = match FixedOffset::east_opt(NAIROBI * 3600) {
            Some(nairobi) => now.with_timezone(&nairobi).format("%Y%m%d%H%M%S").to_string(),
            None => now.format("%Y%m%d%H%M%S").to_string(),
        };
        let passkey = self.account.passkey.as_deref().unwrap_or_default();
        let password = STANDARD.encode(format!("{}{passkey}{timestamp}", self.account.shortcode));
        (timestamp, password)
    }

    /// Returns the body of a push; `None` if M-PESA cannot ask for this payment.
    fn push(&self, payment: &Payment, now: DateTime<Utc>) -> Option<Value> {
        let amount = payment.request.amount;
        let shillings = PaymentMethod::MpesaStk.takes(amount).then(|| amount.whole())?;
        let phone = payment.phone.as_ref()?.as_str();
        let phone = phone.starts_with(COUNTRY).then(|| phone.trim_start_matches('+'))?;
        let order = payment.sale.as_str();
        let (timestamp, password) = self.password(now);
        let kind = if self.account.is_till { "CustomerBuyGoodsOnline" } else { "CustomerPayBillOnline" };
        let cut = |text: &str, max: usize| text.chars().take(max).collect::<String>();
        Some(json!({
            "BusinessShortCode": self.account.shortcode, "Password": password, "Timestamp": timestamp,
            "TransactionType": kind, "Amount": shillings, "PartyA": phone, "PartyB": self.account.pay_to(),
            "PhoneNumber": phone, "CallBackURL": self.callback, "AccountReference": cut(order, REFERENCE_MAX),
            "TransactionDesc": cut(&format!("Order {order}"), DESCRIPTION_MAX),
        }))
    }
}

#[async_trait]
impl PaymentGateway for StkPush<'_> {
    async fn request(&self, tenant: &TenantId, payment: &Payment) -> PaymentAnswer {
        let Some(body) = self.push(payment, Utc::now()) else { return PaymentReport::Failed.into() };
        match self.daraja.call(tenant, self.account, "mpesa/stkpush/v1/processrequest", &body).await {
            Ok(answer) => read_push(tenant, &answer),
            Err(cause) => {
                warn!(%tenant, payment = %payment.id, error = %cause, "An M-PESA prompt was not answered");
                match cause {
                    Unanswered::NotSent(_) => PaymentAnswer::unavailable(),
                    Unanswered::Lost(_) => PaymentReport::AnswerLost.into(),
                }
            }
        }
    }

    /// The amount is that of the prompt, which the customer cannot change. The receipt's code is not in the answer, so that the
    /// request's number stands for it.
    async fn query(&self, tenant: &TenantId, payment: &Payment) -> PaymentReport {
        let Some(reference) = &payment.reference else { return PaymentReport::StillRunning };
        let (timestamp, password) = self.password(Utc::now());
        let body = json!({
            "BusinessShortCode": self.account.shortcode, "Password": password, "Timestamp": timestamp,
            "CheckoutRequestID": reference,
        });
        let answer = match self.daraja.call(tenant, self.account, "mpesa/stkpushquery/v1/query", &body).await {
            Ok(answer) => answer,
            Err(cause) => {
                warn!(%tenant, payment = %payment.id, error = %cause, "A query about an M-PESA prompt was not answered");
                return PaymentReport::AnswerLost;
            }
        };
        let is_its = answer.text("CheckoutRequestID").is_none_or(|id| id == *reference);
        match answer.text("ResultCode").filter(|_| is_accepted(&answer) && is_its).as_deref() {
            // A prompt is answered while the phone shows it, however late its result comes.
            Some("0") => PaymentReport::Paid {
                amount: payment.request.amount,
                receipt: reference.clone(),
                paid_at: Some(payment.created_at),
            },
            Some("4999") => PaymentReport::StillRunning,
            // Nobody answered, or the prompt did not reach the phone.
            Some("1037" | "1019") => PaymentReport::TimedOut,
            Some(_) => PaymentReport::Failed,
            None if answer.text("errorCode").as_deref() == Some(RUNNING) => PaymentReport::StillRunning,
            None => {
                let code = answer.text("errorCode").unwrap_or_default();
                warn!(%tenant, payment = %payment.id, status = %answer.status, code, "Daraja refused a query about a prompt");
                PaymentReport::AnswerLost
            }
        }
    }
}

/// Reads the answer to a push. Only a clear refusal counts as one: after any other answer, the customer may have been asked.
fn read_push(tenant: &TenantId, answer: &Answer) -> PaymentAnswer {
    let reference = answer.text("CheckoutRequestID").filter(|_| is_accepted(answer));
    if reference.is_some() {
        return PaymentAnswer { reference, ..PaymentReport::Accepted.into() };
    }
    let code = answer.text("errorCode").or(answer.text("ResponseCode")).unwrap_or_default();
    warn!(%tenant, status = %answer.status, code, "Daraja did not accept an M-PESA prompt");
    let is_refused = answer.status.is_client_error()
        || code == RUNNING
        || (answer.status == StatusCode::OK && !code.is_empty() && code != "0");
    if is_refused { PaymentReport::Failed.into() } else { PaymentReport::AnswerLost.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account() -> DarajaAccount {
        let name = |name: &str| CredentialName::parse(name).expect("a name");
        let credentials = [
            ("daraja_consumer_key", "key"),
            ("daraja_consumer_secret", "secret"),
            ("daraja_shortcode", "174379"),
            ("daraja_passkey", "pass"),
        ];
        let credentials = credentials.map(|(of, value)| (name(of), value.to_owned())).into();
        DarajaAccount::of(&credentials).expect("an account")
    }

    #[test]
    fn only_an_unknown_receipt_is_refused() {
        let read = |code: u32| {
            let body = json!({"Result": {"ResultCode": code}});
            ReceiptResult::read(&body, "QKJ41HAY6L", &account())
        };
        assert!(read(2032).is_some_and(|result| result.amount.is_none()));
        for code in [1, 17, 21, 26, 2001, 8006] {
            assert_eq!(read(code), None, "{code}");
        }
    }

    #[test]
    fn password_is_made_of_nairobi_time() {
        let account = account();
        let url = reqwest::Url::parse("http://127.0.0.1:9/").expect("an address");
        let config = crate::config::Config::read(crate::config::Env::of([])).expect("settings").commerce.providers;
        let daraja = Daraja::new(url, &config).expect("a client");
        let push = StkPush { daraja: &daraja, account: &account, callback: String::new() };
        let now = "2026-11-20T22:30:05Z".parse().expect("a time");
        let (timestamp, password) = push.password(now);
        assert_eq!(timestamp, "20261121013005");
        assert_eq!(STANDARD.decode(password).expect("base64"), b"174379pass20261121013005");
    }
}
