//! `GET /console/api/questions`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::days_wanted;
use super::owner::Owner;
use crate::app::App;
use crate::app::questions::{QuestionGroup, QuestionsError};
use crate::domain::{ConversationId, Language};
use crate::http::conversations::page_limit;
use crate::http::error::ApiError;
use crate::http::extract::Query;
use crate::http::in_time::in_time;
use crate::http::problem::Problem;
use crate::http::refusals::RefusedRead;
use crate::http::views::time;
use crate::store::unanswered::{Unanswered, UnansweredQuestion};

/// Which questions.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct QuestionsQuery {
    /// What became of them; `all` where nothing is said.
    #[param(inline)]
    kind: Option<Wanted>,
    /// Of so many days, 1 to 366.
    #[param(minimum = 1, maximum = 366, default = 30)]
    days: Option<u32>,
    /// How many groups at most, 1 to 200.
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

/// What became of a question: no document speaks of it, or the bot asked what was meant.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum QuestionKind {
    NoContext,
    Clarify,
}

/// Questions that got no answer, those that ask the same together.
#[derive(Serialize, ToSchema)]
pub(super) struct QuestionsView {
    /// The one whose last question is newest comes first.
    groups: Vec<GroupView>,
}

/// Questions that differ in case, diacritics, punctuation and words of politeness alone.
#[derive(Serialize, ToSchema)]
struct GroupView {
    /// The newest one.
    question: String,
    kind: QuestionKind,
    #[schema(value_type = String, example = "vi")]
    language: Language,
    count: usize,
    #[serde(serialize_with = "time")]
    last_at: DateTime<Utc>,
    /// The newest ones, five at most.
    examples: Vec<ExampleView>,
}

#[derive(Serialize, ToSchema)]
struct ExampleView {
    conversation_id: ConversationId,
    turn: u32,
    text: String,
}

/// The questions that got no answer: what the shop should write about next.
#[utoipa::path(
    get, path = "/console/api/questions", operation_id = "console_questions", tag = "console", params(QuestionsQuery),
    responses(
        (status = 200, description = "the groups, newest first", body = QuestionsView),
        RefusedRead,
        (status = 404, description = "`not_found`: there is no console", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "`invalid_request`", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn get(
    owner: Owner,
    State(app): State<Arc<App>>,
    Query(query): Query<QuestionsQuery>,
) -> Result<Json<QuestionsView>, ApiError> {
    let limit = page_limit(query.limit)?;
    let days = days_wanted(query.days)?;
    let only = match query.kind {
        None | Some(Wanted::All) => None,
        Some(Wanted::NoContext) => Some(Unanswered::NoContext),
        Some(Wanted::Clarify) => Some(Unanswered::Clarify),
    };
    let mut groups = in_time(&app, app.unanswered(&owner.tenant, only, days)).await?;
    groups.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(Json(QuestionsView { groups: groups.into_iter().map(Into::into).collect() }))
}

impl From<QuestionGroup> for GroupView {
    fn from(group: QuestionGroup) -> Self {
        let kind = match group.why {
            Unanswered::NoContext => QuestionKind::NoContext,
            Unanswered::Clarify => QuestionKind::Clarify,
        };
        let question = group.examples.first().map(|newest| newest.text.clone()).unwrap_or_default();
        let examples = group.examples.into_iter().map(Into::into).collect();
        Self { question, kind, language: group.language, count: group.count, last_at: group.last_at, examples }
    }
}

impl From<UnansweredQuestion> for ExampleView {
    fn from(question: UnansweredQuestion) -> Self {
        Self { conversation_id: question.conversation, turn: question.turn, text: question.text }
    }
}

impl From<QuestionsError> for ApiError {
    fn from(cause: QuestionsError) -> Self {
        match cause {
            QuestionsError::Store(cause) => cause.into(),
            QuestionsError::Rules(cause) => {
                tracing::error!(error = %cause, "Questions cannot be grouped");
                Self::Internal
            }
        }
    }
}
