//! The scenarios that have a text, and the words that the desk fills in.

use serde::{Deserialize, Serialize};

macro_rules! scenarios {
    ($($(#[$doc:meta])* $name:ident = $key:literal [$($word:literal)*],)+) => {
        /// A situation in which the desk sends a text. Each has variants in `prompts/texts/returns.{language}.toml`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Scenario {
            $($(#[$doc])* #[serde(rename = $key)] $name,)+
        }

        impl Scenario {
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The key in the file.
            pub fn key(self) -> &'static str {
                match self { $(Self::$name => $key,)+ }
            }

            /// The words that a variant may name.
            pub fn words(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($word,)*],)+ }
            }
        }
    };
}

scenarios! {
    LanguageAck = "language_ack" [],
    Clarify = "clarify" [],
    ClarifyPerson = "clarify_person" ["hotline"],
    RefusalStands = "refusal_stands" [],
    NoOrderNumber = "no_order_number" [],
    NoContact = "no_contact" [],
    WhyContact = "why_contact" [],
    StuckNumber = "stuck_number" [],
    StuckContact = "stuck_contact" [],
    StuckAnswer = "stuck_answer" [],
    NotFoundAgain = "not_found_again" ["order_number"],
    AskOrderNumber = "ask_order_number" [],
    AskContact = "ask_contact" ["order_number"],
    OrderNotFound = "order_not_found" ["order_number"],
    OrderNotTheirs = "order_not_theirs" ["order_number"],
    OrderLocked = "order_locked" ["hotline" "minutes"],
    StatusPending = "status_pending" [],
    StatusShipped = "status_shipped" [],
    StatusDelivered = "status_delivered" [],
    StatusReturnInitiated = "status_return_initiated" [],
    StatusReturned = "status_returned" [],
    ConfirmReturn = "confirm_return" ["order_number" "item_names" "refund_amount" "masked_email"],
    ConfirmRefund = "confirm_refund" ["order_number" "item_names" "refund_amount" "masked_email"],
    ConfirmCancel = "confirm_cancel" ["order_number" "item_names" "refund_amount"],
    ConfirmExchange = "confirm_exchange" ["order_number" "item_names"],
    ConfirmWrongItem = "confirm_wrong_item" ["order_number" "item_names"],
    ConfirmMissingItem = "confirm_missing_item" ["order_number" "item_names"],
    ConfirmDoubleCharge = "confirm_double_charge" ["order_number" "item_names"],
    ConfirmAddressChange = "confirm_address_change" ["order_number" "item_names"],
    ConfirmInvoice = "confirm_invoice" ["order_number" "item_names"],
    ConfirmAllPieces = "confirm_all_pieces" ["order_number" "item_names" "refund_amount"],
    AskOtherOrder = "ask_other_order" [],
    Declined = "declined" [],
    ChooseAction = "choose_action" ["order_number" "item_names" "refund_amount" "return_days" "refund_days"],
    OnlyReturn = "only_return" ["order_number" "item_names" "refund_amount" "return_days" "refund_days"],
    OnlyRefund = "only_refund" ["order_number" "item_names" "refund_amount" "return_days" "refund_days"],
    ReturnNotCancel = "return_not_cancel" ["order_number" "item_names" "refund_amount" "masked_email"],
    OfferCancel = "offer_cancel" ["order_number" "item_names" "refund_amount"],
    TooLateToCancel = "too_late_to_cancel" ["order_number"],
    RefusedNotDelivered = "refused_not_delivered" ["order_number"],
    RefusedTime = "refused_time" ["order_number" "item_names" "days" "cutoff_days"],
    RefusedItem = "refused_item" ["item_names"],
    RefusedInReturn = "refused_in_return" ["item_names"],
    RefusedByPerson = "refused_by_person" ["order_number"],
    RefusedData = "refused_data" [],
    ReviewDamage = "review_damage" ["ticket_id"],
    ReviewNeeded = "review_needed" ["ticket_id"],
    DamageLater = "damage_later" ["rma_number" "ticket_id"],
    RequestTaken = "request_taken" ["ticket_id"],
    Acknowledge = "acknowledge" [],
    SocialRedirect = "social_redirect" [],
    HandedOver = "handed_over" ["ticket_id"],
    GaveUp = "gave_up" ["ticket_id"],
    DoneReturn = "done_return" ["ticket_id" "masked_email" "refund_amount"],
    DoneRefund = "done_refund" ["ticket_id" "masked_email" "refund_amount"],
    DoneCancel = "done_cancel" ["ticket_id" "order_number"],
    Duplicate = "duplicate" ["ticket_id"],
    MailFailed = "mail_failed" ["ticket_id" "masked_email"],
    MailMissing = "mail_missing" ["ticket_id" "masked_email"],
    MailLeft = "mail_left" ["ticket_id"],
    Trouble = "trouble" ["hotline"],
    DecisionReturned = "decision_returned" ["ticket_id" "rma_number" "refund_amount" "masked_email"],
    DecisionApproved = "decision_approved" ["ticket_id" "rma_number"],
    DecisionRejected = "decision_rejected" ["ticket_id" "order_number"],
    DecisionCancelled = "decision_cancelled" ["ticket_id" "order_number"],
    DecisionNotCancelled = "decision_not_cancelled" ["ticket_id" "order_number"],
    DecisionQuestion = "decision_question" ["ticket_id" "question"],
    DecisionClosed = "decision_closed" ["ticket_id"],
    TicketOpen = "ticket_open" ["ticket_id"],
    AnswerTaken = "answer_taken" ["ticket_id"],
    LabelAgain = "label_again" ["rma_number" "label_url" "masked_email"],
    LabelLater = "label_later" ["rma_number"],
    LabelLocked = "label_locked" ["rma_number"],
    NextOrder = "next_order" ["order_number"],
    ReturnNumber = "return_number" ["rma_number"],
    AnythingElse = "anything_else" [],
    Goodbye = "goodbye" [],
    TicketStays = "ticket_stays" [],
    PolicyIntro = "policy_intro" [],
    PolicyUnknown = "policy_unknown" ["hotline"],
}
