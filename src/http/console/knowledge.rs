//! `GET /console/api/knowledge`: the indexed documents. `GET /console/api/questions`: what they do not answer.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::days_wanted;
use super::owner::{Editor, Owner};
use crate::app::App;
use crate::app::questions::{QuestionGroup, QuestionsError};
use crate::http::error::{ApiError, Result, with_store_timeout};
use crate::http::extract::{Query, page_limit};
use crate::http::refusals::{RefusedConsole, RefusedConsoleQuery};
use crate::retrieval::search::Overview;
use crate::store::unanswered::Unanswered;

/// Lists the searched documents and the problems in them.
#[utoipa::path(
    get, path = "/console/api/knowledge", operation_id = "console_knowledge", tag = "console",
    responses(
        (status = 200, description = "the documents", body = Overview),
        RefusedConsole,
        (status = 404, description = "`not_found`: the console is off, or the shop has no folder"),
    )
)]
pub(super) async fn documents(Editor(owner): Editor, State(app): State<Arc<App>>) -> Result<Json<Overview>> {
    Ok(Json(app.knowledge(&owner.tenant).await))
}

/// The questions to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct QuestionsQuery {
    /// The kind of questions; `all` by default.
    #[param(inline)]
    kind: Option<Wanted>,
    /// The number of days including today, 1 to 366.
    #[param(minimum = 1, maximum = 366, default = 30)]
    days: Option<u32>,
    /// The most groups to return, 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u64>,
}

#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Wanted {
    NoContext,
    Clarify,
    All,
}

/// Unanswered questions, grouped.
#[derive(Serialize, ToSchema)]
pub(super) struct QuestionsView {
    /// The group with the newest question comes first.
    groups: Vec<QuestionGroup>,
}

/// Lists unanswered questions, which show what to document next.
#[utoipa::path(
    get, path = "/console/api/questions", operation_id = "console_questions", tag = "console", params(QuestionsQuery),
    responses((status = 200, description = "the groups, newest first", body = QuestionsView), RefusedConsoleQuery)
)]
pub(super) async fn questions(
    owner: Owner,
    State(app): State<Arc<App>>,
    Query(query): Query<QuestionsQuery>,
) -> Result<Json<QuestionsView>> {
    let limit = page_limit(query.limit)?;
    let days = days_wanted(query.days)?;
    let only = match query.kind {
        None | Some(Wanted::All) => None,
        Some(Wanted::NoContext) => Some(Unanswered::NoContext),
        Some(Wanted::Clarify) => Some(Unanswered::Clarify),
    };
    let mut groups = with_store_timeout(&app, app.unanswered(&owner.tenant, only, days)).await?;
    groups.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(Json(QuestionsView { groups }))
}

impl From<QuestionsError> for ApiError {
    fn from(cause: QuestionsError) -> Self {
        match cause {
            QuestionsError::Store(cause) => cause.into(),
            QuestionsError::Rules(cause) => {
                tracing::error!(error = %cause, "Could not group the questions");
                Self::Internal
            }
        }
    }
}
