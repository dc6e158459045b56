use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{OrderId, ToolError};
use crate::agent::Tool;
use crate::desks::returns::agent::context::ReturnsContext;
use crate::desks::returns::state::TicketStatus;
use crate::domain::returns::Action;

/// Makes the return (RMA). Call it when check_eligibility says that it is open and the customer wants it. The rules decide once more; what they refuse is not made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateRma {
    /// The number of an order that get_order_details has found.
    order_id: OrderId,
    /// The item_id of each item that comes back.
    item_ids: Vec<u32>,
    /// Why it comes back, in the customer's words; nothing left out.
    return_reason: String,
    /// The reason_code that check_eligibility gave.
    reason_code: Option<String>,
    /// refund where the customer wants the money back and the refund is open, else return.
    action: Option<Wanted>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Wanted {
    Return,
    Refund,
}

impl<'t> Tool<ReturnsContext<'t>> for CreateRma {
    const NAME: &'static str = "create_rma";
    const ACTS: bool = true;

    fn recorded(&self) -> Value {
        json!({
            "order_id": self.order_id.number(), "item_ids": self.item_ids, "reason_code": self.claimed_code(),
            "action": self.action(),
        })
    }

    async fn run(&self, context: &mut ReturnsContext<'t>) -> Result<Value, ToolError> {
        let order = context.open(&self.order_id).await?;
        let made = context.make_return(&order, &self.item_ids, self.action(), &self.return_reason).await?;
        let again = match made.ticket.status {
            TicketStatus::Created => "created",
            TicketStatus::Duplicate => "this was asked for before: it is the same return, and no second one was made",
        };
        Ok(json!({
            "success": true, "rma_number": made.ticket.id,
            "refund_amount": made.refund.map(|refund| context.money(refund)),
            "message": format!("{again}; next call generate_return_label, then send_email"),
        }))
    }
}

impl CreateRma {
    fn action(&self) -> Action {
        match self.action {
            Some(Wanted::Refund) => Action::Refund,
            Some(Wanted::Return) | None => Action::Return,
        }
    }

    /// Returns the code that the model sent, if it exists. It decides nothing.
    fn claimed_code(&self) -> Option<crate::domain::returns::ReasonCode> {
        self.reason_code.as_deref().and_then(crate::domain::returns::ReasonCode::parse)
    }
}
