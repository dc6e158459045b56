//! What tools do, on the conversation's own state: so that the desk's machine can go on wherever a model stops.
//!
//! Whose order it is comes from the session: the customer whom the shop's back end named, or the contact that the customer
//! wrote in this conversation. No tool takes either from a model.

use serde_json::{Value, json};

use super::tools::{OrderId, ToolError};
use crate::desks::Turn;
use crate::desks::returns::Returns;
use crate::desks::returns::advance::{Event, MODEL_CONFIDENCE, advance};
use crate::desks::returns::state::{HandoffReason, Intent, OrderSnapshot, Stage, State, TicketStatus};
use crate::domain::calendar::day_of;
use crate::domain::commerce::Order;
use crate::domain::commerce::OrderNumber;
use crate::domain::identity::Email;
use crate::store::TenantStore;

mod tickets;

pub(super) use tickets::Verdict;

/// So many orders of a conversation are remembered as found.
const OPENED: usize = 20;

/// Where a turn's tools work.
pub(super) struct Bench<'a> {
    pub desk: &'a Returns,
    pub turn: &'a mut Turn,
    pub state: State,
}

impl Bench<'_> {
    /// The order, if it is the customer's; from then on tools may be used on it. An order other than the one that the customer
    /// named is shown if it was found before, and never becomes the subject.
    pub async fn look_up(&mut self, number: &OrderNumber) -> Result<Order, ToolError> {
        let is_subject = self.check_subject(number);
        if let Some(order) = self.find_opened(number).await? {
            if is_subject.is_ok() {
                self.turn_to(&order, None);
            }
            return Ok(order);
        }
        is_subject?;
        if self.state.needs_contact && self.state.meta.contact.is_none() {
            return Err(ToolError::NoContact);
        }
        let mut asked = State { order_number: Some(number.clone()), ..self.state.clone() };
        // What was given for another order is no guess at this one.
        asked.contact_given &= self.state.order_number.as_ref().is_none_or(|known| known == number);
        let found = match self.desk.look_up(self.turn, &asked).await? {
            Event::WithContact(contact, found) => {
                self.state.meta.contact = Some(contact);
                *found
            }
            found => found,
        };
        match found {
            Event::OrderFound(_, lines) => {
                let order = self.store().find_order(number).await?.ok_or(ToolError::Trouble)?;
                self.remember(number);
                self.turn_to(&order, lines);
                Ok(order)
            }
            Event::OtherContact => {
                self.missed(number, Event::OtherContact);
                Err(ToolError::NoContact)
            }
            Event::OrderLocked => {
                self.missed(number, Event::OrderLocked);
                Err(ToolError::Locked)
            }
            _ => {
                self.missed(number, Event::OrderNotFound);
                Err(ToolError::NotFound)
            }
        }
    }

    /// The newest orders of the session's own customer.
    pub async fn list_orders(&mut self, email: &Email) -> Result<Vec<Order>, ToolError> {
        let store = self.store();
        let orders = match &self.turn.conversation.user_id {
            Some(user) => {
                let customer = store.find_customer_by_user(user).await?.ok_or(ToolError::OtherCustomer)?;
                let orders = store.list_orders_of(customer.id).await?;
                if customer.email != *email && !orders.iter().any(|order| order.email == *email) {
                    return Err(ToolError::OtherCustomer);
                }
                orders
            }
            None if !self.state.needs_contact => store.list_orders_by_email(email).await?,
            None => return Err(ToolError::NoList),
        };
        for order in &orders {
            self.remember(&order.number);
        }
        if let [only] = &orders[..]
            && self.check_subject(&only.number).is_ok()
        {
            self.turn_to(only, None);
        }
        Ok(orders)
    }

    /// An order that was found in this conversation.
    pub async fn open(&mut self, id: &OrderId) -> Result<Order, ToolError> {
        let number = id.number().ok_or(ToolError::NoNumber)?;
        self.check_subject(&number)?;
        let order = self.find_opened(&number).await?.ok_or(ToolError::NotLookedUp)?;
        self.turn_to(&order, None);
        Ok(order)
    }

    /// The order as the model sees it, with the names of seed 001's `OrderSchema`.
    pub fn shown(&self, order: &Order) -> Value {
        let (language, zone) = (self.turn.language(), self.desk.services.config.returns.time_zone);
        let day = |at| day_of(at, zone);
        let items = order.items.iter().map(|item| {
            let rma = item.rma.as_ref();
            json!({
                "item_id": item.line, "name": item.name, "quantity": item.quantity,
                "unit_price": item.unit_price.shown(language),
                "return": rma.map(|rma| json!({ "rma_number": rma.number, "status": rma.status })),
            })
        });
        json!({
            "order_id": order.number, "status": order.status, "order_date": day(order.ordered_at),
            "shipped_on": order.shipped_at.map(day), "delivered_on": order.delivered_at.map(day),
            "tracking": order.tracking, "total_paid": order.paid.shown(language),
            "customer": { "name": order.customer.name, "email": order.email.masked() },
            "items": items.collect::<Vec<_>>(),
        })
    }

    fn store(&self) -> TenantStore<'_> {
        self.desk.store_of(self.turn)
    }

    async fn find_opened(&self, number: &OrderNumber) -> Result<Option<Order>, ToolError> {
        if !self.state.meta.opened.contains(number) {
            return Ok(None);
        }
        let order = self.store().find_order(number).await?;
        let user = self.turn.conversation.user_id.as_ref();
        Ok(order.filter(|order| user.is_none() || order.customer.user_id.as_ref() == user))
    }

    fn remember(&mut self, number: &OrderNumber) {
        let opened = &mut self.state.meta.opened;
        opened.retain(|known| known != number);
        opened.push(number.clone());
        let too_many = opened.len().saturating_sub(OPENED);
        opened.drain(..too_many);
    }

    /// The flow is about this order from now on.
    fn turn_to(&mut self, order: &Order, lines: Option<Vec<u32>>) {
        let seen = self.desk.order_snapshot(order);
        self.state = turned_to(std::mem::take(&mut self.state), seen, lines);
    }

    /// Returns an error if the model may not make this order the subject: the customer named another one, or the request has
    /// its outcome.
    fn check_subject(&self, number: &OrderNumber) -> Result<(), ToolError> {
        if self.state.order_number.as_ref() == Some(number) {
            return Ok(());
        }
        self.check_open()?;
        named_order(&self.state).map_or(Ok(()), |named| Err(ToolError::OtherOrder(named.clone())))
    }

    /// Returns an error if the request has its outcome: a turn announces one, and the next message begins another request.
    fn check_open(&self) -> Result<(), ToolError> {
        let made = self.state.action_ticket().is_some_and(|ticket| ticket.status == TicketStatus::Created);
        if made || self.state.handoff.ticket().is_some() { Err(ToolError::Settled) } else { Ok(()) }
    }

    /// Keeps that an order was not found. A look-up of a number that the customer did not write drops nothing that the
    /// customer gave.
    fn missed(&mut self, number: &OrderNumber, event: Event) {
        self.state = missed(std::mem::take(&mut self.state), number, event);
    }
}

