//! Answers short questions about the order, the decision or the conversation from the shop's data.

use super::advance::{self, Event};
use super::aside::Aside;
use super::items;
use super::knowledge::is_with_person;
use super::plan::Message;
use super::rules::{Topic, Utterance};
use super::scenario::Scenario;
use super::state::{Intent, State};
use super::{Returns, kind};
use crate::desks::{DeskError, Turn};
use crate::domain::Kind;
use crate::domain::calendar::day_of;
use crate::domain::commerce::{Order, OrderItem, OrderStatus};
use crate::domain::returns::{Cause, TicketKind};
use crate::persona::texts::fill;

/// How many characters of a question are kept until the order is found.
const QUESTION_MAX_CHARS: usize = 500;

/// What the shop's data know about the order or the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    /// Why the return was refused.
    Reason,
    /// How many days the windows of the order have.
    Window,
    /// When the order was sent or delivered. No day of arrival is known.
    Arrival,
    /// The carrier and the tracking number.
    Tracking,
    /// What the goods cost.
    Price,
    /// What was done in this conversation.
    Changes,
}

impl Fact {
    /// Returns what the message asks about. Most facts are known of the conversation's order alone.
    pub fn of(state: &State, utterance: &Utterance) -> Option<Self> {
        if utterance.asks(Topic::Changes) && !utterance.names_order_or_contact() {
            return Some(Self::Changes);
        }
        let order = state.order().filter(|_| !utterance.names_order_or_contact())?;
        let is_about_goods = !utterance.mentions(Topic::Return) && !utterance.mentions(Topic::OtherOrder);
        // "What does it cost?" in a return is about the return.
        let is_in_return = state.open_question().is_some() || state.meta.last_rma.is_some();
        if utterance.asks(Topic::Price) && utterance.intent.is_none() && is_about_goods && !is_in_return {
            return Some(Self::Price);
        }
        let is_under_way = matches!(order.status, OrderStatus::Pending | OrderStatus::Shipped);
        let asks_why = utterance.mentions(Topic::Reason) || utterance.mentions(Topic::Window);
        if state.was_refused() && asks_why && !utterance.asks(Topic::Exception) {
            return state.may_argue().then_some(Self::Reason);
        }
        // "Why has it not left after 4 days?" is about the parcel.
        let is_about_parcel = is_under_way && utterance.wants(Intent::OrderStatus);
        let asks_window = utterance.mentions(Topic::Window) && !utterance.requests(Topic::Cancellation);
        if asks_window && utterance.has_question() && !is_about_parcel && !is_with_person(state) {
            return Some(Self::Window);
        }
        // Goods that have arrived travel back: "which carrier do I take it to?"
        if utterance.asks(Topic::Tracking) && is_about_goods && is_under_way {
            return Some(Self::Tracking);
        }
        (utterance.asks(Topic::Arrival) && is_about_goods && is_under_way).then_some(Self::Arrival)
    }
}

impl Returns {
    /// Answers a question from the shop's data. What they do not know is answered from the documents.
    pub(super) async fn answer_fact(
        &self,
        turn: &mut Turn,
        state: &mut State,
        fact: Fact,
        question: &str,
    ) -> Result<(), DeskError> {
        if fact == Fact::Changes {
            return self.answer_changes(turn, state).await;
        }
        let found = match state.order() {
            Some(seen) => self.store_of(turn).find_order(&seen.number).await?,
            None => None,
        };
        let Some(order) = found else { return self.answer_question(turn, state, question).await };
        let lines = state.lines().cloned().unwrap_or_else(|| order.items.iter().map(|item| item.line).collect());
        let stays = |item: &OrderItem| item.is_final_sale || !item.is_returnable || item.is_in_rma();
        let named = state.order().map(|seen| items::named(&seen.items, question)).unwrap_or_default();
        let asked = if named.is_empty() { lines } else { named };
        if fact == Fact::Window && order.items.iter().any(|item| asked.contains(&item.line) && stays(item)) {
            return self.answer_question(turn, state, question).await;
        }
        match fact {
            Fact::Reason => self.answer_reason(turn, state, &order).await,
            Fact::Window => self.answer_window(turn, state, &order, &asked).await,
            Fact::Price => self.answer_order_price(turn, state, &order).await,
            _ => self.answer_shipping(turn, state, &order, fact).await,
        }
    }

