//! What a message asks about, requests, reports and mentions, and what is left of it once a question in it is answered.

use super::super::state::Intent;
use super::Utterance;
use super::file::AsideLists;
use crate::dialogue::utterance::Entities;
use crate::dialogue::{Act, Answer};
use crate::domain::text::{TokenStream, any_match};

/// What customers of this desk ask about, request, report and mention, apart from their intents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// How the shop does things, in general: "how long do I have to return something?"
    Policy,
    /// An exception from the rules.
    Exception,
    /// How a return or a refund is going.
    ReturnStatus,
    /// The number of the return that was made.
    ReturnNumber,
    /// How long the goods of an order may still come back.
    Deadline,
    /// How much money comes back.
    Amount,
    /// The money of a refund has not arrived.
    MissingMoney,
    /// What became of a ticket.
    Ticket,
    /// The label of a return, again.
    Label,
    /// The mail about a return did not arrive.
    MissingMail,
    /// Goods are damaged.
    Damage,
    /// Cancelling an order.
    Cancellation,
    /// Sending goods back, by a verb: "return it". Requested: a clear instruction, which is a yes where the desk offered a return.
    /// Asked: a case that is only supposed, "if I wore them, can they go back?".
    Return,
    /// Some pieces of an item: "one of the two".
    SomePieces,
    /// Another order than the named one.
    OtherOrder,
    /// The first order of the conversation.
    FirstOrder,
    /// What the desk asks for is missing: "I don't have it".
    MissingDetail,
    /// The contact of the order is missing.
    MissingContact,
    /// What the desk needs a detail for.
    Purpose,
    /// That nothing came.
    NothingCame,
    /// Why something is so.
    Reason,
    /// How long the goods may come back, in days.
    Window,
    /// When the parcel arrives.
    Arrival,
    /// The carrier and the tracking number.
    Tracking,
    /// What the goods of an order cost.
    Price,
    /// What the desk has done so far, such as which order is cancelled.
    Changes,
    /// What the shop sells, which no document of this desk describes.
    Assortment,
    /// The label does not open any more.
    BrokenLabel,
}

impl AsideLists {
    /// Returns what a short question asks of the order or the decision in talk: "which carrier?", "why not?", "when does it come?".
    /// "I thought it was 30 days" asks without being one, and "cancel the first one" may be none.
    pub(super) fn facts(&self, stream: &TokenStream<'_>, has_question: bool) -> Vec<Act<Topic>> {
        // A reason and a window are known only in some conversations, so the examples may understand such a question in another way.
        let lists = [
            (Act::Mention(Topic::Window), &self.window, true),
            (Act::Mention(Topic::FirstOrder), &self.first_order, true),
            (Act::Mention(Topic::Reason), &self.reason, has_question),
            (Act::Ask(Topic::Arrival), &self.arrival, has_question && !any_match(&self.no_arrival, stream, &[])),
            (Act::Ask(Topic::Tracking), &self.tracking, has_question),
            (Act::Ask(Topic::Price), &self.price, has_question),
            (Act::Ask(Topic::Changes), &self.changes, has_question),
            (Act::Ask(Topic::Assortment), &self.assortment, has_question),
        ];
        let matching = lists.into_iter().filter(|(_, patterns, counts)| *counts && any_match(patterns, stream, &[]));
        matching.map(|(act, ..)| act).collect()
    }
}

/// Returns what is left of a message once its general question is answered: a yes or a "never mind" with what belongs to it, damage
/// that it names as well, or a wish if `keeps_wish`, and how many pieces come back. Nothing else in it answers what the desk asked
/// before.
#[must_use]
pub fn without_question(mut utterance: Utterance, keeps_wish: bool) -> Utterance {
    let answers = [utterance.answer, utterance.answer_to_cancel, utterance.answer_to_ticket];
    if utterance.cancels() || answers.contains(&Some(Answer::Yes)) {
        utterance.set(Act::Ask(Topic::Policy), false);
        utterance.set(Act::Question, false);
        return utterance;
    }
    let (reports_damage, equivocates) = (utterance.reports(Topic::Damage), utterance.equivocates());
    let wish = utterance.intent.filter(|intent| *intent != Intent::Other && keeps_wish);
    let intent = if reports_damage { Some(Intent::Return) } else { wish };
    let some_pieces = utterance.mentions(Topic::SomePieces);
    let pieces = std::mem::take(&mut utterance.entities.pieces);
    let kept_goods = utterance.entities.kept_goods.take();
    if intent.is_none() && pieces.is_empty() && !some_pieces {
        return Utterance::default();
    }
    let Utterance { text, explanation, .. } = utterance;
    let entities = Entities { pieces, kept_goods, ..Entities::default() };
    let mut rest = Utterance { text, explanation, intent, entities, ..Utterance::default() };
    rest.set(Act::Mention(Topic::SomePieces), some_pieces);
    rest.set(Act::Report(Topic::Damage), reports_damage);
    rest.set(Act::Equivocate, equivocates);
    rest
}
