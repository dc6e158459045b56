use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{OrderId, ToolError, shown};
use crate::agent::Tool;
use crate::desks::returns::agent::context::{ReturnsContext, Verdict};
use crate::domain::returns::ReasonCode;

/// Asks the shop's return rules whether items of an order may come back. Only this decides, never you. Call it after get_order_details and before create_rma.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckEligibility {
    /// The number of an order that get_order_details has found.
    order_id: OrderId,
    /// The item_id of each item that is to come back.
    item_ids: Vec<u32>,
    /// Why it comes back, in the customer's words; nothing left out.
    return_reason: String,
}

impl<'t> Tool<ReturnsContext<'t>> for CheckEligibility {
    const NAME: &'static str = "check_eligibility";
    const ACTS: bool = false;

    fn recorded(&self) -> Value {
        json!({ "order_id": self.order_id.number(), "item_ids": self.item_ids })
    }

    async fn run(&self, context: &mut ReturnsContext<'t>) -> Result<Value, ToolError> {
        let order = context.open(&self.order_id).await?;
        Ok(match context.decide(&order, &self.item_ids, &self.return_reason).await? {
            Verdict::Decided(decision) => shown(&decision),
            Verdict::AskedBefore(ticket) => json!({
                "eligible": false, "reason_code": ReasonCode::ItemExcluded, "rma_number": ticket.id,
                "message": "this was asked for before, and the desk tells the customer the rma_number; make no second return",
            }),
        })
    }
}
