//! Why a tool fails, and decisions as the model sees them.

use serde_json::{Value, json};

use crate::agent::CallError;
use crate::desks::DeskError;
use crate::domain::commerce::OrderNumber;
use crate::domain::returns::{Action, Cause, Decision};
use crate::store::StoreError;

/// Why a tool fails. Each message tells the model what to do next.
#[derive(Debug, thiserror::Error)]
pub(in crate::desks::returns::agent) enum ToolError {
    #[error("give either order_id or email, one of them")]
    OneOf,
    #[error("order_id is no order number; ask the customer for it")]
    NoNumber,
    #[error(
        "before an order is looked up, the customer has to name the e-mail address or phone number it was placed with; ask for it"
    )]
    NoContact,
    #[error(
        "no order with that number fits the details that the customer gave; ask the customer to check the order number and the e-mail address or phone number"
    )]
    NotFound,
    #[error(
        "too many wrong details were given, so nothing is looked up for now; tell the customer that orders cannot be looked up for now"
    )]
    Locked,
    #[error(
        "orders are listed by e-mail only for a customer who is signed in; ask for the order number and for the e-mail address or phone number on it"
    )]
    NoList,
    #[error("that is not the address of the customer of this conversation")]
    OtherCustomer,
    #[error("this order was not looked up in this conversation; call get_order_details with its order_id first")]
    NotLookedUp,
    #[error("item_ids must name items of the order: {0}")]
    UnknownItems(String),
    /// The rules do not allow it.
    #[error("{}", refusal(.0))]
    Refused(Box<Decision>),
    #[error(
        "a {0} is not open for these items, a {1} is; ask the customer whether a {1} will do, and then call again with that action"
    )]
    OtherAction(Action, Action),
    #[error("the customer has just said no, or to wait; ask whether to create the return, and call again after a yes")]
    HeldBack,
    #[error(
        "the customer wants to return only some pieces, and the shop books all pieces of an item; the desk asks whether that is all right"
    )]
    SomePieces,
    #[error("the amount has changed since the customer said yes; the desk asks again with the new amount")]
    OtherAmount,
    #[error("the customer named order {0}; use that number, and ask the customer if it is another order")]
    OtherOrder(OrderNumber),
    #[error("the customer's request already has its outcome, and the desk announces it; call no more tools")]
    AlreadyDone,
    #[error("no return with that number belongs to this order; use the rma_number that create_rma gave")]
    NoRma,
    #[error(
        "a person of the shop looks at this return, so nothing is done by itself; tell the customer that a colleague will get in touch"
    )]
    RmaLocked,
    #[error("this template needs an rma_number; call create_rma first")]
    NoMailWithoutRma,
    #[error("there is no label yet; call generate_return_label first")]
    NoLabel,
    #[error("return_rejected is for what check_eligibility has refused")]
    NotRefused,
    #[error("mails go to the address on the order and nowhere else; leave customer_email out")]
    OtherAddress,
    #[error("the shop's system could not do it; call escalate_to_human")]
    Trouble,
    /// The turn ends.
    #[error(transparent)]
    Desk(#[from] DeskError),
}

impl From<StoreError> for ToolError {
    fn from(cause: StoreError) -> Self {
        Self::Desk(cause.into())
    }
}

impl ToolError {
    fn code(&self) -> &'static str {
        match self {
            Self::OneOf | Self::NoNumber => "BAD_ARGUMENTS",
            Self::NoContact => "NO_CONTACT",
            Self::NotFound => "NOT_FOUND",
            Self::Locked => "LOCKED",
            Self::NoList | Self::OtherCustomer | Self::OtherAddress => "NOT_ALLOWED",
            Self::NotLookedUp => "NOT_LOOKED_UP",
            Self::UnknownItems(_) => "UNKNOWN_ITEMS",
            Self::HeldBack | Self::SomePieces | Self::OtherAmount => "NOT_CONFIRMED",
            Self::OtherOrder(_) => "OTHER_ORDER",
            Self::AlreadyDone => "ALREADY_DONE",
            Self::Refused(_) | Self::OtherAction(..) => "NOT_ELIGIBLE",
            Self::NoRma | Self::NoMailWithoutRma => "NO_RMA",
            Self::RmaLocked => "ESCALATED",
            Self::NoLabel => "NO_LABEL",
            Self::NotRefused => "NOT_REFUSED",
            Self::Trouble | Self::Desk(_) => "TROUBLE",
        }
    }

    /// Returns the result that the model is shown.
    pub fn to_tool_result(&self) -> Value {
        let mut result = json!({ "success": false, "error": self.code(), "message": self.to_string() });
        if let Self::Refused(decision) = self {
            result["eligibility"] = shown(decision);
        }
        result
    }
}

impl CallError for ToolError {
    type Fatal = DeskError;

    fn into_result(self) -> Result<Value, DeskError> {
        match self {
            Self::Desk(cause) => Err(cause),
            error => Ok(error.to_tool_result()),
        }
    }
}

/// Returns a decision as JSON. The reason for a manual review is left out: only the shop may see it.
pub(super) fn shown(decision: &Decision) -> Value {
    let mut shown = decision.to_metadata(&advice(decision));
    if decision.requires_manual_review
        && let Some(fields) = shown.as_object_mut()
    {
        fields.remove("reason");
    }
    shown
}

/// Returns what the model should do after a decision.
fn advice(decision: &Decision) -> String {
    if decision.eligible {
        return match (decision.is_return_eligible, decision.is_refund_eligible) {
            (true, false) => {
                "a return is open, a refund no longer; with the customer's wish call create_rma with action return"
            }
            (false, true) => {
                "a refund is open, a return no longer; with the customer's wish call create_rma with action refund"
            }
            _ => "a return and a refund are open; call create_rma with the action that the customer wants",
        }
        .to_owned();
    }
    refusal_of(decision.requires_manual_review, decision.cause == Cause::NotShipped)
}

fn refusal(decision: &Decision) -> String {
    format!("the return rules refuse it ({}); {}", decision.reason_code, advice(decision))
}

fn refusal_of(is_review: bool, can_be_cancelled: bool) -> String {
    if is_review {
        "a person has to decide; call escalate_to_human, and the desk tells the customer"
    } else if can_be_cancelled {
        "the order has not been shipped; the desk now asks the customer whether to cancel it"
    } else {
        "the desk tells the customer that it cannot be returned, and why; you cannot make an exception"
    }
    .to_owned()
}
