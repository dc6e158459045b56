use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::ToolError;
use crate::agent::Tool;
use crate::desks::telecom::agent::context::BillingContext;
use crate::domain::telecom::CaseStatus;

/// Returns the customer's plan, its price and status, the last invoices and all refund cases.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetSubscription {
    /// Leave it out: the system knows the customer.
    user_id: Option<String>,
}

impl<'t> Tool<BillingContext<'t>> for GetSubscription {
    const NAME: &'static str = "get_subscription";
    const ACTS: bool = false;

    fn recorded(&self) -> Value {
        json!({ "names_user": self.user_id.is_some() })
    }

    async fn run(&self, context: &mut BillingContext<'t>) -> Result<Value, ToolError> {
        let user_id = context.user_id(self.user_id.as_deref())?;
        let Some(account) = context.store().find_account(&user_id).await? else {
            return Ok(json!({ "user_id": user_id, "status": "not_found" }));
        };
        context.facts.refunded |= account.cases.iter().any(|case| case.status == CaseStatus::Approved);
        // With its currency, a reply may repeat an amount as an amount of money.
        let invoices = account.invoices.iter().map(|invoice| {
            json!({
                "invoice_id": invoice.number, "amount_pln": invoice.amount.to_string(), "issued_on": invoice.issued_on,
            })
        });
        let cases = account.cases.iter().map(|case| {
            json!({
                "case_id": case.id, "status": case.status, "invoice_id": case.invoice,
                "amount_pln": case.amount.to_string(), "eta_date": case.eta,
            })
        });
        let subscription = &account.subscription;
        Ok(json!({
            "user_id": subscription.user_id,
            "plan_code": subscription.plan.code,
            "plan_name": subscription.plan.name,
            "price_monthly_pln": subscription.plan.price_monthly.to_string(),
            "status": subscription.status,
            "start_date": subscription.start_date,
            "invoices": invoices.collect::<Vec<_>>(),
            "refund_cases": cases.collect::<Vec<_>>(),
        }))
    }
}
