//! The desk's state between turns.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::said::Details;
use crate::domain::PaymentId;
use crate::domain::commerce::policy::{Governed, Journey};
use crate::domain::commerce::tenant::{EscalationRules, PaymentMethod};
use crate::domain::commerce::{CartLine, CatalogItem, ItemId, Money, Sale};
use crate::domain::identity::e164::E164;
use crate::domain::text::words;

pub(super) use wanted::Wanted;

mod wanted;

/// The version of [`ConversationState`]. A state of another version is not read: the conversation begins again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Version(u32);

/// The conversation as the desk knows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ConversationState {
    pub version: Version,
    pub stage: Stage,
    /// The goods that were listed last, in their order: "2" is the second.
    pub options: Vec<Shown>,
    pub search: Option<Search>,
    /// The goods that a message named after the first ones, to be looked for next.
    #[serde(default)]
    pub later: Vec<Search>,
    /// The goods that are looked for now were named after others.
    #[serde(default)]
    pub is_later: bool,
    /// What the customer asked about the shop next to something else.
    #[serde(default)]
    pub question: Option<Question>,
    /// What the last question about the shop was about.
    #[serde(default)]
    pub asked: Vec<String>,
    /// The desk has already replied that it found no order of this customer.
    #[serde(default)]
    pub has_no_order: bool,
    /// The words of the goods that were named last, whatever the message asked.
    #[serde(default)]
    pub topic: Vec<String>,
    /// The last item that the customer asked for is sold out.
    #[serde(default)]
    pub was_sold_out: bool,
    /// The message asks what an item is like, as of this turn.
    #[serde(skip)]
    pub asks_details: bool,
    /// The message only asks whether there is something, as of this turn.
    #[serde(skip)]
    pub only_asks: bool,
    /// The message asks what several pieces cost, as of this turn.
    #[serde(skip)]
    pub asks_sum: bool,
    /// The message asks how many pieces there are, as of this turn.
    #[serde(skip)]
    pub asks_left: bool,
    /// What a question asks of the goods of a list, as of this turn.
    #[serde(skip)]
    pub asked_of_list: AskedOfList,
    /// The customer decides later, as of this turn.
    #[serde(skip)]
    pub postpones: bool,
    /// The words and numbers of the last message that may be variants and quantities.
    pub details: Details,
    /// Lists that were rejected one after another.
    pub rejections: u8,
    pub cart: Vec<CartLine>,
    /// The item that was put into the cart last, to read what a later message changes of it.
    pub last: Option<Wanted>,
    /// The items that were put into the cart before it.
    #[serde(default)]
    pub earlier: Vec<Wanted>,
    /// The next item replaces the last one of the cart.
    pub replaces: bool,
    /// The order that the cart became.
    pub order: Option<Sale>,
    /// The payment that the customer was asked for last. It stays open while another cart is filled.
    pub paying: Option<Paying>,
    /// The way to pay that the customer has chosen: a changed cart leads back to it.
    pub method: Option<PaymentMethod>,
    /// The customer wants to pay, and the choices of an item are missing: paying follows them.
    #[serde(default)]
    pub pays_next: bool,
    /// The coupon that the customer named last.
    pub coupon: Option<String>,
    /// The coupon is for an order that is not made yet.
    pub wants_coupon: bool,
    /// The number that may be asked to pay: of the channel, else the one that the customer gave.
    pub phone: Option<E164>,
    pub governed: Governed,
    /// Questions that did not help, failed tools, and unsolved turns of a frustrated customer, each in a row.
    pub clarifications: u8,
    pub tool_errors: u8,
    pub unresolved: u8,
    pub has_introduced: bool,
    /// The customer is asked whether a person should take over.
    pub offers_person: bool,
    /// The part of the desk that answered last.
    pub journey: Journey,
    /// The shop's rules for a handoff, as of this turn.
    #[serde(skip)]
    pub rules: EscalationRules,
    /// Whether the conversation waits for a person, as of this turn.
    #[serde(skip)]
    pub is_waiting: bool,
}

