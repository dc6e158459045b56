//! What the desk says: `prompts/texts/commerce.{language}.toml`, and `commerce_{tone}.{language}.toml` for what a tone words differently.

use std::collections::HashMap;

use super::{Commerce, Situation};
use crate::desks::Turn;
use crate::domain::Language;
use crate::domain::commerce::tenant::ToneStyle;
use crate::persona::texts::ByLanguage;
use crate::persona::{PromptError, Prompts};
use crate::replies::{MissingValue, Replies, reply_keys};

/// The texts of the tones that have a file in a language, whole.
pub(super) type TonedTexts = HashMap<(ToneStyle, Language), Replies<Text>>;

/// Reads the texts of the tones. What a file does not have is worded as usual.
///
/// # Errors
/// A file is malformed, or a text names a wrong placeholder.
pub(super) fn read_tones(prompts: &Prompts, texts: &ByLanguage<Replies<Text>>) -> Result<TonedTexts, PromptError> {
    let mut toned = HashMap::new();
    for (language, usual) in texts.iter() {
        for tone in ToneStyle::ALL {
            let file = format!("texts/commerce_{tone}.{language}.toml");
            if prompts.text(&file).is_ok() {
                let texts = usual.overlaid(prompts.toml(&file)?);
                texts.check(1).map_err(|hint| prompts.error(&file, None, hint))?;
                toned.insert((*tone, language), texts);
            }
        }
    }
    Ok(toned)
}

impl Commerce {
    /// Returns the texts in the customer's language and the shop's tone.
    pub(super) fn texts_of(&self, turn: &Turn, situation: &Situation) -> &Replies<Text> {
        let texts = || self.texts.get(turn.language());
        self.toned.get(&(situation.tenant.settings.tone_style, turn.language())).unwrap_or_else(texts)
    }

    pub(super) fn words_of(&self, turn: &Turn, situation: &Situation, key: Text) -> Result<String, MissingValue> {
        let hotline = self.common.get(turn.language()).hotline.as_str();
        self.texts_of(turn, situation).text(key, &[("hotline", hotline)])
    }
}

