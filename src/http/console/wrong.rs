//! `POST /console/api/conversations/{id}/turns/{turn}/wrong`: reporting a wrong answer.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use tracing::error;
use utoipa::ToSchema;

use super::owner::{Editor, record};
use crate::app::App;
use crate::app::evals::{CaseError, Remark};
use crate::domain::text::clean;
use crate::domain::{ConsoleAct, ConsoleDeed};
use crate::http::error::{ApiError, Result, with_store_timeout};
use crate::http::extract::{Body, PathParameters, conversation_id};
use crate::http::refusals::RefusedWrite;
use crate::http::turns::turn_number;

/// The longest note, in characters.
const REMARK_MAX_CHARS: usize = 2_000;

/// A report about a wrong answer.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Wrong {
    /// What is wrong, at most 2,000 characters.
    #[schema(nullable, max_length = 2000)]
    note: Option<String>,
    /// Words that a correct answer contains, at most 2,000 characters.
    #[schema(nullable, max_length = 2000)]
    expected: Option<String>,
}

/// The evaluation case of a wrong answer.
#[derive(Serialize, ToSchema)]
pub(super) struct KeptCase {
    /// The name of the file in the folder `conversations` below `EVALS_PATH`.
    case: String,
}

/// Stores a wrong answer and its context as a case for `frontdesk eval conversations`. A second report replaces the case.
#[utoipa::path(
    post, path = "/console/api/conversations/{id}/turns/{turn}/wrong", operation_id = "console_wrong", tag = "console",
    params(("id" = String, Path), ("turn" = String, Path, description = "counted from 1")),
    request_body = Wrong,
    responses(
        (status = 201, description = "stored", body = KeptCase),
        RefusedWrite,
        (status = 409, description = "`conflict`: the turn has not ended yet"),
        (status = 500, description = "`not_writable`"),
    )
)]
pub(super) async fn post(
    Editor(owner): Editor,
    State(app): State<Arc<App>>,
    PathParameters((id, turn)): PathParameters<(String, String)>,
    body: Body<Wrong>,
) -> Result<(StatusCode, Json<KeptCase>)> {
    let (id, turn) = (conversation_id(&id)?, turn_number(&turn)?);
    let Wrong { note, expected } = body.value;
    let remark = Remark { note: remark(note, "note")?, expected: remark(expected, "expected")? };
    let case = with_store_timeout(&app, app.keep_case(&owner.tenant, id, turn, remark)).await?;
    let act =
        ConsoleAct { conversation: Some(id), subject: Some(case.clone()), ..owner.act(ConsoleDeed::AnswerReported) };
    record(&app, &owner.tenant, &act).await;
    Ok((StatusCode::CREATED, Json(KeptCase { case })))
}

/// Cleans and trims a text; an empty one counts as absent.
fn remark(text: Option<String>, name: &str) -> Result<Option<String>> {
    let text = text.map(|text| clean(&text).trim().to_owned()).filter(|text| !text.is_empty());
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
            CaseError::NotEnded => Self::Conflict("The turn has not ended; wait for its reply."),
            CaseError::Store(cause) => cause.into(),
            CaseError::NotWritable(_) => {
                error!(error = %cause, "Could not store an evaluation case");
                Self::NotWritable("The case cannot be written; make the folder EVALS_PATH writable for the server.")
            }
        }
    }
}