/// Where the sale stands. Each stage holds only what it knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "name")]
pub(super) enum Stage {
    #[default]
    Idle,
    /// The customer is asked what they look for.
    Narrow,
    /// A list was shown.
    Options,
    /// One item was shown, and the customer is asked whether to take it.
    Item { line: Wanted },
    /// Choices are missing.
    Disambiguate { line: Wanted },
    /// The cart was shown with its total.
    Draft,
    /// The customer is asked for a coupon's code.
    Offers,
    /// The ways to pay were listed.
    Method { methods: Vec<PaymentMethod> },
    /// The customer is asked for the number to pay from.
    Phone { method: PaymentMethod },
    /// The customer is asked to confirm this amount.
    ConfirmAmount { method: PaymentMethod, amount: Money },
    /// The customer is asked to pay.
    Paying,
    /// The order is paid.
    Done,
    /// Money arrived or went back, and the shop decides what follows.
    Review,
}

/// A payment of which the end is not known, with its order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Paying {
    pub payment: PaymentId,
    pub order: Sale,
    /// The goods of the cart, for changes after a payment that failed.
    #[serde(default)]
    pub last: Option<Wanted>,
    #[serde(default)]
    pub earlier: Vec<Wanted>,
}

/// An item of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Shown {
    pub id: ItemId,
    pub name: String,
    pub price: Money,
    pub is_sold_out: bool,
}

/// What a question asks of the goods of a list: "which one is leather?", "which is good for rain?"
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AskedOfList {
    /// What the goods must have: materials, sizes, colours, and words of their names.
    pub values: Vec<String>,
    /// Words that the row of the meant goods may have.
    pub hints: Vec<String>,
}

/// A search in the catalogue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Search {
    pub words: Vec<String>,
    pub category: Option<String>,
    /// In shillings.
    pub least: Option<i64>,
    pub most: Option<i64>,
    /// Everything is to be seen.
    pub sees_all: bool,
    /// The message only asks about the goods.
    pub is_question: bool,
    /// The goods that are not wanted.
    #[serde(default)]
    pub without: Vec<String>,
    /// What the offers make of the price is to be seen.
    #[serde(default)]
    pub with_offers: bool,
    /// The goods are sorted by price.
    #[serde(default)]
    pub order: Option<PriceOrder>,
    /// The item to which others, or of which the page, are to be found.
    #[serde(default)]
    pub similar_to: Option<ItemId>,
    /// The choices that the message names: they hold for the item that is picked.
    pub details: Details,
}

/// An order of goods by price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PriceOrder {
    Cheapest,
    Dearest,
}

/// The subject of a question about the offers.
pub(super) const OFFERS: &str = "offers";

/// A question about the shop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Question {
    /// Empty if only its subject is known.
    pub text: String,
    /// What it is about, by the names that the rules have for it.
    pub subjects: Vec<String>,
}

impl Default for Version {
    fn default() -> Self {
        Self(2)
    }
}

/// Whether a conversation has a stored state.
pub(super) fn has_state(stored: &Value) -> bool {
    !stored.is_null() && stored.as_object().is_none_or(|state| !state.is_empty())
}

impl ConversationState {
    /// Reads a stored state. A new conversation begins where there is none; the flag says that one was there and could not be read.
    pub fn read(stored: &Value) -> (Self, bool) {
        match Self::deserialize(stored) {
            Ok(state) if state.version == Version::default() => (state, false),
            _ => (Self::default(), has_state(stored)),
        }
    }

    /// Forgets the sale. A payment that was begun stays known.
    pub fn clear_sale(&mut self) {
        self.clear_cart();
        (self.stage, self.order, self.search) = (Stage::Idle, None, None);
        self.options.clear();
    }

    /// Forgets the cart. The order stays known until it is cancelled.
    pub fn clear_cart(&mut self) {
        self.cart.clear();
        self.later.clear();
        self.earlier.clear();
        (self.last, self.replaces, self.method, self.pays_next) = (None, false, None, false);
        self.stage = Stage::Narrow;
    }

