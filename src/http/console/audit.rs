//! `GET /console/api/audit`: the console's audit log.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Days, NaiveDate, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::figures::start_of_day;
use super::owner::Owner;
use crate::app::App;
use crate::http::error::{ApiError, Result, with_store_timeout};
use crate::http::extract::{Query, cut_page, page_limit, position};
use crate::http::refusals::RefusedConsoleQuery;
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
    entries: Vec<ConsoleEntry>,
    /// The `after` of the next page; null at the end.
    next: Option<String>,
}

/// Lists who did what at the console, when, and from which address.
#[utoipa::path(
    get, path = "/console/api/audit", operation_id = "console_audit", tag = "console", params(AuditQuery),
    responses((status = 200, description = "a page, newest first", body = AuditPage), RefusedConsoleQuery)
)]
pub(super) async fn get(
    owner: Owner,
    State(app): State<Arc<App>>,
    Query(query): Query<AuditQuery>,
) -> Result<Json<AuditPage>> {
    let limit = page_limit(query.limit)?;
    let filter = ConsoleAuditFilter {
        who: query.who.as_deref(),
        between: query
            .day
            .as_deref()
            .map(|day| day_of(day, app.config.shops.time_zone_of(&owner.tenant)))
            .transpose()?,
        after: position(query.after.as_deref(), |cursor| cursor.parse().ok())?,
    };
    let store = app.store.tenant(&owner.tenant);
    let mut entries = with_store_timeout(&app, store.list_console_audit(&filter, limit + 1)).await?;
    let next = cut_page(&mut entries, limit, |last| last.id.to_string());
    Ok(Json(AuditPage { entries, next }))
}

/// Returns the start of the day and of the next one.
fn day_of(text: &str, zone: Tz) -> Result<(DateTime<Utc>, DateTime<Utc>)> {
    let day: Option<NaiveDate> = text.parse().ok();
    let days = day.and_then(|day| Some((day, day.checked_add_days(Days::new(1))?)));
    let (day, next) =
        days.ok_or_else(|| ApiError::InvalidRequest("day must be a date such as 2026-11-22.".to_owned()))?;
    Ok((start_of_day(day, zone), start_of_day(next, zone)))
}
