//! Looks up an order for the customer who may see it, and shows its status.

use std::collections::BTreeMap;

use chrono::{Days, Utc};
use serde_json::{Value, json};

use super::super::advance::{Event, is_shop_number};
use super::super::items;
use super::super::mail::Template;
use super::super::scenario::Scenario;
use super::super::state::{Intent, ItemSnapshot, OrderSnapshot, State};
use super::super::texts::VariantPicker;
use super::super::{Returns, kind};
use super::{WHO, request_of};
use crate::desks::{DeskError, Turn};
use crate::dialogue::verification::Attempts;
use crate::domain::Metadata;
use crate::domain::calendar::day_of;
use crate::domain::commerce::{Order, OrderNumber, OrderStatus};
use crate::domain::identity::Contact;
use crate::domain::identity::attempts::AttemptSubject;
use crate::domain::returns::{MailNumber, Rma};
use crate::persona::texts::fill;
use crate::store::attempts::Verification;
use crate::store::mails::NewMail;

impl Returns {
    /// Looks up the order, if it exists and is the customer's.
    pub(in crate::desks::returns) async fn look_up(&self, turn: &Turn, state: &State) -> Result<Event, DeskError> {
        let Some(asked) = state.order_number() else { return Ok(Event::OrderNotFound) };
        let store = self.store_of(turn);
        let of_return = match asked.as_str().parse() {
            Ok(rma) => store.find_rma(&rma).await?.map(|rma| rma.order),
            Err(_) if is_shop_number(asked) => store.find_ticket(asked.as_str()).await?.and_then(|ticket| ticket.order),
            Err(_) => None,
        };
        let number = of_return.as_ref().unwrap_or(asked);
        let order = match (&turn.conversation.user_id, contact_of(state)) {
            (Some(user), _) => {
                store.find_order(number).await?.filter(|order| order.customer.user_id.as_ref() == Some(user))
            }
            (None, _) if !state.case.contact.is_needed => store.find_order(number).await?,
            (None, None) => None,
            // The customer did not name this contact for this order, so a mismatch is no miss.
            (None, Some(contact)) if state.meta.contact_fits && !state.case.contact.is_given => {
                match self.attempts(turn, number).peek_at_order(number, &contact).await? {
                    Verification::Verified(order) => Some(order),
                    Verification::Missed => return Ok(Event::OtherContact),
                    Verification::Locked { .. } => return self.locked(turn, number).await,
                }
            }
            (None, Some(contact)) => {
                let (contact, is_other) = self.better_contact(turn, state, number, contact).await?;
                if is_other {
                    let mut as_first = state.clone();
                    as_first.case.contact.other = None;
                    as_first.meta.contact = Some(contact.as_str().to_owned());
                    let found = Box::pin(self.look_up(turn, &as_first)).await?;
                    return Ok(Event::WithContact(contact.as_str().to_owned(), Box::new(found)));
                }
                match self.attempts(turn, number).at_order(number, &contact).await? {
                    Verification::Verified(order) => Some(order),
                    Verification::Missed => None,
                    Verification::Locked { .. } => return self.locked(turn, number).await,
                }
            }
        };
        self.record(turn, "order.looked_up", number, json!({ "found": order.is_some() })).await?;
        let Some(order) = order else { return Ok(Event::OrderNotFound) };
        let seen = self.order_snapshot(&order);
        // Items that are in a return already stay out.
        let open = order.open_lines();
        let rest = (!open.is_empty() && open.len() < order.items.len()).then_some(open);
        let lines = self.lines_of_reason(state, &seen.items, rest.as_deref()).or(rest);
        Ok(Event::OrderFound(seen, lines))
    }

    /// Returns the lines that the customer named before the order was known, if they are not all. `rest`: the lines that are not in
    /// a return yet, if some are.
    fn lines_of_reason(&self, state: &State, items: &[ItemSnapshot], rest: Option<&[u32]>) -> Option<Vec<u32>> {
        let reason = &state.case.reason;
        // "I got everything except the socks" is about the socks.
        let is_mistake = state.case.intent.is_some_and(Intent::is_mistake);
        let Some(goods) = self.rules.kept_goods(reason).filter(|_| !is_mistake) else {
            return items::part_of(items, &self.rules.without_not_items(reason));
        };
        let all: Vec<u32> = items.iter().map(|item| item.line).collect();
        let lines = items::wanted(items, rest.unwrap_or(&all), &goods);
        (!lines.is_empty() && lines != all).then_some(lines)
    }

    /// Returns another order that the customer named, if the contact of the conversation is on it. Never counts as a miss.
    pub(in crate::desks::returns) async fn peek_at(
        &self,
        turn: &Turn,
        state: &State,
        number: &OrderNumber,
    ) -> Result<Option<Order>, DeskError> {
        let Some(contact) = contact_of(state).filter(|_| state.meta.contact_fits) else { return Ok(None) };
        Ok(match self.attempts(turn, number).peek_at_order(number, &contact).await? {
            Verification::Verified(order) => Some(order),
            Verification::Missed | Verification::Locked { .. } => None,
        })
    }

