//! Performs the machine's effects: calls the tools, and says the lines.

use chrono::Utc;
use serde_json::json;

use super::effect::{Asking, Began, Effect, Event, Line, Reason};
use super::said::Said;
use super::state::ConversationState;
use super::texts::Text;
use super::tools::catalog::CatalogGetItem;
use super::tools::customer::CustomerUpdatePreferences;
use super::tools::order::{CouponApplied, OffersGetApplicable, OrderApplyCoupon, OrderCreate, OrderGetStatus, code_of};
use super::tools::payment::{
    PaymentCreatePesapalCheckout, PaymentGetC2bInstructions, PaymentGetMethods, PaymentInitiateStkPush, Started,
};
use super::tools::support::HandoffCreateTicket;
use super::tools::{CallError, Tool, ToolError};
use super::{Commerce, Situation, kind, payments};
use crate::desks::DeskError;
use crate::desks::decisions::{add_message, find_asking};
use crate::dialogue::Turn;
use crate::domain::commerce::Money;
use crate::domain::commerce::payment::{Payment, PaymentStatus};
use crate::domain::commerce::policy::GovernorClass;
use crate::domain::commerce::sale::Offer;
use crate::domain::commerce::tenant::PaymentMethod;
use crate::domain::identity::e164::E164;
use crate::domain::returns::Priority;
use crate::domain::{ConversationStatus, Kind, Metadata};
use crate::store::sales::Placing;
use crate::store::shoppers::PreferenceChange;

mod answer;
mod search;

type Performed = Result<Option<Event>, DeskError>;

impl Commerce {
    /// Performs one effect, and returns the result of a tool.
    pub(super) async fn perform_effect(
        &self,
        turn: &mut Turn,
        situation: &mut Situation,
        state: &ConversationState,
        effect: Effect,
    ) -> Performed {
        match effect {
            Effect::Say(line) => self.say_line(turn, situation, &line).await.map(|()| None),
            Effect::Search(search) => self.search(turn, situation, &search).await,
            Effect::FindEach(searches) => self.find_each(turn, situation, &searches).await,
            Effect::GetItem(id) => {
                let found = self.call(turn, situation, &CatalogGetItem { item_id: id.to_string() }).await?;
                Ok(Some(Event::Item(found.ok().map(Box::new))))
            }
            Effect::Compare(ids) => {
                let mut items = Vec::new();
                for id in ids {
                    items.extend(self.call(turn, situation, &CatalogGetItem { item_id: id.to_string() }).await?.ok());
                }
                Ok(Some(Event::Compared(items)))
            }
            Effect::PlaceOrder => self.place_order(turn, situation, state).await,
            Effect::CancelOrder => {
                let Some(order) = &state.order else { return Ok(Some(Event::Cancelled(true))) };
                let context = self.context(turn, situation);
                let is_cancelled = context.door().cancel_sale(context.owner(), &order.id, context.now).await?;
                Ok(Some(Event::Cancelled(is_cancelled)))
            }
            Effect::ListOffers => {
                let order_id = state.order.as_ref().map(|sale| sale.id.to_string());
                let tool = OffersGetApplicable { order_id, item_ids: None };
                let found = self.call(turn, situation, &tool).await?;
                Ok(Some(found.map_or(Event::Failed, |found| Event::Offers(found.offers))))
            }
            Effect::CheckOffers(item) => {
                let (offers, now) = (self.door(turn).list_offers(Utc::now()).await?, Utc::now());
                let goods = [(item.category.as_str(), item.price)];
                let on = |offer: Offer| (offer.clone(), offer.discount_on(&goods, now));
                let offers = offers.into_iter().map(on).collect();
                Ok(Some(Event::OffersOn(item, offers)))
            }
            Effect::ApplyCoupon(code) => {
                let Some(order) = &state.order else { return Ok(None) };
                let tool = OrderApplyCoupon { order_id: order.id.to_string(), code };
                Ok(Some(match self.call(turn, situation, &tool).await? {
                    Ok(CouponApplied::Totals(sale)) => Event::Coupon(Ok(sale)),
                    Ok(CouponApplied::Reason(reason)) => Event::Coupon(Err(reason)),
                    Err(error) if error.code == "order_settled" => Event::Ordered(Placing::Settled),
                    Err(_) => Event::Failed,
                }))
            }
            Effect::ListMethods(wanted) => {
                let Some(order) = &state.order else { return Ok(None) };
                let tool = PaymentGetMethods { order_id: order.id.to_string() };
                let found = self.call(turn, situation, &tool).await?;
                Ok(Some(found.map_or(Event::Failed, |found| Event::Methods(found.methods, wanted))))
            }
            Effect::Pay { method, amount, phone } => self.pay(turn, situation, state, (method, amount), phone).await,
            Effect::GetOrders(order) => {
                let tool = OrderGetStatus { order_id: order.map(|order| order.to_string()) };
                let found = self.call(turn, situation, &tool).await?;
                Ok(Some(Event::Orders(found.map(|found| found.orders).unwrap_or_default())))
            }
            Effect::Answer { question, why } => {
                let is_answered = self.answer(turn, situation, &question, why).await?;
                Ok(Some(match why {
                    Asking::Aside => Event::AnsweredAside(is_answered),
                    Asking::Question | Asking::LastResort => Event::Answered(is_answered),
                }))
            }
            Effect::CallPerson { reason, priority } => self.call_person(turn, situation, state, reason, priority).await,
            Effect::ChangePreferences(change) => self.change_preferences(turn, situation, change).await,
        }
    }

