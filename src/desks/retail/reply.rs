//! Answers a shopping question from the shop's documents, in the persona's voice.

use tracing::warn;

use super::Retail;
use super::context::About;
use super::intent::Intent;
use super::memory::Memory;
use super::products::Goods;
use super::prompt::{EARLIER_MAX_CHARS, Given, system};
use super::retrieve::Retrieved;
use super::rules::{Topic, Utterance};
use super::texts::Text;
use crate::config::LlmMode;
use crate::dialogue::answer::{self, Written};
use crate::dialogue::attribute;
use crate::dialogue::history::{room_for_history, window, window_start};
use crate::dialogue::retrieve::PASSAGES;
use crate::dialogue::shown::{Chosen, Shown};
use crate::dialogue::{DeskError, Turn};
use crate::domain::{Kind, Message, Metadata};
use crate::grounding::claims::Facts;
use crate::grounding::{Grounded, Placeholders, Sources};
use crate::providers::llm::{ChatMessage, ChatRequest, Deltas, LlmError};
use crate::replies::MissingValue;
use crate::retrieval::search::{By, Found};
use crate::retrieval::{Passage, Query};

mod computed;
mod repeat;

use repeat::Repeated;

/// Products in stock that are named if a product is sold out.
const INSTEAD: usize = 2;

