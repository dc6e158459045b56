//! `kb_retrieve` and `handoff_create_ticket`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CallError, Tool, ToolContext};
use crate::domain::commerce::policy::Journey;
use crate::domain::returns::Priority;
use crate::retrieval::Passage;
use crate::retrieval::search::Found;
use crate::store::returns::escalate::NewEscalation;

const MOST_SNIPPETS: u8 = 8;

/// Finds passages of the shop's documents.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KbRetrieve {
    pub query: String,
    #[serde(default)]
    pub source_types: Vec<String>,
    /// 1 to 8.
    pub top_k: u8,
}

#[derive(Debug, Serialize)]
pub struct Snippets {
    pub snippets: Vec<Snippet>,
    pub confidence: f64,
}

#[derive(Debug, Serialize)]
pub struct Snippet {
    pub title: String,
    pub text: String,
}

impl KbRetrieve {
    pub const NAME: &'static str = "kb_retrieve";

    /// Returns the result of a search, which the desk makes with the conversation's earlier questions.
    pub fn output(&self, found: &Found) -> Result<Snippets, CallError> {
        // `import documents` writes pages of a type into a folder of its name.
        let of_type = |passage: &&Passage| {
            let has = |kind: &String| passage.file.split('/').any(|folder| folder == kind);
            self.source_types.is_empty() || self.source_types.iter().any(has)
        };
        if !(1..=MOST_SNIPPETS).contains(&self.top_k) {
            return Err(CallError::refused("top_k_out_of_range"));
        }
        let best = found.passages.iter().filter(of_type).take(self.top_k.into());
        Ok(Snippets {
            confidence: found.passages.first().map_or(0.0, |best| best.score),
            snippets: best.map(|of| Snippet { title: of.title.clone(), text: of.text.clone() }).collect(),
        })
    }
}

/// Opens a ticket for a person, or joins the conversation's open one.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HandoffCreateTicket {
    pub reason: String,
    #[schemars(with = "String")]
    pub priority: Priority,
    #[schemars(with = "String")]
    pub journey: Journey,
    /// The stage of the sale.
    pub step: String,
    pub summary: String,
}

#[derive(Debug, Serialize)]
pub struct TicketCreated {
    pub ticket_id: String,
    /// In minutes.
    pub expected_wait: u32,
}

impl Tool for HandoffCreateTicket {
    const NAME: &'static str = "handoff_create_ticket";
    type Output = TicketCreated;

    async fn run(&self, context: &ToolContext<'_>) -> Result<TicketCreated, CallError> {
        let summary =
            format!("Reason: {}\nJourney: {}, step: {}\n{}", self.reason, self.journey, self.step, self.summary);
        let new = NewEscalation {
            rma: None,
            order: None,
            locks_returns: false,
            priority: self.priority,
            reason: &self.reason,
            summary: &summary,
            claim: None,
            once: None,
        };
        let escalated = context.door().escalate(&new, &context.actor()).await?;
        let expected_wait = context.tenant.settings.handoff.expected_wait_minutes;
        Ok(TicketCreated { ticket_id: escalated.ticket().id.clone(), expected_wait })
    }
}
