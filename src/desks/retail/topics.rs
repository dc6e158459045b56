//! Offers other topics where the section that is quoted may not be the right one: "If you meant something else, perhaps one of these".

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
/// The nearest sections, of which the first is quoted.
const TOPICS: usize = 3;
/// A longer message is a new question.
const SHORT: usize = 6;

/// A section that the customer may mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Candidate {
    pub file: String,
    pub section: String,
    /// The question that was asked.
    pub asked: String,
}

/// Returns the heading of a section.
pub(super) fn heading(section: &str) -> &str {
    section.rsplit(" > ").next().unwrap_or(section)
}

impl Retail {
    /// Returns the topics to offer, if what is quoted is one section that is not certain to answer.
    pub(super) fn other_topics(&self, turn: &Turn, asked: &Query, quoted: &[Passage]) -> Vec<Candidate> {
        let pages = self.services.pages(turn);
        let [page] = quoted else { return Vec::new() };
        // What says little is about the subject of the conversation.
        if self.services.llm.is_up() || pages.says_little(asked) {
            return Vec::new();
        }
        let nearest = pages.nearest_sections(&Query { limit: TOPICS, ..asked.clone() });
        let [first, others @ ..] = nearest.as_slice() else { return Vec::new() };
        let is_same = (&first.file, &first.section) == (&page.file, &page.section);
        let lead = first.score - others.first().map_or(0.0, |second| second.score);
        if !is_same || first.score >= CERTAIN || lead >= LEAD {
            return Vec::new();
        }
        let candidate = |passage: &Passage| Candidate {
            file: passage.file.clone(),
            section: passage.section.clone(),
            asked: asked.text.clone(),
        };
        others.iter().map(candidate).collect()
    }

    /// Lists topics, one per line.
    pub(super) fn offer_topics(&self, turn: &Turn, topics: &[Candidate]) -> Result<String, MissingValue> {
        let names: Vec<String> = topics.iter().map(|topic| format!("\n• {}", heading(&topic.section))).collect();
        self.text(turn, Text::ReplyOtherTopics, &[("topics", &names.concat())])
    }

    /// Returns the topic that a message chooses among those that the last reply offered: "the second one", or a word of its heading.
    pub(super) fn chosen_topic(&self, turn: &Turn, text: &str, topics: &[Candidate]) -> Option<(Candidate, Passage)> {
        let (pages, language) = (self.services.pages(turn), turn.language());
        let at = match self.picks.pick(text) {
            Some((Pick::Nth(n), _)) => Some(n),
            Some((Pick::Last, _)) => topics.len().checked_sub(1),
            _ => text.trim().parse::<usize>().ok().and_then(|n| n.checked_sub(1)),
        };
        let query = Query { text: text.to_owned(), language, limit: 1, pages_only: true };
        let is_word = words(text).len() <= SHORT && !pages.names_nothing(&query);
        let met = |topic: &Candidate| pages.words_met(text, heading(&topic.section), language);
        let most = topics.iter().map(met).max().filter(|most| is_word && *most > 0);
        let mut best = topics.iter().filter(|topic| Some(met(topic)) == most);
        let named = best.next().filter(|_| best.next().is_none());
        let topic = at.and_then(|at| topics.get(at)).or(named)?;
        let passage = pages.section(&topic.file, &topic.section, language)?;
        Some((topic.clone(), passage))
    }
}
