//! Unanswered questions, grouped by meaning, which show what the shop should document next.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use super::App;
use crate::domain::calendar::time;
use crate::domain::{Language, TenantId};
use crate::persona::PromptError;
use crate::retrieval::SearchRules;
use crate::store::StoreError;
use crate::store::unanswered::{Unanswered, UnansweredQuestion};

/// The number of newest questions that are grouped.
const QUESTIONS_MAX: u32 = 5_000;
/// Examples per group.
const EXAMPLES: usize = 5;

/// Questions that differ only in case, diacritics, punctuation and polite words.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = GroupView)]
pub struct QuestionGroup {
    /// The newest question.
    question: String,
    kind: Unanswered,
    #[schema(value_type = String, example = "vi")]
    language: Language,
    count: usize,
    #[serde(serialize_with = "time")]
    last_at: DateTime<Utc>,
    /// The newest questions, at most five.
    examples: Vec<UnansweredQuestion>,
}

/// Why questions were not listed.
#[derive(Debug, thiserror::Error)]
pub enum QuestionsError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Rules(#[from] PromptError),
}

impl App {
    /// Lists groups of questions of the last `days`, newest first. `only` selects one kind.
    pub async fn unanswered(
        &self,
        tenant: &TenantId,
        only: Option<Unanswered>,
        days: u32,
    ) -> Result<Vec<QuestionGroup>, QuestionsError> {
        let rules = SearchRules::read(self.shops.get(tenant).prompts())?;
        let since = Utc::now() - TimeDelta::days(i64::from(days));
        let questions = self.store.tenant(tenant).list_unanswered(since, only, QUESTIONS_MAX).await?;
        Ok(group(questions, |question| rules.gist(&question.text, question.language)))
    }
}

/// Groups questions with the same gist and reason. Questions and groups are newest first.
fn group(questions: Vec<UnansweredQuestion>, gist: impl Fn(&UnansweredQuestion) -> String) -> Vec<QuestionGroup> {
    let mut groups: Vec<QuestionGroup> = Vec::new();
    let mut places: HashMap<(Unanswered, String), usize> = HashMap::new();
    for question in questions {
        let place = *places.entry((question.why, gist(&question))).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => {
                group.count += 1;
                if group.examples.len() < EXAMPLES {
                    group.examples.push(question);
                }
            }
            None => groups.push(QuestionGroup {
                question: question.text.clone(),
                kind: question.why,
                language: question.language,
                count: 1,
                last_at: question.asked_at,
                examples: vec![question],
            }),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ConversationId;

    #[test]
    fn similar_questions_group_with_five_examples() {
        let conversation = ConversationId::now();
        let question = |(turn, why, text): (u32, Unanswered, &str)| UnansweredQuestion {
            conversation,
            turn,
            why,
            text: text.to_owned(),
            language: if text.contains('ử') { Language::VI } else { Language::EN },
            asked_at: DateTime::from_timestamp(1_000 - i64::from(turn), 0).unwrap(),
        };
        let questions = [
            (1, Unanswered::NoContext, "sửa máy in"),
            (2, Unanswered::Clarify, "SUA MAY IN"),
            (3, Unanswered::NoContext, "parking"),
            (4, Unanswered::NoContext, "Sua may in?"),
            (5, Unanswered::NoContext, "sửa máy in"),
            (6, Unanswered::NoContext, "sửa máy in"),
            (7, Unanswered::NoContext, "sửa máy in"),
            (8, Unanswered::NoContext, "sửa máy in"),
        ];
        let rules = SearchRules::from_toml("").unwrap();
        let groups = group(questions.map(question).into(), |question| rules.gist(&question.text, question.language));
        let seen: Vec<(Unanswered, usize, i64, Language, Vec<u32>)> = groups
            .iter()
            .map(|group| {
                let turns = group.examples.iter().map(|example| example.turn).collect();
                (group.kind, group.count, group.last_at.timestamp(), group.language, turns)
            })
            .collect();
        assert_eq!(
            seen,
            [
                (Unanswered::NoContext, 6, 999, Language::VI, vec![1, 4, 5, 6, 7]),
                (Unanswered::Clarify, 1, 998, Language::EN, vec![2]),
                (Unanswered::NoContext, 1, 997, Language::EN, vec![3]),
            ]
        );
    }
}
