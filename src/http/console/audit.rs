//! `GET /console/api/audit`: the console's audit log.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Days, NaiveDate, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::figures::start_of_day;
use super::owner::Owner;
use crate::app::App;
use crate::domain::ConversationId;
use crate::http::error::ApiError;
use crate::http::error::with_store_timeout;
use crate::http::extract::{Query, bad_cursor, cut_page, page_limit};
use crate::http::refusals::RefusedConsoleQuery;
use crate::http::views::time;
use crate::store::console_audit::{ConsoleAuditFilter, ConsoleEntry};

/// The entries to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct AuditQuery {
    /// Only entries of this person, by the name given at sign-in.
    who: Option<String>,
    /// Only entries of this day in the shop's time zone, as `YYYY-MM-DD`.
    #[param(format = Date)]
    day: Option<String>,
    /// The most entries to return, 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u64>,
    /// Continue after this position: `next` of an earlier response.
    #[param(format = Uuid)]
    after: Option<String>,
}

/// A page of the console's audit log.
#[derive(Serialize, ToSchema)]
pub(super) struct AuditPage {
    /// Newest first.
    entries: Vec<AuditView>,
    /// The `after` of the next page; null at the end.
    next: Option<String>,
}

/// One action at the console.
#[derive(Serialize, ToSchema)]
struct AuditView {
    id: Uuid,
    #[serde(serialize_with = "time")]
    at: DateTime<Utc>,
    /// The name given at sign-in; empty if none was given. The name of a refused sign-in is not verified.
    who: String,
    /// `signed_in`, `sign_in_refused`, `signed_out`, `taken`, `given_back`, `closed`, `reopened`, `answered`, `deleted`,
    /// `list_imported`, `persona_saved`, `rma_advanced` or `escalation_resolved`.
    what: &'static str,
    /// The address that the request came from.
    client: Option<String>,
    /// The conversation, which may be deleted.
    conversation_id: Option<ConversationId>,
    /// The number or name of an RMA, a ticket, a persona or a list.
    subject: Option<String>,
    /// The result, such as the RMA's new state.
    detail: Option<String>,
}

/// Lists who did what at the console, when, and from which address.
#[utoipa::path(
    get, path = "/console/api/audit", operation_id = "console_audit", tag = "console", params(AuditQuery),
    responses(
        (status = 200, description = "a page, newest first", body = AuditPage),
        RefusedConsoleQuery,
    )
)]
pub(super) async fn get(
    owner: Owner,
    State(app): State<Arc<App>>,
    Query(query): Query<AuditQuery>,
) -> Result<Json<AuditPage>, ApiError> {
    let limit = page_limit(query.limit)?;
    let filter = ConsoleAuditFilter {
        who: query.who.as_deref(),
        between: query
            .day
            .as_deref()
            .map(|day| day_of(day, app.config.shops.time_zone_of(&owner.tenant)))
            .transpose()?,
        after: query.after.as_deref().map(|id| id.parse().map_err(|_| bad_cursor())).transpose()?,
    };
    let store = app.store.tenant(&owner.tenant);
    let mut entries = with_store_timeout(&app, store.list_console_audit(&filter, limit + 1)).await?;
    let next = cut_page(&mut entries, limit, |last| last.id.to_string());
    Ok(Json(AuditPage { entries: entries.into_iter().map(Into::into).collect(), next }))
}

/// Returns the start of the day and of the next one.
fn day_of(text: &str, zone: Tz) -> Result<(DateTime<Utc>, DateTime<Utc>), ApiError> {
    let day: Option<NaiveDate> = text.parse().ok();
    let days = day.and_then(|day| Some((day, day.checked_add_days(Days::new(1))?)));
    let (day, next) =
        days.ok_or_else(|| ApiError::InvalidRequest("day must be a date such as 2026-11-22.".to_owned()))?;
    Ok((start_of_day(day, zone), start_of_day(next, zone)))
}

impl From<ConsoleEntry> for AuditView {
    fn from(ConsoleEntry { id, act }: ConsoleEntry) -> Self {
        Self {
            id,
            at: act.at,
            who: act.who,
            what: act.what.as_str(),
            client: act.client,
            conversation_id: act.conversation,
            subject: act.subject,
            detail: act.detail,
        }
    }
}
