//! `GET /console/api/audit`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Days, NaiveDate, Utc};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::figures::beginning;
use super::owner::Owner;
use crate::app::App;
use crate::domain::ConversationId;
use crate::http::conversations::{bad_cursor, page_limit};
use crate::http::error::ApiError;
use crate::http::extract::Query;
use crate::http::in_time::in_time;
use crate::http::problem::Problem;
use crate::http::refusals::RefusedRead;
use crate::http::views::time;
use crate::store::console_audit::{ConsoleAuditFilter, ConsoleEntry};

/// Which entries.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct AuditQuery {
    /// Only this person's, by the name of the sign-in.
    who: Option<String>,
    /// Only those of this day in the shop's time zone, as `YYYY-MM-DD`.
    #[param(format = Date)]
    day: Option<String>,
    /// How many at most, 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u64>,
    /// Continue after this place: `next` of an earlier answer.
    #[param(format = Uuid)]
    after: Option<String>,
}

/// A page of the console's audit log.
#[derive(Serialize, ToSchema)]
pub(super) struct AuditPage {
    /// Newest first.
    entries: Vec<AuditView>,
    /// Where to continue, as `after`; null at the end.
    next: Option<String>,
}

/// What somebody did at the console.
#[derive(Serialize, ToSchema)]
struct AuditView {
    id: Uuid,
    #[serde(serialize_with = "time")]
    at: DateTime<Utc>,
    /// The name of the sign-in. A name of a refused sign-in is only claimed; empty: none was given.
    who: String,
    /// `signed_in`, `sign_in_refused`, `signed_out`, `taken`, `given_back`, `closed`, `reopened`, `answered`, `deleted`,
    /// `list_imported`, `persona_saved`, `rma_advanced` or `escalation_resolved`.
    what: &'static str,
    /// The address that the request came from.
    client: Option<String>,
    /// The conversation, which may be gone.
    conversation_id: Option<ConversationId>,
    /// An RMA, a ticket, a persona or a list.
    subject: Option<String>,
    /// What came of it, such as the RMA's new state.
    detail: Option<String>,
}

/// Who did what at the console, when, and from where.
#[utoipa::path(
    get, path = "/console/api/audit", operation_id = "console_audit", tag = "console", params(AuditQuery),
    responses(
        (status = 200, description = "a page, newest first", body = AuditPage),
        RefusedRead,
        (status = 404, description = "`not_found`: there is no console", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "`invalid_request`", body = Problem, content_type = "application/problem+json"),
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
        between: query.day.as_deref().map(|day| day_of(day, &app)).transpose()?,
        after: query.after.as_deref().map(|id| id.parse().map_err(|_| bad_cursor())).transpose()?,
    };
    let store = app.store.tenant(&owner.tenant);
    let mut entries = in_time(&app, store.list_console_audit(&filter, limit + 1)).await?;
    let has_more = entries.len() as u64 > limit;
    entries.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let next = entries.last().filter(|_| has_more).map(|last| last.id.to_string());
    Ok(Json(AuditPage { entries: entries.into_iter().map(Into::into).collect(), next }))
}

/// From the day's first moment up to the next day's.
fn day_of(text: &str, app: &App) -> Result<(DateTime<Utc>, DateTime<Utc>), ApiError> {
    let zone = app.config.retail.time_zone;
    let day: Option<NaiveDate> = text.parse().ok();
    let days = day.and_then(|day| Some((day, day.checked_add_days(Days::new(1))?)));
    let (day, next) =
        days.ok_or_else(|| ApiError::InvalidRequest("day must be a date such as 2026-11-22.".to_owned()))?;
    Ok((beginning(day, zone), beginning(next, zone)))
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
