//! Answers technical questions from the documents, with their sources.

use tracing::warn;

use super::Telecom;
use super::memory::{Asked, Details, Memory};
use super::rules::{Parsed, Topic};
use super::texts::Text;
use crate::config::LlmMode;
use crate::dialogue::answer::{self, Written};
use crate::dialogue::history::{room_for_history, window};
use crate::dialogue::source_list::{block, citation, context, fitting, without_lists};
use crate::dialogue::{DeskError, Turn, retrieve};
use crate::domain::{ConversationStatus, Kind, Metadata, SourceItem};
use crate::grounding::claims::Facts;
use crate::grounding::{Grounded, Placeholders, Sources};
use crate::nlu::long_text::read_text;
use crate::persona::cut_at_sentence;
use crate::persona::texts::fill;
use crate::providers::llm::{ChatMessage, ChatRequest, Deltas, LlmError};
use crate::replies::MissingValue;
use crate::retrieval::search::Found;
use crate::retrieval::{Passage, Subject};

/// Details that are asked for at once.
const ASKED_AT_ONCE: usize = 2;

impl Telecom {
    /// Answers from the documents, or asks for the details that are missing.
    pub(super) async fn answer_technical(
        &self,
        turn: &mut Turn,
        parsed: &Parsed,
        asked: Option<Asked>,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        let utterance = &parsed.utterance;
        let said_before = memory.slots.clone();
        memory.slots.update(&parsed.details);
        if utterance.asks(Topic::Tried) && !utterance.has_question() && memory.has_page() {
            if parsed.said.user_id().is_some() {
                // The fault is reported with all that the offer below asks for.
                return self.call_person(turn).await;
            }
            // The advice did not help, so do not quote it again.
            memory.asked = Some(Asked::Person);
            return self.say(turn, Kind::Reply, Text::Report).await;
        }
        let earlier = memory.unanswered.take().filter(|_| asked == Some(Asked::Details));
        let is_vague = utterance.asks(Topic::Vague) && !memory.has_page();
        let find = self.find(turn, earlier, &utterance.text, memory);
        let (question, found) = turn.step("retrieve").take(find).await;
        if !found.passages.is_empty() && !is_vague {
            return self.answer_from_pages(turn, &question, &found, memory).await;
        }
        answer::cite(turn, &found, &[]).await?;
        let says_nothing_new = asked == Some(Asked::Details) && memory.slots == said_before;
        let gives_up = says_nothing_new && (utterance.denies() || utterance.asks(Topic::Unsure));
        let missing = match missing(&memory.slots) {
            _ if gives_up || (asked != Some(Asked::Details) && !parsed.describes_fault()) => Vec::new(),
            missing if says_nothing_new => missing.into_iter().filter(|text| *text == Text::AskSymptoms).collect(),
            mut missing => {
                missing.truncate(ASKED_AT_ONCE);
                missing
            }
        };
        self.ask_details(turn, question, &missing, memory).await
    }

