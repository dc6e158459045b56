//! What customers want.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a customer wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    Return,
    Refund,
    OrderStatus,
    /// Another size, colour or model in one go.
    Exchange,
    /// Something else arrived than was ordered.
    WrongItem,
    /// Something is missing from the parcel, or nothing came although the order counts as delivered.
    MissingItem,
    /// The order was paid for more than once.
    DoubleCharge,
    AddressChange,
    Invoice,
    Other,
}

impl Intent {
    pub const ALL: [Self; 10] = [
        Self::Return,
        Self::Refund,
        Self::OrderStatus,
        Self::WrongItem,
        Self::MissingItem,
        Self::DoubleCharge,
        Self::AddressChange,
        Self::Invoice,
        Self::Exchange,
        Self::Other,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Return => "return",
            Self::Refund => "refund",
            Self::OrderStatus => "order_status",
            Self::Exchange => "exchange",
            Self::WrongItem => "wrong_item",
            Self::MissingItem => "missing_item",
            Self::DoubleCharge => "double_charge",
            Self::AddressChange => "address_change",
            Self::Invoice => "invoice",
            Self::Other => "other",
        }
    }

    /// Whether a person settles it: the desk verifies the order and opens a ticket.
    pub fn is_request(self) -> bool {
        !self.is_return() && !matches!(self, Self::OrderStatus | Self::Other)
    }

    /// Whether it concerns no goods. It may be wanted together with something else.
    pub fn is_paperwork(self) -> bool {
        matches!(self, Self::DoubleCharge | Self::AddressChange | Self::Invoice)
    }

    /// Whether the shop made a mistake that a person settles, with goods or with money.
    pub fn is_mistake(self) -> bool {
        matches!(self, Self::WrongItem | Self::MissingItem | Self::DoubleCharge)
    }

    /// Whether the customer wants to give something back.
    pub fn is_return(self) -> bool {
        matches!(self, Self::Return | Self::Refund)
    }
}