impl Retail {
    /// Retrieves passages, replies, and adds the follow-up.
    pub(super) async fn reply(
        &self,
        turn: &mut Turn,
        utterance: &Utterance,
        about: About,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        let About {
            goods, written, pages_only, names_products, besides, is_of_subject, searched, topic, build, ..
        } = about;
        if let Some(build) = build {
            return self.reply_build(turn, build, memory).await;
        }
        if let Some(text) = written {
            return self.reply_written(turn, text, goods.chosen, memory).await;
        }
        let Goods { chosen, wished, is_total, pieces, counts, asks_row, fit, plans } = goods;
        let is_chosen = chosen.is_some();
        let of_topic = topic.as_ref().map(|(topic, _)| topic.asked.as_str());
        let question = of_topic.or(searched.as_deref()).unwrap_or(&utterance.text).to_owned();
        let question = question.as_str();
        let pages = self.services.pages(turn);
        let mut more_pages: Vec<Passage> = Vec::new();
        let is_topic = topic.is_some();
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
            let others = found.passages.into_iter().filter(|passage| !has(&wished, passage));
            found.passages = wished.iter().cloned().chain(others).take(PASSAGES).collect();
            quoted = wished;
        }
        let asked = self.search(turn, question, pages_only);
        if let Some(subject) = memory.subject.as_ref().filter(|_| quoted.is_empty() && is_of_subject) {
            quoted = pages.find_in_document(&asked, subject).into_iter().take(1).collect();
            found.passages.clone_from(&quoted);
        }
        if let Some(question) = &besides {
            let other = self.retrieve(turn, question, true, None).await.quoted;
            let is_about = |page: &Passage| {
                let text = format!("{}\n{}\n{}", page.title, page.section, page.text);
                page.language.is_none_or(|of| of == turn.language())
                    && pages.words_met(question, &text, turn.language()) > 0
            };
            let pages = other.into_iter().take(1).filter(is_about);
            let pages: Vec<Passage> = pages.collect();
            found.passages.extend(pages.iter().cloned());
            more_pages = pages;
        }
        // A customer may ask for the same products again. The same part of a page did not answer before; a model words it otherwise.
        let repeated = match self.services.llm.is_up() || self.has_rows(turn, &quoted) {
            true => Repeated::Not,
            false => self.replace_repeated(turn, question, &asked, &found, &mut quoted, is_topic)?,
        };
        let is_catalogue = self.has_rows(turn, &quoted);
        let is_plain = !is_topic && !is_catalogue && besides.is_none() && repeated == Repeated::Not;
        let topics = if is_plain { self.other_topics(turn, &asked, &quoted) } else { Vec::new() };
        let shown = Shown::of(&pages, &asked, &quoted);
        memory.pieces.extend(counts);
        let total = if is_total { self.total(turn, &utterance.text, &quoted, pieces, memory)? } else { None };
        // What is computed is not left to a model.
        let is_computed = total.is_some() || fit.is_some() || !plans.is_empty();
        // A model's reply needs it only if the guards stop it.
        let quotation = |turn: &Turn| -> Result<String, MissingValue> {
            let quotation = match (&total, &fit) {
                (Some(total), _) => total.clone(),
                (None, Some(fit)) => self.quote_fit(turn, fit, &quoted)?,
                (None, None) if !plans.is_empty() => self.quote_plans(turn, &plans, &quoted)?,
                (None, None) => self.quote(turn, utterance, &quoted, asks_row, repeated)?,
            };
            let question = besides.as_deref().unwrap_or_default();
            let excerpts: Vec<Passage> = more_pages.iter().map(|page| self.excerpt(turn, question, page)).collect();
            let quotation = answer::quotation(quotation, self.quotes(turn, &excerpts)?.into_iter());
            let quotation = self.with_hotline(turn, &utterance.text, quotation)?;
            if topics.is_empty() {
                return Ok(quotation);
            }
            Ok(format!("{quotation}\n{}", self.offer_topics(turn, &topics)?))
        };
        if !topics.is_empty() {
            memory.topics.clone_from(&topics);
        }
        let passages = if quoted.is_empty() { &[] } else { found.passages.as_slice() };
        let Some(metadata) = answer::cite(turn, &found, passages).await? else {
            let text = match repeated {
                Repeated::AllSaid => Text::ReplyAllSaid,
                Repeated::Not | Repeated::Again if utterance.requests(Topic::UnnamedGoods) => Text::ReplyWhich,
                Repeated::Not | Repeated::Again => Text::ReplyUnknown,
            };
            let text = self.text(turn, text, &[])?;
            answer::say_unknown(turn, &text).await?;
            return self.follow_up(turn).await;
        };
        if let [page] = quoted.as_slice()
            && let Some(bundle) = self.bundle_of(turn, page).filter(|_| !is_catalogue && !pages_only)
        {
            memory.bundle = Some(bundle);
        }
        let are_products = shown.is_some();
        // Products that the message names stay those of the conversation, whatever a page lists.
        let keeps = is_chosen || (names_products && !is_catalogue);
        let earlier = memory.shown.take();
        let latest = if keeps { earlier.clone() } else { shown.or_else(|| earlier.clone()) };
        memory.shown = latest.map(|shown| shown.after(earlier.as_ref(), &pages, asked.language));
        memory.follow(&quoted, are_products, &asked.text);
        if is_computed {
            let said = quotation(turn)?;
            turn.say_with(Kind::Reply, &said, metadata).await?;
            return self.follow_up(turn).await;
        }
        match self.begin(turn, &utterance.text, &found).await? {
            Ok(deltas) => {
                let common = self.common(turn);
                let sources = self.sources(turn, &found.passages);
                let guarded = Grounded::new(&self.grounding, &Placeholders::of(common), &sources);
                let written = Written { quotation: &quotation, ending: "", common };
                answer::stream(turn, deltas, guarded, &written, metadata).await?;
            }
            Err(error) => {
                warn!(%error, "No reply from the language model: quoting the documents");
                match self.services.config.llm.mode {
                    // A model that is switched off has not failed.
                    LlmMode::Offline => turn.note("model_error", error.to_string()),
                    LlmMode::Auto | LlmMode::Ollama => turn.note_model_error(&error),
                }
                let said = quotation(turn)?;
                turn.say_with(Kind::Reply, &said, metadata).await?;
            }
        }
        if turn.error().is_none() {
            self.follow_up(turn).await?;
        }
        Ok(())
    }

    /// Waits for the model's first words. The inner error means that it said nothing.
    async fn begin(
        &self,
        turn: &mut Turn,
        question: &str,
        found: &Found,
    ) -> Result<Result<Deltas, LlmError>, DeskError> {
        let ticket = match self.services.llm.enter() {
            Ok(ticket) => ticket,
            Err(error) => return Ok(Err(error)),
        };
        let config = &self.services.config;
        let (canary, fence) = (self.grounding.canary().line(), format!("{:016x}", rand::random::<u64>()));
        let mut given = Given {
            persona: &turn.persona,
            persona_max_chars: config.prompts.persona_max_chars,
            canary: &canary,
            passages: &found.passages,
            context_max_chars: config.desks.context_max_chars,
            earlier: &[],
            fence: &fence,
            intent: Intent::Shopping.as_str(),
            instruction: self.texts(turn).template(Text::Instruction),
        };
        // What the history does not show is recalled, so the room for that is kept free.
        let recalled = found.question.as_ref().map_or(0, |_| config.search.memory_messages * EARLIER_MAX_CHARS);
        let instructions = system(&given);
        let room = room_for_history(&config.llm, &[&instructions, question]).saturating_sub(recalled);
        let most = config.desks.history_max_chars.min(room);
        let shown = &turn.history[window_start(&turn.history, most)..];
        let earlier = self.recall(turn, found.question.as_deref(), shown).await;
        given.earlier = &earlier;
        let instructions = if earlier.is_empty() { instructions } else { system(&given) };
        let mut messages = vec![ChatMessage::system(instructions)];
        messages.extend(window(&turn.history, most));
        messages.push(ChatMessage::user(question.to_owned()));
        let request =
            ChatRequest { messages, model: turn.persona.model.clone(), temperature: turn.persona.temperature };
        answer::begin(turn, &self.language_rules, ticket, request).await
    }

    /// Returns the texts that support a reply.
    fn sources<'a>(&'a self, turn: &'a Turn, passages: &'a [Passage]) -> Sources<'a> {
        let mut sources = turn.sources();
        let of_passage = |passage: &'a Passage| [passage.title.as_str(), &passage.section, &passage.text];
        sources.shop.extend(passages.iter().flat_map(of_passage));
        let instruction = self.texts(turn).template(Text::Instruction);
        sources.shop.extend([self.hotline(turn), instruction]);
        sources.instructions.push(instruction);
        sources.claims = Facts::OF_DOCUMENTS;
        sources
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
    fn quote(
        &self,
        turn: &Turn,
        utterance: &Utterance,
        passages: &[Passage],
        asks_row: bool,
        repeated: Repeated,
    ) -> Result<String, MissingValue> {
        let asked = utterance.text.as_str();
        let excerpts: Vec<Passage> = passages.iter().map(|passage| self.excerpt(turn, asked, passage)).collect();
        let quotes = self.quotes(turn, &excerpts)?;
        let intro = match () {
            () if asks_row && !passages.iter().any(|row| self.says(turn, asked, row)) => Text::ReplyNotSaid,
            () if utterance.complains() => Text::ReplyIntroSorry,
            () if repeated == Repeated::Again => Text::ReplyIntroAgain,
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

    /// Returns a passage with only the part that answers; of a product, with that part first.
    fn excerpt(&self, turn: &Turn, asked: &str, passage: &Passage) -> Passage {
        let (pages, language) = (self.services.pages(turn), turn.language());
        let is_row = !pages.rows_of(std::slice::from_ref(passage), language).is_empty();
        let text = match is_row {
            true => attribute::answer_first(&self.picks, asked, &passage.text).text,
            false => pages.excerpt(asked, passage, language),
        };
        Passage { text, ..passage.clone() }
    }

    /// Whether passages are rows of the catalogue.
    fn has_rows(&self, turn: &Turn, passages: &[Passage]) -> bool {
        !self.services.pages(turn).rows_of(passages, turn.language()).is_empty()
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

/// Whether a passage is one of these. Its score does not matter.
fn has(passages: &[Passage], passage: &Passage) -> bool {
    passages.iter().any(|of| of.title == passage.title && of.file == passage.file && of.text == passage.text)
}

fn last_reply(turn: &Turn) -> Option<&Message> {
    turn.history.iter().rev().find(|message| message.metadata.kind() == Some(Kind::Reply))
}