    /// Words a reply from these passages, or quotes the best of them.
    pub(super) async fn answer_from_pages(
        &self,
        turn: &mut Turn,
        question: &str,
        found: &Found,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        turn.state = memory.to_state();
        let (mut quoted, is_repeated) = self.worth_saying(turn, question, &found.passages, memory);
        // "Ok, do it" asks for nothing else.
        let asks_more = || !self.rules.parse(question).utterance.affirms() && !self.has_bold(turn, question, &quoted);
        let wants_other = is_repeated && asks_more();
        let mut read = found.passages.clone();
        if wants_other || self.services.llm.is_up() {
            let (pages, asked) = (self.services.pages(turn), retrieve::query(turn, question));
            read = read_text(question.len(), || {
                retrieve::with_nearest(&pages, &asked, &found.passages, memory.subject.as_ref())
            });
        }
        if wants_other {
            quoted.extend(read.iter().find(|passage| !memory.has_shown(passage)).cloned());
        }
        let fitting = fitting(&read, self.services.config.desks.context_max_chars);
        let begun = self.begin(turn, question, &fitting).await?;
        // The sources are those of the reply: what the model was shown, or what is quoted without it.
        let passages = if begun.is_ok() { &fitting[..] } else { &quoted[..] };
        let metadata = answer::cite(turn, found, passages).await?.unwrap_or_else(|| Metadata::of(Kind::Reply));
        let is_same_section = passages.iter().any(|passage| is_cited(passage, memory));
        memory.quote(quoted.iter().map(|passage| passage.text.clone()).collect(), is_same_section);
        let was_shown = quoted.iter().all(|passage| memory.has_shown(passage));
        memory.show(&quoted);
        memory.last_docs = passages.iter().map(SourceItem::from).collect();
        memory.subject = self.subject_of(turn, question, &quoted, memory);
        // Of the whole section, though only a sentence of it may be quoted.
        memory.offers_case =
            found.passages.iter().any(|passage| is_cited(passage, memory) && self.rules.offers_case(&passage.text));
        turn.state = memory.to_state();
        let heading = self.text(turn, Text::SourcesHeading, &[])?;
        let ending = block(&heading, passages);
        let quotation = |turn: &Turn| match &quoted[..] {
            [said] if is_repeated => {
                let said = self.services.pages(turn).emphasized(question, &said.text, turn.language());
                self.text(turn, Text::AllSaid, &[("said", &said)])
            }
            both if is_repeated => self.quote(turn, question, both, Text::ClosestIntro),
            quoted => self.quote(turn, question, quoted, Text::QuoteIntro),
        };
        match begun {
            Ok(deltas) => {
                let common = self.common(turn);
                let citations: Vec<String> = passages.iter().map(citation).collect();
                let sources = self.sources(turn, passages, &citations);
                let guarded = Grounded::new(&self.grounding, &Placeholders::of(common), &sources);
                let written = Written { quotation: &quotation, ending: &ending, common };
                let deltas = without_lists(deltas, self.rules.source_headings());
                answer::stream(turn, deltas, guarded, &written, metadata).await?;
            }
            Err(error) => {
                match self.services.config.llm.mode {
                    // A model that is switched off has not failed.
                    LlmMode::Offline => turn.note("model_error", error.to_string()),
                    LlmMode::Auto | LlmMode::Ollama => {
                        warn!(%error, "No reply from the language model: quoting the documents");
                        turn.note_model_error(&error);
                    }
                }
                let utterance = self.rules.parse(question).utterance;
                // A question about the case is answered by its page.
                let is_for_staff = memory.billing_case_id.is_none()
                    && self.is_by_staff(turn, question, &quoted)
                    && !utterance.asks(Topic::Place);
                // "Ok, do it": the customer has read the page.
                let is_request = is_for_staff && was_shown && utterance.affirms() && !utterance.has_question();
                let offer = match is_repeated && !is_request {
                    true => Some(Text::OfferMore),
                    false => is_for_staff.then_some(Text::OfferColleague),
                };
                let mut said = quotation(turn)?;
                if let Some(offer) = offer.filter(|_| self.may_offer_person(turn, memory)) {
                    memory.asked = Some(Asked::Person);
                    let offer = self.text(turn, offer, &[])?;
                    if is_request {
                        return Ok(turn.say_with(Kind::Reply, &(offer + &ending), metadata).await?);
                    }
                    said = format!("{said}\n\n{offer}");
                }
                turn.say_with(Kind::Reply, &(said + &ending), metadata).await?;
            }
        }
        Ok(())
    }

    /// Returns what the conversation is about after these passages. A question that says little continues the one before.
    pub(super) fn subject_of(
        &self,
        turn: &Turn,
        question: &str,
        quoted: &[Passage],
        memory: &Memory,
    ) -> Option<Subject> {
        let Passage { title, file, section, .. } = quoted.first()?;
        let says_little = || self.services.pages(turn).says_little(&retrieve::query(turn, question));
        let words = match memory.subject.as_ref().filter(|subject| subject.file == *file && says_little()) {
            Some(before) => before.words.clone(),
            None => format!("{question} {title}"),
        };
        Some(Subject { words, asked: question.to_owned(), file: file.clone(), section: section.clone() })
    }

    /// Says that the documents have no answer, and asks for details that may find one.
    async fn ask_details(
        &self,
        turn: &mut Turn,
        question: String,
        missing: &[Text],
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        let phrase = |text: Text| self.text(turn, text, &[]);
        let asked = match missing {
            [] => return self.say_no_answer(turn, memory).await,
            [only] => phrase(*only)?,
            [first, second, ..] => {
                self.text(turn, Text::AskTwo, &[("first", &phrase(*first)?), ("second", &phrase(*second)?)])?
            }
        };
        memory.unanswered = Some(question);
        memory.asked = Some(Asked::Details);
        let text = self.text(turn, Text::NoContext, &[("asked", &asked)])?;
        answer::say_unknown(turn, &text).await
    }

