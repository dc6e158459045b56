//! The parsed message: everything that one message of a customer says, before the desk looks at the conversation around it.
//!
//! A desk parses each message once and decides from the [`Utterance`] alone. What is particular to a desk are two enums: `I`,
//! what its customers can want (its intents), and `T`, what they ask, report and mention (its topics).

use std::collections::BTreeSet;

use super::social::Social;
use crate::domain::commerce::OrderNumber;
use crate::domain::identity::Contact;
use crate::domain::serial::PossibleSerial;
use crate::nlu::entities::Found;

/// One thing that a message does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Act<T> {
    /// Says hello.
    Greet,
    /// Says goodbye, and asks for nothing.
    Leave,
    /// Says goodbye, whatever else it says.
    Farewell,
    /// Complains or says that something is broken, whatever else it says.
    Complain,
    /// Refers to what was discussed before: "it", "this order".
    PointBack,
    /// Wants a person of the shop.
    WantPerson,
    /// Contains a question.
    Question,
    /// Contains a no, a "wait" or a "but", whatever else it says.
    Hesitate,
    /// Contains a yes that may be meant as its opposite: *dung* is *đúng*, *đừng* or *dừng*. Or the yes is next to an objection.
    Equivocate,
    /// Names two intents and chooses neither.
    LeaveOpen,
    /// Is nothing but an answer, a number or an address.
    OnlyAnswer,
    /// Says "ok", and nothing else.
    Acknowledge,
    /// Says thanks, agrees to nothing, and asks for nothing.
    Thank,
    /// Only fills a pause: polite words, or "one moment".
    Stall,
    /// Makes small talk, and wants nothing else.
    Chat(Social),
    /// Gives what the desk may have asked for.
    Provide(T),
    /// Asks about a topic.
    Ask(T),
    /// Asks the shop to do something.
    Request(T),
    /// Reports that something happened.
    Report(T),
    /// Contains the word for something.
    Mention(T),
}

/// How a message answers a question of the desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Yes,
    No,
    /// Stops whatever is going on: "never mind".
    Cancel,
    /// Do it again.
    Again,
}

/// The words of a message that wants some goods and keeps others: "everything except the socks".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptGoods {
    /// The rest of the message, which may name the goods that it wants.
    pub wanted: String,
    pub kept: String,
}

/// The entities that a message names, the surest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entities {
    pub orders: Vec<Found>,
    /// The number of a return or a ticket of the shop.
    pub shop_number: Option<OrderNumber>,
    /// E-mail addresses and phone numbers.
    pub contacts: Vec<Contact>,
    /// Words that may be serial numbers of goods, in the order of the message.
    pub serials: Vec<PossibleSerial>,
    /// How many pieces of goods the message names: "return 2 of the 3".
    pub pieces: Vec<u32>,
    /// The goods that the message keeps out of its wish. `None` if it keeps none.
    pub kept_goods: Option<KeptGoods>,
    /// The message may name an order in a way that the rules cannot read: "seven seven eight nine three".
    pub has_unread_order: bool,
}

/// A parsed message.
#[derive(Clone, Debug, PartialEq)]
pub struct Utterance<I, T> {
    /// The message, without words that name nothing.
    pub text: String,
    /// The part of the text that can explain a request, without contacts. Empty for a message that only answers.
    pub explanation: String,
    /// What the customer wants.
    pub intent: Option<I>,
    /// How sure the rules are of the intent, or that there is none: 0 to 1. For desks that weigh their words.
    pub confidence: f64,
    /// The names of the rules that matched, for the receipt. Never the customer's words.
    pub matched: Vec<String>,
    pub answer: Option<Answer>,
    /// The answer if the question was whether to cancel an order: "cancel it" is a yes there, and "keep it" a no.
    pub answer_to_cancel: Option<Answer>,
    /// The answer if the question was whether to open a ticket for a person: "open it" and "ask them" are a yes there.
    pub answer_to_ticket: Option<Answer>,
    pub entities: Entities,
    pub acts: BTreeSet<Act<T>>,
}

/// An utterance that says nothing.
impl<I, T> Default for Utterance<I, T> {
    fn default() -> Self {
        Self {
            text: String::new(),
            explanation: String::new(),
            intent: None,
            confidence: 0.0,
            matched: Vec::new(),
            answer: None,
            answer_to_cancel: None,
            answer_to_ticket: None,
            entities: Entities::default(),
            acts: BTreeSet::new(),
        }
    }
}

