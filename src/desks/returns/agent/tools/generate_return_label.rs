use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{OrderId, ToolError};
use crate::agent::Tool;
use crate::desks::returns::agent::context::ReturnsContext;
use crate::domain::returns::RmaNumber;

/// Makes the prepaid label of a return. Call it after create_rma. Asked again, it gives the same label.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GenerateReturnLabel {
    /// The number of the order.
    order_id: OrderId,
    /// The rma_number that create_rma gave.
    rma_number: String,
}

impl<'t> Tool<ReturnsContext<'t>> for GenerateReturnLabel {
    const NAME: &'static str = "generate_return_label";
    const ACTS: bool = true;

    fn recorded(&self) -> Value {
        let rma: Option<RmaNumber> = self.rma_number.parse().ok();
        json!({ "order_id": self.order_id.number(), "rma_number": rma })
    }

    async fn run(&self, context: &mut ReturnsContext<'t>) -> Result<Value, ToolError> {
        let order = context.open(&self.order_id).await?;
        let rma = context.rma_of(&order, &self.rma_number).await?;
        let (url, tracking) = context.label(&rma).await?;
        Ok(json!({
            "success": true, "label_url": url, "tracking_number": tracking, "message": "next call send_email",
        }))
    }
}
