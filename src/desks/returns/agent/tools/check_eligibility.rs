use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{OrderId, Tool, ToolError, shown};
use crate::desks::returns::agent::bench::{Bench, Verdict};
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

#[async_trait]
impl Tool for CheckEligibility {
    const NAME: &'static str = "check_eligibility";
    const ACTS: bool = false;

    fn recorded(&self) -> Value {
        json!({ "order_id": self.order_id.number(), "item_ids": self.item_ids })
    }

    async fn run(&self, bench: &mut Bench<'_>) -> Result<Value, ToolError> {
        let order = bench.open(&self.order_id).await?;
        Ok(match bench.decide(&order, &self.item_ids, &self.return_reason).await? {
            Verdict::Decided(decision) => shown(&decision),
            Verdict::AskedBefore(ticket) => json!({
                "eligible": false, "reason_code": ReasonCode::ItemExcluded, "rma_number": ticket.id,
                "message": "this was asked for before, and the desk tells the customer the rma_number; make no second return",
            }),
        })
    }
}