impl<I: Copy + PartialEq, T: Copy + Ord> Utterance<I, T> {
    /// Adds an act.
    #[must_use]
    pub fn with(mut self, act: Act<T>) -> Self {
        self.acts.insert(act);
        self
    }

    /// Adds or removes an act.
    pub fn set(&mut self, act: Act<T>, holds: bool) {
        if holds {
            self.acts.insert(act);
        } else {
            self.acts.remove(&act);
        }
    }

    pub fn affirms(&self) -> bool {
        self.answer == Some(Answer::Yes)
    }

    pub fn denies(&self) -> bool {
        self.answer == Some(Answer::No)
    }

    pub fn wants(&self, intent: I) -> bool {
        self.intent == Some(intent)
    }

    pub fn greets(&self) -> bool {
        self.does(Act::Greet)
    }

    pub fn says_farewell(&self) -> bool {
        self.does(Act::Farewell)
    }

    pub fn complains(&self) -> bool {
        self.does(Act::Complain)
    }

    pub fn says_goodbye(&self) -> bool {
        self.does(Act::Leave)
    }

    pub fn points_back(&self) -> bool {
        self.does(Act::PointBack)
    }

    pub fn wants_person(&self) -> bool {
        self.does(Act::WantPerson)
    }

    pub fn has_question(&self) -> bool {
        self.does(Act::Question)
    }

    pub fn hesitates(&self) -> bool {
        self.does(Act::Hesitate)
    }

    pub fn equivocates(&self) -> bool {
        self.does(Act::Equivocate)
    }

    pub fn leaves_open(&self) -> bool {
        self.does(Act::LeaveOpen)
    }

    pub fn only_answers(&self) -> bool {
        self.does(Act::OnlyAnswer)
    }

    pub fn acknowledges(&self) -> bool {
        self.does(Act::Acknowledge)
    }

    pub fn thanks(&self) -> bool {
        self.does(Act::Thank)
    }

    pub fn stalls(&self) -> bool {
        self.does(Act::Stall)
    }

    /// Returns the topic of a message that only makes small talk.
    pub fn social(&self) -> Option<Social> {
        self.acts.iter().find_map(|act| match act {
            Act::Chat(topic) => Some(*topic),
            _ => None,
        })
    }

    pub fn cancels(&self) -> bool {
        self.answer == Some(Answer::Cancel)
    }

    pub fn provides(&self, topic: T) -> bool {
        self.does(Act::Provide(topic))
    }

    pub fn asks(&self, topic: T) -> bool {
        self.does(Act::Ask(topic))
    }

    pub fn requests(&self, topic: T) -> bool {
        self.does(Act::Request(topic))
    }

    pub fn reports(&self, topic: T) -> bool {
        self.does(Act::Report(topic))
    }

    pub fn mentions(&self, topic: T) -> bool {
        self.does(Act::Mention(topic))
    }

    /// Returns the order number that the message names first.
    pub fn order(&self) -> Option<&Found> {
        self.entities.orders.first()
    }

    pub fn other_orders(&self) -> impl Iterator<Item = &OrderNumber> {
        self.entities.orders.iter().skip(1).map(|found| &found.number)
    }

    /// Returns the first e-mail address of the message, else its first phone number.
    pub fn contact(&self) -> Option<&Contact> {
        self.entities.contacts.first()
    }

    pub fn other_contact(&self) -> Option<&Contact> {
        self.entities.contacts.get(1)
    }

    /// Whether the message names an order or a contact.
    pub fn names_order_or_contact(&self) -> bool {
        self.order().is_some() || self.contact().is_some()
    }

    fn does(&self, act: Act<T>) -> bool {
        self.acts.contains(&act)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Spoken = Utterance<char, u8>;

    #[test]
    fn acts_are_told_apart_by_topic() {
        let spoken = Spoken::default().with(Act::Ask(1)).with(Act::Report(2));
        assert!(spoken.asks(1) && spoken.reports(2));
        assert!(!spoken.asks(2) && !spoken.reports(1) && !spoken.requests(1) && !spoken.mentions(2));
    }

    #[test]
    fn removed_act_is_gone() {
        let mut spoken = Spoken::default().with(Act::Greet).with(Act::WantPerson);
        spoken.set(Act::Greet, false);
        assert!(!spoken.greets() && spoken.wants_person());
    }
}
