//! The payments of a shop of the commerce desk, and its consent log.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::owner::Owner;
use crate::app::App;
use crate::domain::calendar::time;
use crate::domain::commerce::Money;
use crate::domain::commerce::payment::{Payment, PaymentProvider, PaymentStatus};
use crate::domain::commerce::tenant::PaymentMethod;
use crate::domain::{ConversationId, PaymentId};
use crate::http::error::{Result, with_store_timeout};
use crate::http::extract::{Query, cut_page, page_limit, position};
use crate::http::refusals::RefusedConsoleQuery;
use crate::store::shoppers::ConsentEntry;

/// The rows to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct PageQuery {
    /// The most rows to return, 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u64>,
    /// Continue after this position: `next` of an earlier response.
    #[param(format = Uuid)]
    after: Option<String>,
}

impl PageQuery {
    /// Returns the position and the limit.
    fn read(&self) -> Result<(Option<Uuid>, u64)> {
        Ok((position(self.after.as_deref(), |cursor| cursor.parse().ok())?, page_limit(self.limit)?))
    }
}

/// A page of the shop's payments.
#[derive(Serialize, ToSchema)]
pub(super) struct PaymentPage {
    /// Newest first.
    payments: Vec<PaymentView>,
    /// The `after` of the next page; null at the end.
    next: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = PaymentEntry)]
struct PaymentView {
    id: Uuid,
    /// When it was asked for.
    #[serde(serialize_with = "time")]
    at: DateTime<Utc>,
    /// The number of the order.
    order: String,
    /// `created`, `pending`, `paid`, `failed`, `timeout`, `unknown` or `reversed`.
    #[schema(value_type = String)]
    status: PaymentStatus,
    amount: Money,
    /// `mpesa_stk`, `mpesa_c2b` or `pesapal`.
    #[schema(value_type = String)]
    method: PaymentMethod,
    /// Who was asked: `sandbox` is no real payment.
    #[schema(value_type = String)]
    provider: PaymentProvider,
    receipt: Option<String>,
    conversation_id: Option<ConversationId>,
}

/// Lists the payments of the shop, whatever became of them.
#[utoipa::path(
    get, path = "/console/api/payments", operation_id = "console_payments", tag = "console", params(PageQuery),
    responses((status = 200, description = "a page, newest first", body = PaymentPage), RefusedConsoleQuery)
)]
pub(super) async fn payments(
    owner: Owner,
    State(app): State<Arc<App>>,
    Query(query): Query<PageQuery>,
) -> Result<Json<PaymentPage>> {
    let (after, limit) = query.read()?;
    let store = app.store.tenant(&owner.tenant);
    let mut found = with_store_timeout(&app, store.list_recent_payments(after.map(PaymentId), limit + 1)).await?;
    let next = cut_page(&mut found, limit, |last| last.id.to_string());
    Ok(Json(PaymentPage { payments: found.into_iter().map(PaymentView::from).collect(), next }))
}

impl From<Payment> for PaymentView {
    fn from(payment: Payment) -> Self {
        Self {
            id: payment.id.0,
            at: payment.created_at,
            order: payment.sale.to_string(),
            status: payment.request.status,
            amount: payment.request.amount,
            method: payment.method,
            provider: payment.provider,
            receipt: payment.shown_receipt().map(str::to_owned),
            conversation_id: payment.conversation,
        }
    }
}

/// A page of the shop's consent log.
#[derive(Serialize, ToSchema)]
pub(super) struct ConsentPage {
    /// Newest first.
    changes: Vec<ConsentEntry>,
    /// The `after` of the next page; null at the end.
    next: Option<String>,
}

/// Lists what customers changed about the messages that they receive, and their language.
#[utoipa::path(
    get, path = "/console/api/consent-changes", operation_id = "console_consent_changes", tag = "console",
    params(PageQuery),
    responses((status = 200, description = "a page, newest first", body = ConsentPage), RefusedConsoleQuery)
)]
pub(super) async fn consent_changes(
    owner: Owner,
    State(app): State<Arc<App>>,
    Query(query): Query<PageQuery>,
) -> Result<Json<ConsentPage>> {
    let (after, limit) = query.read()?;
    let store = app.store.tenant(&owner.tenant);
    let mut changes = with_store_timeout(&app, store.list_consent_log(after, limit + 1)).await?;
    let next = cut_page(&mut changes, limit, |last| last.id.to_string());
    Ok(Json(ConsentPage { changes, next }))
}