    /// Says which rule refused the return, with its last day.
    async fn answer_reason(&self, turn: &mut Turn, state: &mut State, order: &Order) -> Result<(), DeskError> {
        let cause = state.decision().map(|decision| decision.cause);
        let last_days = self.last_days(turn, state).await?;
        let decision = state.decision().cloned();
        let windows = decision.and_then(|decision| Some((decision.cutoff_days?, decision.refund_cutoff_days?)));
        let number = ("order_number", order.number.as_str());
        if let (Some(Cause::WindowOver), Some((for_return, for_refund)), Some((_, items, last_days))) =
            (cause, windows, last_days)
        {
            let dates = &self.common.get(turn.language()).date_format;
            let [return_until, refund_until] = last_days.map(|day| dates.format(day));
            let (for_return, for_refund) = (for_return.to_string(), for_refund.to_string());
            let values = [
                number,
                ("item_names", items.as_str()),
                ("return_days", for_return.as_str()),
                ("refund_days", for_refund.as_str()),
                ("return_until", return_until.as_str()),
                ("refund_until", refund_until.as_str()),
            ];
            return self.send(turn, state, Kind::Reply, Scenario::WhyTooLate, &values).await;
        }
        let scenario = match cause {
            Some(Cause::FinalSale) => Scenario::WhyFinalSale,
            Some(Cause::NotReturnable) => Scenario::WhyNotReturnable,
            _ => Scenario::RefusedByPerson,
        };
        let Some(seen) = state.order().cloned() else { return Ok(()) };
        let refused = state.decision().map(|decision| decision.refused_lines.clone()).unwrap_or_default();
        let items = self.item_names(turn, &seen, &refused);
        self.send(turn, state, Kind::Reply, scenario, &[number, ("item_names", items.as_str())]).await
    }

    /// Says how many days the windows of the order have, also before it has arrived.
    async fn answer_window(
        &self,
        turn: &mut Turn,
        state: &mut State,
        order: &Order,
        lines: &[u32],
    ) -> Result<(), DeskError> {
        let rules = self.terms(state).with(self.store_of(turn).list_policies().await?);
        let items = order.items.iter().filter(|item| lines.contains(&item.line));
        let windows: Vec<_> =
            items.filter_map(|item| rules.policies.windows(order.customer.is_vip, item.category.as_deref())).collect();
        let shortest = |window: usize| windows.iter().map(|days| days[window]).min().unwrap_or_default().to_string();
        let [for_return, for_refund] = [0, 1].map(shortest);
        let names = self.item_names(turn, &self.order_snapshot(order), lines);
        let values = [
            ("order_number", order.number.as_str()),
            ("item_names", names.as_str()),
            ("return_days", for_return.as_str()),
            ("refund_days", for_refund.as_str()),
        ];
        let scenario = if order.customer.is_vip { Scenario::WindowVip } else { Scenario::Window };
        self.send(turn, state, Kind::Reply, scenario, &values).await
    }

    /// Says when the order left or arrived, or with which carrier.
    async fn answer_shipping(
        &self,
        turn: &mut Turn,
        state: &mut State,
        order: &Order,
        fact: Fact,
    ) -> Result<(), DeskError> {
        let dates = &self.common.get(turn.language()).date_format;
        let day = |at| dates.format(day_of(at, self.services.shop.time_zone));
        let (shipped, delivered) = (order.shipped_at.map(day), order.delivered_at.map(day));
        let tracking = order.tracking.clone().unwrap_or_default();
        // "UPS-000263993063" is a number of UPS.
        let carrier = tracking.split_once('-').map(|(carrier, _)| carrier.to_owned()).unwrap_or_default();
        let is_named = !carrier.is_empty() && carrier.chars().all(char::is_alphabetic);
        let scenario = match (order.status, fact) {
            (OrderStatus::Pending, _) => Scenario::NotShipped,
            (_, Fact::Tracking) if is_named => Scenario::Tracking,
            (OrderStatus::Shipped, _) if !tracking.is_empty() && shipped.is_some() => Scenario::OnItsWay,
            _ => {
                if let Event::Spoke(said, _) = self.show_status(turn, state).await? {
                    state.meta.said.extend(said);
                }
                return Ok(());
            }
        };
        let (shipped, delivered) = (shipped.unwrap_or_default(), delivered.unwrap_or_default());
        let values = [
            ("order_number", order.number.as_str()),
            ("shipped_on", shipped.as_str()),
            ("delivered_on", delivered.as_str()),
            ("carrier", carrier.as_str()),
            ("tracking", tracking.as_str()),
        ];
        self.send(turn, state, kind::ORDER_STATUS, scenario, &values).await
    }

    /// Says what the order cost.
    async fn answer_order_price(&self, turn: &mut Turn, state: &mut State, order: &Order) -> Result<(), DeskError> {
        let prices = self.price_lines(turn, order);
        let values = [("order_number", order.number.as_str()), ("prices", prices.as_str())];
        self.send(turn, state, Kind::Reply, Scenario::OrderPrice, &values).await
    }

