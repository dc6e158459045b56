//! Asks back where no section of the pages certainly answers: "Do you mean A, B or C?".

use serde::{Deserialize, Serialize};

use super::Retail;
use super::texts::Text;
use crate::desks::Turn;
use crate::domain::text::words;
use crate::nlu::pick::Pick;
use crate::replies::MissingValue;
use crate::retrieval::{Passage, Query};

/// The best section is uncertain with less than this score, and with less than this lead over the second. Of 951 held-out questions to
/// the sample pages, 259 were so, of which the best section answers 32 of 100, and one of the best three 64.
const CERTAIN: f64 = 0.45;
const LEAD: f64 = 0.2;
/// A better section, or one with a larger lead, is quoted nevertheless, and the others are offered. Of the 82 others, 18 of 100 answer.
const QUOTED: f64 = 0.3;
const QUOTED_LEAD: f64 = 0.1;
/// Topics that are named.
const TOPICS: usize = 3;
/// A longer message asks something of its own.
const SHORT: usize = 6;

/// A section that the customer may mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Candidate {
    pub file: String,
    pub section: String,
    /// The question that was asked.
    pub asked: String,
}

impl Candidate {
    /// The heading of the section.
    fn name(&self) -> &str {
        self.section.rsplit(" > ").next().unwrap_or(&self.section)
    }
}

/// Topics that a reply asks about.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub topics: Vec<Candidate>,
    /// Whether the best one is quoted all the same.
    pub is_quoted: bool,
}

impl Retail {
    /// Returns the topics to ask about, if what is quoted is one section that is not certain to answer.
    pub(super) fn topics(&self, turn: &Turn, asked: &Query, quoted: &[Passage]) -> Option<Asked> {
        let (knowledge, folders) = (&self.services.knowledge, &turn.persona.knowledge);
        let [page] = quoted else { return None };
        // What says little is about the subject of the conversation.
        if self.services.llm.is_up() || knowledge.says_little(folders, asked) {
            return None;
        }
        let nearest = knowledge.nearest_sections(folders, &Query { limit: TOPICS, ..asked.clone() });
        let [first, second, ..] = nearest.as_slice() else { return None };
        let is_same = (&first.file, &first.section) == (&page.file, &page.section);
        let lead = first.score - second.score;
        if !is_same || first.score >= CERTAIN || lead >= LEAD {
            return None;
        }
        let topic = |passage: &Passage| Candidate {
            file: passage.file.clone(),
            section: passage.section.clone(),
            asked: asked.text.clone(),
        };
        Some(Asked {
            is_quoted: first.score >= QUOTED || lead >= QUOTED_LEAD,
            topics: nearest.iter().map(topic).collect(),
        })
    }

    /// Asks which topic the customer means. After a quotation, which is of the first one, it names the others.
    pub(super) fn ask_topics(&self, turn: &Turn, asked: &Asked) -> Result<String, MissingValue> {
        let (text, topics) = match asked.is_quoted {
            true => (Text::ReplyOtherTopics, &asked.topics[1..]),
            false => (Text::ReplyTopics, asked.topics.as_slice()),
        };
        let names: Vec<String> = topics.iter().map(|topic| format!("\n• {}", topic.name())).collect();
        self.text(turn, text, &[("topics", &names.concat())])
    }

    /// Returns the topic that a message chooses among those that the last reply asked about: "the second one", or a word of its heading.
    pub(super) fn chosen_topic(&self, turn: &Turn, text: &str, topics: &[Candidate]) -> Option<(Candidate, Passage)> {
        let (knowledge, folders, language) = (&self.services.knowledge, &turn.persona.knowledge, turn.language());
        let at = match self.picks.pick(text) {
            Some((Pick::Nth(n), _)) => Some(n),
            Some((Pick::Last, _)) => topics.len().checked_sub(1),
            _ => text.trim().parse::<usize>().ok().and_then(|n| n.checked_sub(1)),
        };
        let query = Query { text: text.to_owned(), language, limit: 1, pages_only: true };
        let is_word = words(text).len() <= SHORT && !knowledge.names_nothing(folders, &query);
        let met = |topic: &Candidate| knowledge.words_met(folders, text, topic.name(), language);
        let most = topics.iter().map(met).max().filter(|most| is_word && *most > 0);
        let mut best = topics.iter().filter(|topic| Some(met(topic)) == most);
        let named = best.next().filter(|_| best.next().is_none());
        let topic = at.and_then(|at| topics.get(at)).or(named)?;
        let passage = knowledge.section(folders, &topic.file, &topic.section, language)?;
        Some((topic.clone(), passage))
    }
}
