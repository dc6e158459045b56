//! Describes the personal data in every table.

use chrono::{DateTime, Utc};
use sea_orm::sea_query::{Expr, ExprTrait, SimpleExpr};

use crate::domain::returns::TicketKind;
use crate::domain::telecom::CaseStatus;
use crate::store::mails::{MailStatus, RETRIED_FOR};
use crate::store::payment_callbacks::{APPLY_RECEIPT, CHECK_RECEIPT};
use crate::store::payments::SAY_PAYMENT;
use crate::store::returns::escalate::PAYMENT;

/// The personal data in a table. `tenant_id`, numbers, times and row ids need no entry.
#[derive(Debug)]
pub struct Table {
    pub name: &'static str,
    /// The columns that identify a customer's rows. Empty if no row is about a customer.
    pub found_by: &'static [(&'static str, Key)],
    /// What an erasure does with these rows.
    pub rows: Rows,
    /// The columns to clear in rows older than `MESSAGE_RETENTION_DAYS`.
    pub aged: Option<Aged>,
    /// Exported and never erased: identifiers, states, and the shop's own records.
    pub kept: &'static [&'static str],
    /// Not exported: copies for search, and technical columns.
    pub hidden: &'static [&'static str],
    /// The customer's words. Erased with the conversation.
    pub words: &'static [(&'static str, Blank)],
    /// Selects rows of which the shop has written the words, so that they stay until they age.
    pub shops_words: Option<fn() -> SimpleExpr>,
    /// The customer's identity. Erased with the customer, in this order: a column of [`Table::found_by`] comes last.
    pub person: &'static [(&'static str, Blank)],
}

/// A key that identifies a customer's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Conversation,
    /// A conversation's id, stored as text.
    ConversationText,
    Customer,
    Order,
    Rma,
    RmaNumber,
    /// A ticket that another conversation opened.
    Ticket,
    Mail,
    /// A mail's id as the subject of the job that sends it.
    MailJob,
    /// The subject of a count of failed attempts.
    AttemptSubject,
    /// The customer's id in the shop's own system. Over WhatsApp, it is their phone number.
    User,
    Shopper,
    Sale,
}

/// What an erasure does with rows.
#[derive(Clone, Copy, Debug)]
pub enum Rows {
    /// The rows stay; only columns are erased.
    Kept,
    /// As [`Rows::Kept`], and the rows no longer belong to a conversation that is erased.
    Detached,
    Removed,
    /// Removed if this selects them. Of the others, only columns are erased.
    RemovedIf(fn() -> SimpleExpr),
    /// Removed, and in-memory copies of the collection are invalidated.
    Vectors,
}

/// The value of a column after its erasure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blank {
    /// An empty text.
    Empty,
    Null,
    /// A placeholder address, different in each row.
    Address,
    /// JSON: an empty object.
    Object,
    /// JSON: `null`.
    JsonNull,
    /// JSON: an object, of which the text of its member `reason` is removed.
    Reason,
    /// JSON: numbers, states and identifiers stay; text and addresses are removed.
    Facts,
}

/// How retention clears old rows.
#[derive(Clone, Copy, Debug)]
pub struct Aged {
    /// The column with the row's time.
    pub since: &'static str,
    /// Whether [`Table::person`] is cleared as well as [`Table::words`].
    pub person: bool,
    /// Selects the rows that are still needed at this time, and are not cleared yet.
    pub needed: Option<fn(DateTime<Utc>) -> SimpleExpr>,
}

/// Describes a table without personal data.
const fn none(name: &'static str, kept: &'static [&'static str]) -> Table {
    Table {
        name,
        found_by: &[],
        rows: Rows::Kept,
        aged: None,
        kept,
        hidden: &[],
        words: &[],
        shops_words: None,
        person: &[],
    }
}

/// Describes a table whose rows are about customers, without columns to erase.
const fn about(
    name: &'static str,
    found_by: &'static [(&'static str, Key)],
    rows: Rows,
    kept: &'static [&'static str],
) -> Table {
    Table { found_by, rows, ..none(name, kept) }
}

const CONVERSATION: &[(&str, Key)] = &[("conversation_id", Key::Conversation)];

const fn since(since: &'static str) -> Option<Aged> {
    Some(Aged { since, person: false, needed: None })
}

