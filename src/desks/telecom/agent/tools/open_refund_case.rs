use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Number, Value, json};

use super::ToolError;
use crate::agent::Tool;
use crate::desks::telecom::agent::context::{BillingContext, FoundCase};
use crate::dialogue::DeskError;
use crate::domain::commerce::{Currency, Money};
use crate::domain::telecom::refund::DECISION_BUSINESS_DAYS;
use crate::domain::telecom::{InvoiceNumber, RefundCase, RefundClaim, RefundReason};
use crate::store::refund_cases::Opening;

/// Opens a refund case for one invoice. Call it once the customer has said why, how much, and for which invoice. An invoice has at most one open case; asking again names it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OpenRefundCase {
    /// Leave it out: the system knows the customer.
    user_id: Option<String>,
    /// Why the money should come back.
    reason: RefundReason,
    /// The amount in PLN that the customer named: above 0, at most 1000, with two decimals.
    #[schemars(with = "f64")]
    amount_pln: Number,
    /// The invoice's number as the customer wrote it.
    invoice_id: String,
    /// What happened, in the customer's words; at most 500 characters.
    description: Option<String>,
}

impl<'t> Tool<BillingContext<'t>> for OpenRefundCase {
    const NAME: &'static str = "open_refund_case";
    const ACTS: bool = true;

    fn recorded(&self) -> Value {
        json!({
            "reason": self.reason, "amount_pln": self.amount_pln,
            "invoice_id": self.invoice_id.parse::<InvoiceNumber>().ok(),
        })
    }

    async fn run(&self, context: &mut BillingContext<'t>) -> Result<Value, ToolError> {
        let user_id = context.user_id(self.user_id.as_deref())?;
        let named: InvoiceNumber = self.invoice_id.parse().map_err(|_| ToolError::NoInvoiceNumber)?;
        let amount = Money::parse(&self.amount_pln.to_string(), Currency::Pln)?;
        let claim_for = |invoice| RefundClaim::new(invoice, self.reason, amount, self.description.clone());
        claim_for(named.clone())?;
        if !context.customer_said(|said| said.names_invoice(&named)) {
            return Err(ToolError::NotSaid("invoice"));
        }
        if !context.customer_said(|said| said.names_amount(amount)) {
            return Err(ToolError::NotSaid("amount"));
        }
        let invoice = context.store().find_invoice_of(&user_id, &named).await?;
        let claim = claim_for(invoice.ok_or(ToolError::UnknownInvoice)?.number)?;
        // The reply is about one case, and its next steps are listed below it.
        let opened_before = match &context.case {
            Some(found) if found.case.invoice != *claim.invoice() => return Err(ToolError::OneCase),
            Some(found) => found.is_new,
            None => false,
        };
        let (case, is_new) = match context.desk.open_case(context.turn, &user_id, &claim).await? {
            Opening::Opened(case) => (*case, true),
            Opening::AlreadyOpen(case) => (*case, opened_before),
            Opening::AboveInvoice { left } => return Err(ToolError::AboveInvoice(left)),
            Opening::NoInvoice => return Err(ToolError::UnknownInvoice),
        };
        context.facts.made = true;
        context.memory.opened(&case);
        let steps = context.desk.next_steps(context.turn, &case).map_err(DeskError::from)?;
        let result = shown(&case, is_new, &steps);
        context.case = Some(FoundCase { case, is_new });
        Ok(result)
    }
}

/// Returns the case as the model sees it.
fn shown(case: &RefundCase, is_new: bool, steps: &str) -> Value {
    // The design lists them in the result. The model may need them for a later question.
    let next_steps: Vec<&str> = steps.lines().filter_map(|line| line.strip_prefix("- ")).collect();
    let message = if is_new {
        "opened; the system adds the next steps to your answer as a list, so do not write them"
    } else {
        "the invoice has this open case already; no second one was opened"
    };
    json!({
        "success": true, "case_id": case.id, "status": case.status, "amount_pln": case.amount.to_string(),
        "invoice_id": case.invoice, "sla_business_days": DECISION_BUSINESS_DAYS,
        "sla": format!("{DECISION_BUSINESS_DAYS} business days"), "eta_date": case.eta, "next_steps": next_steps,
        "message": message,
    })
}
