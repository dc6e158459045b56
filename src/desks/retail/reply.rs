//! Answers a shopping question from the shop's documents, in the persona's voice.

use tracing::warn;

use super::Retail;
use super::context::About;
use super::intent::Intent;
use super::memory::{Bundle, Memory};
use super::products::{FitTogether, Goods};
use super::prompt::{Given, system};
use super::retrieve::{PASSAGES, Retrieved, WORTH_QUOTING};
use super::rules::{Topic, Utterance};
use super::texts::Text;
use crate::config::LlmMode;
use crate::dialogue::answer::{self, Written};
use crate::dialogue::attribute;
use crate::dialogue::history::{room_for_history, window, window_start};
use crate::dialogue::shown::{Chosen, Shown};
use crate::dialogue::{DeskError, Turn};
use crate::domain::text::words;
use crate::domain::{Kind, Message, Metadata, Sender};
use crate::grounding::claims::Facts;
use crate::grounding::{Grounded, Placeholders, Sources};
use crate::nlu::instalments::Plan;
use crate::providers::llm::{ChatMessage, ChatRequest, Deltas, LlmError};
use crate::replies::MissingValue;
use crate::retrieval::catalogue::money;
use crate::retrieval::search::{By, Found};
use crate::retrieval::{Passage, Query};

/// Products in stock that are named if a product is sold out.
const INSTEAD: usize = 2;
/// More pieces of one product are not added up.
const MOST_PIECES: u64 = 10_000;

