//! What customers want.

use schemars::JsonSchema;

use crate::domain::string_enum;

string_enum! {
    /// What a customer wants.
    #[derive(JsonSchema)]
    pub enum Intent {
        Return = "return",
        Refund = "refund",
        OrderStatus = "order_status",
        /// Another size, colour or model in one go.
        Exchange = "exchange",
        /// Something else arrived than was ordered.
        WrongItem = "wrong_item",
        /// Something is missing from the parcel, or nothing came although the order counts as delivered.
        MissingItem = "missing_item",
        /// The order was paid for more than once.
        DoubleCharge = "double_charge",
        AddressChange = "address_change",
        Invoice = "invoice",
        Other = "other",
    }
}

impl Intent {
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