/// Tickets that a person must decide. The others end with their RMA.
fn is_undecided_ticket(_: DateTime<Utc>) -> SimpleExpr {
    let is_decided_by_person = Expr::col("kind").is_in(TicketKind::DECIDED.map(TicketKind::as_str));
    is_decided_by_person.and(Expr::col("resolved_at").is_null())
}

/// Mails that wait or may be tried again.
fn is_unsent_mail(now: DateTime<Utc>) -> SimpleExpr {
    let failed = Expr::col("status").eq(MailStatus::Failed.as_str());
    let is_retried = failed.and(Expr::col("created_at").gt(now - RETRIED_FOR));
    Expr::col("status").eq(MailStatus::Queued.as_str()).or(is_retried)
}

fn is_open_case(_: DateTime<Utc>) -> SimpleExpr {
    Expr::col("status").is_in(CaseStatus::OPEN.map(CaseStatus::as_str))
}

/// Every table of the schema.
pub const TABLES: &[Table] = &[
    Table {
        aged: since("last_activity_at"),
        hidden: &["folded_user"],
        words: &[("state", Blank::JsonNull)],
        person: &[("user_id", Blank::Null), ("metadata", Blank::Object)],
        ..about(
            "conversations",
            &[("id", Key::Conversation)],
            Rows::Removed,
            &["persona", "preferred_language", "language_source", "status", "agent", "session_id", "channel"],
        )
    },
    Table {
        hidden: &["folded"],
        words: &[("text", Blank::Empty), ("metadata", Blank::Object), ("receipt", Blank::Null)],
        ..about("messages", CONVERSATION, Rows::Removed, &["sender"])
    },
    about("turns", CONVERSATION, Rows::Removed, &["status", "timings", "sender", "intent", "kind"]),
    about("deliveries", CONVERSATION, Rows::Removed, &["purpose", "status", "reference", "error"]),
    about(
        "channel_sessions",
        &[("conversation_id", Key::Conversation), ("address", Key::User)],
        Rows::Removed,
        &["channel", "address"],
    ),
    Table { words: &[("body", Blank::Empty)], ..about("events", CONVERSATION, Rows::Removed, &[]) },
    Table { hidden: &["scope", "key", "body_hash"], ..about("idempotency_keys", CONVERSATION, Rows::Removed, &[]) },
    Table {
        hidden: &["collection", "id", "vector", "conversation_id"],
        words: &[("text", Blank::Empty), ("metadata", Blank::Object)],
        ..about("vectors", &[("conversation_id", Key::ConversationText)], Rows::Vectors, &[])
    },
    about(
        "jobs",
        &[("conversation_id", Key::Conversation), ("subject", Key::MailJob)],
        // Money is followed to its end without the conversation.
        Rows::RemovedIf(|| Expr::col("kind").is_not_in([SAY_PAYMENT, CHECK_RECEIPT, APPLY_RECEIPT])),
        &["kind", "subject", "error", "payload"],
    ),
    Table {
        person: &[("name", Blank::Empty), ("email", Blank::Address), ("phone", Blank::Null), ("user_id", Blank::Null)],
        ..about("customers", &[("id", Key::Customer)], Rows::Kept, &[])
    },
    Table {
        person: &[("email", Blank::Address), ("phone", Blank::Null), ("tracking", Blank::Null)],
        ..about("orders", &[("number", Key::Order)], Rows::Kept, &["number", "status", "currency"])
    },
    about("order_items", &[("order_number", Key::Order)], Rows::Kept, &["order_number", "sku", "name", "category"]),
    Table {
        aged: since("created_at"),
        words: &[("reason", Blank::Empty)],
        person: &[("escalation_reason", Blank::Null)],
        ..about(
            "rmas",
            &[("id", Key::Rma), ("conversation_id", Key::Conversation)],
            Rows::Kept,
            &["number", "order_number", "action", "status", "currency", "reason_code", "escalation_ticket"],
        )
    },
    about("rma_items", &[("rma_id", Key::Rma)], Rows::Kept, &[]),
    about("labels", &[("rma_id", Key::Rma)], Rows::Kept, &["tracking"]),
    Table {
        aged: Some(Aged { since: "created_at", person: false, needed: Some(is_undecided_ticket) }),
        words: &[
            // What an approval makes, and which lines were rejected, is kept.
            ("claim", Blank::Reason),
            ("request", Blank::Empty),
            ("reason", Blank::Empty),
            ("summary", Blank::Empty),
        ],
        shops_words: Some(|| Expr::col("reason").eq(PAYMENT)),
        person: &[("resolved_why", Blank::Empty)],
        ..about(
            "tickets",
            &[
                ("conversation_id", Key::Conversation),
                ("id", Key::Ticket),
                ("order_number", Key::Order),
                ("rma_number", Key::RmaNumber),
            ],
            Rows::Detached,
            &["id", "kind", "idempotency_key", "order_number", "rma_number", "priority", "resolution", "resolved_by"],
        )
    },
    Table {
        aged: Some(Aged { since: "created_at", person: true, needed: Some(is_unsent_mail) }),
        person: &[
            ("recipient", Blank::Address),
            ("context", Blank::Object),
            ("preview", Blank::Null),
            ("error", Blank::Null),
        ],
        ..about(
            "mails",
            &[("id", Key::Mail)],
            Rows::Kept,
            &["number", "order_number", "rma_number", "template", "language", "status"],
        )
    },
    about("subscriptions", &[("user_id", Key::User)], Rows::Removed, &["user_id", "plan_code", "status"]),
    Table {
        person: &[("user_id", Blank::Null)],
        ..about("invoices", &[("user_id", Key::User)], Rows::Kept, &["number"])
    },
    Table {
        aged: Some(Aged { since: "opened_at", person: false, needed: Some(is_open_case) }),
        words: &[("description", Blank::Null)],
        person: &[("decided_why", Blank::Null), ("user_id", Blank::Null)],
        ..about(
            "refund_cases",
            &[("user_id", Key::User), ("conversation_id", Key::Conversation)],
            Rows::Kept,
            &["invoice_number", "reason", "status", "decided_by"],
        )
    },
    Table {
        person: &[("before", Blank::Facts), ("after", Blank::Facts), ("user_id", Blank::Null)],
        ..about(
            "audit",
            &[
                ("conversation_id", Key::Conversation),
                ("order_number", Key::Order),
                ("rma_number", Key::RmaNumber),
                ("user_id", Key::User),
            ],
            // The history of an order is kept.
            Rows::RemovedIf(|| Expr::col("order_number").is_null()),
            &["kind", "who", "what", "order_number", "rma_number"],
        )
    },
    about("order_misses", &[("subject", Key::AttemptSubject)], Rows::Removed, &["subject"]),
    // Contains only people of the shop. The id of a deleted conversation is not personal data.
    none("console_audit", &["who", "what", "client", "subject", "detail"]),
    none("daily_turns", &[]),
    none("case_numbers", &[]),
    none("plans", &["code", "name"]),
    none("persona_versions", &["persona", "text", "saved_by"]),
    none("revoked_sessions", &["session"]),
    none("tenants", &["settings", "whatsapp_number"]),
    none("tenant_credentials", &["name", "sealed"]),
    none(
        "catalog_items",
        &["item_id", "name", "category", "description", "currency", "attributes", "variants", "url", "searched"],
    ),
    Table {
        person: &[("phone_e164", Blank::Null), ("tags", Blank::JsonNull)],
        ..about("shoppers", &[("id", Key::Shopper)], Rows::Kept, &["language_preference"])
    },
    // They prove what the customer agreed to.
    about("consent_changes", &[("shopper_id", Key::Shopper)], Rows::Kept, &["who", "before", "after"]),
    about(
        "sales",
        &[("shopper_id", Key::Shopper), ("conversation_id", Key::Conversation)],
        Rows::Kept,
        &["sale_id", "status", "lines", "totals", "coupon"],
    ),
    Table {
        person: &[("phone_e164", Blank::Null)],
        ..about(
            "payment_requests",
            &[("sale_id", Key::Sale), ("conversation_id", Key::Conversation), ("phone_e164", Key::User)],
            Rows::Kept,
            &["sale_id", "method", "currency", "status", "provider", "provider_reference", "receipts"],
        )
    },
    none("offers", &["code", "offer"]),
    none("sandbox_payments", &["state", "receipt"]),
    // Without names and numbers of customers.
    none("payment_callbacks", &["purpose", "subject", "sealed", "detail"]),
    none("return_policies", &["name", "scope", "category"]),
    none("settings", &["name", "value"]),
    none("vector_collections", &["name", "model"]),
    none("warranty_records", &["serial", "product_name"]),
];
