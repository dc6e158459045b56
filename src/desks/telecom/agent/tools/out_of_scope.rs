use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::ToolError;
use crate::agent::Tool;
use crate::desks::telecom::agent::context::BillingContext;

/// Call it before you say that you cannot do something: what the customer wants is not about the plan, invoices or refunds. It ends the billing thread.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OutOfScope {}

impl<'t> Tool<BillingContext<'t>> for OutOfScope {
    const NAME: &'static str = "out_of_scope";
    const ACTS: bool = false;

    fn recorded(&self) -> Value {
        json!({})
    }

    async fn run(&self, context: &mut BillingContext<'t>) -> Result<Value, ToolError> {
        context.memory.last_agent = None;
        Ok(
            json!({ "success": true, "message": "say briefly that you cannot do this here, and name the hotline or a person" }),
        )
    }
}
