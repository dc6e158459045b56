//! Answers general questions about returns with quotes from the shop's documents.

use super::Returns;
use super::route::{Step, Worker, route};
use super::rules::Utterance;
use super::scenario::Scenario;
use super::state::{Question, State};
use super::texts::VariantPicker;
use crate::desks::{DeskError, Turn};
use crate::dialogue::answer;
use crate::domain::{Kind, Metadata};
use crate::nlu::long_text::read_text;
use crate::persona::texts::fill;
use crate::retrieval::{Passage, Query};

/// How many passages are searched, and how many of them are quoted.
const PASSAGES: usize = 4;
const QUOTES: usize = 2;

impl Returns {
    /// Whether the documents answer a message that the flow can do nothing with. A customer who hesitates over a yes, or who argues
    /// against a refusal, gets no quotes instead.
    pub(super) fn documents_answer(
        &self,
        turn: &Turn,
        (before, after): (&State, &State),
        utterance: &Utterance,
        text: &str,
    ) -> bool {
        let asks_for_yes = before.open_question().is_some_and(Question::is_for_yes);
        let is_unclear = match route(after) {
            Step::Run(Worker::ClassifyIntent) => !before.may_argue() || utterance.has_question(),
            // The same question would be repeated.
            Step::Ask(question) if before.open_question() == Some(question) && !has_changed(before, after) => {
                after.case.help.is_none() && !(asks_for_yes && utterance.hesitates())
            }
            _ => false,
        };
        let is_social = utterance.greets() || utterance.says_goodbye();
        if !is_unclear || is_social || utterance.names_order_or_contact() {
            return false;
        }
        let query = Query { text: text.to_owned(), language: turn.language(), limit: PASSAGES, pages_only: false };
        let (knowledge, folders) = (&self.services.knowledge, &turn.persona.knowledge);
        // "Is that final?" is about the yes, and not about final sale.
        let is_question = utterance.has_question() && !asks_for_yes;
        read_text(text.len(), || answer::is_answered(knowledge, folders, &query, is_question))
    }

    /// Answers with quotes and their sources, or says that the documents have no answer.
    pub(super) async fn answer_question(
        &self,
        turn: &mut Turn,
        state: &mut State,
        question: &str,
    ) -> Result<(), DeskError> {
        let query = Query { text: question.to_owned(), language: turn.language(), limit: PASSAGES, pages_only: false };
        let find = self.services.knowledge.find(&turn.persona.knowledge, &query);
        let found = turn.step("retrieve").take(find).await;
        let passages: &[Passage] = &found.passages[..found.passages.len().min(QUOTES)];
        let metadata = answer::cite(turn, &found, passages).await?;
        let texts = self.texts.get(answer::language_of(turn, passages));
        let Some(metadata) = metadata else {
            let hotline = self.hotline(turn).to_owned();
            let text = (Scenario::PolicyUnknown, &[("hotline", hotline.as_str())][..]);
            let metadata = Metadata::of(Kind::Reply).with("no_context", true);
            return self.send_with(turn, state, Kind::Reply, text, metadata).await;
        };
        let mut variants = VariantPicker::new(&texts.replies, &state.meta.said);
        let quote = |passage: &Passage| fill(&texts.lines.quote, &[("title", title(passage)), ("text", &passage.text)]);
        let intro = variants.text(Scenario::PolicyIntro, &[])?;
        state.meta.said.extend(variants.used());
        let text = answer::quotation(intro, passages.iter().map(quote));
        turn.say_with(Kind::Reply, &text, metadata).await?;
        Ok(())
    }
}

/// Whether the message said something about what the customer wants.
fn has_changed(before: &State, after: &State) -> bool {
    before.case.intent != after.case.intent || before.case.some_pieces != after.case.some_pieces
}

/// The section says more than the page's title.
fn title(passage: &Passage) -> &str {
    if passage.section.is_empty() { &passage.title } else { &passage.section }
}
