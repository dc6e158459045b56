//! Why a tool fails.

use serde_json::{Value, json};

use crate::agent::CallError;
use crate::dialogue::DeskError;
use crate::domain::commerce::Money;
use crate::domain::commerce::money::InvalidAmount;
use crate::domain::telecom::InvalidClaim;
use crate::store::StoreError;

/// Why a tool fails. Each message tells the model what to do next.
#[derive(Debug, thiserror::Error)]
pub(in crate::desks::telecom::agent) enum ToolError {
    #[error("the customer has not said whose account it is; ask for the customer ID")]
    NoUser,
    #[error("the account is not verified; ask the customer for the number of one of their invoices")]
    NoProof,
    #[error("user_id is not the customer of this conversation; leave it out, the system knows the customer")]
    OtherUser,
    #[error("the customer has not named this {0} in their own words; ask for it, and never make one up")]
    NotSaid(&'static str),
    #[error("invoice_id is no invoice number; ask the customer for it")]
    NoInvoiceNumber,
    #[error("amount_pln is not valid: {0}")]
    Amount(#[from] InvalidAmount),
    #[error("the claim is not valid: {0}; tell the customer")]
    Claim(#[from] InvalidClaim),
    #[error("the customer has no such invoice; ask the customer to check its number")]
    UnknownInvoice,
    #[error("at most {0} of this invoice can be refunded; tell the customer")]
    AboveInvoice(Money),
    #[error("one case for each message; say that you can open the case for the other invoice next")]
    OneCase,
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
            Self::NoUser | Self::NoProof => "NO_ACCOUNT",
            Self::OtherUser => "NOT_ALLOWED",
            Self::NotSaid(_) => "NOT_SAID",
            Self::NoInvoiceNumber | Self::Amount(_) | Self::Claim(_) => "BAD_ARGUMENTS",
            Self::UnknownInvoice => "UNKNOWN_INVOICE",
            Self::AboveInvoice(_) => "ABOVE_INVOICE",
            Self::OneCase => "ONE_CASE",
            Self::Desk(_) => "TROUBLE",
        }
    }
}

impl CallError for ToolError {
    type Fatal = DeskError;

    fn into_result(self) -> Result<Value, DeskError> {
        match self {
            Self::Desk(cause) => Err(cause),
            error => Ok(json!({ "success": false, "error": error.code(), "message": error.to_string() })),
        }
    }
}
