//! Lists questions that were not answered or not understood.

use chrono::{DateTime, Utc};
use sea_orm::{FromQueryResult, Statement};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{Result, TenantStore, from_db, to_db, unreadable};
use crate::domain::{ConversationId, Language};

/// Why a question has no answer: the documents do not cover it, or the bot asked a clarifying question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[schema(as = QuestionKind)]
#[serde(rename_all = "snake_case")]
pub enum Unanswered {
    NoContext,
    Clarify,
}

/// A customer's message that got no answer.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = ExampleView)]
pub struct UnansweredQuestion {
    #[serde(rename = "conversation_id")]
    pub conversation: ConversationId,
    pub turn: u32,
    #[serde(skip)]
    pub why: Unanswered,
    pub text: String,
    /// The language of the conversation.
    #[serde(skip)]
    pub language: Language,
    #[serde(skip)]
    pub asked_at: DateTime<Utc>,
}

#[derive(Debug, FromQueryResult)]
struct Row {
    conversation_id: Uuid,
    turn: i32,
    clarify: bool,
    text: String,
    preferred_language: String,
    created_at: DateTime<Utc>,
}

impl TenantStore<'_> {
    /// Lists at most `limit` questions since `since`, newest first, for all reasons or for one.
    pub async fn list_unanswered(
        &self,
        since: DateTime<Utc>,
        only: Option<Unanswered>,
        limit: u32,
    ) -> Result<Vec<UnansweredQuestion>> {
        let sort = match only {
            None => "",
            Some(Unanswered::Clarify) => "AND answer.metadata ->> 'type' = 'clarify'",
            Some(Unanswered::NoContext) => "AND answer.metadata ->> 'no_context' IS NOT NULL",
        };
        // The expression in parentheses must match the index `messages_unanswered`.
        let statement = format!(
            "SELECT answer.conversation_id, answer.turn, answer.created_at, question.text, \
                 conversations.preferred_language, answer.metadata ->> 'type' = 'clarify' AS clarify \
             FROM messages AS answer \
             JOIN messages AS question ON question.conversation_id = answer.conversation_id \
                 AND question.turn = answer.turn AND question.position = 0 AND question.sender = 'user' \
             JOIN conversations ON conversations.id = answer.conversation_id \
             WHERE answer.tenant_id = $1 AND answer.created_at >= $2 \
                 AND (answer.metadata ->> 'type' = 'clarify' OR answer.metadata ->> 'no_context' IS NOT NULL) {sort} \
             ORDER BY answer.created_at DESC LIMIT $3"
        );
        let backend = self.store.read.get_database_backend();
        let values = [self.tenant.as_str().into(), since.into(), i64::from(to_db(limit)).into()];
        let statement = Statement::from_sql_and_values(backend, statement, values);
        Row::find_by_statement(statement).all(&self.store.read).await?.into_iter().map(read_question).collect()
    }
}

fn read_question(row: Row) -> Result<UnansweredQuestion> {
    let unreadable = |_| unreadable("conversations", "preferred_language");
    Ok(UnansweredQuestion {
        conversation: ConversationId(row.conversation_id),
        turn: from_db(row.turn),
        why: if row.clarify { Unanswered::Clarify } else { Unanswered::NoContext },
        text: row.text,
        language: row.preferred_language.parse().map_err(unreadable)?,
        asked_at: row.created_at,
    })
}
