//! `POST /console/api/warranty-files`: a list of warranties, seen first and then written.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header;
use http_body_util::BodyExt;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, timeout_at};
use tracing::{error, warn};
use utoipa::{IntoParams, ToSchema};

use super::owner::Owner;
use crate::app::App;
use crate::app::list_file::{FileError, Refused};
use crate::app::warranty_list::{ListError, Outcome, UploadError, Wish};
use crate::domain::{ConsoleAct, ConsoleDeed};
use crate::http::error::ApiError;
use crate::http::extract::Query;
use crate::http::problem::Problem;
use crate::http::refusals::RefusedRead;
use crate::store::warranty_import::{ChangedRow, ImportError};

/// A file that is too large is taken in and thrown away up to so many times the limit, and for so long: a browser that still sends
/// does not hear the answer.
const HEARD_OUT: usize = 10;
const HEARD_OUT_WITHIN: Duration = Duration::from_secs(30);

/// What is to become of the list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct UploadQuery {
    /// Compare and report, but write nothing.
    #[param(default = true)]
    dry_run: Option<bool>,
    /// `file_hash` of the dry run: what is written is what was seen. Needed without `dry_run`.
    hash: Option<String>,
    /// Write the good rows even if others are refused.
    #[param(default = false)]
    skip_refused: Option<bool>,
}

/// What is in the list.
#[derive(Serialize, ToSchema)]
pub(super) struct UploadView {
    /// Rows of the file, whatever became of them.
    rows: u64,
    new: u64,
    changed: u64,
    unchanged: u64,
    /// Rows that say the same as an earlier one; they are in none of the other counts.
    repeated: u64,
    /// The first 200 rows that cannot be taken, in the order of the file.
    refused: Vec<RefusedView>,
    refused_count: u64,
    /// The first 50 changed rows, with their old and new values.
    changes: Vec<ChangedRow>,
    /// Columns of the file that mean nothing here.
    ignored_columns: Vec<String>,
    /// Whether the shop now has what the list says. Without `dry_run`, false: rows are refused, and nothing was written.
    applied: bool,
    /// What to send as `hash` to write this very list.
    file_hash: String,
}

/// A row that cannot be taken.
#[derive(Serialize, ToSchema)]
struct RefusedView {
    /// The line of the file on which it begins, counted from 1.
    row: u64,
    /// The column; null: the row as a whole is at fault.
    field: Option<&'static str>,
    /// Shortened, if it is long.
    value: String,
    /// What is wrong with it, and how to fix it.
    problem: String,
    /// A stable word for the problem.
    code: Option<&'static str>,
}

