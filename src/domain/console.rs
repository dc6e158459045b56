//! What people do at the console, for the audit log.

use chrono::{DateTime, Utc};

use super::ConversationId;
use super::string_enum::string_enum;

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
        ListImported = "list_imported",
        PersonaSaved = "persona_saved",
        RmaAdvanced = "rma_advanced",
        EscalationResolved = "escalation_resolved",
    }
}
