//! A stand-in for PesaPal, version 3.

use std::sync::{Arc, Mutex};

use axum::response::Response;
use serde_json::{Value, json};

use super::{Call, Standin, broken, json};

#[derive(Default)]
pub struct State {
    pub logins: usize,
    pub registered: Vec<Value>,
    pub orders: Vec<Value>,
    /// 0 open, 1 paid, 2 failed, 3 reversed.
    pub status: u8,
    /// The amount that arrived, if it differs from the order's.
    pub amount: Option<f64>,
    /// How many of the next queries get no answer.
    pub lost_answers: usize,
    pub wrong: Vec<String>,
}

pub type Pesapal = Standin<State>;

impl Pesapal {
    pub async fn open() -> Self {
        Self::start(State::default(), answer).await
    }

    pub fn credentials() -> Vec<(&'static str, String)> {
        vec![("pesapal_consumer_key", "card-key".to_owned()), ("pesapal_consumer_secret", "card-secret".to_owned())]
    }

    pub fn orders(&self) -> Vec<Value> {
        self.state().orders.clone()
    }

    /// The notification about the n-th order.
    pub fn notice(&self, order: usize, kind: &str) -> Value {
        let id = self.state().orders[order]["id"].clone();
        json!({"OrderNotificationType": kind, "OrderTrackingId": tracking(order), "OrderMerchantReference": id})
    }
}

pub fn tracking(order: usize) -> String {
    format!("b945e4af-80a5-4ec1-8706-{order:012}")
}

async fn answer(state: Arc<Mutex<State>>, call: Call) -> Response {
    let mut state = state.lock().unwrap();
    if call.path == "/api/Auth/RequestToken" {
        if call.text("consumer_key") != "card-key" || call.text("consumer_secret") != "card-secret" {
            return json(200, json!({"error": {"code": "invalid_consumer_key_or_secret_provided"}, "status": "500"}));
        }
        state.logins += 1;
        let expires = (chrono::Utc::now() + chrono::TimeDelta::minutes(5)).format("%Y-%m-%dT%H:%M:%S%.6fZ").to_string();
        return json(200, json!({"token": "card-token", "expiryDate": expires, "error": null, "status": "200"}));
    }
    if call.bearer() != Some("card-token") {
        return json(401, json!({"error": {"code": "invalid_token"}, "status": "401"}));
    }
    match call.path.as_str() {
        "/api/URLSetup/RegisterIPN" => {
            state.registered.push(call.body.clone());
            json(200, json!({"url": call.body["url"], "ipn_id": "ipn-1", "error": null, "status": "200"}))
        }
        "/api/Transactions/SubmitOrderRequest" => {
            let rules = [
                ("id", (1..=50).contains(&call.text("id").chars().count())),
                ("description", (1..=100).contains(&call.text("description").chars().count())),
                ("currency", call.text("currency") == "KES"),
                ("amount", call.body["amount"].as_f64().is_some_and(|amount| amount > 0.0)),
                ("callback_url", call.text("callback_url").contains("/webhooks/pay/")),
                ("notification_id", call.text("notification_id") == "ipn-1"),
                ("billing_address", call.body["billing_address"]["phone_number"].is_string()),
            ];
            let wrong: Vec<String> =
                rules.iter().filter(|(_, holds)| !holds).map(|(field, _)| (*field).to_owned()).collect();
            if !wrong.is_empty() {
                state.wrong.extend(wrong);
                return json(200, json!({"error": {"code": "invalid_request"}, "status": "500"}));
            }
            state.orders.push(call.body.clone());
            let number = tracking(state.orders.len() - 1);
            json(
                200,
                json!({
                    "order_tracking_id": number, "merchant_reference": call.body["id"], "error": null, "status": "200",
                    "redirect_url": format!("https://pay.example/iframe?OrderTrackingId={number}"),
                }),
            )
        }
        "/api/Transactions/GetTransactionStatus" if state.lost_answers > 0 => {
            state.lost_answers -= 1;
            broken()
        }
        "/api/Transactions/GetTransactionStatus" => {
            let order =
                (0..state.orders.len()).find(|order| call.query == format!("orderTrackingId={}", tracking(*order)));
            let Some(order) = order else {
                return json(200, json!({"error": {"code": "payment_details_not_found"}, "status": "500"}));
            };
            let (body, status) = (&state.orders[order], state.status);
            let amount = state.amount.map_or(body["amount"].clone(), |amount| json!(amount));
            json(
                200,
                json!({
                    "payment_method": "Visa", "amount": amount, "confirmation_code": format!("CARD{order}"),
                    "payment_status_description": "…", "status_code": status, "merchant_reference": body["id"],
                    "currency": "KES", "error": {"error_type": null, "code": null, "message": null}, "status": "200",
                }),
            )
        }
        path => panic!("PesaPal has no {path}"),
    }
}
