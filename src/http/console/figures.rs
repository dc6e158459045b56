//! `GET /console/api/figures`

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
use crate::http::error::ApiError;
use crate::http::extract::Query;
use crate::http::in_time::in_time;
use crate::http::problem::Problem;
use crate::http::refusals::RefusedRead;

/// How far to look back.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct FiguresQuery {
    /// So many days with today, 1 to 366.
    #[param(minimum = 1, maximum = 366, default = 30)]
    days: Option<u32>,
}

/// The shop's turns in numbers.
#[derive(Serialize, ToSchema)]
pub(super) struct Figures {
    /// In which the days begin and end.
    time_zone: String,
    /// Every day, oldest first.
    days: Vec<Day>,
    parts: Parts,
}

/// The shop's turns of each day, and how the server's parts fare now.
#[utoipa::path(
    get, path = "/console/api/figures", operation_id = "console_figures", tag = "console", params(FiguresQuery),
    responses(
        (status = 200, description = "the figures", body = Figures),
        RefusedRead,
        (status = 404, description = "`not_found`: there is no console", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "`invalid_request`", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn get(
    owner: Owner,
    State(app): State<Arc<App>>,
    Query(query): Query<FiguresQuery>,
) -> Result<Json<Figures>, ApiError> {
    let wanted = days_wanted(query.days)?;
    let zone = app.config.retail.time_zone;
    let last = Utc::now().with_timezone(&zone).date_naive();
    let first = last.checked_sub_days(Days::new(u64::from(wanted) - 1)).unwrap_or(last);
    let store = app.store.tenant(&owner.tenant);
    let turns = in_time(&app, store.list_counted_turns(beginning(first, zone))).await?;
    Ok(Json(Figures {
        time_zone: zone.name().to_owned(),
        days: days(turns, first, last, zone),
        parts: app.parts().await,
    }))
}

/// The first moment of the day; where clocks are put forward at midnight, that is no midnight.
pub(super) fn beginning(date: NaiveDate, zone: Tz) -> chrono::DateTime<Utc> {
    let midnight = date.and_time(NaiveTime::MIN);
    let at = zone.from_local_datetime(&midnight).earliest();
    // Too early costs nothing: what is not of a day that is asked for is not counted.
    at.map_or_else(|| midnight.and_utc() - chrono::TimeDelta::days(1), |at| at.with_timezone(&Utc))
}
