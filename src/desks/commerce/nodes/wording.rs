//! Replies that a language model words, from the facts that the texts would say.
//!
//! The model gets the text as a draft in which a name in braces stands for each fact: `{list}` for a numbered list of goods, `{minutes}` for a
//! wait. Its reply must have each name once, and the desk fills in the values. So no price, total or state of an order passes through a
//! model. Everything else of the reply passes the guards, and a reply that they change is replaced by the text.

use serde_json::json;
use tokio::time::Instant;

use super::{CONTEXT_CHARS, Node};
use crate::desks::commerce::said::MOST_PIECES;
use crate::desks::commerce::{Commerce, Situation};
use crate::desks::{DeskError, Turn};
use crate::dialogue::history::window;
use crate::dialogue::model::call_with_tools;
use crate::dialogue::opening::Wanted;
use crate::domain::commerce::policy::SWITCH_LANGUAGE;
use crate::grounding::claims::Facts;
use crate::grounding::{Piece, Placeholders, joined};
use crate::persona::cut_at_sentence;
use crate::persona::texts::fill;
use crate::providers::llm::{ChatMessage, ChatRequest};
use crate::retrieval::Passage;

/// The longest reply of a model, in characters, without the values that the desk fills in.
const REPLY_MAX_CHARS: usize = 800;

/// What a model words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::desks::commerce) struct Draft {
    /// The text, with `{name}` in place of each kept value; or the passages of an answer.
    pub text: String,
    /// The values that the desk fills in.
    pub kept: Vec<(&'static str, String)>,
    /// The claims that are true here.
    pub claims: Facts,
}

impl Draft {
    /// Makes the draft of a text in which these values are kept. A value that the text does not have is left out.
    pub fn of(text: &str, kept: Vec<(&'static str, String)>, claims: Facts) -> Self {
        let (mut draft, mut rest, mut found) = (String::new(), text, Vec::new());
        for (name, value) in kept {
            let Some((before, after)) = rest.split_once(&value).filter(|_| !value.is_empty()) else { continue };
            draft.push_str(&format!("{before}{{{name}}}"));
            rest = after;
            found.push((name, value));
        }
        Self { text: draft + rest, kept: found, claims }
    }

    /// Makes the draft of an answer from documents.
    pub fn of_passages(passages: &[Passage]) -> Self {
        let entry = |passage: &Passage| format!("[{}] {}", passage.title, passage.text);
        let text: Vec<String> = passages.iter().map(entry).collect();
        Self { text: text.join("\n\n"), kept: Vec::new(), claims: Facts::OF_DOCUMENTS }
    }

    /// Fills in the kept values. `None` if the reply does not have each name exactly once, or has other ones.
    fn filled(&self, reply: &str) -> Option<String> {
        let has_each = self.kept.iter().all(|(name, _)| reply.matches(&format!("{{{name}}}")).count() == 1);
        let values: Vec<(&str, &str)> = self.kept.iter().map(|(name, value)| (*name, value.as_str())).collect();
        (has_each && reply.matches('{').count() == values.len()).then(|| fill(reply, &values))
    }
}

impl Commerce {
    /// Words a draft. `None` if the model is down or late, or if the reply is not what was asked for: the caller says the text.
    pub(in crate::desks::commerce) async fn word(
        &self,
        turn: &mut Turn,
        situation: &mut Situation,
        node: Node,
        draft: &Draft,
    ) -> Result<Option<String>, DeskError> {
        if situation.model_failed || !self.services.llm.is_up() {
            return Ok(None);
        }
        let Ok(ticket) = self.services.llm.enter() else { return Ok(None) };
        let request = self.request(turn, situation, node, draft);
        let (within, deadline) = (self.nodes.word_within, Instant::now() + self.nodes.word_within);
        let step = turn.step(node.as_str());
        let replied = step.take(call_with_tools(turn, ticket, request, &[], within, deadline)).await?;
        let said = match replied {
            Ok(reply) => self.checked(turn, situation, node, draft, reply.text.trim()),
            Err(error) => Err(error.to_string()),
        };
        Ok(self.note_node(turn, situation, node, said))
    }