    /// Runs a tool, and notes it with its result in the receipt.
    async fn call<T: Tool>(
        &self,
        turn: &mut Turn,
        situation: &Situation,
        tool: &T,
    ) -> Result<Result<T::Output, ToolError>, DeskError> {
        let result = tool.run(&self.context(turn, situation)).await;
        note_result(turn, T::NAME, result)
    }

    /// Says a line: the model's wording of it, else its text.
    pub(super) async fn say_line(
        &self,
        turn: &mut Turn,
        situation: &mut Situation,
        line: &Line,
    ) -> Result<(), DeskError> {
        let kind = match line {
            Line::Plain(Text::Clarify | Text::Unclear | Text::OfferPerson | Text::AskNeed | Text::AskPreference) => {
                Kind::Clarify
            }
            Line::OffersOn(..) => kind::GOODS,
            Line::Welcome | Line::Assistant | Line::Redirect => Kind::Social,
            Line::Plain(Text::Thanks | Text::Goodbye | Text::SmallTalk) => Kind::Social,
            Line::Plain(Text::LanguageAck) => Kind::LanguageAck,
            Line::Options { .. } | Line::SameOptions(_) | Line::Compare(..) => kind::GOODS,
            Line::Item(_) | Line::Available(_) | Line::Details(..) | Line::About(..) => kind::GOODS,
            Line::Sum(_) | Line::Left(_) | Line::Ranked(..) => kind::GOODS,
            Line::Cart { .. } => kind::CART,
            Line::Confirm { .. } | Line::Methods { .. } | Line::Plain(Text::AskPhone | Text::AskCardPhone) => {
                kind::PAYMENT_PROMPT
            }
            Line::Asked | Line::Plain(Text::StillWaiting | Text::AlreadyPaid | Text::PayReview) => kind::PAYMENT,
            Line::Orders(_) => kind::ORDER,
            Line::HandedOver | Line::Plain(Text::PersonWaiting | Text::AnswerTaken) => Kind::Escalation,
            _ => Kind::Reply,
        };
        let metadata = match (line, &situation.payment) {
            (Line::Asked, Some(payment)) => payments::metadata(payment),
            _ => Metadata::of(kind),
        };
        let (text, drafted) = self.words(turn, situation, line)?;
        let worded = match drafted {
            Some((node, draft)) => self.word(turn, situation, node, &draft).await?,
            None => None,
        };
        let metadata = if worded.is_some() { metadata.worded_by_model() } else { metadata };
        situation.must_introduce &= !matches!(line, Line::Welcome | Line::Assistant);
        let said = self.introduced(turn, situation, worded.unwrap_or(text))?;
        Ok(turn.say_with(kind, &said, metadata).await?)
    }

    async fn place_order(&self, turn: &mut Turn, situation: &Situation, state: &ConversationState) -> Performed {
        let instead_of = state.order.as_ref().map(|sale| &sale.id);
        let placed = OrderCreate::place(&self.context(turn, situation), &state.cart, instead_of).await?;
        note_call(turn, OrderCreate::NAME, code_of(&placed).map(ToolError::refused).as_ref());
        Ok(Some(Event::Ordered(placed)))
    }

    /// Pays what the customer confirmed. The tools check the amount again, in the transaction that stores the payment.
    async fn pay(
        &self,
        turn: &mut Turn,
        situation: &mut Situation,
        state: &ConversationState,
        (method, amount): (PaymentMethod, Money),
        phone: Option<E164>,
    ) -> Performed {
        let Some(order) = &state.order else { return Ok(None) };
        let (order_id, confirmed_amount) = (order.id.to_string(), amount.whole());
        situation.phone = phone.or(situation.phone.take());
        let started: Result<Started, ToolError> = match method {
            PaymentMethod::MpesaStk => {
                let phone_e164 = situation.phone.as_ref().map_or(String::new(), |phone| phone.as_str().to_owned());
                let tool = PaymentInitiateStkPush { order_id, phone_e164, confirmed_amount };
                self.call(turn, situation, &tool).await?
            }
            PaymentMethod::MpesaC2b => {
                let tool = PaymentGetC2bInstructions { order_id };
                let given = tool.begin(&self.context(turn, situation), Some(amount)).await;
                let name = PaymentGetC2bInstructions::NAME;
                note_result(turn, name, given)?.map(|given| given.started)
            }
            PaymentMethod::Pesapal => {
                let tool = PaymentCreatePesapalCheckout { order_id, confirmed_amount };
                self.call(turn, situation, &tool).await?.map(|checkout| checkout.started)
            }
        };
        self.services.jobs.wake();
        let started = match started {
            Ok(started) => started,
            Err(error) if error.retryable => {
                situation.payment = self.door(turn).list_payments(&order.id).await?.pop();
                let began = |payment: &Payment| Event::Began(Began::Unavailable(payment.id));
                return Ok(Some(situation.payment.as_ref().map_or(Event::Failed, began)));
            }
            Err(error) => {
                return Ok(Some(match error.code.as_str() {
                    "amount_changed" | "price_expired" | "goods_changed" => Event::Began(Began::Changed),
                    "payment_open" => Event::Began(Began::Open),
                    "payment_under_review" => Event::Began(Began::Review),
                    "already_paid" => Event::Began(Began::Paid),
                    _ => Event::Failed,
                }));
            }
        };
        let payment = started.payment_request_id;
        situation.payment = self.door(turn).find_payment(payment).await?;
        situation.page = started.page;
        let is_refused = matches!(started.status, PaymentStatus::Failed | PaymentStatus::Timeout);
        Ok(Some(Event::Began(if is_refused { Began::Refused(payment) } else { Began::Asked(payment) })))
    }

