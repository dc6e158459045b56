//! `GET /console/api/questions`: questions without an answer.

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
use crate::http::error::ApiError;
use crate::http::error::with_store_timeout;
use crate::http::extract::{Query, page_limit};
use crate::http::refusals::RefusedConsoleQuery;
use crate::http::views::time;
use crate::store::unanswered::{Unanswered, UnansweredQuestion};

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

/// Why a question has no answer: the documents do not cover it, or the bot asked a clarifying question.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum QuestionKind {
    NoContext,
    Clarify,
}

/// Unanswered questions, grouped.
#[derive(Serialize, ToSchema)]
pub(super) struct QuestionsView {
    /// The group with the newest question comes first.
    groups: Vec<GroupView>,
}

/// Questions that differ only in case, diacritics, punctuation and polite words.
#[derive(Serialize, ToSchema)]
struct GroupView {
    /// The newest question.
    question: String,
    kind: QuestionKind,
    #[schema(value_type = String, example = "vi")]
    language: Language,
    count: usize,
    #[serde(serialize_with = "time")]
    last_at: DateTime<Utc>,
    /// The newest questions, at most five.
    examples: Vec<ExampleView>,
}

#[derive(Serialize, ToSchema)]
struct ExampleView {
    conversation_id: ConversationId,
    turn: u32,
    text: String,
}

/// Lists unanswered questions, which show what to document next.
#[utoipa::path(
    get, path = "/console/api/questions", operation_id = "console_questions", tag = "console", params(QuestionsQuery),
    responses(
        (status = 200, description = "the groups, newest first", body = QuestionsView),
        RefusedConsoleQuery,
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
    let mut groups = with_store_timeout(&app, app.unanswered(&owner.tenant, only, days)).await?;
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
                tracing::error!(error = %cause, "Could not group the questions");
                Self::Internal
            }
        }
    }
}
