//! The scenarios that have a text, and the words that the desk fills in.

use crate::replies::reply_keys;

macro_rules! scenarios {
    (@is_decision decision) => { true };
    (@is_decision neutral) => { false };
    ($($(#[$doc:meta])* $name:ident = $key:literal [$($word:literal)*] $about:ident,)+) => {
        reply_keys! {
            /// A situation in which the desk sends a text. Each has variants in `prompts/texts/returns.{language}.toml`.
            #[derive(serde::Serialize)]
            pub enum Scenario {
                $($(#[$doc])* $name = $key [$($word)*],)+
            }
        }

        impl Scenario {
            /// Whether the text announces or offers a decision. After one, a model's words are not shown.
            pub fn is_decision(self) -> bool {
                match self { $(Self::$name => scenarios!(@is_decision $about),)+ }
            }
        }
    };
}

// `decision`: the text is about a decision; `neutral`: it is not.
scenarios! {
    LanguageAck = "language_ack" [] neutral,
    Clarify = "clarify" [] neutral,
    ClarifyPerson = "clarify_person" ["hotline"] neutral,
    RefusalStands = "refusal_stands" [] decision,
    NoOrderNumber = "no_order_number" [] neutral,
    NoContact = "no_contact" [] neutral,
    WhyContact = "why_contact" [] neutral,
    StuckNumber = "stuck_number" [] neutral,
    StuckContact = "stuck_contact" [] neutral,
    StuckAnswer = "stuck_answer" [] neutral,
    NotFoundAgain = "not_found_again" ["order_number"] neutral,
    AskOrder = "ask_order" [] neutral,
    AskOrderNumber = "ask_order_number" [] neutral,
    AskContact = "ask_contact" ["order_number"] neutral,
    OrderNotFound = "order_not_found" ["order_number"] neutral,
    OrderNotTheirs = "order_not_theirs" ["order_number"] neutral,
    OrderLocked = "order_locked" ["hotline" "minutes"] decision,
    StatusPending = "status_pending" [] neutral,
    StatusShipped = "status_shipped" [] neutral,
    StatusDelivered = "status_delivered" [] neutral,
    StatusReturnInitiated = "status_return_initiated" [] decision,
    StatusReturned = "status_returned" [] decision,
    ConfirmReturn = "confirm_return" ["order_number" "item_names" "refund_amount" "masked_email"] neutral,
    ConfirmRefund = "confirm_refund" ["order_number" "item_names" "refund_amount" "masked_email"] neutral,
    ConfirmCancel = "confirm_cancel" ["order_number" "item_names" "refund_amount"] decision,
    ConfirmExchange = "confirm_exchange" ["order_number" "item_names"] neutral,
    ConfirmExchangeFinal = "confirm_exchange_final" ["order_number" "item_names"] neutral,
    ConfirmExchangeUnshipped = "confirm_exchange_unshipped" ["order_number" "item_names"] neutral,
    ConfirmWrongItem = "confirm_wrong_item" ["order_number" "item_names"] neutral,
    ConfirmMissingItem = "confirm_missing_item" ["order_number" "item_names"] neutral,
    ConfirmDoubleCharge = "confirm_double_charge" ["order_number" "item_names"] neutral,
    ConfirmAddressChange = "confirm_address_change" ["order_number" "item_names"] neutral,
    ConfirmInvoice = "confirm_invoice" ["order_number" "item_names"] neutral,
    DetailNoted = "detail_noted" ["order_number"] neutral,
    QuestionNoted = "question_noted" ["order_number"] neutral,
    ConfirmAllPieces = "confirm_all_pieces" ["order_number" "item_names" "refund_amount"] neutral,
    AskOtherOrder = "ask_other_order" [] neutral,
    Declined = "declined" [] decision,
    DeclinedOrder = "declined_order" ["order_number"] decision,
    DeclinedGoodbye = "declined_goodbye" ["order_number"] decision,
    ChooseAction = "choose_action" ["order_number" "item_names" "refund_amount" "return_days" "refund_days"] decision,
    OnlyReturn = "only_return" ["order_number" "item_names" "refund_amount" "return_days" "refund_days"] decision,
    OnlyRefund = "only_refund" ["order_number" "item_names" "refund_amount" "return_days" "refund_days"] decision,
    ReturnNotCancel = "return_not_cancel" ["order_number" "item_names" "refund_amount" "masked_email"] decision,
    ConfirmCancelAll = "confirm_cancel_all" ["order_number" "item_names" "refund_amount"] decision,
    OfferCancel = "offer_cancel" ["order_number" "item_names" "refund_amount"] decision,
    TooLateToCancel = "too_late_to_cancel" ["order_number"] decision,
    RefusedNotDelivered = "refused_not_delivered" ["order_number"] decision,
    RefusedTime = "refused_time" ["order_number" "item_names" "days" "cutoff_days"] decision,
    RefusedItem = "refused_item" ["item_names"] decision,
    RefusedInReturn = "refused_in_return" ["item_names"] decision,
    RefusedByPerson = "refused_by_person" ["order_number"] decision,
    RefusedData = "refused_data" [] decision,
    ReviewDamage = "review_damage" ["ticket_id"] decision,
    ReviewNeeded = "review_needed" ["ticket_id"] decision,
    DamageLater = "damage_later" ["rma_number" "ticket_id"] decision,
    RequestTaken = "request_taken" ["ticket_id"] decision,
    Acknowledge = "acknowledge" [] neutral,
    SocialRedirect = "social_redirect" [] neutral,
    HandedOver = "handed_over" ["ticket_id"] decision,
    GaveUp = "gave_up" ["ticket_id"] decision,
    DoneReturn = "done_return" ["ticket_id" "masked_email" "refund_amount"] decision,
    DoneRefund = "done_refund" ["ticket_id" "masked_email" "refund_amount"] decision,
    DoneCancel = "done_cancel" ["ticket_id" "order_number"] decision,
    Duplicate = "duplicate" ["ticket_id"] decision,
    MailFailed = "mail_failed" ["ticket_id" "masked_email"] decision,
    MailMissing = "mail_missing" ["ticket_id" "masked_email"] decision,
    MailLeft = "mail_left" ["ticket_id"] decision,
    Trouble = "trouble" ["hotline"] decision,
    DecisionReturned = "decision_returned" ["ticket_id" "rma_number" "refund_amount" "masked_email"] decision,
    DecisionApproved = "decision_approved" ["ticket_id" "rma_number"] decision,
    DecisionRejected = "decision_rejected" ["ticket_id" "order_number"] decision,
    DecisionCancelled = "decision_cancelled" ["ticket_id" "order_number"] decision,
    DecisionNotCancelled = "decision_not_cancelled" ["ticket_id" "order_number"] decision,
    DecisionQuestion = "decision_question" ["ticket_id" "question"] decision,
    DecisionClosed = "decision_closed" ["ticket_id"] decision,
    TicketOpen = "ticket_open" ["ticket_id"] decision,
    AnswerTaken = "answer_taken" ["ticket_id"] decision,
    LabelAgain = "label_again" ["rma_number" "label_url" "masked_email"] decision,
    LabelLater = "label_later" ["rma_number"] decision,
    LabelLocked = "label_locked" ["rma_number"] decision,
    NextOrder = "next_order" ["order_number"] neutral,
    ReturnNumber = "return_number" ["rma_number"] decision,
    AnythingElse = "anything_else" [] neutral,
    Goodbye = "goodbye" [] neutral,
    TicketStays = "ticket_stays" [] decision,
    Amount = "amount" ["order_number" "item_names" "refund_amount"] decision,
    Deadline = "deadline" ["order_number" "item_names" "return_until" "refund_until"] decision,
    /// The reason of a refusal: the windows are over.
    WhyTooLate = "why_too_late" ["order_number" "item_names" "return_days" "refund_days" "return_until" "refund_until"] decision,
    WhyFinalSale = "why_final_sale" ["order_number" "item_names"] decision,
    WhyNotReturnable = "why_not_returnable" ["order_number" "item_names"] decision,
    Window = "window" ["order_number" "item_names" "return_days" "refund_days"] decision,
    WindowVip = "window_vip" ["order_number" "item_names" "return_days" "refund_days"] decision,
    NotShipped = "not_shipped" ["order_number"] neutral,
    OnItsWay = "on_its_way" ["order_number" "shipped_on" "tracking"] neutral,
    Tracking = "tracking" ["order_number" "carrier" "tracking"] neutral,
    Changes = "changes" ["changes"] decision,
    OrderPrice = "order_price" ["order_number" "prices"] decision,
    GoodsPrice = "goods_price" ["order_number" "prices"] decision,
    Assortment = "assortment" ["hotline"] neutral,
    NothingDone = "nothing_done" [] neutral,
    NoHurry = "no_hurry" [] neutral,
    PolicyIntro = "policy_intro" [] neutral,
    /// The answer was quoted just now.
    PolicyAgain = "policy_again" [] neutral,
    /// The documents have nothing that fits the question better than what was just quoted.
    PolicySaid = "policy_said" ["hotline"] neutral,
    PolicyUnknown = "policy_unknown" ["hotline"] neutral,
}