    fn request(&self, turn: &Turn, situation: &Situation, node: Node, draft: &Draft) -> ChatRequest {
        let canary = self.nodes.grounding.canary().line();
        let persona = cut_at_sentence(&turn.persona.text, self.services.config.prompts.persona_max_chars);
        let settings = &situation.tenant.settings;
        let tone = self.nodes.tones.get(&settings.tone_style).map_or("", String::as_str);
        let wording = fill(&self.nodes.wording, &[("language", turn.language().code()), ("tone", tone)]);
        let prompt = self.nodes.prompt(node);
        let mut messages =
            vec![ChatMessage::system(format!("{canary}\n\n{persona}\n\n{canary}\n\n{wording}\n\n{prompt}"))];
        messages.extend(window(&turn.history, CONTEXT_CHARS));
        let values: serde_json::Map<_, _> =
            draft.kept.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        let given = json!({
            "shop": settings.name.as_str(),
            "draft": draft.text,
            "values": values,
            "message": turn.message.text,
        });
        messages.push(ChatMessage::user(given.to_string()));
        ChatRequest { messages, model: turn.persona.model.clone(), temperature: turn.persona.temperature }
    }

    /// Returns the reply with its values, or why it is not said.
    fn checked(
        &self,
        turn: &mut Turn,
        situation: &Situation,
        node: Node,
        draft: &Draft,
        reply: &str,
    ) -> Result<String, String> {
        if !reply.chars().any(char::is_alphanumeric) || reply.chars().count() > REPLY_MAX_CHARS {
            return Err("the reply is empty or too long".to_owned());
        }
        if self.is_in_other_language(turn, reply) {
            return Err("the reply is in another language".to_owned());
        }
        // Amounts in words of any of the desk's languages: "mia tano".
        let numbers = |text: &str| self.rules.parse(text).all_numbers;
        let known = numbers(&draft.text);
        if numbers(reply).iter().any(|number| *number > MOST_PIECES && !known.contains(number)) {
            return Err("the reply names a number that the draft does not".to_owned());
        }
        let settings = &situation.tenant.settings;
        let mut sources = turn.sources();
        // What was said before holds no more: prices and stock change.
        sources.shop = vec![&draft.text, settings.name.as_str(), settings.bot_name.as_str()];
        (sources.customer, sources.replies, sources.claims) = (Vec::new(), Vec::new(), draft.claims);
        sources.instructions.extend([self.nodes.wording.as_str(), self.nodes.prompt(node)]);
        let placeholders = Placeholders::of(self.common.get(turn.language()));
        let (pieces, _) = self.nodes.grounding.check(reply, &placeholders, &sources);
        let guards = pieces.iter().filter_map(|piece| match piece {
            Piece::Guard(guard) => Some(json!({ "reason": guard.reason, "kind": guard.kind, "text": guard.text })),
            Piece::Text(_) => None,
        });
        let guards: Vec<serde_json::Value> = guards.collect();
        if let [Piece::Text(text)] = joined(pieces).as_slice() {
            return draft.filled(text).ok_or_else(|| "the reply does not have each value once".to_owned());
        }
        guards.into_iter().for_each(|guard| turn.note_one_more("guards", guard));
        Err("the guards stopped the reply".to_owned())
    }

    fn is_in_other_language(&self, turn: &Turn, reply: &str) -> bool {
        let own = turn.language();
        let judged = self.language_rules.judge(reply, &turn.persona.languages);
        let is_other = judged.is_some_and(|(language, confidence)| {
            confidence >= SWITCH_LANGUAGE && language != own && self.language_rules.related_to(own) != Some(language)
        });
        is_other || Wanted::of(turn, &self.language_rules).is_missed_by(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft() -> Draft {
        let kept = vec![("list", "1. Shoe – KES 900".to_owned()), ("link", "https://shop.example".to_owned())];
        Draft::of("Here:\n1. Shoe – KES 900\nAll: https://shop.example", kept, Facts::default())
    }

    #[test]
    fn draft_names_each_value() {
        assert_eq!(draft().text, "Here:\n{list}\nAll: {link}");
        let without = Draft::of("Here:\n1. Shoe", vec![("link", "https://x.example".to_owned())], Facts::default());
        assert_eq!((without.text.as_str(), without.kept.len()), ("Here:\n1. Shoe", 0));
    }

    #[test]
    fn reply_has_each_value_once() {
        let filled = draft().filled("Nice! {list}\nMore: {link}");
        assert_eq!(filled.as_deref(), Some("Nice! 1. Shoe – KES 900\nMore: https://shop.example"));
        for bad in ["Nice! {list}", "{list} {list} {link}", "{list} {link} {price}", "{list {link} {list}"] {
            assert_eq!(draft().filled(bad), None, "{bad}");
        }
    }
}
