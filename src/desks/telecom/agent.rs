//! Billing with a language model that calls tools.
//!
//! The desk knows the account before the model is asked, and checks every call again. A reply that the guards stop, or that does not
//! name the case it is about, is replaced by the desk's own text.
//!
//! - [`context`]: what the tools work on
//! - [`tools`]: the four tools

use serde_json::{Value, json};
use tracing::warn;

use super::billing::{Identity, about};
use super::memory::Memory;
use super::texts::Text;
use super::{Telecom, kind};
use crate::agent::Outcome;
use crate::agent::reply_text::for_customer;
use crate::dialogue::agent_turn::{first_messages, run_agent};
use crate::dialogue::opening::Wanted;
use crate::dialogue::{DeskError, Turn};
use crate::domain::text::sentences::{first_sentences, without_lists};
use crate::domain::{GuardReason, Metadata};
use crate::grounding::claims::Facts;
use crate::grounding::{Guard, Piece, Placeholders, joined};
use crate::providers::llm::LlmError;

mod context;
mod tools;

use context::{BillingContext, FoundCase};
use tools::tool_set;

/// Messages that the model sees, with the new one.
const MESSAGES: usize = 12;
/// Sentences of a reply, without its lists.
const SENTENCES: usize = 6;

impl Telecom {
    /// Answers with the model and its tools. Returns whether it did; if not, nothing was said.
    pub(super) async fn answer_with_tools(
        &self,
        turn: &mut Turn,
        identity: &Identity,
        memory: &mut Memory,
    ) -> Result<bool, DeskError> {
        let known = known(identity, memory).to_string();
        let (config, canary) = (&self.services.config, self.grounding.canary());
        let recent = &turn.history[turn.history.len().saturating_sub(MESSAGES - 1)..];
        let messages = first_messages(turn, recent, config, canary, &self.billing_prompt, &known);
        let (step, tools) = (turn.step("agent"), tool_set());
        let mut context = BillingContext::new(self, turn, identity, memory);
        let run = run_agent(&self.services.llm, &config.agent, &tools, &mut context, messages);
        let finished = step.take(run).await?;
        let BillingContext { turn, memory, case: found, facts, .. } = context;
        let sources: Vec<String> = std::iter::once(known).chain(finished.results).collect();
        let said = match finished.outcome {
            Outcome::Answered(text) => {
                let (text, had_markup) = for_customer(&text, &tools.names());
                if had_markup {
                    note_guard(turn, GuardReason::Markup, "markup").await?;
                }
                let text = if found.is_some() { without_lists(&text) } else { text };
                first_sentences(&text, SENTENCES)
            }
            Outcome::GaveUp(reason) => {
                warn!(reason = reason.as_str(), "Giving up on the language model");
                turn.note("gave_up", reason.as_str());
                String::new()
            }
            Outcome::Failed | Outcome::Stopped => String::new(),
        };
        let names_case = found.as_ref().is_none_or(|found| said.contains(&found.case.id.to_string()));
        let pieces = if names_case { self.checked(turn, &said, &sources, facts).await? } else { None };
        match (pieces, found) {
            (Some(pieces), found) => {
                let (kind, metadata) = match &found {
                    Some(FoundCase { case, .. }) => (kind::CASE, about(case)),
                    None => (kind::INFO, Metadata::of(kind::INFO)),
                };
                turn.show(kind, pieces).await?;
                if let Some(FoundCase { case, .. }) = &found {
                    let steps = self.next_steps(turn, case)?;
                    turn.write(kind, &format!("\n\n{steps}")).await?;
                }
                turn.end_message(metadata.worded_by_model()).await?;
                Ok(true)
            }
            (None, Some(FoundCase { case, is_new: true })) => {
                self.say_case(turn, Text::Opened, &case).await?;
                Ok(true)
            }
            (None, Some(FoundCase { case, is_new: false })) => {
                self.say_already_open(turn, &case, memory).await?;
                Ok(true)
            }
            (None, None) => Ok(false),
        }
    }

    /// Returns the text after the guards, or `None` if it is in another language, nothing is left or they stopped it.
    async fn checked(
        &self,
        turn: &mut Turn,
        text: &str,
        facts: &[String],
        claims: Facts,
    ) -> Result<Option<Vec<Piece>>, DeskError> {
        if text.is_empty() {
            return Ok(None);
        }
        if Wanted::of(turn, &self.language_rules).is_missed_by(text) {
            turn.note_model_error(LlmError::WrongLanguage);
            return Ok(None);
        }
        let (pieces, is_stopped) = {
            let mut sources = turn.sources();
            sources.instructions.push(&self.billing_prompt);
            sources.shop.extend(facts.iter().map(String::as_str));
            sources.shop.push(self.hotline(turn));
            sources.claims = claims;
            let placeholders = Placeholders::of(self.common(turn));
            let (pieces, is_stopped) = self.grounding.check(text, &placeholders, &sources);
            (joined(pieces), is_stopped)
        };
        let is_left = |piece: &Piece| matches!(piece, Piece::Text(text) if text.chars().any(char::is_alphanumeric));
        if !is_stopped && pieces.iter().any(is_left) {
            return Ok(Some(pieces));
        }
        for piece in pieces {
            if let Piece::Guard(guard) = piece {
                note_guard(turn, guard.reason, guard.kind).await?;
            }
        }
        Ok(None)
    }
}

/// Reports that the guards removed a text, before the message that replaces it.
async fn note_guard(turn: &mut Turn, reason: GuardReason, what: &'static str) -> Result<(), DeskError> {
    let guard = Piece::Guard(Guard { reason, kind: what, text: String::new() });
    Ok(turn.show(kind::INFO, vec![guard]).await?)
}

/// Returns what the desk knows about the request.
fn known(identity: &Identity, memory: &Memory) -> Value {
    let account = match identity {
        Identity::Known(_) => "known",
        Identity::Unproved | Identity::Other => "the customer has to give the number of one of their invoices",
        Identity::Unknown | Identity::Wrong | Identity::Locked => "the customer has to give their customer ID",
    };
    let draft = memory.refund.as_ref().map(|draft| {
        json!({ "invoice_id": draft.invoice, "amount": draft.amount.map(|amount| amount.to_string()), "reason": draft.reason })
    });
    json!({ "account": account, "refund_wanted": draft, "last_case": memory.billing_case_id })
}
