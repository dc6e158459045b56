//! The causes of a decision about a return.

use crate::domain::string_enum::string_enum;

string_enum! {
    /// The group of a decision's cause.
    pub enum ReasonCode {
        Approved = "APPROVED",
        TimeExpired = "TIME_EXP",
        ItemExcluded = "ITEM_EXCL",
        DataError = "DATA_ERR",
        RiskManual = "RISK_MANUAL",
        DamagedManual = "DAMAGED_MANUAL",
    }
}

string_enum! {
    /// What exactly decided. It picks the text for the customer.
    pub enum Cause {
        Approved = "approved",
        /// Step 1.
        OrderNotFound = "order_not_found",
        /// Step 3.
        ItemsUnknown = "items_unknown",
        /// After step 3: still in the shop, so the order can be cancelled.
        NotShipped = "not_shipped",
        /// After step 3: on its way to the customer.
        NotDelivered = "not_delivered",
        /// After step 3: a date of the order lies in the future.
        DateInFuture = "date_in_future",
        /// After step 3: an item is in an RMA, or the whole order has come back.
        AlreadyInRma = "already_in_rma",
        /// After step 3: a person of the shop has rejected these lines.
        Rejected = "rejected",
        /// Step 4.
        Damaged = "damaged",
        /// Step 5.
        FraudFlag = "fraud_flag",
        /// Step 6.
        ReturnsTooFrequent = "returns_too_frequent",
        /// After step 9: a person looks at the order already.
        UnderReview = "under_review",
        /// Step 7.
        FinalSale = "final_sale",
        /// Step 7.
        NotReturnable = "not_returnable",
        /// Step 8.
        NoPolicy = "no_policy",
        /// Step 9.
        WindowOver = "window_over",
    }
}

impl Cause {
    /// Returns the cause that a customer may see: a person looks at the order, whatever the risk is.
    pub fn shown_to_customer(self) -> Self {
        match self {
            Self::FraudFlag | Self::ReturnsTooFrequent => Self::UnderReview,
            other => other,
        }
    }

    pub(super) fn code(self) -> ReasonCode {
        match self {
            Self::Approved => ReasonCode::Approved,
            Self::OrderNotFound
            | Self::ItemsUnknown
            | Self::NotShipped
            | Self::NotDelivered
            | Self::DateInFuture
            | Self::NoPolicy => ReasonCode::DataError,
            Self::AlreadyInRma | Self::Rejected | Self::FinalSale | Self::NotReturnable => ReasonCode::ItemExcluded,
            Self::Damaged => ReasonCode::DamagedManual,
            Self::FraudFlag | Self::ReturnsTooFrequent | Self::UnderReview => ReasonCode::RiskManual,
            Self::WindowOver => ReasonCode::TimeExpired,
        }
    }
}
