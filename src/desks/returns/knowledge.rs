//! Answers general questions about returns with quotes from the shop's documents.

use serde_json::json;

use super::Returns;
use super::scenario::Scenario;
use super::state::State;
use super::texts::VariantPicker;
use crate::desks::{DeskError, Turn};
use crate::domain::{Event as TurnEvent, Kind, Metadata, SourceItem};
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
        let query = Query { text: question.to_owned(), language: turn.language(), limit: PASSAGES };
        let find = self.services.knowledge.find(&turn.persona.knowledge, &query);
        let found = turn.step("retrieve").take(find).await;
        let passages: &[Passage] = &found.passages[..found.passages.len().min(QUOTES)];
        let sources: Vec<SourceItem> = passages.iter().map(SourceItem::from).collect();
        turn.note("retrieval", json!({ "by": found.by, "similarity": found.similarity, "passages": &sources }));
        let texts = self.texts(turn);
        if passages.is_empty() {
            let hotline = self.hotline(turn).to_owned();
            let text = (Scenario::PolicyUnknown, &[("hotline", hotline.as_str())][..]);
            let metadata = Metadata::of(Kind::Reply).with("no_context", true);
            return self.send_with(turn, state, Kind::Reply, text, metadata).await;
        }
        let mut variants = VariantPicker::new(texts, &state.meta.said);
        let quote = |passage: &Passage| fill(&texts.lines.quote, &[("title", title(passage)), ("text", &passage.text)]);
        let intro = variants.text(Scenario::PolicyIntro, &[])?;
        state.meta.said.extend(variants.used());
        let text = std::iter::once(intro).chain(passages.iter().map(quote)).collect::<Vec<_>>().join("\n");
        let metadata = Metadata::of(Kind::Reply).with("sources", &sources);
        turn.emit(TurnEvent::Sources { items: sources }).await?;
        turn.say_with(Kind::Reply, &text, metadata).await?;
        Ok(())
    }
}

/// The section says more than the page's title.
fn title(passage: &Passage) -> &str {
    if passage.section.is_empty() { &passage.title } else { &passage.section }
}
