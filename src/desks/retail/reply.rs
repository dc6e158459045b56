//! Answers a shopping question from the shop's documents, in the persona's voice.

use tracing::warn;

use super::Retail;
use super::context::About;
use super::memory::Memory;
use super::rules::{Topic, Utterance};
use super::texts::Text;
use crate::config::LlmMode;
use crate::dialogue::answer::{self, Written};
use crate::dialogue::attribute;
use crate::dialogue::shown::Chosen;
use crate::dialogue::{DeskError, Turn};
use crate::domain::{Kind, Message, Metadata};
use crate::grounding::{Grounded, Placeholders};
use crate::providers::llm::{Deltas, LlmError};
use crate::replies::MissingValue;
use crate::retrieval::{Passage, Query};

mod by_model;
mod computed;
mod find;
mod repeat;

use find::Answer;
use repeat::Repeated;

/// Products in stock that are named if a product is sold out.
const INSTEAD: usize = 2;

impl Retail {
    /// Finds what answers a message, replies, and adds the follow-up.
    pub(super) async fn reply(
        &self,
        turn: &mut Turn,
        utterance: &Utterance,
        about: About,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        if let Some(build) = about.build {
            return self.reply_build(turn, build, memory).await;
        }
        if let Some(text) = about.written {
            return self.reply_written(turn, text, about.goods.chosen, memory).await;
        }
        let answer = self.find_answer(turn, utterance, about, memory).await?;
        let mut begun = None;
        let mut cited = answer.found.passages.as_slice();
        if answer.quoted.is_empty() && !cited.is_empty() {
            // Without a model, nothing of it is an answer.
            match self.begin(turn, answer.reading(utterance)).await? {
                Ok(deltas) => begun = Some(deltas),
                Err(error) => {
                    self.note_failure(turn, &error);
                    cited = &[];
                }
            }
        }
        let Some(metadata) = answer::cite(turn, &answer.found, cited).await? else {
            let text = match answer.repeated {
                Repeated::AllSaid => Text::ReplyAllSaid,
                Repeated::Not | Repeated::Again if utterance.requests(Topic::UnnamedGoods) => Text::ReplyWhich,
                Repeated::Not | Repeated::Again => Text::ReplyUnknown,
            };
            let text = self.text(turn, text, &[])?;
            answer::say_unknown(turn, &text).await?;
            return self.follow_up(turn).await;
        };
        self.remember_answer(turn, &utterance.text, &answer, memory);
        if answer.computed.is_some() {
            let said = self.quotation(turn, utterance, &answer)?;
            turn.say_with(Kind::Reply, &said, metadata).await?;
        } else {
            let begun = match begun {
                Some(deltas) => Ok(deltas),
                None => self.begin(turn, answer.reading(utterance)).await?,
            };
            self.say_answer(turn, utterance, &answer, begun, metadata, memory).await?;
        }
        if turn.error().is_none() {
            self.follow_up(turn).await?;
        }
        Ok(())
    }

    /// Remembers what an answer is about.
    fn remember_answer(&self, turn: &Turn, text: &str, answer: &Answer, memory: &mut Memory) {
        if !answer.topics.is_empty() {
            memory.topics.clone_from(&answer.topics);
        }
        if let Some(page) = answer.quoted.first()
            && let Some(bundle) =
                self.bundle_of(turn, page).filter(|_| !answer.is_catalogue && !answer.asked.pages_only)
        {
            memory.bundle = Some(bundle);
        }
        let (pages, asked) = (self.services.pages(turn), &answer.asked);
        let earlier = memory.shown.take();
        let shown = answer.shown.clone().filter(|_| !answer.keeps_products).or_else(|| earlier.clone());
        memory.shown = shown.map(|shown| shown.after(earlier.as_ref(), &pages, asked.language));
        match &answer.besides {
            // A question about the shop that names a product.
            Some((question, pages)) if question == text && !pages.is_empty() => memory.follow(pages, false, question),
            _ => memory.follow(&answer.quoted, answer.shown.is_some(), &asked.text),
        }
    }

    /// Streams the model's reply, or quotes the documents without one.
    async fn say_answer(
        &self,
        turn: &mut Turn,
        utterance: &Utterance,
        answer: &Answer,
        begun: Result<Deltas, LlmError>,
        metadata: Metadata,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        match begun {
            Ok(deltas) => {
                let common = self.common(turn);
                let sources = self.sources(turn, answer.reading(utterance));
                let guarded = Grounded::new(&self.grounding, &Placeholders::of(common), &sources);
                let quotation = |turn: &Turn| self.quotation(turn, utterance, answer);
                let written = Written { quotation: &quotation, ending: "", common };
                answer::stream(turn, deltas, guarded, &written, metadata).await?;
                self.follow_reply(turn, &answer.asked, &answer.found.passages, memory);
            }
            Err(error) => {
                self.note_failure(turn, &error);
                let said = self.quotation(turn, utterance, answer)?;
                turn.say_with(Kind::Reply, &said, metadata).await?;
            }
        }
        Ok(())
    }

    fn note_failure(&self, turn: &mut Turn, error: &LlmError) {
        warn!(%error, "No reply from the language model: quoting the documents");
        match self.services.config.llm.mode {
            // A model that is switched off has not failed.
            LlmMode::Offline => turn.note("model_error", error.to_string()),
            LlmMode::Auto | LlmMode::Ollama => turn.note_model_error(error),
        }
    }

