//! The inputs and effects of the machine.

use super::said::Said;
use super::state::{Search, Shown, StoredItem, Wanted};
use super::tools::OrderView;
use crate::domain::commerce::policy::Routing;
use crate::domain::commerce::sale::{CannotOrder, CouponRefused, Offer};
use crate::domain::commerce::tenant::{EscalationRules, PaymentMethod};
use crate::domain::commerce::{CatalogItem, Money, Sale, SaleId};
use crate::domain::identity::e164::E164;
use crate::domain::returns::Priority;
use crate::domain::{Language, PaymentId};
use crate::store::shoppers::PreferenceChange;

/// A message of the customer with what is known about it.
#[derive(Clone, Debug)]
pub(super) struct Heard {
    pub said: Said,
    pub routing: Routing,
    pub rules: EscalationRules,
    /// The first topic of the message that the shop leaves to people.
    pub topic: Option<String>,
    /// Only asked for another language.
    pub switched_to: Option<Language>,
}

/// An input of the machine.
#[derive(Clone, Debug)]
pub(super) enum Event {
    Heard(Box<Heard>),
    Found {
        items: Vec<CatalogItem>,
        total: usize,
        confidence: f64,
    },
    Item(Option<Box<CatalogItem>>),
    Ordered(Result<Box<Sale>, OrderProblem>),
    Offers(Vec<Offer>),
    Coupon(Result<Box<Sale>, CouponRefused>),
    /// The ways to pay, and the one that the customer named.
    Methods(Vec<PaymentMethod>, Option<PaymentMethod>),
    Began(Began),
    Orders(Vec<OrderView>),
    /// Whether the documents had an answer, which was sent.
    Answered(bool),
    Ticket,
    Preferences,
    /// Something was said that needs no answer.
    Said,
    /// The cart was given up.
    Cancelled,
    /// A tool failed.
    Failed,
}

/// Why a cart is no order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OrderProblem {
    Refused(CannotOrder),
    /// The order is being paid, or is paid.
    Settled,
}

/// What became of the wish to pay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Began {
    Asked {
        payment: PaymentId,
    },
    /// The provider refused at once; the result follows as a message.
    Refused {
        payment: PaymentId,
    },
    /// The order costs something else by now, or its prices hold no longer.
    Changed,
    /// Another payment of the order is open.
    Open,
    Paid,
}

/// What the machine wants done. The tools are called by those that have a result.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Effect {
    Say(Line),
    Search(Search),
    GetItem(crate::domain::commerce::ItemId),
    PlaceOrder,
    CancelOrder,
    ListOffers,
    ApplyCoupon(String),
    ListMethods(Option<PaymentMethod>),
    /// Only after a clear yes to exactly this amount.
    Pay {
        method: PaymentMethod,
        amount: Money,
        phone: Option<E164>,
    },
    GetOrders(Option<SaleId>),
    Answer {
        text: String,
    },
    CallPerson {
        reason: Reason,
        priority: Priority,
    },
    ChangePreferences(PreferenceChange),
}

/// Why a person takes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    Asked,
    Dispute,
    OrderChange,
    NoAnswer,
    ToolErrors,
    Clarifications,
    Topic,
    Frustrated,
    Abuse,
    Payments,
}

/// Something that the desk says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Line {
    Welcome,
    Restarted,
    Thanks,
    Goodbye,
    Assistant,
    SmallTalk,
    Redirect,
    AskNeed,
    /// Asks which of the likely things the customer means.
    Clarify,
    Unclear,
    TakeTime,
    LanguageAck,
    NothingFound {
        words: String,
        with_link: bool,
    },
    Options {
        items: Vec<Shown>,
        total: usize,
        link: Option<Search>,
    },
    /// Lists the same goods once more.
    SameOptions(Vec<Shown>),
    AskDifferent {
        link: Option<Search>,
    },
    Item(Wanted),
    Details(Wanted),
    AskChoices(Wanted),
    NoSuchChoice {
        item: StoredItem,
        number: u64,
    },
    SoldOut(String),
    Stock {
        name: String,
        left: u32,
    },
    TooMany,
    Cart {
        sale: Box<Sale>,
        offers: Vec<Offer>,
    },
    PriceChanged,
    NextStep,
    EmptyCart,
    Dropped,
    Settled,
    Offers(Vec<Offer>),
    NoOffers,
    CouponApplied {
        code: String,
        sale: Box<Sale>,
    },
    CouponRefused(CouponRefused),
    Methods {
        methods: Vec<PaymentMethod>,
        total: Money,
    },
    NoMethods,
    AskPhone,
    AskCardPhone,
    Confirm {
        method: PaymentMethod,
        sale: Box<Sale>,
        phone: Option<E164>,
    },
    NotPaid,
    Asked {
        payment: PaymentId,
    },
    StillWaiting,
    PayOpen,
    AlreadyPaid,
    Orders(Vec<OrderView>),
    NoOrders,
    CancelOnPhone,
    PreferencesAre,
    AskPreference,
    HandedOver,
    TryLater,
    OfferPerson,
    Sorry,
}