reply_keys! {
    /// A situation in which the desk sends a text. Comments in the file say when each is used.
    pub(super) enum Text {
        Welcome = "welcome" ["intro"],
        Intro = "intro" [] must ["bot" "shop"],
        IsAi = "is_ai" [],
        Restarted = "restarted" [],
        NotSetUp = "not_set_up" ["hotline"],
        Thanks = "thanks" [],
        Goodbye = "goodbye" [],
        Assistant = "assistant" [] must ["bot" "shop"],
        SmallTalk = "small_talk" [],
        Redirect = "redirect" [] must ["shop"],
        LanguageAck = "language_ack" [],
        Stopped = "stopped" [],
        Started = "started" [],
        AskNeed = "ask_need" [],
        /// Asks which of the likely things the customer means.
        Clarify = "clarify" [],
        Unclear = "unclear" [],
        TakeTime = "take_time" [],
        OfferPerson = "offer_person" [],
        Sorry = "sorry" [],
        NothingFound = "nothing_found" [] must ["words"],
        Nothing = "nothing" [],
        Options = "options" [],
        MoreOptions = "more_options" [] must ["count" "total"],
        Option = "option" [] must ["number" "name" "price"],
        SoldOutMark = "sold_out_mark" [],
        PickOne = "pick_one" [],
        Link = "link" [] must ["link"],
        AskDifferent = "ask_different" [],
        Item = "item" [] must ["name" "price"],
        Available = "available" [] must ["name" "choices" "price"],
        ItemChosen = "item_chosen" [] must ["name" "choices" "price"],
        Details = "details" [] must ["details"],
        UnknownDetail = "unknown_detail" [],
        YesDetail = "yes_detail" [],
        NoDetail = "no_detail" [],
        Left = "left" ["price"] must ["name" "left"],
        CheapestFirst = "cheapest_first" [],
        DearestFirst = "dearest_first" [],
        NoPicture = "no_picture" [],
        TakeIt = "take_it" [],
        AskChoices = "ask_choices" [] must ["choices"],
        StillMissing = "still_missing" [] must ["name" "choices"],
        Choice = "choice" [] must ["variant" "choices"],
        NoSuchChoice = "no_such_choice" [] must ["name" "choice" "choices"],
        SoldOut = "sold_out" [] must ["name"],
        /// The shop does not know when sold-out goods come back.
        RestockUnknown = "restock_unknown" [],
        Stock = "stock" [] must ["name" "left"],
        TooMany = "too_many" [],
        Cart = "cart" [] must ["order"],
        CartLine = "cart_line" [] must ["quantity" "name" "price"],
        Discount = "discount" [] must ["code" "discount"],
        Total = "total" [] must ["total"],
        Held = "held" ["minutes"],
        NextStep = "next_step" [],
        OfferHint = "offer_hint" [] must ["code" "terms"],
        PriceChanged = "price_changed" [],
        EmptyCart = "empty_cart" [],
        /// The cart has nothing of what is to be removed.
        NotInCart = "not_in_cart" [],
        Dropped = "dropped" [],
        Cancelled = "cancelled" [] must ["order"],
        Settled = "settled" [],
        Offers = "offers" [],
        Offer = "offer" [] must ["code" "terms" "date"],
        NoOffers = "no_offers" [],
        OfferOn = "offer_on" ["terms"] must ["name" "price" "code" "total"],
        OfferNotOn = "offer_not_on" ["price"] must ["name" "code" "terms"],
        CouponApplied = "coupon_applied" [] must ["code" "discount" "total"],
        CouponUnknown = "coupon_unknown" [],
        CouponEnded = "coupon_ended" [],
        CouponBelow = "coupon_below" [] must ["amount"],
        CouponOther = "coupon_other" [],
        CouponKept = "coupon_kept" [] must ["code"],
        /// Nobody changes a price.
        PriceFixed = "price_fixed" [],
        Methods = "methods" [] must ["total"],
        Method = "method" [] must ["number" "method"],
        NoMethods = "no_methods" [],
        /// The order costs more than the ways to pay take.
        TooLarge = "too_large" [],
        NothingToPay = "nothing_to_pay" [],
        OwnNumber = "own_number" [] must ["phone"],
        MpesaStk = "mpesa_stk" [],
        MpesaC2b = "mpesa_c2b" [],
        Pesapal = "pesapal" [],
        AskPhone = "ask_phone" [],
        AskCardPhone = "ask_card_phone" [],
        ConfirmStk = "confirm_stk" [] must ["total" "order" "phone"],
        ConfirmC2b = "confirm_c2b" [] must ["total" "order"],
        ConfirmPesapal = "confirm_pesapal" [] must ["total" "order"],
        OtherNumber = "other_number" [] must ["total"],
        NotPaid = "not_paid" [],
        AskedStk = "asked_stk" [] must ["total" "phone"],
        AskedC2b = "asked_c2b" [] must ["paybill" "order" "total"],
        AskedUnknown = "asked_unknown" [] must ["phone"],
        AskedTill = "asked_till" [] must ["paybill" "total"],
        AskedPesapal = "asked_pesapal" [] must ["total"],
        AskedPage = "asked_page" [] must ["total" "page"],
        Sandbox = "sandbox" [],
        SandboxPaid = "sandbox_paid" [] must ["order" "total"],
        SandboxAccepted = "sandbox_accepted" [],
        SandboxFailed = "sandbox_failed" [],
        SandboxTimeout = "sandbox_timeout" [],
        StillWaiting = "still_waiting" [],
        CancelOnPhone = "cancel_on_phone" [],
        PayOpen = "pay_open" [],
        AlreadyPaid = "already_paid" [],
        PayReview = "pay_review" [],
        /// A PIN without a payment that waits for it.
        NoPayment = "no_payment" [],
        /// A PIN or the number of a card is not sent here.
        NeverSend = "never_send" [],
        /// The number of the paybill comes with the amount.
        PaybillLater = "paybill_later" [],
        ReceiptChecking = "receipt_checking" [] must ["receipt"],
        ReceiptUnknown = "receipt_unknown" [] must ["receipt"],
        ReceiptCounted = "receipt_counted" [] must ["receipt"],
        ResultPaid = "result_paid" [] must ["total" "order" "receipt"],
        ResultPaidPlain = "result_paid_plain" [] must ["total" "order"],
        ResultFailed = "result_failed" [] must ["order"],
        ResultTimeout = "result_timeout" [] must ["order"],
        ResultUnknown = "result_unknown" [] must ["order"],
        ResultReversed = "result_reversed" [] must ["order"],
        ResultProblem = "result_problem" [] must ["order"],
        Orders = "orders" [],
        Order = "order" [] must ["order" "status" "total" "goods"],
        NoOrders = "no_orders" [],
        /// There is still none: a person may look for it.
        StillNoOrders = "still_no_orders" [],
        StatusDraft = "status_draft" [],
        StatusPaid = "status_paid" [] must ["receipt"],
        StatusCancelled = "status_cancelled" [],
        PaymentPending = "payment_pending" [],
        PaymentFailed = "payment_failed" [],
        PaymentUnknown = "payment_unknown" [],
        PaymentReversed = "payment_reversed" [],
        Preferences = "preferences" [] must ["marketing" "notifications"],
        AskPreference = "ask_preference" [],
        On = "on" [],
        Off = "off" [],
        HandedOver = "handed_over" [] must ["minutes"],
        PersonCall = "person_call" ["hotline"],
        PersonWaiting = "person_waiting" [],
        AnswerTaken = "answer_taken" [],
        /// Nobody was called whom the customer could wait for.
        NobodyCalled = "nobody_called" [],
        /// The rules do not settle it: a person may.
        PersonDecides = "person_decides" [],
        /// The documents have no answer: a person may.
        NotKnown = "not_known" [],
        /// The reason of a rule is not known.
        ReasonUnknown = "reason_unknown" [],
        TryLater = "try_later" [],
        QuoteIntro = "quote_intro" [],
        Quote = "quote" ["title"] must ["text"],
    }
}
