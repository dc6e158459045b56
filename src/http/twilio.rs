//! `POST /webhooks/twilio`: WhatsApp messages, and reports about those that were sent.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{OriginalUri, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use tracing::{debug, warn};
use url::form_urlencoded;

use super::error::{ApiError, Result, with_store_timeout};
use super::extract::Form;
use crate::app::App;
use crate::app::whatsapp::{Incoming, ReceiveError};
use crate::domain::commerce::Tenant;
use crate::domain::identity::e164::E164;
use crate::domain::text::{clean, is_blank};
use crate::providers::messaging::Account;
use crate::providers::messaging::signature::SignedRequest;
use crate::providers::messaging::twilio::status_of;
use crate::store::deliveries::{DeliveryReport, Part};

/// Tells Twilio to answer nothing: replies are sent over its API.
const NO_REPLY: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Response/>";

/// Receives a customer's WhatsApp message, or a report about a message that was sent. Twilio calls it.
///
/// The request is refused unless `X-Twilio-Signature` is the signature of the shop that has the number.
#[utoipa::path(
    post, path = "/webhooks/twilio", operation_id = "twilio_webhook", tag = "webhooks",
    params(
        ("X-Twilio-Signature" = String, Header, description = "Twilio's signature of the URL and the parameters"),
        ("delivery" = Option<String>, Query, description = "the message that is reported about"),
    ),
    request_body(content = Object, content_type = "application/x-www-form-urlencoded", description = "the parameters that Twilio documents; others are allowed"),
    security(()),
    responses(
        (status = 200, description = "stored, or stored before; an empty TwiML", body = String, content_type = "text/xml"),
        (status = 403, description = "`forbidden`: not signed by the shop's account"),
        (status = 408, description = "`request_timeout`"),
        (status = 413, description = "`too_large`"),
        (status = 422, description = "`invalid_request`: signed, but without a usable MessageSid"),
        (status = 503, description = "`overloaded` or `unavailable`"),
    )
)]
pub(super) async fn receive(
    State(app): State<Arc<App>>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
    Form(parameters): Form,
) -> Result<Response> {
    let values: HashMap<&str, &str> = parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let get = |name: &str| values.get(name).copied().unwrap_or_default();
    let is_report = !["", "received"].contains(&get("MessageStatus"));
    // In a report, the shop is the sender.
    let number = address(get(if is_report { "From" } else { "To" }));
    let path = uri.path_and_query().map_or("", |path| path.as_str());
    let signature = headers.get("x-twilio-signature").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let public_url = app.config.http.public_url.as_deref().unwrap_or_default();
    if public_url.is_empty() {
        warn!("Refused a request of Twilio's: set PUBLIC_URL to the address that Twilio calls");
    }
    let request = SignedRequest { public_url, path, parameters: &parameters, signature };
    let found = match number {
        Some(number) => with_store_timeout(&app, app.find_whatsapp_shop(&number)).await?,
        None => None,
    };
    let shop = found.filter(|(_, account)| is_from(account, get("AccountSid"), &request));
    let (shop, _) = shop.ok_or(ApiError::Forbidden("The signature is not that of the shop's Twilio account."))?;
    match is_report {
        true => take_report(&app, &shop, uri.query(), &get).await?,
        false => take_message(&app, shop, &get).await?,
    }
    let kind = HeaderValue::from_static("text/xml");
    Ok(([(header::CONTENT_TYPE, kind)], NO_REPLY).into_response())
}

fn is_from(account: &Account, id: &str, request: &SignedRequest<'_>) -> bool {
    account.id == id && request.is_signed_with(&account.tokens)
}

async fn take_message<'a>(app: &Arc<App>, shop: Tenant, get: &impl Fn(&str) -> &'a str) -> Result<()> {
    let (Some(from), reference) = (address(get("From")), get("MessageSid")) else {
        debug!("Ignored a message that is not from WhatsApp");
        return Ok(());
    };
    let is_usable = (1..=255).contains(&reference.len()) && reference.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_usable {
        return Err(ApiError::InvalidRequest("MessageSid must be the id of the message.".to_owned()));
    }
    let text = clean(get("Body"));
    let text = if is_blank(&text) { "" } else { text.trim() };
    // Twilio would not understand that a text is too long.
    let text: String = text.chars().take(app.config.http.text_max_chars).collect();
    let incoming = Incoming { from, text, reference: reference.to_owned() };
    with_store_timeout(app, app.receive(shop, incoming)).await
}

async fn take_report<'a>(app: &App, shop: &Tenant, query: Option<&str>, get: &impl Fn(&str) -> &'a str) -> Result<()> {
    let named = form_urlencoded::parse(query.unwrap_or_default().as_bytes()).find(|(name, _)| name == "delivery");
    let part = named.and_then(|(_, value)| part(&value));
    let (Some(part), Some(status)) = (part, status_of(get("MessageStatus"))) else {
        debug!(status = get("MessageStatus"), "Ignored a report");
        return Ok(());
    };
    let error = Some(get("ErrorCode")).filter(|code| !code.is_empty());
    let report = DeliveryReport { status, reference: get("MessageSid"), error };
    with_store_timeout(app, app.receive_report(&shop.id, part, &report)).await
}

/// Reads the number of an address on WhatsApp, such as `whatsapp:+254712345678`.
fn address(text: &str) -> Option<E164> {
    text.strip_prefix("whatsapp:")?.parse().ok()
}

/// Reads `MESSAGE.PART`.
fn part(text: &str) -> Option<Part> {
    let (message, number) = text.split_once('.')?;
    Some(Part { message: message.parse().ok()?, number: number.parse().ok().filter(|number| *number < 1000)? })
}

impl From<ReceiveError> for ApiError {
    fn from(cause: ReceiveError) -> Self {
        match cause {
            ReceiveError::Open(cause) => cause.into(),
            ReceiveError::Accept(cause) => cause.into(),
        }
    }
}