    async fn locked(&self, turn: &Turn, number: &OrderNumber) -> Result<Event, DeskError> {
        self.record(turn, "order.locked", number, json!({})).await?;
        Ok(Event::OrderLocked)
    }

    fn attempts<'a>(&'a self, turn: &'a Turn, number: &OrderNumber) -> Attempts<'a> {
        let client = turn.caller.address.map(|address| self.services.client_names.of(address));
        let limit = self.services.config.identity.attempts;
        Attempts::new(self.store_of(turn), turn, client, AttemptSubject::Order(number.clone()), limit)
    }

    /// Returns the contact that is on the order, if one of two in a message is, and whether it is the second one. Both together are
    /// one attempt.
    async fn better_contact(
        &self,
        turn: &Turn,
        state: &State,
        number: &OrderNumber,
        contact: Contact,
    ) -> Result<(Contact, bool), DeskError> {
        let Some(other) = state.case.contact.other.as_deref().and_then(|other| other.parse().ok()) else {
            return Ok((contact, false));
        };
        let order = self.store_of(turn).find_order(number).await?;
        let is_better = order.is_some_and(|order| !order.has_contact(&contact) && order.has_contact(&other));
        Ok(if is_better { (other, true) } else { (contact, false) })
    }

    pub(in crate::desks::returns) fn order_snapshot(&self, order: &Order) -> OrderSnapshot {
        OrderSnapshot {
            number: order.number.clone(),
            status: order.status,
            ordered_on: day_of(order.ordered_at, self.services.shop.time_zone),
            items: order
                .items
                .iter()
                .map(|item| ItemSnapshot {
                    line: item.line,
                    name: item.name.clone(),
                    quantity: item.quantity,
                    stays_sold: item.is_final_sale || !item.is_returnable,
                })
                .collect(),
            masked_email: order.email.masked(),
        }
    }

    /// Sends the order's status as a list.
    pub(in crate::desks::returns) async fn show_status(
        &self,
        turn: &mut Turn,
        state: &State,
    ) -> Result<Event, DeskError> {
        let Some(seen) = state.order() else { return Ok(Event::Failed) };
        let Some(order) = self.store_of(turn).find_order(&seen.number).await? else { return Ok(Event::Failed) };
        let zone = self.services.shop.time_zone;
        let seen = self.order_snapshot(&order);
        if let Some(id) = &state.case.ticket_asked
            && let Some(ticket) = self.store_of(turn).find_ticket(id).await?
        {
            let mut after = state.clone();
            self.send_ticket_status(turn, &mut after, &ticket).await?;
            return Ok(Event::Spoke(after.meta.said.into_iter().collect(), Box::new(Event::StatusShown)));
        }
        if state.case.wants_label
            && let Some(said) = self.give_label(turn, state, &order).await?
        {
            return Ok(said);
        }
        let texts = self.texts(turn);
        let dates = &self.common.get(turn.language()).date_format;
        let day = |at| dates.format(day_of(at, zone));
        let all: Vec<u32> = seen.items.iter().map(|item| item.line).collect();
        let made = self.store_of(turn).list_rmas_of(&order.number).await?;
        let lines = [
            (&texts.lines.number, Some(order.number.to_string())),
            (&texts.lines.status, Some(texts.status(order.status).to_owned())),
            (&texts.lines.ordered, Some(day(order.ordered_at))),
            (&texts.lines.shipped, order.shipped_at.map(day)),
            (&texts.lines.delivered, order.delivered_at.map(day)),
            (&texts.lines.items, Some(self.item_names(turn, &seen, &all))),
            (&texts.lines.tracking, order.tracking.clone()),
        ];
        let mut variants = VariantPicker::new(&texts.replies, &state.meta.said);
        let mut text = variants.text(headline(order.status), &[])?;
        let may_return = order.status == OrderStatus::Delivered && made.is_empty();
        let [return_by, refund_by] =
            if may_return { self.shown_windows(turn, state, &order).await? } else { [None, None] };
        let windows = [(&texts.lines.return_by, return_by), (&texts.lines.refund_by, refund_by)];
        let returned = made.iter().map(|rma| format!("{} ({})", rma.number, texts.rma_status(rma.status)));
        let returned = returned.map(|value| (&texts.lines.returned, Some(value)));
        for (line, value) in lines.into_iter().chain(windows).chain(returned) {
            if let Some(value) = value {
                text.push('\n');
                text.push_str(&fill(line, &[("value", &value)]));
            }
        }
        match order.status {
            OrderStatus::Pending => text = format!("{text}\n{}", texts.lines.not_shipped),
            OrderStatus::Shipped => text = format!("{text}\n{}", texts.lines.arrival),
            _ => {}
        }
        let status = status_of(&order);
        let said = Event::after_texts(variants, Event::StatusShown);
        turn.say_with(kind::ORDER_STATUS, &text, Metadata::of(kind::ORDER_STATUS).with("order", status)).await?;
        Ok(said)
    }

