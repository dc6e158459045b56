//! The tools that a language model may call in the billing part of the desk.

use crate::agent::ToolSet;

use super::context::BillingContext;

mod get_refund_policy;
mod get_subscription;
mod open_refund_case;
mod out_of_scope;
mod tool_error;

pub(super) use tool_error::ToolError;

/// Returns the desk's tools. A new tool is one file here and one line in this list.
pub(super) fn tool_set<'t>() -> ToolSet<BillingContext<'t>> {
    ToolSet::default()
        .with::<get_subscription::GetSubscription>()
        .with::<open_refund_case::OpenRefundCase>()
        .with::<get_refund_policy::GetRefundPolicy>()
        .with::<out_of_scope::OutOfScope>()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reason_of_a_refund_is_a_plain_choice() {
        let specs = tool_set().specs();
        let open = specs.iter().find(|spec| spec.name == "open_refund_case").expect("the tool");
        let expected = json!({
            "description": "Why the money should come back.",
            "type": "string",
            "enum": ["overcharge", "service_outage", "within_cooling_off", "other"],
        });
        assert_eq!(open.parameters["properties"]["reason"], expected);
    }
}
