//! Messages that mean the same at every stage of the conversation.

use super::advance::Next;
use super::effect::{Effect, Incoming, Line};
use super::rules::Says;
use super::said::LARGEST_SIZE;
use super::state::{ConversationState, Question, Search, Stage};
use super::texts::Text;
use super::{sales, support};
use crate::domain::commerce::policy::{Intent, Journey, Routing};
use crate::domain::commerce::tenant::PaymentMethod;
use crate::domain::text::words;

/// Says a line, and repeats what the desk asked.
pub(super) fn say_and_remind(state: ConversationState, line: Line) -> Next {
    let lines = std::iter::once(line).chain(sales::reminder(&state));
    let effects = lines.map(Effect::Say).collect();
    (state, effects)
}

/// Says that there are no pictures, with a link to the goods: those that are named, else those that are talked about.
fn no_picture(state: ConversationState, incoming: &Incoming) -> Next {
    let item = state.item().or(state.last.as_ref()).map(|wanted| &wanted.item);
    let link = match item {
        _ if incoming.names_goods() => Search { words: incoming.said.sought.clone(), ..Search::default() },
        Some(item) => Search { words: words(&item.name), similar_to: Some(item.id.clone()), ..Search::default() },
        None => Search::default(),
    };
    say_and_remind(state, Line::NoPicture { link })
}

/// Answers messages that mean the same at every stage: the answer to a person's question, why a payment failed, "let me ask her first",
/// when sold-out goods come back, and goods that may not be returned.
pub(super) fn answer_at_every_stage(
    mut state: ConversationState,
    incoming: &Incoming,
    (was_sold_out, asked): (bool, &[String]),
) -> Result<Next, Box<ConversationState>> {
    let said = &incoming.said;
    if incoming.answers_person && !incoming.wants_more_than_answer() {
        return Ok(say_and_remind(state, Line::Plain(Text::AnswerTaken)));
    }
    let is_paying = matches!(state.stage, Stage::Paying | Stage::Done | Stage::Review);
    // The order's status names the last payment.
    if let Some(order) = state.order.as_ref().filter(|_| said.says(Says::WhyFailed) && !is_paying) {
        let effects = vec![Effect::GetOrders(Some(order.id.clone()))];
        return Ok((state, effects));
    }
    let is_asking = matches!(state.stage, Stage::ConfirmAmount { .. });
    if said.says(Says::Restock) && was_sold_out && !is_asking {
        return Ok(support::restock_unknown(state));
    }
    if said.says(Says::Picture) && !is_paying {
        return Ok(no_picture(state, incoming));
    }
    if said.says(Says::PaybillNumber) && !is_paying && said.utterance.has_question() {
        return Ok(match state.order {
            Some(_) => sales::to_payment(state, Some(PaymentMethod::MpesaC2b)),
            None => (state, vec![Effect::Say(Line::Plain(Text::PaybillLater))]),
        });
    }
    // "What is the total, with delivery to Kasarani?"
    if said.is_about("delivery") && said.says(Says::ShowCart) && state.order.is_some() && !is_asking && !is_paying {
        state.question = Some(Question { text: String::new(), subjects: vec!["delivery_cost".to_owned()] });
        return Ok(sales::show_cart(state));
    }
    if said.says(Says::Why) && !asked.is_empty() && !is_asking && !state.is_waiting {
        state.offers_person = true;
        return Ok((state, vec![Effect::Say(Line::Plain(Text::ReasonUnknown))]));
    }
    // "And on the tenth day?", after a question about returns.
    let is_unknown = matches!(incoming.routing, Routing::Unknown | Routing::Clarify) && !incoming.names_goods();
    if is_unknown
        && said.utterance.has_question()
        && said.subjects.is_empty()
        && state.item().is_none()
        && let Some(subject) = asked.first().filter(|_| said.says(Says::Follows))
    {
        return Ok(support::ask_more(state, subject));
    }
    if said.says(Says::Excuse) && !is_asking && (said.is_about("exchange") || asked.iter().any(|of| of == "exchange")) {
        let is_first = asked.is_empty();
        let question = Question { text: String::new(), subjects: vec!["exchange".to_owned()] };
        (state.offers_person, state.question) = (true, is_first.then_some(question));
        return Ok((state, vec![Effect::Say(Line::Plain(Text::PersonDecides))]));
    }
    // "2,900 is a bit much, let me think about it."
    let has_number = said.details.numbers.iter().any(|number| *number < LARGEST_SIZE);
    let decides = incoming.names_goods() || has_number || said.utterance.has_question();
    let decides = decides || said.says(Says::Remove);
    // "It's been two weeks, but never worn", after a question about returns: the customer's case.
    let is_unsure =
        is_unknown || said.clear_intents().is_empty() && incoming.routing == Routing::Journey(Journey::Orders);
    let is_of_case = asked.iter().any(|of| of == "exchange") && !said.utterance.only_answers();
    let is_story = !incoming.names_goods() && !said.utterance.has_question() && !said.says(Says::Wants);
    let is_story = is_story && !state.is_selling();
    if is_unsure && is_of_case && is_story && !state.postpones && !state.is_waiting && !said.utterance.stalls() {
        state.offers_person = true;
        return Ok((state, vec![Effect::Say(Line::Plain(Text::PersonDecides))]));
    }
    if state.postpones && !decides && !said.utterance.cancels() && !is_paying && !state.is_waiting {
        let is_payment = is_asking || matches!(state.stage, Stage::Method { .. } | Stage::Phone { .. });
        if is_payment {
            state.stage = Stage::Draft;
        }
        let line = if is_payment { Line::Plain(Text::NotPaid) } else { Line::Plain(Text::TakeTime) };
        return Ok((state, vec![Effect::Say(line)]));
    }
    Err(Box::new(state))
}

