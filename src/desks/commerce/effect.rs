//! The inputs and effects of the machine.

use super::said::Said;
use super::state::{PriceOrder, Question, Search, Shown, Wanted};
use super::texts::Text;
use super::tools::OrderView;
use crate::domain::commerce::policy::{Intent, Journey, Routing};
use crate::domain::commerce::sale::{CouponRefused, Offer};
use crate::domain::commerce::tenant::{EscalationRules, PaymentMethod};
use crate::domain::commerce::{CatalogItem, ItemId, Money, Sale, SaleId};
use crate::domain::identity::e164::E164;
use crate::domain::returns::Priority;
use crate::domain::{Language, PaymentId, string_enum};
use crate::store::sales::Placing;
use crate::store::shoppers::PreferenceChange;

/// A message of the customer with what is known about it.
#[derive(Clone, Debug)]
pub(super) struct Incoming {
    pub said: Said,
    pub intent: Intent,
    pub routing: Routing,
    /// The words that are in the names of the shop's goods.
    pub goods: Vec<String>,
    /// The last of them that names a kind of goods.
    pub kind: Option<String>,
    /// The goods that it names after the first ones.
    pub later: Vec<Search>,
    /// Whether the shop's goods have none of its words.
    pub is_strange: bool,
    /// What it also asks about the shop.
    pub question: Option<Question>,
    /// The code of a coupon that the message names.
    pub coupon: Option<String>,
    /// Whether the customer has a paid order.
    pub has_bought: bool,
    /// Whether the channel knows the customer's number.
    pub knows_number: bool,
    /// Whether the conversation waits for a person.
    pub is_waiting: bool,
    /// Whether the message was sent before the desk's last reply.
    pub is_earlier: bool,
    /// Whether a person's question got the message as its answer.
    pub answers_person: bool,
    pub rules: EscalationRules,
    /// The first topic of the message that the shop leaves to people.
    pub topic: Option<String>,
    /// Only asked for another language.
    pub switched_to: Option<Language>,
}

impl Incoming {
    /// Whether the message names goods of the shop.
    pub fn names_goods(&self) -> bool {
        !self.goods.is_empty()
    }

    /// Whether the message is surely about goods.
    pub fn is_sale(&self) -> bool {
        self.routing == Routing::Journey(Journey::Sales)
    }
}

/// An input of the machine.
#[derive(Clone, Debug)]
pub(super) enum Event {
    Message(Box<Incoming>),
    Found {
        items: Vec<CatalogItem>,
        total: usize,
        confidence: f64,
        /// The words that found them, if they are not those of the message.
        words: Option<Vec<String>>,
    },
    Item(Option<Box<CatalogItem>>),
    /// The rows of goods to compare.
    Compared(Vec<CatalogItem>),
    /// What the shop's offers make of the price of an item.
    OffersOn(Box<CatalogItem>, Vec<OnOffer>),
    Ordered(Placing),
    Offers(Vec<Offer>),
    Coupon(Result<Box<Sale>, CouponRefused>),
    /// The ways to pay, and the one that the customer named.
    Methods(Vec<PaymentMethod>, Option<PaymentMethod>),
    Began(Began),
    Orders(Vec<OrderView>),
    /// Whether the documents had an answer, which was sent.
    Answered(bool),
    /// The same of a question next to something else.
    AnsweredAside(bool),
    Ticket,
    Preferences,
    /// Something was said that needs no answer.
    Said,
    /// Whether the cart's order could be given up.
    Cancelled(bool),
    /// A tool failed.
    Failed,
}

/// An offer, and its discount on some goods.
pub(super) type OnOffer = (Offer, Result<Money, CouponRefused>);

