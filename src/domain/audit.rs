//! Entries of the audit logs: who changed what, and who did what at the console.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::domain::ConversationId;
use crate::domain::calendar::time;
use crate::domain::commerce::order_number::OrderNumber;
use crate::domain::returns::number::RmaNumber;
use crate::domain::string_enum::string_enum;

string_enum! {
    /// Who made a change.
    pub enum AuditKind {
        /// The customer.
        User = "user",
        /// The desk.
        Assistant = "assistant",
        /// A tool that was called.
        Tool = "tool",
        /// The server, or a person of the shop.
        System = "system",
    }
}

/// What kind of author makes a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActorKind {
    /// The desk, a tool, a job.
    Automatic,
    /// A person of the shop.
    Person,
}

/// The name of a person of the shop who gave none.
pub const OPERATOR: &str = "operator";

/// An entry of the audit log. It contains no message text.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = RecordEntry)]
pub struct AuditEntry {
    #[serde(rename = "type")]
    pub kind: AuditKind,
    /// `desk`, `job`, or the name of a person.
    pub who: String,
    /// The change, such as `rma.created` or `order.status`.
    pub what: String,
    pub before: Option<Value>,
    pub after: Option<Value>,
    #[serde(skip)]
    pub conversation: Option<ConversationId>,
    #[schema(value_type = Option<String>)]
    pub order: Option<OrderNumber>,
    #[schema(value_type = Option<String>)]
    pub rma: Option<RmaNumber>,
    #[serde(serialize_with = "time")]
    pub at: DateTime<Utc>,
    /// The `user_id` of the account that the change is about.
    #[serde(skip)]
    pub account: Option<String>,
}

impl AuditEntry {
    /// Returns an entry for a change by the server or a person of the shop, without further fields.
    pub fn system(who: &str, what: &str, at: DateTime<Utc>) -> Self {
        Self {
            kind: AuditKind::System,
            who: who.to_owned(),
            what: what.to_owned(),
            before: None,
            after: None,
            conversation: None,
            order: None,
            rma: None,
            at,
            account: None,
        }
    }
}

/// One entry of the console's audit log. It contains no message text and no key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsoleAct {
    /// The person's name. The name of a failed sign-in is not verified, and may be empty.
    pub who: String,
    pub what: ConsoleDeed,
    /// The address that the request came from, or `None` if the transport has none.
    pub client: Option<String>,
    pub conversation: Option<ConversationId>,
    /// The thing that was changed, such as an RMA's number or a persona's file.
    pub subject: Option<String>,
    /// The result, such as the RMA's new state.
    pub detail: Option<String>,
    pub at: DateTime<Utc>,
}

string_enum! {
    /// An action at the console.
    pub enum ConsoleDeed {
        SignedIn = "signed_in",
        /// A sign-in with a key that is not valid.
        SignInRefused = "sign_in_refused",
        SignedOut = "signed_out",
        Taken = "taken",
        GivenBack = "given_back",
        Closed = "closed",
        Reopened = "reopened",
        Answered = "answered",
        Deleted = "deleted",
        AnswerReported = "answer_reported",
        ListImported = "list_imported",
        PersonaSaved = "persona_saved",
        RmaAdvanced = "rma_advanced",
        EscalationResolved = "escalation_resolved",
        RefundDecided = "refund_decided",
        CustomerTagged = "customer_tagged",
    }
}
