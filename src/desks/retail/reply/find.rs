//! Finds what answers a message: products, sections, or something to compute.

use super::super::Retail;
use super::super::context::About;
use super::super::memory::Memory;
use super::super::products::{Computed, Goods};
use super::super::retrieve::Retrieved;
use super::super::rules::Utterance;
use super::super::topics::Candidate;
use super::by_model::Reading;
use super::repeat::Repeated;
use crate::dialogue::retrieve::PASSAGES;
use crate::dialogue::shown::{Chosen, Shown};
use crate::dialogue::{DeskError, Turn};
use crate::nlu::long_text::read_text;
use crate::retrieval::search::{By, Found};
use crate::retrieval::{Passage, Query, add_new};

/// What answers a message.
pub(super) struct Answer {
    /// The search for the message, or for what it means.
    pub asked: Query,
    /// What a model reads, and what is cited. Empty if nothing answers.
    pub found: Found,
    /// A sum, a monthly amount, or whether two products fit together. It is not left to a model.
    pub computed: Option<String>,
    /// Lines with amounts, for a model.
    pub amounts: String,
    /// What is quoted if no model words the reply.
    pub quoted: Vec<Passage>,
    pub repeated: Repeated,
    /// Whether the message asks what the rows of products say.
    pub asks_row: bool,
    /// Another question of the message, and the pages that answer it.
    pub besides: Option<(String, Vec<Passage>)>,
    /// Other topics to offer.
    pub topics: Vec<Candidate>,
    pub is_catalogue: bool,
    /// The products of what is quoted.
    pub shown: Option<Shown>,
    /// Whether the products of the conversation stay, whatever is quoted.
    pub keeps_products: bool,
}

impl Answer {
    pub(super) fn reading<'a>(&'a self, utterance: &'a Utterance) -> Reading<'a> {
        Reading { question: &utterance.text, found: &self.found, amounts: &self.amounts }
    }
}

impl Retail {
    pub(super) async fn find_answer(
        &self,
        turn: &mut Turn,
        utterance: &Utterance,
        about: About,
        memory: &mut Memory,
    ) -> Result<Answer, DeskError> {
        let About { goods, pages_only, names_products, besides, is_of_subject, searched, topic, .. } = about;
        let Goods { chosen, wished, computed, pieces, counts, asks_row } = goods;
        let (is_chosen, is_topic) = (chosen.is_some(), topic.is_some());
        let of_topic = topic.as_ref().map(|(topic, _)| topic.asked.as_str());
        let question = of_topic.or(searched.as_deref()).unwrap_or(&utterance.text).to_owned();
        let question = question.as_str();
        let pages = self.services.pages(turn);
        let known = match (chosen, topic) {
            (Some(Chosen { passages, shown }), _) => {
                memory.shown = Some(shown);
                Some(passages)
            }
            (None, Some((_, passage))) => Some(vec![passage]),
            (None, None) => None,
        };
        let Retrieved { mut found, mut quoted } = match known {
            Some(passages) => {
                let quoted = passages.clone();
                Retrieved { found: Found { passages, by: By::Words, similarity: None, question: None }, quoted }
            }
            None => {
                let subject = memory.subject.as_ref();
                turn.step("retrieve").take(self.retrieve(turn, question, pages_only, subject)).await
            }
        };
        if !wished.is_empty() {
            // A model also gets what else was found.
            let others = std::mem::replace(&mut found.passages, wished.clone());
            add_new(&mut found.passages, others);
            found.passages.truncate(PASSAGES);
            quoted = wished;
        }
        let asked = self.search(turn, question, pages_only);
        if let Some(subject) = memory.subject.as_ref().filter(|_| quoted.is_empty() && is_of_subject) {
            quoted = pages.find_in_document(&asked, subject).into_iter().take(1).collect();
            found.passages.clone_from(&quoted);
        }
        let besides = besides.or_else(|| self.unanswered_clause(turn, question, &quoted).filter(|_| !is_topic));
        let besides = match besides {
            Some(question) => {
                let mut pages = self.find_besides(turn, &question).await;
                pages.retain(|page| !quoted.iter().any(|quoted| quoted.text == page.text));
                found.passages.extend(pages.iter().cloned());
                Some((question, pages))
            }
            None => None,
        };
        let has_model = self.services.llm.is_up();
        // A customer may ask for the same products again. The same part of a page did not answer before; a model words it otherwise.
        let repeated = match has_model || self.has_rows(turn, &quoted) {
            true => Repeated::Not,
            false => self.replace_repeated(turn, question, &asked, &found, &mut quoted, is_topic)?,
        };
        let is_catalogue = self.has_rows(turn, &quoted);
        let is_plain = !is_topic && !is_catalogue && besides.is_none() && repeated == Repeated::Not;
        let topics = if is_plain { self.other_topics(turn, &asked, &quoted) } else { Vec::new() };
        memory.pieces.extend(counts);
        let computed = match computed {
            Some(Computed::Total) => self.total(turn, &utterance.text, &quoted, pieces, memory)?,
            Some(Computed::Each(pieces)) => self.prices_of_each(turn, pieces, &quoted)?,
            Some(Computed::Fit(fit)) => Some(self.quote_fit(turn, &fit, &quoted)?),
            Some(Computed::Plans(plans)) => Some(self.quote_plans(turn, &plans, &quoted)?),
            Some(Computed::Difference(amount, names)) => Some(self.quote_difference(turn, amount, names, &quoted)?),
            None => None,
        };
        let mut amounts = String::new();
        if has_model && computed.is_none() && (!quoted.is_empty() || memory.current.is_some()) {
            // In a conversation, a model may also find what rules do not.
            let of_besides = besides.iter().flat_map(|(_, pages)| pages);
            let kept: Vec<Passage> = quoted.iter().chain(of_besides).cloned().collect();
            (found.passages, amounts) =
                read_text(question.len(), || self.for_model(turn, question, &kept, &found.passages, memory));
        } else if quoted.is_empty() {
            found.passages.clear();
        }
        let shown = Shown::of(&pages, &asked, &quoted);
        // Products that the message names stay those of the conversation, whatever a page lists.
        let keeps_products = is_chosen || (names_products && !is_catalogue);
        Ok(Answer {
            asked,
            found,
            computed,
            amounts,
            quoted,
            repeated,
            asks_row,
            besides,
            topics,
            is_catalogue,
            shown,
            keeps_products,
        })
    }

    /// Returns the last of several questions about the shop that a message asks and what is quoted does not answer: "how long does it take to
    /// build, and do I have to pay something first?".
    fn unanswered_clause(&self, turn: &Turn, text: &str, quoted: &[Passage]) -> Option<String> {
        let (pages, language) = (self.services.pages(turn), turn.language());
        let best = quoted.first().filter(|_| !self.has_rows(turn, quoted))?;
        let asked = self.shop_clauses(turn, text);
        let is_open = |clause: &&str| !pages.has_most_of(clause, best, language);
        (asked.len() > 1).then(|| asked.into_iter().rfind(is_open).map(str::to_owned))?
    }

    /// Finds a page about another question of a message.
    async fn find_besides(&self, turn: &Turn, question: &str) -> Vec<Passage> {
        let pages = self.services.pages(turn);
        let found = self.retrieve(turn, question, true, None).await.quoted;
        let is_about = |page: &Passage| {
            let text = format!("{}\n{}\n{}", page.title, page.section, page.text);
            page.language.is_none_or(|of| of == turn.language())
                && pages.words_met(question, &text, turn.language()) > 0
        };
        found.into_iter().take(1).filter(is_about).collect()
    }
}
