use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{OrderId, Tool, ToolError};
use crate::desks::returns::agent::bench::Bench;
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

#[async_trait]
impl Tool for GenerateReturnLabel {
    const NAME: &'static str = "generate_return_label";
    const ACTS: bool = true;

    fn recorded(&self) -> Value {
        let rma: Option<RmaNumber> = self.rma_number.parse().ok();
        json!({ "order_id": self.order_id.number(), "rma_number": rma })
    }

    async fn run(&self, bench: &mut Bench<'_>) -> Result<Value, ToolError> {
        let order = bench.open(&self.order_id).await?;
        let rma = bench.rma_of(&order, &self.rma_number).await?;
        let label = bench.label(&rma).await?;
        Ok(json!({
            "success": true, "label_url": label.url, "tracking_number": label.tracking, "message": "next call send_email",
        }))
    }
}