    /// Says that the documents have no answer, and offers a person: in other words the second time in a row. Then it calls one.
    pub(super) async fn say_no_answer(&self, turn: &mut Turn, memory: &mut Memory) -> Result<(), DeskError> {
        let texts = [self.text(turn, Text::NoAnswer, &[])?, self.text(turn, Text::NoAnswerAgain, &[])?];
        let Some(text) = Self::in_other_words(turn, texts) else { return self.call_person(turn).await };
        memory.asked = Some(Asked::Person);
        answer::say_unknown(turn, &text).await
    }

    /// Waits for the model's first words. The inner error means that it said nothing.
    async fn begin(
        &self,
        turn: &mut Turn,
        question: &str,
        passages: &[Passage],
    ) -> Result<Result<Deltas, LlmError>, DeskError> {
        let ticket = match self.services.llm.enter() {
            Ok(ticket) => ticket,
            Err(error) => return Ok(Err(error)),
        };
        let config = &self.services.config;
        let canary = self.grounding.canary().line();
        let persona = cut_at_sentence(&turn.persona.text, config.prompts.persona_max_chars);
        let instructions = fill(&self.technical_prompt, &[("language", turn.language().code())]);
        let context = context(passages, &format!("{:016x}", rand::random::<u64>()));
        let system = format!("{canary}\n\n{persona}\n\n{canary}\n\n{instructions}\n\n{context}");
        let room = room_for_history(&config.llm, &[&system, question]);
        let mut messages = vec![ChatMessage::system(system)];
        messages.extend(window(&turn.history, config.desks.history_max_chars.min(room)));
        messages.push(ChatMessage::user(question.to_owned()));
        let request =
            ChatRequest { messages, model: turn.persona.model.clone(), temperature: turn.persona.temperature };
        answer::begin(turn, &self.language_rules, ticket, request).await
    }

    /// Whether a colleague can be offered: none was called yet, and the desk waits for no other answer.
    pub(super) fn may_offer_person(&self, turn: &Turn, memory: &Memory) -> bool {
        turn.conversation.status != ConversationStatus::Waiting
            && memory.asked.is_none()
            && memory.open_wish().is_none()
    }

    /// Returns the texts that support a reply.
    fn sources<'a>(&'a self, turn: &'a Turn, passages: &'a [Passage], citations: &'a [String]) -> Sources<'a> {
        let mut sources = turn.sources();
        let of_passage = |passage: &'a Passage| [passage.title.as_str(), &passage.section, &passage.text];
        sources.shop.extend(passages.iter().flat_map(of_passage));
        sources.shop.extend(citations.iter().map(String::as_str));
        sources.shop.push(self.hotline(turn));
        sources.instructions.push(&self.technical_prompt);
        sources.claims = Facts::OF_DOCUMENTS;
        sources
    }

    /// Whether a sentence of the quotations is in bold, since it probably answers.
    fn has_bold(&self, turn: &Turn, question: &str, quoted: &[Passage]) -> bool {
        let pages = self.services.pages(turn);
        quoted.iter().any(|said| pages.emphasized(question, &said.text, turn.language()) != said.text)
    }

    /// Returns the passages with their titles, and the sentences in bold that most probably answer.
    fn quote(&self, turn: &Turn, question: &str, passages: &[Passage], intro: Text) -> Result<String, MissingValue> {
        let pages = self.services.pages(turn);
        let quote = |passage: &Passage| {
            let text = pages.emphasized(question, &passage.text, turn.language());
            self.text(turn, Text::Quote, &[("title", &passage.title), ("text", &text)])
        };
        let quotes: Vec<String> = passages.iter().map(quote).collect::<Result<_, _>>()?;
        Ok(answer::quotation(self.text(turn, intro, &[])?, quotes.into_iter()))
    }
}

/// Whether the last answer cites this passage's section.
fn is_cited(passage: &Passage, memory: &Memory) -> bool {
    memory.last_docs.iter().any(|doc| (&doc.file, &doc.section) == (&passage.file, &passage.section))
}

/// Returns the phrases for the details that the customer has not given.
fn missing(known: &Details) -> Vec<Text> {
    let all =
        [(&known.device, Text::AskDevice), (&known.access, Text::AskAccess), (&known.symptoms, Text::AskSymptoms)];
    all.into_iter().filter(|(known, _)| known.is_none()).map(|(_, text)| text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_details_are_not_missing() {
        let given = |device: bool, access: bool| Details {
            device: device.then(String::new),
            access: access.then(String::new),
            symptoms: None,
        };
        assert_eq!(missing(&given(false, false)), [Text::AskDevice, Text::AskAccess, Text::AskSymptoms]);
        assert_eq!(missing(&given(true, false)), [Text::AskAccess, Text::AskSymptoms]);
        assert_eq!(missing(&given(true, true)), [Text::AskSymptoms]);
    }
}