/// Compares a list of warranties with what the shop has, and writes it where that is wished: all of it, or nothing.
#[utoipa::path(
    post, path = "/console/api/warranty-files", operation_id = "console_warranty_file", tag = "console", params(UploadQuery),
    request_body(content = String, content_type = "text/csv", description = "the list: CSV in UTF-8 with the columns serial, product_name and warranty_end_date, in any order; CONSOLE_CSV_MAX_MB at most"),
    responses(
        (status = 200, description = "what is in the list, and whether it was written", body = UploadView),
        RefusedRead,
        (status = 403, description = "`forbidden_origin`", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "`not_found`: there is no console", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "`conflict`: this is not the file of `hash`", body = Problem, content_type = "application/problem+json"),
        (status = 408, description = "`request_timeout`", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "`too_large`", body = Problem, content_type = "application/problem+json"),
        (status = 415, description = "`unsupported_media_type`", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "`invalid_request`: the file as a whole cannot be read", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn post(
    owner: Owner,
    State(app): State<Arc<App>>,
    Query(query): Query<UploadQuery>,
    request: Request,
) -> Result<Json<UploadView>, ApiError> {
    let wish = wish(query)?;
    check_type(&request)?;
    let deadline = Instant::now() + app.config.console.csv_timeout;
    let file = timeout_at(deadline, read(request.into_body(), app.config.console.csv_max_bytes));
    let file = file.await.map_err(|_| ApiError::RequestTimeout)??;
    let work = app.take_warranty_list(&owner.tenant, file, &wish);
    match timeout_at(deadline, work).await {
        Ok(outcome) => {
            let outcome = outcome?;
            note(&app, &owner, &outcome).await;
            Ok(Json(outcome.into()))
        }
        Err(_) => {
            warn!("A list of warranties took longer than CONSOLE_CSV_SECONDS");
            Err(ApiError::Unavailable)
        }
    }
}

/// Stores a written list in the audit log. The import commits on another connection, so this is a second transaction.
async fn note(app: &App, owner: &Owner, outcome: &Outcome) {
    if !outcome.applied {
        return;
    }
    let counts = &outcome.found.comparison;
    let act = ConsoleAct {
        subject: Some("warranties".to_owned()),
        detail: Some(format!("{} new, {} changed", counts.new, counts.changed)),
        ..owner.act(ConsoleDeed::ListImported)
    };
    if let Err(cause) = app.store.tenant(&owner.tenant).record_console_act(&act).await {
        error!(error = %cause, what = act.what.as_str(), "An entry of the audit log was not stored");
    }
}

fn wish(query: UploadQuery) -> Result<Wish, ApiError> {
    match (query.dry_run.unwrap_or(true), query.hash) {
        (true, _) => Ok(Wish::DryRun),
        (false, Some(hash)) => Ok(Wish::Write { hash, skip_refused: query.skip_refused.unwrap_or(false) }),
        (false, None) => {
            Err(ApiError::InvalidRequest("hash is missing; send the file_hash of a dry run of this file.".to_owned()))
        }
    }
}

fn check_type(request: &Request) -> Result<(), ApiError> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("text/csv") { Ok(()) } else { Err(ApiError::UnsupportedMediaType("text/csv")) }
}

/// The whole body.
async fn read(mut body: Body, max: usize) -> Result<Bytes, ApiError> {
    let mut file = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|_| ApiError::InvalidRequest("The file did not come whole; send it again.".to_owned()))?;
        let Ok(data) = frame.into_data() else { continue };
        if file.len() + data.len() > max {
            let _ = tokio::time::timeout(HEARD_OUT_WITHIN, hear_out(body, max.saturating_mul(HEARD_OUT))).await;
            return Err(ApiError::TooLargeFile { max_mb: max >> 20 });
        }
        file.extend_from_slice(&data);
    }
    Ok(file.into())
}

async fn hear_out(mut body: Body, most: usize) {
    let mut heard = 0;
    while let Some(Ok(frame)) = body.frame().await {
        heard += frame.data_ref().map_or(0, Bytes::len);
        if heard > most {
            return;
        }
    }
}

impl From<Outcome> for UploadView {
    fn from(outcome: Outcome) -> Self {
        let Outcome { found, hash, applied } = outcome;
        let (counts, refused_count) = (found.comparison, found.refusals.count());
        Self {
            rows: counts.new + counts.changed + counts.unchanged + counts.repeated + refused_count,
            new: counts.new,
            changed: counts.changed,
            unchanged: counts.unchanged,
            repeated: counts.repeated,
            changes: found.changes,
            refused: found.refusals.into_first().0.into_iter().map(Into::into).collect(),
            refused_count,
            ignored_columns: found.ignored_columns,
            applied,
            file_hash: hash,
        }
    }
}

impl From<Refused> for RefusedView {
    fn from(refused: Refused) -> Self {
        let Refused { line, column, value, reason, code } = refused;
        Self { row: line, field: column, value, problem: reason, code }
    }
}

impl From<UploadError> for ApiError {
    fn from(cause: UploadError) -> Self {
        match cause {
            UploadError::OtherFile => {
                Self::Conflict("This is not the file that was seen; look at it again with dry_run=true.")
            }
            UploadError::List(ListError::File(cause)) => unreadable(&cause),
            UploadError::Import(ImportError::Store(cause)) => cause.into(),
            cause => {
                error!(error = %cause, "A list of warranties could not be taken");
                Self::Internal
            }
        }
    }
}

fn unreadable(cause: &FileError) -> ApiError {
    ApiError::InvalidRequest(format!("The file cannot be read: {cause}."))
}
