//! What messages say, by the names that the rule files have for it.

use serde::{Deserialize, Serialize};

/// What a message says besides its intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::desks::commerce) enum Says {
    /// Wants to pay for the cart.
    Pay,
    /// Takes what is in the cart: "ok, I'll take it".
    Takes,
    SeeAll,
    /// None of what was shown.
    Reject,
    HowMuch,
    ShowCart,
    Remove,
    /// Keeps what it names: "remove everything except the boots".
    Except,
    /// One more thing for the cart.
    More,
    /// The number of a message is how many there are to be, not how many more.
    UpTo,
    /// In place of what was chosen.
    Instead,
    /// Exchanges goods for others: "swap the socks for a belt".
    Swaps,
    /// Changes some pieces of several: "make one of them black".
    Part,
    /// In the size or colour of the goods before: "same size".
    Same,
    /// Corrects an earlier message.
    Corrects,
    /// Goods of the kind that was talked about: "the leather ones".
    Ones,
    /// The number of a message counts pieces.
    Pieces,
    /// A number of the message is surely a count of pieces: "41 pairs".
    Counted,
    /// All pieces that the shop has.
    AllLeft,
    /// The number of a message is a size.
    Size,
    /// Bargains for a price.
    Haggle,
    /// Has no coupon.
    NoCoupon,
    /// The coupon that was talked about.
    UseCoupon,
    /// Asks what a coupon counts for.
    Covers,
    /// Asks when sold-out goods come back.
    Restock,
    /// Asks whether the payment arrived, or says that it was made.
    WentThrough,
    /// Asks why a payment failed, or whether money is gone.
    WhyFailed,
    /// Decides later: "let me ask her first".
    Postpones,
    /// Asks which colours or sizes there are.
    AsksChoices,
    /// Asks whether there is something: "do they come in green?".
    AsksStock,
    /// Wants something, also as a question: "can I get …?".
    Wants,
    /// Says yes in so many words, and not only "ok".
    Consents,
    /// Wants to see something cheaper.
    Cheaper,
    /// Asks for the goods with the lowest price.
    Cheapest,
    /// Asks for the goods with the highest price.
    Dearest,
    /// Wants the smallest size.
    Smallest,
    /// Wants the largest size.
    Largest,
    /// Asks for other goods of the same kind.
    Similar,
    /// Asks how goods differ, or which are better.
    Compares,
    /// Asks whether the goods that were talked about are so: "are they leather?".
    AsksIfSo,
    /// Asks for more than yes or no.
    AsksWhat,
    /// Asks how many pieces the shop has.
    HowMany,
    /// Asks for a picture.
    Picture,
    /// Only asks why.
    Why,
    /// Asks the same of another case: "and on the tenth day?".
    Follows,
    /// Asks whether to send a PIN or the details of a card.
    AsksSecret,
    /// Asks whether to send a number, which may be that of a card.
    SendsNumber,
    /// Asks for the number of the paybill or till.
    PaybillNumber,
    /// What follows holds for all goods of the message: "all size 39".
    ForAll,
    /// Names goods that stay in the cart: "I keep the sandals".
    Keeps,
    /// Has worn the goods, or lost the receipt.
    Excuse,
    /// Do it once more.
    Again,
    /// Waits for an answer.
    Waits,
    Frustrated,
    /// Something went wrong that a person must settle: charged twice, damaged goods.
    Wronged,
    /// Wants money back.
    Refund,
    /// Asks what the shop's rules are, such as "can I get a refund?".
    AsksRules,
    /// May be a complaint about what was bought.
    Dispute,
    /// Wants a paid order changed.
    ChangeOrder,
    MarketingOn,
    MarketingOff,
    NotificationsOn,
    NotificationsOff,
}

/// What a customer types at the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::desks::commerce) enum SandboxWish {
    Timeout,
    Cancel,
}