impl Incoming {
    /// Whether a question of which the meaning is not sure seems to be about the shop.
    pub(super) fn is_about_shop(&self) -> bool {
        !self.names_goods() && matches!(self.intent, Intent::SupportQuestion | Intent::PaymentHelp)
    }

    /// Whether the message only states what was bought or paid.
    pub(super) fn describes_order(&self) -> bool {
        let said = &self.said;
        let wants = [Says::Wants, Says::More, Says::AsksStock].into_iter().any(|says| said.says(says));
        let wants = wants || said.clear_intents().contains(&Intent::SalesDiscovery) || said.utterance.has_question();
        !wants && said.says(Says::WentThrough)
    }

    /// Whether a message that waits also asks for goods, or about the shop: "while I wait, where are you?"
    pub(super) fn asks_else_of_shop(&self) -> bool {
        let subjects = ["place", "payment", "exchange", "delivery_cost", "delivery_area"];
        let is_about = subjects.into_iter().any(|subject| self.said.is_about(subject));
        self.names_goods() || (is_about && self.routing == Routing::Journey(Journey::Support))
    }

    /// Whether the message wants something that the shop does not have.
    pub(super) fn wants_unknown_goods(&self) -> bool {
        let wants = [Says::More, Says::Wants, Says::AsksStock].into_iter().any(|says| self.said.says(says));
        self.is_strange && wants && self.said.subjects.is_empty()
    }

    /// Whether a message that answers a person also asks the desk for something.
    fn wants_more_than_answer(&self) -> bool {
        let said = &self.said;
        said.utterance.has_question() || !said.clear_intents().is_empty() || self.asks_else()
    }

    /// Whether the message surely wants something else than what a person was called for.
    pub(super) fn asks_else(&self) -> bool {
        let complains = [Says::Dispute, Says::Wronged, Says::Refund, Says::ChangeOrder, Says::WentThrough];
        let is_routed = matches!(self.routing, Routing::Journey(Journey::Orders | Journey::Offers | Journey::Prefs));
        is_routed && !complains.into_iter().any(|says| self.said.says(says))
    }

    /// Whether a message with unknown words surely asks for goods, and not about the shop.
    pub(super) fn seeks_goods(&self) -> bool {
        let said = &self.said;
        let wishes = [Says::Wants, Says::More, Says::AsksStock, Says::SeeAll, Says::Similar];
        let is_clear = |intent: &Intent| intent.journey() == Journey::Sales;
        let is_limited = said.most.is_some() || said.least.is_some() || !said.details.sizes().is_empty();
        let wishes = wishes.into_iter().any(|says| said.says(says)) || said.clear_intents().iter().any(is_clear);
        said.subjects.is_empty() && (wishes || is_limited || !said.needs.is_empty())
    }

    /// Whether a question names a need, and is about the goods of the cart: it seeks no others.
    pub(super) fn asks_of_cart(&self, state: &ConversationState) -> bool {
        let said = &self.said;
        let wishes =
            [Says::Wants, Says::More, Says::AsksStock, Says::SeeAll, Says::Similar, Says::AsksWhat, Says::Ones];
        let seeks = said.clear_intents().contains(&Intent::SalesDiscovery) || self.names_goods();
        let seeks = seeks || wishes.into_iter().any(|says| said.says(says));
        !seeks && !state.cart.is_empty() && said.utterance.has_question() && !said.needs.is_empty()
    }
}