    /// Opens a ticket, and lets the conversation wait for a person.
    async fn call_person(
        &self,
        turn: &mut Turn,
        situation: &Situation,
        state: &ConversationState,
        reason: Reason,
        priority: Priority,
    ) -> Performed {
        let was_waiting = turn.conversation.status == ConversationStatus::Waiting;
        let has_console = self.services.config.console.on;
        // A claim that follows joins the ticket.
        let tool = HandoffCreateTicket {
            reason: reason.as_str().to_owned(),
            priority,
            journey: state.journey,
            step: state.stage.as_str().to_owned(),
            summary: summary(state, situation),
        };
        if self.call(turn, situation, &tool).await?.is_err() {
            return Ok(Some(Event::Failed));
        }
        if has_console && !was_waiting {
            turn.call_person();
        }
        // Nothing is said to abuse.
        if reason == Reason::Abuse {
            return Ok(None);
        }
        let text = match (was_waiting, has_console) {
            (true, _) => Text::PersonWaiting,
            (false, false) => Text::PersonCall,
            (false, true) => return Ok(Some(Event::Ticket)),
        };
        let text = self.words_of(turn, situation, text)?;
        turn.say(Kind::Escalation, &text).await?;
        Ok(Some(Event::Said))
    }

    /// Stores the message as the answer to a person's question about a ticket. Returns whether there was one.
    pub(super) async fn answer_person(
        &self,
        turn: &mut Turn,
        situation: &Situation,
        said: &Said,
    ) -> Result<bool, DeskError> {
        // "Hello", or "one moment", but not "yes, thanks".
        let is_chat = said.class != GovernorClass::Business || said.utterance.stalls();
        if is_chat && said.utterance.answer.is_none() {
            return Ok(false);
        }
        let Some(ticket) = find_asking(&self.services, turn).await? else { return Ok(false) };
        let by = self.context(turn, situation).actor();
        Ok(add_message(&self.services, turn, &ticket, &by).await?)
    }

    async fn change_preferences(
        &self,
        turn: &mut Turn,
        situation: &mut Situation,
        change: PreferenceChange,
    ) -> Performed {
        let PreferenceChange::Set { language, marketing, notifications } = change else { return Ok(None) };
        let tool = CustomerUpdatePreferences {
            language: language.map(|language| language.code().to_owned()),
            marketing_opt_in: marketing,
            notification_prefs: notifications,
            source_message_id: turn.message.id.0,
        };
        Ok(Some(match self.call(turn, situation, &tool).await? {
            Ok(updated) => {
                situation.shopper = updated.customer;
                Event::Preferences
            }
            Err(_) => Event::Failed,
        }))
    }
}

/// Notes the result of a tool, and returns it. A store that does not answer ends the turn.
fn note_result<T>(
    turn: &mut Turn,
    name: &'static str,
    result: Result<T, CallError>,
) -> Result<Result<T, ToolError>, DeskError> {
    let result = match result {
        Ok(output) => Ok(output),
        Err(CallError::Tool(error)) => Err(error),
        Err(CallError::Store(error)) => return Err(error.into()),
    };
    note_call(turn, name, result.as_ref().err());
    Ok(result)
}

/// Notes a tool with its request and its result in the receipt. Arguments can hold the customer's data, so they are left out.
fn note_call(turn: &mut Turn, name: &'static str, error: Option<&ToolError>) {
    let request = turn.message.id;
    turn.note_one_more("tools", json!({ "name": name, "request_id": request, "ok": error.is_none(), "error": error }));
}

/// Returns the summary of a ticket: the customer, the cart, an open payment, and what to do.
fn summary(state: &ConversationState, situation: &Situation) -> String {
    let cart = match &state.order {
        Some(sale) => format!("order {}, {}, {}", sale.id, sale.status, sale.totals.total),
        None => "none".to_owned(),
    };
    let payment = match &state.paying {
        Some(paying) => format!("{} of order {}", paying.payment, paying.order.id),
        None => "none open".to_owned(),
    };
    format!(
        "Customer: {}\nCart: {cart}\nPayment: {payment}\nNext steps: answer the customer in the conversation",
        situation.shopper.id
    )
}