    /// Puts the order aside while it is paid, so that the next goods make another one.
    pub fn begin_paying(&mut self, payment: PaymentId) {
        if let Some(order) = self.order.take() {
            let (last, earlier) = (self.last.take(), std::mem::take(&mut self.earlier));
            self.clear_cart();
            self.paying = Some(Paying { payment, order, last, earlier });
        }
        self.stage = Stage::Paying;
    }

    /// Continues with the order of a payment that failed, unless the customer has begun another one.
    pub fn stop_paying(&mut self, methods: Vec<PaymentMethod>) {
        let Some(paying) = self.paying.take() else { return };
        if self.order.is_none() && self.cart.is_empty() {
            self.cart = paying.order.cart();
            (self.last, self.earlier) = (paying.last, paying.earlier);
            self.order = Some(paying.order);
            if self.stage == Stage::Paying {
                self.stage = Stage::Method { methods };
            }
        }
    }

    /// The way to pay that an amount is asked for, or that a changed cart leads back to.
    pub fn chosen_method(&self) -> Option<PaymentMethod> {
        match &self.stage {
            Stage::ConfirmAmount { method, .. } => Some(*method),
            _ => self.method,
        }
    }

    /// Takes the wish to pay that a completed cart leads back to, with the way to pay if it is chosen.
    pub fn take_payment(&mut self) -> Option<Option<PaymentMethod>> {
        let (method, pays) = (self.method.take(), std::mem::take(&mut self.pays_next));
        (pays || method.is_some()).then_some(method)
    }

    /// Whether goods were shown, chosen or ordered, and are not paid yet.
    pub fn is_selling(&self) -> bool {
        !matches!(self.stage, Stage::Idle | Stage::Narrow | Stage::Offers | Stage::Done | Stage::Review)
    }

    /// Returns the kind of goods that the conversation is about: the last word of the item's name.
    pub fn kind(&self) -> Option<String> {
        let item = self.item().or(self.last.as_ref())?;
        words(&item.item.name).pop()
    }

    /// The item that the conversation is about.
    pub fn item(&self) -> Option<&Wanted> {
        match &self.stage {
            Stage::Item { line } | Stage::Disambiguate { line } => Some(line),
            _ => None,
        }
    }
}

impl Stage {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Narrow => "narrow",
            Self::Options => "options",
            Self::Item { .. } => "item",
            Self::Disambiguate { .. } => "disambiguate",
            Self::Draft => "draft",
            Self::Offers => "offers",
            Self::Method { .. } => "method",
            Self::Phone { .. } => "phone",
            Self::ConfirmAmount { .. } => "confirm_amount",
            Self::Paying => "paying",
            Self::Done => "done",
            Self::Review => "review",
        }
    }
}

impl From<&CatalogItem> for Shown {
    fn from(item: &CatalogItem) -> Self {
        let CatalogItem { id, name, price, stock, .. } = item;
        Self { id: id.clone(), name: name.clone(), price: *price, is_sold_out: *stock == 0 }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unreadable_state_begins_again() {
        let state = ConversationState { stage: Stage::Draft, rejections: 1, ..ConversationState::default() };
        let stored = serde_json::to_value(&state).expect("JSON");
        assert_eq!(ConversationState::read(&stored), (state, false));
        assert_eq!(ConversationState::read(&json!({})), (ConversationState::default(), false));
        assert_eq!(ConversationState::read(&json!(null)), (ConversationState::default(), false));
        let mut other_version = stored.clone();
        other_version["version"] = json!(Version::default().0 + 1);
        let mut broken = stored;
        broken["stage"] = json!({"name": "unheard_of"});
        for bad in [other_version, broken, json!({"version": Version::default()})] {
            assert_eq!(ConversationState::read(&bad), (ConversationState::default(), true));
        }
    }
}