    /// Returns the last day of each window of a delivered order, for a return and for a refund, with the items where they differ.
    async fn shown_windows(&self, turn: &Turn, state: &State, order: &Order) -> Result<[Option<String>; 2], DeskError> {
        let zone = self.services.shop.time_zone;
        let Some(delivered) = order.delivered_at.map(|at| day_of(at, zone)) else { return Ok([None, None]) };
        let (texts, common, today) =
            (self.texts(turn), self.common.get(turn.language()), day_of(turn.accepted_at(), zone));
        let rules = self.terms(state).with(self.store_of(turn).list_policies().await?);
        let mut windows: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
        for item in order.items.iter().filter(|item| item.is_returnable && !item.is_final_sale) {
            if let Some(days) = rules.policies.windows(order.customer.is_vip, item.category.as_deref()) {
                windows.entry(days).or_default().push(item.line);
            }
        }
        let is_one = windows.values().any(|lines| lines.len() == order.items.len());
        let snapshot = self.order_snapshot(order);
        let shown = |window: usize| {
            let of_items = windows.iter().filter_map(|(days, lines)| {
                let last = delivered.checked_add_days(Days::new(days[window].into()))?;
                let day = common.date_format.format(last);
                let day = if last < today { fill(&texts.lines.window_over, &[("value", &day)]) } else { day };
                Some(if is_one { day } else { format!("{day}, {}", self.item_names(turn, &snapshot, lines)) })
            });
            Some(of_items.collect::<Vec<_>>().join("; ")).filter(|shown| !shown.is_empty())
        };
        Ok([shown(0), shown(1)])
    }

    /// Sends a new link to the label of the return that the customer named, or of the order's last one, and mails it. `None` if the
    /// order has no open return.
    async fn give_label(&self, turn: &mut Turn, state: &State, order: &Order) -> Result<Option<Event>, DeskError> {
        let store = self.store_of(turn);
        let made = store.list_rmas_of(&order.number).await?;
        let is_open = |rma: &Rma| !rma.status.is_rejected() && !rma.status.has_ended();
        let asked = state.case.rma_asked.as_ref().or(state.meta.last_rma.as_ref());
        let is_asked = |rma: &&Rma| is_open(rma) && Some(&rma.number) == asked;
        let Some(rma) = made.iter().rfind(is_asked).or(made.iter().rfind(|rma| is_open(rma))) else { return Ok(None) };
        let mut variants = VariantPicker::new(&self.texts(turn).replies, &state.meta.said);
        let number = ("rma_number", rma.number.as_str());
        if rma.escalated || rma.label.is_none() {
            let scenario = if rma.escalated { Scenario::LabelLocked } else { Scenario::LabelLater };
            let text = variants.text(scenario, &[number])?;
            let said = Event::after_texts(variants, Event::StatusShown);
            turn.say(kind::RETURN_TICKET, &text).await?;
            return Ok(Some(said));
        }
        // Use the address that the customer named last for this return.
        let sent = store.list_mails_of(&rma.number).await?.pop();
        let template = Template::LabelReady.as_str();
        let id = MailNumber::new(rma.created_at, &[rma.number.as_str(), template, &request_of(turn, state)]);
        let mut mail = NewMail::about(template, id, order, Some(rma), turn.language());
        let named = state.case.label_to.as_deref().and_then(|address| address.parse().ok());
        let sent_to = sent.map(|sent| sent.to).filter(|to| !to.is_erased());
        mail.to = named.or(sent_to).unwrap_or(mail.to);
        store.queue_mail(&mail, WHO, Utc::now()).await?;
        self.services.jobs.wake();
        let url = self.services.labels.link(&turn.conversation.tenant, &rma.number);
        let masked = mail.to.masked();
        let text = variants.text(Scenario::LabelAgain, &[number, ("label_url", &url), ("masked_email", &masked)])?;
        let said = Event::after_texts(variants, Event::StatusShown);
        let label = json!({ "rma_number": rma.number, "url": url });
        turn.say_with(kind::RETURN_TICKET, &text, Metadata::of(kind::RETURN_TICKET).with("label", label)).await?;
        Ok(Some(said))
    }
}

/// Returns the order's status for clients, which do not read the text.
pub(in crate::desks::returns) fn status_of(order: &Order) -> Value {
    json!({
        "number": order.number, "status": order.status, "ordered_at": order.ordered_at,
        "shipped_at": order.shipped_at, "delivered_at": order.delivered_at, "tracking": order.tracking,
    })
}

fn contact_of(state: &State) -> Option<Contact> {
    state.meta.contact.as_deref()?.parse().ok()
}

fn headline(status: OrderStatus) -> Scenario {
    match status {
        OrderStatus::Pending => Scenario::StatusPending,
        OrderStatus::Shipped => Scenario::StatusShipped,
        OrderStatus::Delivered => Scenario::StatusDelivered,
        OrderStatus::ReturnInitiated => Scenario::StatusReturnInitiated,
        OrderStatus::Returned => Scenario::StatusReturned,
    }
}
