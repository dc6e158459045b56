//! Questions about how the shop handles returns: answered from its documents, in the documents' own words.

use super::scenario::Scenario;
use super::state::State;
use super::voice::Voice;
use super::{Returns, remember};
use crate::desks::{DeskError, Turn};
use crate::dialogue::answer;
use crate::domain::Kind;
use crate::persona::texts::fill;
use crate::retrieval::{Passage, Query};

/// Passages that are looked for, and so many of them are quoted: the best one, and one that adds to it.
const PASSAGES: usize = 4;
const QUOTES: usize = 2;

impl Returns {
    /// Answers from the documents, with sources, or says that they have no answer.
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
        let metadata = answer::cite(turn, &found, passages).await?;
        let texts = self.texts(turn);
        let mut voice = Voice::new(texts, &state.meta.said);
        let Some(metadata) = metadata else {
            let text = voice.text(Scenario::PolicyUnknown, &[("hotline", self.hotline(turn))])?;
            state.meta.said.extend(voice.said());
            return answer::say_unknown(turn, &text).await;
        };
        let quote = |passage: &Passage| fill(&texts.lines.quote, &[("title", title(passage)), ("text", &passage.text)]);
        let intro = voice.text(Scenario::PolicyIntro, &[])?;
        state.meta.said.extend(voice.said());
        let text = answer::quotation(intro, passages.iter().map(quote));
        turn.say_with(Kind::Reply, &text, metadata).await?;
        Ok(())
    }

    /// The number of the return that was made last.
    pub(super) async fn tell_return_number(&self, turn: &mut Turn, state: &mut State) -> Result<(), DeskError> {
        let Some(number) = &state.meta.last_rma else { return Ok(()) };
        let mut voice = Voice::new(self.texts(turn), &state.meta.said);
        let text = voice.text(Scenario::ReturnNumber, &[("rma_number", number.as_str())])?;
        state.meta.said.extend(voice.said());
        turn.say(Kind::Reply, &text).await?;
        Ok(())
    }

    /// After a question outside of any flow: what else?
    pub(super) async fn offer_more(&self, turn: &mut Turn, mut state: State) -> Result<(), DeskError> {
        let mut voice = Voice::new(self.texts(turn), &state.meta.said);
        let text = voice.text(Scenario::AnythingElse, &[])?;
        state.meta.said.extend(voice.said());
        turn.say(Kind::FollowUp, &text).await?;
        remember(turn, &state);
        Ok(())
    }
}

/// The section says more than the page's title.
fn title(passage: &Passage) -> &str {
    if passage.section.is_empty() { &passage.title } else { &passage.section }
}