impl Retail {
    /// Retrieves passages, replies, and adds the follow-up.
    pub(super) async fn reply(
        &self,
        turn: &mut Turn,
        utterance: &Utterance,
        about: About,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        let About { goods, written, pages_only, names_products, besides, is_of_subject, .. } = about;
        if let Some(text) = written {
            return self.reply_written(turn, text, goods.chosen, memory).await;
        }
        let Goods { chosen, wished, is_total, asks_row, fit, plans } = goods;
        let is_chosen = chosen.is_some();
        let (knowledge, folders) = (self.services.knowledge.clone(), turn.persona.knowledge.clone());
        let mut more_pages: Vec<Passage> = Vec::new();
        let Retrieved { mut found, mut quoted } = match chosen {
            Some(Chosen { passages, shown }) => {
                memory.shown = Some(shown);
                let quoted = passages.clone();
                Retrieved { found: Found { passages, by: By::Words, similarity: None, question: None }, quoted }
            }
            None => {
                let subject = memory.subject.as_ref();
                turn.step("retrieve").take(self.retrieve(turn, &utterance.text, pages_only, subject)).await
            }
        };
        if !wished.is_empty() {
            // A model also gets what else was found.
            let others = found.passages.into_iter().filter(|passage| !has(&wished, passage));
            found.passages = wished.iter().cloned().chain(others).take(PASSAGES).collect();
            quoted = wished;
        }
        let asked = self.search(turn, &utterance.text, pages_only);
        if let Some(subject) = memory.subject.as_ref().filter(|_| quoted.is_empty() && is_of_subject) {
            quoted = knowledge.find_in_document(&folders, &asked, subject).into_iter().take(1).collect();
            found.passages.clone_from(&quoted);
        }
        if let Some(question) = &besides {
            let other = self.retrieve(turn, question, true, None).await.quoted;
            let pages = other.into_iter().take(1).filter(|page| page.language.is_none_or(|of| of == turn.language()));
            let pages: Vec<Passage> = pages.collect();
            found.passages.extend(pages.iter().cloned());
            more_pages = pages;
        }
        // A customer may ask for the same products again. The same part of a page did not answer before; a model words it otherwise.
        if !self.services.llm.is_up() && knowledge.rows_of(&folders, &quoted, asked.language).is_empty() {
            self.replace_repeated(turn, &utterance.text, &found, &mut quoted)?;
        }
        let shown = Shown::of(&knowledge, &folders, &asked, &quoted);
        let is_catalogue = !knowledge.rows_of(&folders, &quoted, asked.language).is_empty();
        let bundle = memory.bundle.as_ref();
        let total = if is_total { self.total(turn, &utterance.text, &quoted, bundle)? } else { None };
        // What is computed is not left to a model.
        let is_computed = total.is_some() || fit.is_some() || !plans.is_empty();
        let quotation = match (total, fit) {
            (Some(total), _) => total,
            (None, Some(fit)) => self.quote_fit(turn, &fit, &quoted)?,
            (None, None) if !plans.is_empty() => self.quote_plans(turn, &plans, &quoted)?,
            (None, None) => self.quote(turn, utterance, &quoted, asks_row)?,
        };
        let question = besides.as_deref().unwrap_or_default();
        let excerpts: Vec<Passage> = more_pages.iter().map(|page| self.excerpt(turn, question, page)).collect();
        let quotation = answer::quotation(quotation, self.quotes(turn, &excerpts)?.into_iter());
        let passages = if quoted.is_empty() { &[] } else { found.passages.as_slice() };
        let Some(metadata) = answer::cite(turn, &found, passages).await? else {
            let names_nothing = utterance.requests(Topic::UnnamedGoods);
            let text = self.text(turn, if names_nothing { Text::ReplyWhich } else { Text::ReplyUnknown }, &[])?;
            answer::say_unknown(turn, &text).await?;
            return self.follow_up(turn).await;
        };
        if let [page] = quoted.as_slice()
            && let Some(price) = self.picks.bundle_price(&page.text).filter(|_| !is_catalogue && !pages_only)
        {
            let name = page.section.rsplit(" > ").next().unwrap_or(&page.title).to_owned();
            let parts: Vec<&str> = page.text.lines().filter(|line| line.starts_with('-')).collect();
            let parts = knowledge.categories(&folders, &parts.join("\n"), asked.language);
            memory.bundle = Some(Bundle { name, price, parts });
        }
        let are_products = shown.is_some();
        // Products that the message names stay those of the conversation, whatever a page lists.
        let keeps = is_chosen || (names_products && !is_catalogue);
        let earlier = memory.shown.take();
        let latest = if keeps { earlier.clone() } else { shown.or_else(|| earlier.clone()) };
        memory.shown = latest.map(|shown| shown.after(earlier.as_ref(), &knowledge, &folders, asked.language));
        memory.follow(&quoted, are_products, &asked.text);
        if is_computed {
            turn.say_with(Kind::Reply, &quotation, metadata).await?;
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
                turn.say_with(Kind::Reply, &quotation, metadata).await?;
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
        let config = &self.services.config.desks;
        let shown = &turn.history[window_start(&turn.history, config.history_max_chars)..];
        let earlier = self.recall(turn, found.question.as_deref(), shown).await;
        let system = system(&Given {
            persona: &turn.persona,
            persona_max_chars: self.services.config.prompts.persona_max_chars,
            canary: &self.grounding.canary().line(),
            passages: &found.passages,
            context_max_chars: config.context_max_chars,
            earlier: &earlier,
            fence: &format!("{:016x}", rand::random::<u64>()),
            intent: Intent::Shopping.as_str(),
            instruction: self.texts(turn).template(Text::Instruction),
        });
        let room = room_for_history(&self.services.config.llm, &[&system, question]);
        let mut messages = vec![ChatMessage::system(system)];
        messages.extend(window(&turn.history, config.history_max_chars.min(room)));
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
        let mut text = self.text(turn, text, &[])?;
        if let Some(Chosen { passages, shown }) = chosen {
            text.push_str(&self.instead(turn, &passages)?);
            memory.shown = Some(shown);
        }
        turn.say_with(Kind::Reply, &text, Metadata::of(Kind::Reply)).await?;
        self.follow_up(turn).await
    }

    /// Returns the part of each passage that answers, with its title.
    fn quote(
        &self,
        turn: &Turn,
        utterance: &Utterance,
        passages: &[Passage],
        asks_row: bool,
    ) -> Result<String, MissingValue> {
        let asked = utterance.text.as_str();
        let (knowledge, folders, language) = (&self.services.knowledge, &turn.persona.knowledge, turn.language());
        let excerpts: Vec<Passage> = passages.iter().map(|passage| self.excerpt(turn, asked, passage)).collect();
        let quotes = self.quotes(turn, &excerpts)?;
        let is_again =
            last_reply(turn).is_some_and(|last| quotes.first().is_some_and(|quote| last.text.contains(quote.as_str())));
        let intro = match () {
            () if asks_row && !passages.iter().any(|row| self.says(turn, asked, row)) => Text::ReplyNotSaid,
            () if utterance.complains() => Text::ReplyIntroSorry,
            () if is_again && knowledge.rows_of(folders, passages, language).is_empty() => Text::ReplyIntroAgain,
            () => Text::ReplyIntro,
        };
        let texts = self.texts.get(answer::language_of(turn, passages));
        let hotline = [("hotline", self.hotline(turn))];
        let quotation = answer::quotation(texts.text(intro, &hotline)?, quotes.into_iter());
        Ok(quotation + &self.instead(turn, passages)?)
    }

    /// Says whether two products fit together, and quotes their rows.
    fn quote_fit(&self, turn: &Turn, fit: &FitTogether, passages: &[Passage]) -> Result<String, MissingValue> {
        let ([name, other], [value, of_other]) = (&fit.names, &fit.values);
        let values: [(&str, &str); 4] = [("name", name), ("other", other), ("value", value), ("of_other", of_other)];
        let text = if fit.fits { Text::ReplyFits } else { Text::ReplyFitsNot };
        Ok(answer::quotation(self.text(turn, text, &values)?, self.quotes(turn, passages)?.into_iter()))
    }

    /// Says what a product costs each month.
    fn quote_plans(&self, turn: &Turn, plans: &[Plan], passages: &[Passage]) -> Result<String, MissingValue> {
        let rows = self.services.knowledge.rows_of(&turn.persona.knowledge, passages, turn.language());
        let Some(row) = rows.first() else { return Ok(String::new()) };
        let price = money(row.price.unwrap_or_default());
        let intro = self.text(turn, Text::ReplyPlans, &[("name", &row.passage.title), ("price", &price)])?;
        let mut lines = Vec::new();
        for plan in plans {
            let (months, monthly, fee) = (plan.months.to_string(), money(plan.monthly), money(plan.fee));
            let (down, loan, interest) = (money(plan.down), money(plan.loan), money(plan.interest));
            let text = match (plan.interest, plan.fee) {
                (0, 0) => Text::ReplyPlanFree,
                (0, _) => Text::ReplyPlanFee,
                _ => Text::ReplyPlanLoan,
            };
            let values: [(&str, &str); 6] = [
                ("months", &months),
                ("monthly", &monthly),
                ("fee", &fee),
                ("down", &down),
                ("loan", &loan),
                ("interest", &interest),
            ];
            lines.push(self.text(turn, text, &values)?);
        }
        lines.push(self.text(turn, Text::ReplyPlansEnd, &[])?);
        Ok(answer::quotation(intro, lines.into_iter()))
    }

    /// Whether a row has what a message asks for: an attribute that it names, else any of its words.
    fn says(&self, turn: &Turn, asked: &str, row: &Passage) -> bool {
        let (knowledge, folders, language) = (&self.services.knowledge, &turn.persona.knowledge, turn.language());
        let text = format!("{}\n{}\n{}", row.title, row.section, row.text);
        let says_words = || {
            let query = Query { text: asked.to_owned(), language, limit: 1, pages_only: false };
            knowledge.names_nothing(folders, &query) || knowledge.words_met(folders, asked, &text, language) > 0
        };
        attribute::answer_first(&self.picks, asked, &row.text).is_said.unwrap_or_else(says_words)
    }

    /// Returns a passage with only the part that answers; of a product, with that part first.
    fn excerpt(&self, turn: &Turn, asked: &str, passage: &Passage) -> Passage {
        let (knowledge, folders, language) = (&self.services.knowledge, &turn.persona.knowledge, turn.language());
        let is_row = !knowledge.rows_of(folders, std::slice::from_ref(passage), language).is_empty();
        let text = match is_row {
            true => attribute::answer_first(&self.picks, asked, &passage.text).text,
            false => knowledge.excerpt(folders, asked, passage, language),
        };
        Passage { text, ..passage.clone() }
    }

    fn quotes(&self, turn: &Turn, passages: &[Passage]) -> Result<Vec<String>, MissingValue> {
        let quote = |passage: &Passage| {
            self.text(turn, Text::ReplyQuote, &[("title", &passage.title), ("text", &passage.text)])
        };
        passages.iter().map(quote).collect()
    }

    /// Names products in stock of about the same price, where those of the passages are sold out.
    fn instead(&self, turn: &Turn, passages: &[Passage]) -> Result<String, MissingValue> {
        let (knowledge, folders, language) = (&self.services.knowledge, &turn.persona.knowledge, turn.language());
        let rows = knowledge.rows_of(folders, passages, language);
        let Some(sold_out) = rows.first().filter(|_| rows.iter().all(|row| !row.in_stock)) else {
            return Ok(String::new());
        };
        let mut others = knowledge.rows_of_category(folders, &sold_out.passage.section, "", language);
        others.retain(|row| row.in_stock && row.price.is_some());
        others.sort_by_key(|row| row.price.unwrap_or_default().abs_diff(sold_out.price.unwrap_or_default()));
        let others: Vec<Passage> = others.into_iter().take(INSTEAD).map(|row| row.passage).collect();
        if others.is_empty() {
            return Ok(String::new());
        }
        let intro = self.text(turn, Text::ReplyInstead, &[])?;
        Ok(format!("\n{}", answer::quotation(intro, self.quotes(turn, &others)?.into_iter())))
    }

    /// Adds up the prices of the quoted products, if all have one.
    fn total(
        &self,
        turn: &Turn,
        asked: &str,
        passages: &[Passage],
        bundle: Option<&Bundle>,
    ) -> Result<Option<String>, MissingValue> {
        let rows = self.services.knowledge.rows_of(&turn.persona.knowledge, passages, turn.language());
        // A product that replaces one of its parts changes its price.
        let is_part = |bundle: &&Bundle| rows.iter().any(|row| bundle.parts.contains(&row.passage.section));
        let bundle = bundle.filter(|bundle| self.picks.pieces(asked).is_none() && !is_part(bundle));
        let pieces = self.picks.pieces(asked).unwrap_or(1);
        // "Both": the number counts products, not pieces.
        let count = if rows.len() > 1 { 1 } else { pieces };
        if rows.is_empty() || rows.iter().any(|row| row.price.is_none()) || !(1..=MOST_PIECES).contains(&count) {
            return Ok(None);
        }
        let (mut lines, mut sum) = (Vec::new(), 0_u64);
        let bundles = bundle.iter().map(|bundle| (bundle.name.as_str(), 1, bundle.price));
        let of_rows = rows.iter().map(|row| (row.passage.title.as_str(), count, row.price.unwrap_or_default()));
        for (name, count, price) in bundles.chain(of_rows) {
            sum += price * count;
            let values = [("name", name), ("count", &count.to_string()), ("price", &money(price))];
            lines.push(self.text(turn, Text::ReplyTotalLine, &values)?);
        }
        lines.push(self.text(turn, Text::ReplyTotal, &[("sum", &money(sum))])?);
        Ok(Some(lines.join("\n") + &self.instead(turn, passages)?))
    }

    /// Replaces what was quoted, if the same question had the same answer before, by the next passage of nearly the same score. Without
    /// one, nothing is quoted.
    fn replace_repeated(
        &self,
        turn: &Turn,
        asked: &str,
        found: &Found,
        quoted: &mut Vec<Passage>,
    ) -> Result<(), MissingValue> {
        let Some(last) = last_reply(turn) else { return Ok(()) };
        let was_said = |passage: &Passage| {
            let quotes = self.quotes(turn, std::slice::from_ref(&self.excerpt(turn, asked, passage)))?;
            Ok(quotes.iter().any(|quote| last.text.contains(quote.as_str())))
        };
        let question = turn.history.iter().rev().find(|message| message.sender == Sender::User);
        let is_same =
            question.is_some_and(|asked| asked.turn == last.turn && words(&asked.text) == words(&turn.message.text));
        if !is_same || !quoted.first().map_or(Ok(false), was_said)? {
            return Ok(());
        }
        let best = found.passages.first().map_or(0.0, |best| best.score);
        let mut next = None;
        for passage in found.passages.iter().filter(|passage| passage.score >= WORTH_QUOTING * best) {
            if next.is_none() && !was_said(passage)? {
                next = Some(passage.clone());
            }
        }
        *quoted = next.into_iter().collect();
        Ok(())
    }
}

/// Whether a passage is one of these. Its score does not matter.
fn has(passages: &[Passage], passage: &Passage) -> bool {
    passages.iter().any(|of| of.title == passage.title && of.file == passage.file && of.text == passage.text)
}

fn last_reply(turn: &Turn) -> Option<&Message> {
    turn.history.iter().rev().find(|message| message.metadata.kind() == Some(Kind::Reply))
}
