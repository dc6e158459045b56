//! What the shop should write about next: the questions that got no answer, those that ask the same together.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};

use super::App;
use crate::domain::{Language, TenantId};
use crate::persona::PromptError;
use crate::retrieval::SearchRules;
use crate::store::StoreError;
use crate::store::unanswered::{Unanswered, UnansweredQuestion};

/// So many of the newest questions are looked at: more than anybody reads through.
const QUESTIONS_MAX: u32 = 5_000;
/// Examples of a group.
const EXAMPLES: usize = 5;

/// Questions that ask the same.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionGroup {
    pub why: Unanswered,
    pub count: usize,
    pub last_at: DateTime<Utc>,
    /// Of the newest one.
    pub language: Language,
    /// The newest ones, newest first, never empty.
    pub examples: Vec<UnansweredQuestion>,
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
    /// The questions of the last `days`, of one sort where `only` is given: the groups whose last question is newest first.
    pub async fn unanswered(
        &self,
        tenant: &TenantId,
        only: Option<Unanswered>,
        days: u32,
    ) -> Result<Vec<QuestionGroup>, QuestionsError> {
        let rules = SearchRules::read(self.desks().prompts())?;
        let since = Utc::now() - TimeDelta::days(i64::from(days));
        let questions = self.store.tenant(tenant).list_unanswered(since, only, QUESTIONS_MAX).await?;
        Ok(group(questions, |text| rules.gist(text)))
    }
}

/// Groups of questions that have one gist and got no answer for one reason. Questions and groups: newest first.
fn group(questions: Vec<UnansweredQuestion>, gist: impl Fn(&str) -> String) -> Vec<QuestionGroup> {
    let mut groups: Vec<QuestionGroup> = Vec::new();
    let mut places: HashMap<(Unanswered, String), usize> = HashMap::new();
    for question in questions {
        let place = *places.entry((question.why, gist(&question.text))).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => {
                group.count += 1;
                if group.examples.len() < EXAMPLES {
                    group.examples.push(question);
                }
            }
            None => groups.push(QuestionGroup {
                why: question.why,
                count: 1,
                last_at: question.asked_at,
                language: question.language,
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
    fn what_asks_the_same_is_one_group_the_newest_first_with_five_examples() {
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
        let groups = group(questions.map(question).into(), |text| rules.gist(text));
        let seen: Vec<(Unanswered, usize, i64, Language, Vec<u32>)> = groups
            .iter()
            .map(|group| {
                let turns = group.examples.iter().map(|example| example.turn).collect();
                (group.why, group.count, group.last_at.timestamp(), group.language, turns)
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
