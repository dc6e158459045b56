use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::ToolError;
use crate::agent::Tool;
use crate::desks::returns::agent::context::ReturnsContext;
use crate::domain::returns::Priority;

/// Hands the conversation over to a person of the shop. Call it for damage, when the rules want a review, when the customer wants a person, or when you cannot help. The summary for the person is written by the shop.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EscalateToHuman {
    /// Why, in a few words.
    #[allow(
        dead_code,
        reason = "the model thinks straighter where it gives a reason; the person reads the shop's own summary"
    )]
    reason: String,
    /// Damage is at least HIGH, whatever is said here.
    priority: Option<Priority>,
}

impl<'t> Tool<ReturnsContext<'t>> for EscalateToHuman {
    const NAME: &'static str = "escalate_to_human";
    const ACTS: bool = true;

    fn recorded(&self) -> Value {
        json!({ "priority": self.priority })
    }

    async fn run(&self, context: &mut ReturnsContext<'t>) -> Result<Value, ToolError> {
        let (id, priority) = context.hand_over(self.priority).await?;
        Ok(json!({
            "success": true, "ticket_id": id, "priority": priority,
            "message": "a colleague takes over, and the desk tells the customer the ticket_id; call no more tools",
        }))
    }
}
