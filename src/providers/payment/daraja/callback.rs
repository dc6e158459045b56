//! What Daraja sends to the server. None of it is believed before Daraja was asked, except the answer to such a question.

use chrono::{DateTime, FixedOffset, NaiveDateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tracing::warn;

use super::super::api::text_of;
use super::{DarajaAccount, NAIROBI};
use crate::domain::commerce::Money;
use crate::domain::commerce::catalog::CATALOG_CURRENCY;

/// Daraja knows no transaction with the receipt's code.
const NO_TRANSACTION: &str = "2032";

/// The end of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StkCallback {
    pub reference: String,
    pub receipt: Option<String>,
}

/// A payment to a paybill or till: to validate, or that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct C2bPayment {
    pub receipt: String,
    /// The account number that the customer typed. A till has none.
    pub account: Option<String>,
    pub amount: Option<Money>,
}

/// What Daraja says about a receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptResult {
    pub receipt: String,
    /// The amount that the shop received; `None` if there is no such payment to the shop.
    pub amount: Option<Money>,
    pub paid_at: Option<DateTime<Utc>>,
    pub is_reversed: bool,
}

/// Returns the value of an item of a list with names, as a text.
fn item(list: &Value, name: &str, key: &str) -> Option<String> {
    let items = list.as_array()?;
    items.iter().find(|item| item[name] == key).and_then(|item| text_of(&item["Value"]))
}

fn money(text: &str) -> Option<Money> {
    Money::parse(text, CATALOG_CURRENCY).ok()
}

impl StkCallback {
    pub fn read(body: &Value) -> Option<Self> {
        let body = &body["Body"]["stkCallback"];
        let receipt = item(&body["CallbackMetadata"]["Item"], "Name", "MpesaReceiptNumber");
        Some(Self { reference: text_of(&body["CheckoutRequestID"])?, receipt: receipt.filter(|code| is_receipt(code)) })
    }
}

impl C2bPayment {
    pub fn read(body: &Value) -> Option<Self> {
        let receipt = text_of(&body["TransID"])?;
        let account = text_of(&body["BillRefNumber"]);
        let amount = text_of(&body["TransAmount"]).and_then(|amount| money(&amount));
        Some(Self { receipt, account, amount })
    }
}

/// Whether a text has the form of a receipt code, such as `QKJ41HAY6L`.
pub fn is_receipt(text: &str) -> bool {
    let has = |of: fn(&u8) -> bool| text.bytes().any(|byte| of(&byte));
    text.len() == 10
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
}

impl ReceiptResult {
    /// Reads the answer to [`Daraja::ask_receipt`](super::Daraja::ask_receipt); `None` if Daraja could not find out. A payment that
    /// went to somebody else than the shop, such as a refund, is no payment.
    pub fn read(body: &Value, receipt: &str, account: &DarajaAccount) -> Option<Self> {
        let result = &body["Result"];
        let code = text_of(&result["ResultCode"])?;
        let none = Self { receipt: receipt.to_owned(), amount: None, paid_at: None, is_reversed: false };
        if code == NO_TRANSACTION {
            return Some(none);
        }
        if code != "0" {
            // A busy system, or an initiator that Daraja refuses, says nothing about the payment.
            warn!(shortcode = account.shortcode, code, "Daraja could not look up a receipt");
            return None;
        }
        let get = |key: &str| item(&result["ResultParameters"]["ResultParameter"], "Key", key);
        if !get("ReceiptNo").is_some_and(|code| code.eq_ignore_ascii_case(receipt)) {
            return Some(none);
        }
        let credited = get("CreditPartyName").unwrap_or_default();
        let number = credited.split([' ', '-']).next().unwrap_or_default();
        let status = get("TransactionStatus").unwrap_or_default().to_ascii_lowercase();
        let is_reversed = status.contains("revers");
        if !(number == account.shortcode || number == account.pay_to()) || !(is_reversed || status == "completed") {
            return Some(none);
        }
        let paid_at = get("FinalisedTime").or(get("InitiatedTime")).and_then(|time| nairobi_time(&time));
        Some(Self { amount: get("Amount").and_then(|amount| money(&amount)), paid_at, is_reversed, ..none })
    }
}

/// Reads a time such as `20261120133005`.
fn nairobi_time(text: &str) -> Option<DateTime<Utc>> {
    let time = NaiveDateTime::parse_from_str(text.split('.').next()?, "%Y%m%d%H%M%S").ok()?;
    Some(time.and_local_timezone(FixedOffset::east_opt(NAIROBI * 3600)?).single()?.to_utc())
}
