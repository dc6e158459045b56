//! `POST /console/api/conversations/{id}/turns/{turn}/wrong`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use tracing::error;
use utoipa::ToSchema;

use super::owner::Editor;
use crate::app::App;
use crate::app::evals::{CaseError, Remark};
use crate::http::error::ApiError;
use crate::http::extract::{Body, Known, conversation_id};
use crate::http::in_time::in_time;
use crate::http::problem::Problem;
use crate::http::refusals::RefusedWrite;
use crate::http::turns::turn_number;

/// The longest remark, in characters.
const REMARK_MAX_CHARS: usize = 2_000;

/// What is wrong with an answer.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Wrong {
    /// In the shop's own words, up to 2,000 characters.
    #[schema(nullable, max_length = 2000)]
    note: Option<String>,
    /// Words that a good answer holds, up to 2,000 characters.
    #[schema(nullable, max_length = 2000)]
    expected: Option<String>,
}

/// Where the answer is kept.
#[derive(Serialize, ToSchema)]
pub(super) struct KeptCase {
    /// The file's name in the folder `conversations` below `EVALS_PATH`.
    case: String,
}

/// Keeps an answer that is wrong, with all that led to it, as a case for `frontdesk eval conversations`. Once more: the case is
/// written anew.
#[utoipa::path(
    post, path = "/console/api/conversations/{id}/turns/{turn}/wrong", operation_id = "console_wrong", tag = "console",
    params(("id" = String, Path), ("turn" = String, Path, description = "counted from 1")),
    request_body = Wrong,
    responses(
        (status = 201, description = "kept", body = KeptCase),
        RefusedWrite,
        (status = 409, description = "`conflict`: the turn has not ended yet", body = Problem, content_type = "application/problem+json"),
        (status = 500, description = "`not_writable`", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn post(
    Editor(owner): Editor,
    State(app): State<Arc<App>>,
    Known((id, turn)): Known<(String, String)>,
    body: Body<Wrong>,
) -> Result<(StatusCode, Json<KeptCase>), ApiError> {
    let (id, turn) = (conversation_id(&id)?, turn_number(&turn)?);
    let Wrong { note, expected } = body.value;
    let remark = Remark { note: remark(note, "note")?, expected: remark(expected, "expected")? };
    let case = in_time(&app, app.keep_case(&owner.tenant, id, turn, remark)).await?;
    Ok((StatusCode::CREATED, Json(KeptCase { case })))
}

/// Trimmed; nothing at all is none.
fn remark(text: Option<String>, name: &str) -> Result<Option<String>, ApiError> {
    let text = text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    match &text {
        Some(text) if text.chars().count() > REMARK_MAX_CHARS => {
            Err(ApiError::InvalidRequest(format!("{name} must have at most {REMARK_MAX_CHARS} characters.")))
        }
        _ => Ok(text),
    }
}

impl From<CaseError> for ApiError {
    fn from(cause: CaseError) -> Self {
        match cause {
            CaseError::NotFound => Self::NotFound,
            CaseError::NotEnded => Self::Conflict("The turn has not ended yet; wait for its answer."),
            CaseError::Store(cause) => cause.into(),
            CaseError::NotWritable(_) => {
                error!(error = %cause, "A case was not kept");
                Self::NotWritable(
                    "The case cannot be written; let the server's account write the folder of EVALS_PATH.",
                )
            }
        }
    }
}