/// The order that the customer named in this flow, and not only the model.
fn named_order(state: &State) -> Option<&OrderNumber> {
    let is_sure = state.order_match_confidence.is_some_and(|confidence| confidence > MODEL_CONFIDENCE);
    state.order_number.as_ref().filter(|_| is_sure || state.user_confirmed_order == Some(true))
}

fn missed(state: State, number: &OrderNumber, event: Event) -> State {
    if state.order.is_some() {
        return state;
    }
    if state.order_number.as_ref() == Some(number) {
        return advance(state, event);
    }
    if state.order_number.is_some() || event == Event::OtherContact {
        return state;
    }
    advance(State { order_number: Some(number.clone()), ..state }, event)
}

/// The flow is about that order. What was made for another one is left as it is, and no longer talked of.
fn turned_to(mut state: State, seen: OrderSnapshot, lines: Option<Vec<u32>>) -> State {
    if matches!(state.stage, Stage::Failed(_)) {
        state.stage = Stage::Working;
    }
    if state.order.as_ref().is_some_and(|order| order.number == seen.number) {
        state.order = Some(seen);
        return state;
    }
    if state.order_number.as_ref() != Some(&seen.number) {
        state.forget_order();
        state.order_number = Some(seen.number.clone());
        state.order_match_confidence = Some(MODEL_CONFIDENCE);
    }
    state.ticket = None;
    advance(state, Event::OrderFound(seen, lines))
}

/// A person is to look at it, whatever came before.
pub(super) fn turned_over(mut state: State, why: HandoffReason) -> State {
    // The person also deals with what was not found.
    state.stage = Stage::Working;
    state.handoff.request(why);
    state
}

/// Goods are to come back, whatever the flow was about.
fn about_return(state: &mut State) {
    if !state.intent.is_some_and(Intent::is_return) {
        state.intent = Some(Intent::Return);
    }
}
