//! Orders, RMAs, tickets, mails and audit entries as JSON. Amounts are in minor units of their currency.

use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use crate::domain::AuditEntry;
use crate::domain::calendar::{optional_time, time};
use crate::domain::commerce::{Money, Order, OrderItem, OrderStatus};
use crate::domain::returns::ticket::Resolved;
use crate::domain::returns::{Action, Claim, Priority, ReasonCode, Rma, RmaLine, RmaStatus, Ticket, TicketKind};
use crate::store::mails::Mail;
use crate::store::returns::overview::Overview;

/// The orders and returns of a conversation.
#[derive(Serialize, ToSchema)]
#[schema(as = Returns)]
pub(in crate::http) struct ReturnsView {
    /// Whether the conversation's desk handles returns. If not, the lists stay empty.
    takes_returns: bool,
    orders: Vec<OrderView>,
    rmas: Vec<RmaView>,
    /// One for each RMA and cancellation, and the escalations.
    tickets: Vec<TicketView>,
    mails: Vec<MailView>,
    /// The audit log, oldest first.
    record: Vec<AuditEntry>,
    /// Whether the lists are incomplete.
    has_more: bool,
}

impl ReturnsView {
    pub fn new(overview: Overview, takes_returns: bool) -> Self {
        Self {
            takes_returns,
            orders: overview.orders.into_iter().map(OrderView::from).collect(),
            rmas: overview.rmas.into_iter().map(RmaView::from).collect(),
            tickets: overview.tickets.into_iter().map(TicketView::from).collect(),
            mails: overview.mails.into_iter().map(MailView::from).collect(),
            record: overview.record,
            has_more: overview.has_more,
        }
    }
}

/// An order, with the customer's contact masked.
#[derive(Serialize, ToSchema)]
#[schema(as = Order)]
struct OrderView {
    number: String,
    status: OrderStatus,
    customer: CustomerView,
    #[serde(serialize_with = "time")]
    ordered_at: DateTime<Utc>,
    #[serde(serialize_with = "optional_time")]
    shipped_at: Option<DateTime<Utc>>,
    #[serde(serialize_with = "optional_time")]
    delivered_at: Option<DateTime<Utc>>,
    /// The tracking number of the parcel to the customer.
    tracking: Option<String>,
    paid: Money,
    items: Vec<ItemView>,
}

/// The customer of an order.
#[derive(Serialize, ToSchema)]
#[schema(as = OrderCustomer)]
struct CustomerView {
    name: String,
    /// The masked address.
    email: String,
    /// The last two digits.
    phone: Option<String>,
    is_vip: bool,
    /// Whether the shop suspects fraud.
    fraud_flag: bool,
}

/// A line of an order.
#[derive(Serialize, ToSchema)]
#[schema(as = OrderItem)]
struct ItemView {
    line: u32,
    name: String,
    quantity: u32,
    /// The price of one piece.
    unit_price: Money,
    is_final_sale: bool,
    /// The latest RMA with this item.
    rma: Option<String>,
}

impl From<Order> for OrderView {
    fn from(order: Order) -> Self {
        Self {
            number: order.number.into(),
            status: order.status,
            customer: CustomerView {
                name: order.customer.name,
                email: order.email.masked(),
                phone: order.phone.or(order.customer.phone).map(|phone| phone.masked()),
                is_vip: order.customer.is_vip,
                fraud_flag: order.customer.fraud_flag,
            },
            ordered_at: order.ordered_at,
            shipped_at: order.shipped_at,
            delivered_at: order.delivered_at,
            tracking: order.tracking,
            paid: order.paid,
            items: order.items.into_iter().map(ItemView::from).collect(),
        }
    }
}

impl From<OrderItem> for ItemView {
    fn from(item: OrderItem) -> Self {
        Self {
            line: item.line,
            name: item.name,
            quantity: item.quantity,
            unit_price: item.unit_price,
            is_final_sale: item.is_final_sale,
            rma: item.rma.map(|rma| rma.number.into()),
        }
    }
}

