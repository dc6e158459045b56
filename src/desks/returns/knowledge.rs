//! Answers general questions about returns with quotes from the shop's documents.

use super::Returns;
use super::scenario::Scenario;
use super::state::State;
use super::texts::VariantPicker;
use crate::desks::{DeskError, Turn};
use crate::dialogue::answer;
use crate::domain::{Kind, Metadata};
use crate::persona::texts::fill;
use crate::retrieval::{Passage, Query};

/// How many passages are searched, and how many of them are quoted.
const PASSAGES: usize = 4;
const QUOTES: usize = 2;

impl Returns {
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
        let texts = self.texts(turn);
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

/// The section says more than the page's title.
fn title(passage: &Passage) -> &str {
    if passage.section.is_empty() { &passage.title } else { &passage.section }
}
