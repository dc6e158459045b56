//! `POST /console/api/warranty-files`: importing a list of warranties, with a dry run first.

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

use super::owner::{Owner, record};
use crate::app::App;
use crate::app::list_file::{FileError, Refused};
use crate::app::warranty_list::{ListError, Outcome, UploadError, Wish};
use crate::domain::warranty::RowCode;
use crate::domain::{ConsoleAct, ConsoleDeed};
use crate::http::body::discard;
use crate::http::error::{ApiError, Result};
use crate::http::extract::Query;
use crate::http::refusals::RefusedUpload;
use crate::store::warranty_import::{ChangedRow, ImportError};

/// How much of a file that is too large is read and discarded, as a multiple of the limit, and for how long. A browser that is
/// still sending does not read the response.
const DISCARD_FACTOR: usize = 10;
const DISCARD_TIMEOUT: Duration = Duration::from_secs(30);

/// Whether to write the list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct UploadQuery {
    /// Compare and report only.
    #[param(default = true)]
    dry_run: Option<bool>,
    /// The `file_hash` of the dry run, so that exactly that file is written. Required unless `dry_run`.
    hash: Option<String>,
    /// Write the valid rows even if others are invalid.
    #[param(default = false)]
    skip_refused: Option<bool>,
}

/// The result of comparing a list with the shop's warranties.
#[derive(Serialize, ToSchema)]
pub(super) struct UploadView {
    /// All rows of the file.
    rows: u64,
    new: u64,
    changed: u64,
    unchanged: u64,
    /// Rows that repeat an earlier one; no other count includes them.
    repeated: u64,
    /// The invalid values of the first 200 invalid rows, in the order of the file.
    refused: Vec<RefusedView>,
    refused_count: u64,
    /// The first 50 changed rows, with their old and new values.
    changes: Vec<ChangedRow>,
    /// Columns of the file that were ignored.
    ignored_columns: Vec<String>,
    /// Whether the list was written. False without `dry_run` means that rows are invalid and nothing was written.
    applied: bool,
    /// The `hash` to send to write this list.
    file_hash: String,
}

/// An invalid value, or an invalid row.
#[derive(Serialize, ToSchema)]
struct RefusedView {
    /// The line of the file on which the row begins, counted from 1.
    row: u64,
    /// The column; null for the whole row.
    field: Option<&'static str>,
    /// The value, shortened if it is long.
    value: String,
    /// The problem and how to fix it.
    problem: String,
    /// A stable word for the problem.
    code: Option<RowCode>,
    /// What `problem` counts: the characters of a long name, the columns of the row and of the header, or the line of the other row.
    numbers: Vec<u64>,
}

/// Compares a list of warranties with the shop's, and writes it without `dry_run`: all of it or nothing.
#[utoipa::path(
    post, path = "/console/api/warranty-files", operation_id = "console_warranty_file", tag = "console", params(UploadQuery),
    request_body(content = String, content_type = "text/csv", description = "the list: CSV in UTF-8 with the columns serial, product_name and warranty_end_date, in any order; at most CONSOLE_CSV_MAX_MB"),
    responses(
        (status = 200, description = "the comparison, and whether the list was written", body = UploadView),
        RefusedUpload,
        (status = 409, description = "`conflict`: the file does not match `hash`"),
        (status = 422, description = "`invalid_request`: the file cannot be read"),
    )
)]
pub(super) async fn post(
    owner: Owner,
    State(app): State<Arc<App>>,
    Query(query): Query<UploadQuery>,
    request: Request,
) -> Result<Json<UploadView>> {
    let mode = mode(query)?;
    check_type(&request)?;
    let deadline = Instant::now() + app.config.console.csv_timeout;
    let file = timeout_at(deadline, read(request.into_body(), app.config.console.csv_max_bytes));
    let file = file.await.map_err(|_| ApiError::RequestTimeout)??;
    let work = app.take_warranty_list(&owner.tenant, file, &mode);
    match timeout_at(deadline, work).await {
        Ok(outcome) => {
            let outcome = outcome?;
            record_import(&app, &owner, &outcome).await;
            Ok(Json(outcome.into()))
        }
        Err(_) => {
            warn!("An import of warranties took longer than CONSOLE_CSV_SECONDS");
            Err(ApiError::Unavailable)
        }
    }
}

/// Records a written list in the audit log. The import commits on another connection, so this is a second transaction.
async fn record_import(app: &App, owner: &Owner, outcome: &Outcome) {
    if !outcome.applied {
        return;
    }
    let counts = &outcome.found.comparison;
    let act = ConsoleAct {
        subject: Some("warranties".to_owned()),
        detail: Some(format!("{} new, {} changed", counts.new, counts.changed)),
        ..owner.act(ConsoleDeed::ListImported)
    };
    record(app, &owner.tenant, &act).await;
}

fn mode(query: UploadQuery) -> Result<Wish> {
    match (query.dry_run.unwrap_or(true), query.hash) {
        (true, _) => Ok(Wish::DryRun),
        (false, Some(hash)) => Ok(Wish::Write { hash, skip_refused: query.skip_refused.unwrap_or(false) }),
        (false, None) => {
            Err(ApiError::InvalidRequest("hash is missing; send the file_hash of a dry run of this file.".to_owned()))
        }
    }
}

fn check_type(request: &Request) -> Result<()> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("text/csv") { Ok(()) } else { Err(ApiError::UnsupportedMediaType("text/csv")) }
}

/// Reads the whole body.
async fn read(mut body: Body, max: usize) -> Result<Bytes> {
    let mut file = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame
            .map_err(|_| ApiError::InvalidRequest("The file was not received completely; send it again.".to_owned()))?;
        let Ok(data) = frame.into_data() else { continue };
        if file.len() + data.len() > max {
            let _ = tokio::time::timeout(DISCARD_TIMEOUT, discard(body, max.saturating_mul(DISCARD_FACTOR))).await;
            return Err(ApiError::TooLargeFile { max_mb: max >> 20 });
        }
        file.extend_from_slice(&data);
    }
    Ok(file.into())
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
        let Refused { line, column, value, reason, code, numbers } = refused;
        Self { row: line, field: column, value, problem: reason, code, numbers }
    }
}

impl From<UploadError> for ApiError {
    fn from(cause: UploadError) -> Self {
        match cause {
            UploadError::OtherFile => {
                Self::Conflict("The file has changed since the dry run; repeat the dry run with dry_run=true.")
            }
            UploadError::List(ListError::File(cause)) => unreadable(&cause),
            UploadError::Import(ImportError::Store(cause)) => cause.into(),
            cause => {
                error!(error = %cause, "Could not import a list of warranties");
                Self::Internal
            }
        }
    }
}

fn unreadable(cause: &FileError) -> ApiError {
    let detail = format!("The file cannot be read: {cause}.");
    ApiError::InvalidFile { reason: cause.code().as_str(), line: cause.line(), detail }
}
