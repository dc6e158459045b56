//! What the tools work on: the conversation's own state, so that the state machine can continue wherever a model stops.
//!
//! The owner of an order comes from the session: the customer whom the shop's back end named, or the contact that the customer
//! wrote in this conversation. No tool takes either from a model.

use std::ops::ControlFlow;

use chrono::Utc;
use serde_json::{Value, json};

use super::WHO;
use super::tools::{OrderId, ToolError};
use crate::agent::ToolContext;
use crate::desks::machine::save;
use crate::desks::returns::Returns;
use crate::desks::returns::advance::{Event, MODEL_CONFIDENCE, next_state};
use crate::desks::returns::route::can_be_cancelled;
use crate::desks::returns::state::{HandoffReason, Intent, OrderSnapshot, Phase, Stage, State, TicketStatus};
use crate::desks::{DeskError, Turn};
use crate::dialogue::agent_turn::AgentContext;
use crate::domain::calendar::day_of;
use crate::domain::commerce::{Money, Order, OrderNumber};
use crate::domain::identity::Email;
use crate::domain::{AuditEntry, AuditKind};
use crate::store::TenantStore;

mod tickets;

pub(super) use tickets::Verdict;

/// The desk, the turn and the state that the tools of one turn work on.
pub(super) struct ReturnsContext<'a> {
    pub desk: &'a Returns,
    pub turn: &'a mut Turn,
    pub state: State,
}

impl ToolContext for ReturnsContext<'_> {
    type Error = ToolError;
}

impl AgentContext for ReturnsContext<'_> {
    fn turn(&mut self) -> &mut Turn {
        self.turn
    }

    async fn record(&mut self, tool: &'static str, call: &Value) -> Result<(), DeskError> {
        let entry = AuditEntry {
            kind: AuditKind::Tool,
            after: Some(call.clone()),
            conversation: Some(self.turn.conversation.id),
            order: self.state.order().map(|order| order.number.clone()),
            rma: self.state.meta.last_rma.clone(),
            ..AuditEntry::system(WHO, &format!("tool.{tool}"), Utc::now())
        };
        Ok(self.store().record(&entry).await?)
    }

    /// Saves the state. Only the state machine asks whether an order is to be cancelled.
    async fn after_calls(&mut self) -> Result<ControlFlow<()>, DeskError> {
        save(self.turn, &self.desk.services.store, &self.state).await?;
        Ok(match self.state.decision().is_some_and(can_be_cancelled) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    }
}

