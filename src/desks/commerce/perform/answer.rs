//! Answers from the shop's documents.

use super::note_result;
use crate::desks::commerce::effect::Asking;
use crate::desks::commerce::nodes::{Draft, Node};
use crate::desks::commerce::state::Question;
use crate::desks::commerce::texts::Text;
use crate::desks::commerce::tools::support::KbRetrieve;
use crate::desks::commerce::{Commerce, Situation};
use crate::desks::{DeskError, Turn};
use crate::dialogue::{answer, retrieve};
use crate::domain::{Kind, Metadata};
use crate::retrieval::{Passage, Query};

/// Passages of an answer from the documents.
const QUOTED: usize = 3;

impl Commerce {
    /// Answers from the shop's documents, if they have an answer.
    ///
    /// A question in a mix of languages may find nothing in the documents of one: then a question about its subject is asked. A question
    /// about two subjects gets a passage for each.
    pub(super) async fn answer(
        &self,
        turn: &mut Turn,
        situation: &mut Situation,
        question: &Question,
        why: Asking,
    ) -> Result<bool, DeskError> {
        let language = turn.language();
        let languages = [Some(language), self.language_rules.fallback_of(language)];
        let known = |of: &String| languages.into_iter().flatten().find_map(|code| self.rules.query(of, code));
        let known: Vec<&str> = question.subjects.iter().filter_map(known).collect();
        let text = match (question.text.as_str(), known.as_slice()) {
            ("", [first, ..]) => first,
            (text, _) => text,
        };
        let query = |text: &str| Query { text: text.to_owned(), language, limit: QUOTED, pages_only: true };
        let knowledge = &self.services.knowledge;
        let find = async {
            match why {
                // Only a question of which the subject is not known needs the earlier one to be understood.
                Asking::Question | Asking::Aside if known.is_empty() => {
                    retrieve::find(knowledge, turn, text, query).await
                }
                _ => knowledge.find(&turn.persona.knowledge, &query(text)).await,
            }
        };
        let mut found = turn.step("retrieve").take(find).await;
        if let Some(known) = known.first().filter(|_| found.passages.is_empty()) {
            let find = retrieve::find(&self.services.knowledge, turn, known, query);
            found = turn.step("retrieve").take(find).await;
        }
        // What is about something else than the question, such as parking, is no answer.
        let is_exact = self.rules.is_exact(text);
        let answers =
            |passage: &Passage| self.rules.is_answered_by(text, &format!("{} {}", passage.title, passage.text));
        found.passages.retain(answers);
        let mut quotes_all = false;
        if let [first, second, ..] = known.as_slice()
            && !is_exact
        {
            let mut both = Vec::new();
            for of in [*first, *second] {
                let passages = knowledge.find(&turn.persona.knowledge, &query(of)).await.passages;
                let is_new = |passage: &Passage| both.iter().all(|known: &Passage| known.text != passage.text);
                let first = passages.into_iter().next().filter(is_new);
                both.extend(first);
            }
            if !both.is_empty() {
                (quotes_all, found.passages) = (both.len() > 1, both);
            }
        }
        // Who also asks what delivery costs gets that as well.
        if let ([cost], Some(first)) = (known.as_slice(), found.passages.first())
            && question.subjects.iter().any(|subject| subject == "delivery_cost")
            && !is_exact
        {
            let passages = knowledge.find(&turn.persona.knowledge, &query(cost)).await.passages;
            let other = passages.into_iter().next().filter(|passage| passage.text != first.text);
            quotes_all |= other.is_some();
            found.passages = std::iter::once(first.clone()).chain(other).collect();
        }
        let tool = KbRetrieve { query: text.to_owned(), source_types: Vec::new(), top_k: 3 };
        let Ok(given) = note_result(turn, KbRetrieve::NAME, tool.output(&found))? else { return Ok(false) };
        if given.snippets.is_empty() {
            return Ok(false);
        }
        let worded = self.word(turn, situation, Node::SupportRagAnswer, &Draft::of_passages(&found.passages)).await?;
        let quoted = if worded.is_some() || quotes_all { &found.passages[..] } else { &found.passages[..1] };
        let metadata = answer::cite(turn, &found, quoted).await?.unwrap_or_else(|| Metadata::of(Kind::Reply));
        if let Some(worded) = worded {
            let said = self.introduced(turn, situation, worded)?;
            turn.say_with(Kind::Reply, &said, metadata.worded_by_model()).await?;
            return Ok(true);
        }
        let texts = self.texts_of(turn, situation);
        let mut quotes = Vec::new();
        for passage in quoted {
            let said = knowledge.pages(&turn.persona.knowledge).emphasized(text, &passage.text, turn.language());
            quotes.push(texts.text(Text::Quote, &[("title", &passage.title), ("text", &said)])?);
        }
        let said = answer::quotation(self.words_of(turn, situation, Text::QuoteIntro)?, quotes.into_iter());
        let said = self.introduced(turn, situation, said)?;
        turn.say_with(Kind::Reply, &said, metadata).await?;
        Ok(true)
    }
}
