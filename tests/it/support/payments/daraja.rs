//! A stand-in for Daraja.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::http::header;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{Call, Standin, broken, json};

/// An account at Daraja.
#[derive(Clone)]
struct Account {
    key: String,
    secret: String,
    shortcode: String,
    passkey: String,
}

/// How a push is answered.
#[derive(Clone)]
pub enum Push {
    Accept,
    /// It is taken, and the answer breaks off.
    LoseAnswer,
    Refuse,
    /// It is answered once notified.
    Hold(Arc<Notify>),
    /// The server is broken for accounts with this shortcode, or has had too many of their requests.
    Break(&'static str),
    Limit(&'static str),
}

pub struct State {
    accounts: Vec<Account>,
    /// Tokens with the index of their account.
    tokens: BTreeMap<String, usize>,
    pub logins: usize,
    pub expires_in: String,
    pub push: Push,
    pub pushes: Vec<Value>,
    /// What queries say about each push, by its number.
    pub outcomes: BTreeMap<String, Value>,
    pub queries: usize,
    pub registered: Vec<Value>,
    /// How often a registration was asked for.
    pub registrations: usize,
    /// Why registrations are refused.
    pub refuses_registration: Option<&'static str>,
    pub asked_receipts: Vec<Value>,
    /// Requests that Daraja would have refused.
    pub wrong: Vec<String>,
    /// Calls of any kind, by shortcode.
    pub calls: BTreeMap<String, usize>,
}

pub type Daraja = Standin<State>;

impl Daraja {
    pub async fn open() -> Self {
        let account = |key: &str, shortcode: &str| Account {
            key: format!("key-{key}"),
            secret: format!("secret-{key}"),
            shortcode: shortcode.to_owned(),
            passkey: format!("passkey-{key}"),
        };
        let state = State {
            accounts: vec![account("a", "174379"), account("b", "600000")],
            tokens: BTreeMap::new(),
            logins: 0,
            expires_in: "3599".to_owned(),
            push: Push::Accept,
            pushes: Vec::new(),
            outcomes: BTreeMap::new(),
            queries: 0,
            registered: Vec::new(),
            registrations: 0,
            refuses_registration: None,
            asked_receipts: Vec::new(),
            wrong: Vec::new(),
            calls: BTreeMap::new(),
        };
        Self::start(state, answer).await
    }

    /// The credentials of an account, `a` or `b`.
    pub fn credentials(name: &str) -> Vec<(&'static str, String)> {
        let shortcode = if name == "a" { "174379" } else { "600000" };
        vec![
            ("daraja_consumer_key", format!("key-{name}")),
            ("daraja_consumer_secret", format!("secret-{name}")),
            ("daraja_shortcode", shortcode.to_owned()),
            ("daraja_passkey", format!("passkey-{name}")),
            ("daraja_initiator", "tester".to_owned()),
            ("daraja_security_credential", "sealed".to_owned()),
        ]
    }

    /// From now on, queries say this about the n-th push.
    pub fn decide(&self, push: usize, code: &str) {
        let result = json!({
            "ResponseCode": "0", "ResponseDescription": "ok", "CheckoutRequestID": number(push),
            "ResultCode": code, "ResultDesc": "…",
        });
        self.state().outcomes.insert(number(push), result);
    }

    /// The callback about the n-th push, paid or not.
    pub fn callback(push: usize, receipt: Option<&str>) -> Value {
        let mut callback = json!({
            "MerchantRequestID": "29115-34620561-1", "CheckoutRequestID": number(push),
            "ResultCode": if receipt.is_some() { 0 } else { 1032 }, "ResultDesc": "…",
        });
        if let Some(receipt) = receipt {
            callback["CallbackMetadata"] = json!({"Item": [
                {"Name": "Amount", "Value": 2500.0}, {"Name": "MpesaReceiptNumber", "Value": receipt},
                {"Name": "Balance"}, {"Name": "TransactionDate", "Value": 20261121013005_i64},
                {"Name": "PhoneNumber", "Value": 254_700_000_001_i64},
            ]});
        }
        json!({"Body": {"stkCallback": callback}})
    }

    pub fn pushes(&self) -> Vec<Value> {
        self.state().pushes.clone()
    }
}

/// The number of the n-th push.
fn number(push: usize) -> String {
    format!("ws_CO_{push:04}")
}

fn error(status: u16, code: &str) -> Response {
    json(status, json!({"requestId": "1", "errorCode": code, "errorMessage": "…"}))
}

async fn answer(state: Arc<Mutex<State>>, call: Call) -> Response {
    let (answer, push) = decide(&mut state.lock().unwrap(), &call);
    if let Some(Push::Hold(release)) = push {
        release.notified().await;
    }
    answer
}

/// Returns the answer, and for an accepted push how it is answered.
fn decide(now: &mut State, call: &Call) -> (Response, Option<Push>) {
    if call.path == "/oauth/v1/generate" {
        return (log_in(now, call), None);
    }
    let account = call.bearer().and_then(|token| now.tokens.get(token)).map(|index| now.accounts[*index].clone());
    let Some(account) = account else { return (error(404, "404.001.03"), None) };
    *now.calls.entry(account.shortcode.clone()).or_default() += 1;
    let wrong = check(call, &account);
    if !wrong.is_empty() {
        now.wrong.extend(wrong);
        return (error(400, "400.002.02"), None);
    }
    if call.path == "/mpesa/stkpush/v1/processrequest" {
        return take_push(now, call, &account);
    }
    let answer = match call.path.as_str() {
        "/mpesa/stkpushquery/v1/query" => {
            now.queries += 1;
            match now.outcomes.get(&call.text("CheckoutRequestID")) {
                Some(outcome) => json(200, outcome.clone()),
                None => error(500, "500.001.1001"),
            }
        }
        "/mpesa/c2b/v1/registerurl" => {
            now.registrations += 1;
            if let Some(why) = now.refuses_registration {
                let refusal = json!({"requestId": "1", "errorCode": "500.003.1001", "errorMessage": why});
                return (json(500, refusal), None);
            }
            now.registered.push(call.body.clone());
            json(200, json!({"OriginatorCoversationID": "1", "ResponseCode": "0", "ResponseDescription": "success"}))
        }
        "/mpesa/transactionstatus/v1/query" => {
            now.asked_receipts.push(call.body.clone());
            json(
                200,
                json!({
                    "OriginatorConversationID": "1", "ConversationID": "AG_1", "ResponseCode": "0",
                    "ResponseDescription": "Accept the service request successfully.",
                }),
            )
        }
        path => panic!("Daraja has no {path}"),
    };
    (answer, None)
}

fn take_push(now: &mut State, call: &Call, account: &Account) -> (Response, Option<Push>) {
    let push = now.push.clone();
    match push {
        Push::Break(shortcode) if shortcode == account.shortcode => {
            return (Response::builder().status(502).body("bad gateway".into()).unwrap(), None);
        }
        Push::Limit(shortcode) if shortcode == account.shortcode => return (error(429, "500.003.02"), None),
        Push::Refuse => return (error(400, "400.002.02"), None),
        _ => {}
    }
    now.pushes.push(call.body.clone());
    if let Push::LoseAnswer = push {
        return (broken(), None);
    }
    let answer = json(
        200,
        json!({
            "MerchantRequestID": "29115-34620561-1", "CheckoutRequestID": number(now.pushes.len() - 1), "ResponseCode": "0",
            "ResponseDescription": "Success", "CustomerMessage": "Success",
        }),
    );
    (answer, Some(push))
}

fn log_in(state: &mut State, call: &Call) -> Response {
    let basic = call.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let known = |account: &Account| {
        basic == format!("Basic {}", STANDARD.encode(format!("{}:{}", account.key, account.secret)))
    };
    let Some(index) = state.accounts.iter().position(known) else { return error(400, "400.008.01") };
    if call.query != "grant_type=client_credentials" {
        return error(400, "400.008.02");
    }
    state.logins += 1;
    let token = format!("token-{}", state.logins);
    state.tokens.insert(token.clone(), index);
    json(200, json!({"access_token": token, "expires_in": state.expires_in}))
}

impl State {
    /// Ends every token, whatever its lifetime.
    pub fn revoke_tokens(&mut self) {
        self.tokens.clear();
    }
}

/// Returns what Daraja would refuse of a request.
fn check(call: &Call, account: &Account) -> Vec<String> {
    let text = |field: &str| call.text(field);
    let mut rules: Vec<(&str, bool)> = Vec::new();
    let is_address = |field: &str| {
        let url = text(field);
        url.starts_with("http")
            && url.contains("/webhooks/pay/")
            && !url.contains("mpesa")
            && !url.contains("safaricom")
    };
    if call.path.starts_with("/mpesa/stkpush") {
        let password = STANDARD.encode(format!("{}{}{}", account.shortcode, account.passkey, text("Timestamp")));
        rules.push(("BusinessShortCode", text("BusinessShortCode") == account.shortcode));
        rules.push(("Password", text("Password") == password));
        rules.push(("Timestamp", text("Timestamp").len() == 14));
    }
    match call.path.as_str() {
        "/mpesa/stkpush/v1/processrequest" => {
            let amount = call.body["Amount"].as_i64().unwrap_or_default();
            rules.push(("Amount", (1..=250_000).contains(&amount)));
            rules.push(("PhoneNumber", text("PhoneNumber").starts_with("254") && text("PhoneNumber").len() == 12));
            rules.push(("PartyA", text("PartyA") == text("PhoneNumber")));
            rules.push(("PartyB", !text("PartyB").is_empty()));
            rules.push(("AccountReference", (1..=12).contains(&text("AccountReference").chars().count())));
            rules.push(("TransactionDesc", (1..=13).contains(&text("TransactionDesc").chars().count())));
            rules.push(("CallBackURL", is_address("CallBackURL")));
            let kinds = ["CustomerPayBillOnline", "CustomerBuyGoodsOnline"];
            rules.push(("TransactionType", kinds.contains(&text("TransactionType").as_str())));
        }
        "/mpesa/c2b/v1/registerurl" => {
            rules.push(("ShortCode", text("ShortCode") == account.shortcode));
            rules.push(("ResponseType", text("ResponseType") == "Completed"));
            rules.push(("ConfirmationURL", is_address("ConfirmationURL") && is_address("ValidationURL")));
        }
        "/mpesa/transactionstatus/v1/query" => {
            rules.push(("Initiator", text("Initiator") == "tester" && text("SecurityCredential") == "sealed"));
            rules.push(("CommandID", text("CommandID") == "TransactionStatusQuery"));
            rules.push(("PartyA", text("PartyA") == account.shortcode && text("IdentifierType") == "4"));
            rules.push(("TransactionID", text("TransactionID").len() == 10));
            rules.push(("ResultURL", is_address("ResultURL") && is_address("QueueTimeOutURL")));
        }
        _ => {}
    }
    let wrong = rules.into_iter().filter(|(_, holds)| !holds).map(|(field, _)| format!("{}: {field}", call.path));
    wrong.collect()
}

/// The result of a question about a receipt.
pub fn receipt_result(receipt: &str, shortcode: &str, amount: &str, status: &str) -> Value {
    let now = (chrono::Utc::now() + chrono::TimeDelta::hours(3)).format("%Y%m%d%H%M%S").to_string();
    json!({"Result": {
        "ResultType": 0, "ResultCode": 0, "ResultDesc": "…", "OriginatorConversationID": "1", "ConversationID": "AG_1",
        "TransactionID": "SJ70000000",
        "ResultParameters": {"ResultParameter": [
            {"Key": "DebitPartyName", "Value": "254700000001 - JOHN DOE"},
            {"Key": "CreditPartyName", "Value": format!("{shortcode} - Savanna Shoes")},
            {"Key": "OriginatorConversationID"},
            {"Key": "InitiatedTime", "Value": now.parse::<i64>().unwrap()},
            {"Key": "TransactionStatus", "Value": status},
            {"Key": "FinalisedTime", "Value": now.parse::<i64>().unwrap()},
            {"Key": "Amount", "Value": amount.parse::<f64>().unwrap()},
            {"Key": "ReceiptNo", "Value": receipt},
        ]},
        "ReferenceData": {"ReferenceItem": {"Key": "Occasion", "Value": "Order"}},
    }})
}