    /// Says what the goods cost, where the amount of a refund is not certain. What the order no longer shows, the documents answer.
    pub(super) async fn answer_goods_price(
        &self,
        turn: &mut Turn,
        state: &mut State,
        question: &str,
    ) -> Result<(), DeskError> {
        let Some(seen) = state.order() else { return self.answer_question(turn, state, question).await };
        let found = self.store_of(turn).find_order(&seen.number).await?;
        let Some(order) = found.filter(|order| order.items.iter().any(|item| item.quantity > 1)) else {
            return self.answer_question(turn, state, question).await;
        };
        let prices = self.price_lines(turn, &order);
        let values = [("order_number", order.number.as_str()), ("prices", prices.as_str())];
        self.send(turn, state, Kind::Reply, Scenario::GoodsPrice, &values).await
    }

    /// Returns what each item of the order cost, and all its pieces together.
    fn price_lines(&self, turn: &Turn, order: &Order) -> String {
        let numbers = &self.common.get(turn.language()).number_format;
        let [priced, priced_each] = [&self.texts(turn).lines.priced, &self.texts(turn).lines.priced_each];
        let lines = order.items.iter().map(|item| {
            let (price, quantity) = (item.unit_price.shown(numbers), item.quantity.to_string());
            let whole =
                item.unit_price.times(item.quantity).map_or_else(|_| price.clone(), |whole| whole.shown(numbers));
            let line = if item.quantity > 1 { priced_each } else { priced };
            fill(line, &[("name", &item.name), ("price", &price), ("quantity", &quantity), ("whole", &whole)])
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Lists what this conversation has done.
    async fn answer_changes(&self, turn: &mut Turn, state: &mut State) -> Result<(), DeskError> {
        let tickets = self.store_of(turn).list_tickets_in(turn.conversation.id).await?;
        let lines = &self.texts(turn).lines;
        let changes = tickets.iter().map(|ticket| {
            let line = match ticket.kind {
                TicketKind::Cancel => &lines.change_cancel,
                TicketKind::Return | TicketKind::Refund => &lines.change_return,
                TicketKind::Escalation => &lines.change_request,
            };
            let id = ticket.rma.as_ref().map_or(ticket.id.clone(), ToString::to_string);
            let order = ticket.order.as_ref().map_or("–".to_owned(), ToString::to_string);
            fill(line, &[("ticket_id", id.as_str()), ("order_number", order.as_str())])
        });
        let changes = changes.collect::<Vec<_>>().join("\n");
        if changes.is_empty() {
            return self.send(turn, state, Kind::Reply, Scenario::NothingDone, &[]).await;
        }
        self.send(turn, state, Kind::Reply, Scenario::Changes, &[("changes", changes.as_str())]).await
    }

    /// Keeps the question of a message whose order is not found yet: it is answered once the order is.
    pub(super) fn keep_question(state: &mut State, message: &Message, has_aside: bool) {
        let asks = message.utterance.has_question() || message.utterance.asks(Topic::Policy);
        if asks && !has_aside && state.order().is_none() && state.case.question.is_none() {
            state.case.question = Some(message.text.chars().take(QUESTION_MAX_CHARS).collect());
        }
    }

    /// Answers the question with which the customer began, now that the order is found.
    pub(super) async fn answer_first_question(
        &self,
        turn: &mut Turn,
        state: &State,
        event: Event,
    ) -> Result<Event, DeskError> {
        let mut found = advance::next_state(state.clone(), event.clone());
        let Some(question) = state.case.question.as_deref().filter(|_| found.order().is_some()) else {
            return Ok(event);
        };
        let question = self.rules.without_names(question);
        // Without its number, a short question ("and 77893?") looks like many others.
        let utterance = self.rules.parse_by_patterns(&question);
        let parts = self.sure_parts(turn, &found, &question);
        let aside = Aside::of(&found, &utterance, None).filter(|aside| match aside {
            Aside::Deadline | Aside::Amount | Aside::Fact(Fact::Window) => true,
            Aside::Policy { .. } => parts.is_empty() && self.has_sure_answer(turn, &question),
            _ => false,
        });
        if aside.is_none() && parts.is_empty() {
            return Ok(event);
        }
        let before = found.meta.said.clone();
        if let Some(aside) = &aside {
            self.answer_aside(turn, &mut found, aside, &question).await?;
        }
        self.quote_parts(turn, &mut found, &question, parts).await?;
        let said = found.meta.said.into_iter().filter(|(key, at)| before.get(key) != Some(at)).collect();
        let event = Event::Spoke(said, Box::new(event));
        // A number next to the question names its order, and does not ask for the status.
        let is_known =
            utterance.intent.is_none() && matches!(aside, Some(Aside::Deadline | Aside::Amount | Aside::Fact(_)));
        Ok(if is_known { Event::InsteadOfStatus(Box::new(event)) } else { event })
    }
}
