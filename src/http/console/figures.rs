//! `GET /console/api/figures`: the turns of each day.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use chrono::{Days, NaiveDate, NaiveTime, TimeZone, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::days_wanted;
use super::owner::Owner;
use crate::app::{App, Parts};
use crate::domain::figures::{Day, days};
use crate::http::error::{Result, with_store_timeout};
use crate::http::extract::Query;
use crate::http::refusals::RefusedConsoleQuery;

/// The days to report.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct FiguresQuery {
    /// The number of days including today, 1 to 366.
    #[param(minimum = 1, maximum = 366, default = 30)]
    days: Option<u32>,
}

/// The shop's turns in numbers.
#[derive(Serialize, ToSchema)]
pub(super) struct Figures {
    /// The time zone of the days.
    time_zone: String,
    /// Every day, oldest first.
    days: Vec<Day>,
    parts: Parts,
}

/// Counts the shop's turns of each day, and reports the state of the server's parts.
#[utoipa::path(
    get, path = "/console/api/figures", operation_id = "console_figures", tag = "console", params(FiguresQuery),
    responses((status = 200, description = "the figures", body = Figures), RefusedConsoleQuery)
)]
pub(super) async fn get(
    owner: Owner,
    State(app): State<Arc<App>>,
    Query(query): Query<FiguresQuery>,
) -> Result<Json<Figures>> {
    let wanted = days_wanted(query.days)?;
    let zone = app.config.shops.time_zone_of(&owner.tenant);
    let last = Utc::now().with_timezone(&zone).date_naive();
    let first = last.checked_sub_days(Days::new(u64::from(wanted) - 1)).unwrap_or(last);
    let store = app.store.tenant(&owner.tenant);
    let turns = with_store_timeout(&app, store.list_counted_turns(start_of_day(first, zone))).await?;
    Ok(Json(Figures {
        time_zone: zone.name().to_owned(),
        days: days(turns, first, last, zone),
        parts: app.parts().await,
    }))
}

/// Returns the start of the day, which is after midnight if clocks are put forward at midnight.
pub(super) fn start_of_day(date: NaiveDate, zone: Tz) -> chrono::DateTime<Utc> {
    let midnight = date.and_time(NaiveTime::MIN);
    let at = zone.from_local_datetime(&midnight).earliest();
    // Too early does no harm: the caller counts only turns of the days that it reports.
    at.map_or_else(|| midnight.and_utc() - chrono::TimeDelta::days(1), |at| at.with_timezone(&Utc))
}
