//! What a customer may claim back, and how long it takes.

use schemars::JsonSchema;

use super::invoice_number::InvoiceNumber;
use crate::domain::commerce::money::{Currency, Money};
use crate::domain::string_enum::string_enum;

/// Days after the start of a contract in which a customer may withdraw from it.
pub const COOLING_OFF_DAYS: u32 = 14;
/// Business days in which the shop decides on a case.
pub const DECISION_BUSINESS_DAYS: u32 = 5;
/// Days until the money arrives after an approval.
pub const PAYOUT_DAYS: &str = "7-10";
/// The largest amount that a customer may claim in a chat.
pub const CLAIM_MAX: Money = Money::new(100_000, Currency::Pln);
/// The longest description of a claim, in characters.
pub const DESCRIPTION_MAX_CHARS: usize = 500;

string_enum! {
    // A doc comment of a variant would change the schema that the model sees.
    /// Why a customer wants money back.
    #[derive(JsonSchema)]
    pub enum RefundReason {
        Overcharge = "overcharge",
        ServiceOutage = "service_outage",
        // The customer withdraws from the contract.
        WithinCoolingOff = "within_cooling_off",
        Other = "other",
    }
}

/// A claim whose fields are checked as far as possible without the invoice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefundClaim {
    invoice: InvoiceNumber,
    reason: RefundReason,
    amount: Money,
    description: Option<String>,
}

/// Why a claim is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidClaim {
    #[error("the amount is in {0}, but refunds are in PLN")]
    Currency(Currency),
    #[error("the amount must be above 0.00 and at most {CLAIM_MAX}")]
    Amount,
    #[error("the description has more than {DESCRIPTION_MAX_CHARS} characters")]
    Description,
}

impl RefundClaim {
    pub fn new(
        invoice: InvoiceNumber,
        reason: RefundReason,
        amount: Money,
        description: Option<String>,
    ) -> Result<Self, InvalidClaim> {
        if amount.currency != CLAIM_MAX.currency {
            return Err(InvalidClaim::Currency(amount.currency));
        }
        if !(1..=CLAIM_MAX.minor).contains(&amount.minor) {
            return Err(InvalidClaim::Amount);
        }
        let description = description.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        if description.as_ref().is_some_and(|text| text.chars().count() > DESCRIPTION_MAX_CHARS) {
            return Err(InvalidClaim::Description);
        }
        Ok(Self { invoice, reason, amount, description })
    }

    pub fn invoice(&self) -> &InvoiceNumber {
        &self.invoice
    }

    pub fn reason(&self) -> RefundReason {
        self.reason
    }

    pub fn amount(&self) -> Money {
        self.amount
    }

    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claim_is_above_zero_and_at_most_1000() {
        let claim = |minor, currency| {
            let invoice = "INV-12345".parse().unwrap();
            RefundClaim::new(invoice, RefundReason::Overcharge, Money::new(minor, currency), None).map(|_| ())
        };
        for (minor, expected) in [
            (1, Ok(())),
            (100_000, Ok(())),
            (0, Err(InvalidClaim::Amount)),
            (-1, Err(InvalidClaim::Amount)),
            (100_001, Err(InvalidClaim::Amount)),
        ] {
            assert_eq!(claim(minor, Currency::Pln), expected, "{minor}");
        }
        assert_eq!(claim(100, Currency::Eur), Err(InvalidClaim::Currency(Currency::Eur)));
        assert_eq!(InvalidClaim::Amount.to_string(), "the amount must be above 0.00 and at most 1000.00 PLN");
    }

    #[test]
    fn description_has_at_most_500_characters() {
        let claim = |text: String| {
            let invoice = "INV-12345".parse().unwrap();
            RefundClaim::new(invoice, RefundReason::Other, CLAIM_MAX, Some(text))
        };
        assert_eq!(claim("ż".repeat(500)).unwrap().description().map(str::len), Some(1000));
        assert_eq!(claim("ż".repeat(501)), Err(InvalidClaim::Description));
        assert_eq!(claim(" ".to_owned()).unwrap().description(), None);
    }
}
