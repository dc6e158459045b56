//! The tools that a language model may call in the returns desk.
//!
//! The customer, the address of mails and every decision come from the desk, never from a model's arguments.

use super::context::ReturnsContext;
use crate::agent::ToolSet;

mod check_eligibility;
mod create_rma;
mod escalate_to_human;
mod generate_return_label;
mod get_order_details;
mod order_id;
mod send_email;
mod tool_error;

pub(super) use order_id::OrderId;
pub(super) use tool_error::ToolError;
use tool_error::shown;

/// Returns the desk's tools. A new tool is one file here and one line in this list.
pub(super) fn tool_set<'t>() -> ToolSet<ReturnsContext<'t>> {
    ToolSet::default()
        .with::<get_order_details::GetOrderDetails>()
        .with::<check_eligibility::CheckEligibility>()
        .with::<create_rma::CreateRma>()
        .with::<generate_return_label::GenerateReturnLabel>()
        .with::<send_email::SendEmail>()
        .with::<escalate_to_human::EscalateToHuman>()
}

#[cfg(test)]
mod tests;
