use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::ToolError;
use crate::agent::Tool;
use crate::desks::telecom::agent::context::BillingContext;
use crate::dialogue::DeskError;
use crate::domain::telecom::refund::{COOLING_OFF_DAYS, DECISION_BUSINESS_DAYS, PAYOUT_DAYS};

/// Returns how refunds work: periods, what is not refundable, and notes. It needs no account.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetRefundPolicy {}

impl<'t> Tool<BillingContext<'t>> for GetRefundPolicy {
    const NAME: &'static str = "get_refund_policy";
    const ACTS: bool = false;

    fn recorded(&self) -> Value {
        json!({})
    }

    async fn run(&self, context: &mut BillingContext<'t>) -> Result<Value, ToolError> {
        let policy = context.desk.policy(context.turn).map_err(DeskError::from)?;
        // The line above the items repeats the periods.
        let lines = policy.lines().filter(|line| !line.is_empty() && !line.ends_with(':'));
        let (items, notes): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with("- "));
        Ok(json!({
            "cooling_off_days": COOLING_OFF_DAYS,
            "processing_sla_business_days": DECISION_BUSINESS_DAYS,
            "refund_to_method_days": PAYOUT_DAYS,
            "periods": format!("{COOLING_OFF_DAYS} days, {DECISION_BUSINESS_DAYS} business days, {PAYOUT_DAYS} days"),
            "non_refundable_items": items,
            "notes": notes,
        }))
    }
}