    /// Returns the answer without a model: what was computed, or quotations, and what else the message asks.
    fn quotation(&self, turn: &Turn, utterance: &Utterance, answer: &Answer) -> Result<String, MissingValue> {
        if answer.quoted.is_empty() {
            return self.text(turn, Text::ReplyUnknown, &[]);
        }
        let mut said = match &answer.computed {
            Some(computed) => computed.clone(),
            None => self.quote(turn, utterance, answer)?,
        };
        if let Some((question, pages)) = &answer.besides {
            let excerpts: Vec<Passage> = pages.iter().map(|page| self.excerpt(turn, question, page)).collect();
            said = answer::quotation(said, self.quotes(turn, &excerpts)?.into_iter());
        }
        let said = self.with_hotline(turn, &utterance.text, said)?;
        if answer.topics.is_empty() {
            return Ok(said);
        }
        Ok(format!("{said}\n{}", self.offer_topics(turn, &answer.topics)?))
    }

    /// Answers with a text of the desk. Products that it is about are followed by others that are in stock.
    async fn reply_written(
        &self,
        turn: &mut Turn,
        text: Text,
        chosen: Option<Chosen>,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        let is_unknown = matches!(text, Text::ReplyUnknown | Text::ReplyUnsold);
        let mut text = self.text(turn, text, &[])?;
        if let Some(Chosen { passages, shown }) = chosen {
            text.push_str(&self.instead(turn, &passages)?);
            memory.shown = Some(shown);
        }
        if is_unknown {
            answer::say_unknown(turn, &text).await?;
        } else {
            turn.say_with(Kind::Reply, &text, Metadata::of(Kind::Reply)).await?;
        }
        self.follow_up(turn).await
    }

    /// Returns the part of each passage that answers, with its title.
    fn quote(&self, turn: &Turn, utterance: &Utterance, answer: &Answer) -> Result<String, MissingValue> {
        let passages = answer.quoted.as_slice();
        let asked = utterance.text.as_str();
        let excerpts: Vec<Passage> = passages.iter().map(|passage| self.excerpt(turn, asked, passage)).collect();
        let quotes = self.quotes(turn, &excerpts)?;
        let intro = match () {
            () if answer.asks_row && !passages.iter().any(|row| self.says(turn, asked, row)) => Text::ReplyNotSaid,
            () if utterance.complains() => Text::ReplyIntroSorry,
            () if answer.repeated == Repeated::Again => Text::ReplyIntroAgain,
            () if answer.repeated == Repeated::AllSaid => Text::ReplyAllSaid,
            () => Text::ReplyIntro,
        };
        let texts = self.texts.get(answer::language_of(turn, passages));
        let hotline = [("hotline", self.hotline(turn))];
        let quotation = answer::quotation(texts.text(intro, &hotline)?, quotes.into_iter());
        Ok(quotation + &self.instead(turn, passages)?)
    }

    /// Whether a row has what a message asks for: an attribute that it names, else any of its words.
    fn says(&self, turn: &Turn, asked: &str, row: &Passage) -> bool {
        let (pages, language) = (self.services.pages(turn), turn.language());
        let text = format!("{}\n{}\n{}", row.title, row.section, row.text);
        let says_words = || {
            let query = Query { text: asked.to_owned(), language, limit: 1, pages_only: false };
            pages.names_nothing(&query) || pages.words_met(asked, &text, language) > 0
        };
        attribute::answer_first(&self.picks, asked, &row.text).is_said.unwrap_or_else(says_words)
    }

    /// Returns a passage with only the part that answers and its most probable sentence in bold; of a product, with that part first.
    fn excerpt(&self, turn: &Turn, asked: &str, passage: &Passage) -> Passage {
        let (pages, language) = (self.services.pages(turn), turn.language());
        let is_row = !pages.rows_of(std::slice::from_ref(passage), language).is_empty();
        let text = match is_row {
            true => attribute::answer_first(&self.picks, asked, &passage.text).text,
            false => pages.emphasized(asked, &pages.excerpt(asked, passage, language), language),
        };
        Passage { text, ..passage.clone() }
    }

    /// Whether passages are rows of the catalogue.
    pub(super) fn has_rows(&self, turn: &Turn, passages: &[Passage]) -> bool {
        !self.services.pages(turn).rows_of(passages, turn.language()).is_empty()
    }

    /// Formats a price as the catalogue does.
    pub(super) fn price(&self, turn: &Turn, amount: u64) -> String {
        self.services.pages(turn).price(amount, turn.language())
    }

    pub(super) fn quotes(&self, turn: &Turn, passages: &[Passage]) -> Result<Vec<String>, MissingValue> {
        let quote = |passage: &Passage| {
            self.text(turn, Text::ReplyQuote, &[("title", &passage.title), ("text", &passage.text)])
        };
        passages.iter().map(quote).collect()
    }

    /// Names products in stock of about the same price, where those of the passages are sold out.
    pub(super) fn instead(&self, turn: &Turn, passages: &[Passage]) -> Result<String, MissingValue> {
        let (pages, language) = (self.services.pages(turn), turn.language());
        let rows = pages.rows_of(passages, language);
        let Some(sold_out) = rows.first().filter(|_| rows.iter().all(|row| !row.in_stock)) else {
            return Ok(String::new());
        };
        let mut others = pages.rows_of_category(&sold_out.passage.section, "", language);
        others.retain(|row| row.in_stock && row.price.is_some());
        others.sort_by_key(|row| row.price.unwrap_or_default().abs_diff(sold_out.price.unwrap_or_default()));
        let others: Vec<Passage> = others.into_iter().take(INSTEAD).map(|row| row.passage).collect();
        if others.is_empty() {
            return Ok(String::new());
        }
        let intro = self.text(turn, Text::ReplyInstead, &[])?;
        Ok(format!("\n{}", answer::quotation(intro, self.quotes(turn, &others)?.into_iter())))
    }
}

pub(super) fn last_reply(turn: &Turn) -> Option<&Message> {
    turn.history.iter().rev().find(|message| message.metadata.kind() == Some(Kind::Reply))
}