impl ReturnsContext<'_> {
    /// Returns the order if it is the customer's, and allows tools on it. An order other than the one that the customer named is
    /// returned if it was found before, and never becomes the subject.
    pub async fn look_up(&mut self, number: &OrderNumber) -> Result<Order, ToolError> {
        let is_subject = self.check_subject(number);
        if let Some(order) = self.find_opened(number).await? {
            if is_subject.is_ok() {
                self.turn_to(&order, None);
            }
            return Ok(order);
        }
        is_subject?;
        if self.state.case.contact.is_needed && self.state.meta.contact.is_none() {
            return Err(ToolError::NoContact);
        }
        let mut asked = self.state.clone();
        asked.name_order(Some(number.clone()), MODEL_CONFIDENCE);
        // A contact that was given for another order is not an attempt at this one.
        asked.case.contact.is_given &= self.state.order_number().is_none_or(|known| known == number);
        let found = match self.desk.look_up(self.turn, &asked).await? {
            Event::WithContact(contact, found) => {
                self.state.meta.contact = Some(contact);
                *found
            }
            found => found,
        };
        let (event, error) = match found {
            // The number may be that of a return or a ticket.
            Event::OrderFound(OrderSnapshot { number, .. }, lines) => {
                let order = self.store().find_order(&number).await?.ok_or(ToolError::Trouble)?;
                self.state.meta.remember_order(&number);
                self.turn_to(&order, lines);
                return Ok(order);
            }
            Event::OtherContact => (Event::OtherContact, ToolError::NoContact),
            Event::OrderLocked => (Event::OrderLocked, ToolError::Locked),
            _ => (Event::OrderNotFound, ToolError::NotFound),
        };
        self.state = missed(std::mem::take(&mut self.state), number, event);
        Err(error)
    }

    /// Returns the newest orders of the session's customer.
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
            None if !self.state.case.contact.is_needed => store.list_orders_by_email(email).await?,
            None => return Err(ToolError::NoList),
        };
        for order in &orders {
            self.state.meta.remember_order(&order.number);
        }
        if let [only] = &orders[..]
            && self.check_subject(&only.number).is_ok()
        {
            self.turn_to(only, None);
        }
        Ok(orders)
    }

    /// Returns an order that was found in this conversation.
    pub async fn open(&mut self, id: &OrderId) -> Result<Order, ToolError> {
        let number = id.number().ok_or(ToolError::NoNumber)?;
        self.check_subject(&number)?;
        let order = self.find_opened(&number).await?.ok_or(ToolError::NotLookedUp)?;
        self.turn_to(&order, None);
        Ok(order)
    }

    /// Returns the order as the model sees it.
    pub fn shown(&self, order: &Order) -> Value {
        let zone = self.desk.services.shop.time_zone;
        let day = |at| day_of(at, zone);
        let items = order.items.iter().map(|item| {
            let rma = item.rma.as_ref();
            json!({
                "item_id": item.line, "name": item.name, "quantity": item.quantity,
                "unit_price": self.money(item.unit_price),
                "return": rma.map(|rma| json!({ "rma_number": rma.number, "status": rma.status })),
            })
        });
        json!({
            "order_id": order.number, "status": order.status, "order_date": day(order.ordered_at),
            "shipped_on": order.shipped_at.map(day), "delivered_on": order.delivered_at.map(day),
            "tracking": order.tracking, "total_paid": self.money(order.paid),
            "customer": { "name": order.customer.name, "email": order.email.masked() },
            "items": items.collect::<Vec<_>>(),
        })
    }

    /// Returns an amount as the customer reads it.
    pub fn money(&self, amount: Money) -> String {
        amount.shown(&self.desk.common.get(self.turn.language()).number_format)
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

    /// Makes this order the subject.
    fn turn_to(&mut self, order: &Order, lines: Option<Vec<u32>>) {
        let seen = self.desk.order_snapshot(order);
        self.state = with_subject(std::mem::take(&mut self.state), seen, lines);
    }

    /// Returns an error if the model may not make this order the subject: the customer named another one, or the request has
    /// its outcome.
    fn check_subject(&self, number: &OrderNumber) -> Result<(), ToolError> {
        if self.state.order_number() == Some(number) {
            return Ok(());
        }
        self.check_open()?;
        named_order(&self.state).map_or(Ok(()), |named| Err(ToolError::OtherOrder(named.clone())))
    }

    /// Returns an error if the request has its outcome: a turn announces one, and the next message begins another request.
    fn check_open(&self) -> Result<(), ToolError> {
        let made = self.state.action_ticket().is_some_and(|ticket| ticket.status == TicketStatus::Created);
        if made || self.state.handoff.ticket().is_some() { Err(ToolError::AlreadyDone) } else { Ok(()) }
    }
}

/// Returns the order that the customer, not only the model, named in this flow.
fn named_order(state: &State) -> Option<&OrderNumber> {
    match &state.stage {
        Stage::NoOrder | Stage::Declined => None,
        Stage::Named { number, confidence } => Some(number).filter(|_| *confidence > MODEL_CONFIDENCE),
        Stage::Found(subject) => Some(&subject.order.number)
            .filter(|_| subject.confidence > MODEL_CONFIDENCE || subject.progress.is_agreed()),
    }
}

/// Records that an order was not found. If the customer did not write its number, what the customer gave stays.
fn missed(mut state: State, number: &OrderNumber, event: Event) -> State {
    match &state.stage {
        Stage::Found(_) => return state,
        Stage::Named { number: named, .. } if named == number => {}
        Stage::Named { .. } => return state,
        Stage::NoOrder | Stage::Declined if event == Event::OtherContact => return state,
        Stage::NoOrder | Stage::Declined => state.name_order(Some(number.clone()), MODEL_CONFIDENCE),
    }
    next_state(state, event)
}

/// Makes the order the subject. Results for another order stay, but are no longer part of the flow.
fn with_subject(mut state: State, seen: OrderSnapshot, lines: Option<Vec<u32>>) -> State {
    if matches!(state.phase, Phase::Failed(_)) {
        state.phase = Phase::Working;
    }
    if let Some(subject) = state.subject_mut().filter(|subject| subject.order.number == seen.number) {
        subject.order = seen;
        return state;
    }
    if state.order_number() != Some(&seen.number) {
        state.forget_order();
        state.name_order(Some(seen.number.clone()), MODEL_CONFIDENCE);
    }
    next_state(state, Event::OrderFound(seen, lines))
}

/// Hands the flow to a person, whatever its stage.
pub(super) fn with_handoff(mut state: State, why: HandoffReason) -> State {
    // The person also deals with what was not found.
    state.phase = Phase::Working;
    state.handoff.request(why);
    state
}

/// Makes the flow about a return.
fn about_return(state: &mut State) {
    if !state.case.intent.is_some_and(Intent::is_return) {
        state.case.intent = Some(Intent::Return);
    }
}