/// An RMA.
#[derive(Serialize, ToSchema)]
#[schema(as = Rma)]
pub(super) struct RmaView {
    number: String,
    order: String,
    action: Action,
    status: RmaStatus,
    /// The states that a person may move it to now.
    next: Vec<RmaStatus>,
    /// Whether it is escalated. Then its state cannot change until the escalation is resolved.
    locked: bool,
    escalation_reason: Option<String>,
    lines: Vec<RmaLine>,
    refund: Money,
    /// The reason in the customer's words.
    reason: String,
    reason_code: ReasonCode,
    /// The tracking number of its label.
    tracking: Option<String>,
    #[serde(serialize_with = "time")]
    created_at: DateTime<Utc>,
    #[serde(serialize_with = "time")]
    updated_at: DateTime<Utc>,
}

impl From<Rma> for RmaView {
    fn from(rma: Rma) -> Self {
        let next = RmaStatus::ALL.iter().copied().filter(|to| rma.step(*to).is_ok()).collect();
        Self {
            number: rma.number.into(),
            order: rma.order.into(),
            action: rma.action,
            status: rma.status,
            next,
            locked: rma.escalated,
            escalation_reason: rma.escalation_reason,
            lines: rma.lines,
            refund: rma.refund,
            reason: rma.reason,
            reason_code: rma.reason_code,
            tracking: rma.label.map(|label| label.tracking.to_string()),
            created_at: rma.created_at,
            updated_at: rma.updated_at,
        }
    }
}

/// A customer's request to the shop, or an escalation.
#[derive(Serialize, ToSchema)]
#[schema(as = Ticket)]
pub(super) struct TicketView {
    id: String,
    kind: TicketKind,
    order: Option<String>,
    rma: Option<String>,
    /// The priority of an escalation.
    priority: Option<Priority>,
    reason: String,
    /// A summary for the person who decides.
    summary: String,
    /// The return that an approval creates, if any.
    claim: Option<ClaimView>,
    /// The open question to the customer.
    question: Option<String>,
    #[serde(serialize_with = "time")]
    created_at: DateTime<Utc>,
    /// The decision; null while the ticket is open.
    resolved: Option<Resolved>,
}

/// A requested return that needs a person's decision.
#[derive(Serialize, ToSchema)]
#[schema(as = Claim)]
struct ClaimView {
    action: Action,
    /// The lines of the order.
    lines: Vec<u32>,
}

impl From<Ticket> for TicketView {
    fn from(ticket: Ticket) -> Self {
        Self {
            id: ticket.id,
            kind: ticket.kind,
            order: ticket.order.map(String::from),
            rma: ticket.rma.map(String::from),
            priority: ticket.priority,
            reason: ticket.reason,
            summary: ticket.summary,
            claim: ticket.claim.map(|Claim { action, lines, .. }| ClaimView { action, lines }),
            question: ticket.question,
            created_at: ticket.created_at,
            resolved: ticket.resolved,
        }
    }
}

/// A mail to the customer.
#[derive(Serialize, ToSchema)]
#[schema(as = Mail)]
struct MailView {
    number: String,
    template: String,
    /// The masked address.
    to: String,
    /// `queued`, `sent` or `failed`.
    status: &'static str,
    /// Why sending failed.
    error: Option<String>,
    order: Option<String>,
    rma: Option<String>,
    #[serde(serialize_with = "time")]
    created_at: DateTime<Utc>,
    #[serde(serialize_with = "optional_time")]
    sent_at: Option<DateTime<Utc>>,
}

impl From<Mail> for MailView {
    fn from(mail: Mail) -> Self {
        Self {
            number: mail.number.into(),
            to: mail.to.masked(),
            template: mail.template,
            status: mail.status.as_str(),
            error: mail.error,
            order: mail.order.map(String::from),
            rma: mail.rma.map(String::from),
            created_at: mail.created_at,
            sent_at: mail.sent_at,
        }
    }
}