/// What became of the wish to pay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Began {
    Asked(PaymentId),
    /// The provider refused at once; the result follows as a message.
    Refused(PaymentId),
    /// The provider could not be asked, so that the payment has failed; the result follows as a message.
    Unavailable(PaymentId),
    /// The order costs something else by now, or its prices hold no longer.
    Changed,
    /// Another payment of the order is open.
    Open,
    /// Money arrived for the order, and the shop decides what follows.
    Review,
    Paid,
}

/// What the machine wants done. The tools are called by those that have a result.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Effect {
    Say(Line),
    Search(Search),
    /// Finds the best match of each search, to compare them.
    FindEach(Vec<Search>),
    GetItem(ItemId),
    Compare(Vec<ItemId>),
    PlaceOrder,
    CancelOrder,
    ListOffers,
    CheckOffers(Box<CatalogItem>),
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
        question: Question,
        why: Asking,
    },
    CallPerson {
        reason: Reason,
        priority: Priority,
    },
    ChangePreferences(PreferenceChange),
}

/// Why the documents are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asking {
    /// The customer asks about the shop.
    Question,
    /// The customer asks next to something else.
    Aside,
    /// Nothing else understands the message.
    LastResort,
}

string_enum! {
    /// Why a person takes over, as the ticket says it.
    pub enum Reason {
        Asked = "the customer asks for a person",
        Dispute = "a dispute, a refund or a complaint about a delivery",
        OrderChange = "the customer wants an order changed",
        NoAnswer = "the documents have no answer",
        ToolErrors = "tools failed repeatedly",
        Clarifications = "questions did not help",
        Topic = "a topic that the shop leaves to people",
        Frustrated = "the customer is frustrated",
        Abuse = "abusive messages",
        Payments = "the shop takes no payments yet",
        FreeOrder = "an order that costs nothing needs to be confirmed",
    }
}

/// Something that the desk says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Line {
    /// A text without values.
    Plain(Text),
    Welcome,
    Assistant,
    Redirect,
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
    /// The item comes in what the customer asked for.
    Available(Wanted),
    /// What is known of each of several items.
    Compare(Vec<Wanted>, Known),
    /// What is known of an item in the cart.
    About(Wanted, Known),
    /// What is known of the item.
    Details(Wanted, Known),
    /// What several pieces of the item cost.
    Sum(Wanted),
    /// How many pieces of the item there are.
    Left(Wanted),
    /// Goods sorted by price.
    Ranked(Vec<Shown>, PriceOrder),
    AskChoices(Wanted),
    /// Names the item and what is not chosen of it yet.
    StillMissing(Wanted),
    NoSuchChoice {
        item: CatalogItem,
        choice: String,
    },
    SoldOut(String),
    Stock {
        name: String,
        left: u32,
    },
    Cart {
        sale: Box<Sale>,
        offers: Vec<Offer>,
        /// Whether the ways to pay follow.
        is_paid_next: bool,
    },
    /// This order is cancelled.
    Cancelled(SaleId),
    Offers(Vec<Offer>),
    /// What the offers make of the price of an item.
    OffersOn(Wanted, Vec<OnOffer>),
    CouponApplied {
        code: String,
        sale: Box<Sale>,
    },
    CouponRefused(CouponRefused),
    /// The coupon counts as soon as there is an order.
    CouponKept(String),
    Methods {
        methods: Vec<PaymentMethod>,
        total: Money,
    },
    /// The prompt goes only to the number of the conversation.
    OwnNumber(E164),
    Confirm {
        method: PaymentMethod,
        sale: Box<Sale>,
        phone: Option<E164>,
    },
    /// A yes came with another number than this amount.
    OtherNumber(Money),
    /// How to pay, after the provider was asked.
    Asked,
    Orders(Vec<OrderView>),
    PreferencesAre,
    HandedOver,
    /// There are no pictures here.
    NoPicture {
        link: Search,
    },
}

/// How what is known of goods answers a question about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Yes,
    No,
    /// The question is no yes-or-no question, and what is known answers it.
    Plain,
    /// What is known may not answer it.
    Unknown,
}
