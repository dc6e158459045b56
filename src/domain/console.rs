//! What people do at the console, for the audit log.

use chrono::{DateTime, Utc};

use super::ConversationId;

/// One entry of the console's audit log. It holds no text of messages and no key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsoleAct {
    /// The person's name. The name of a failed sign-in is not verified, and may be empty.
    pub who: String,
    pub what: ConsoleDeed,
    /// The address that the request came from; `None`: the transport has none.
    pub client: Option<String>,
    pub conversation: Option<ConversationId>,
    /// What it was done to, such as an RMA's number or a persona's file.
    pub subject: Option<String>,
    /// What came of it, such as the RMA's new state.
    pub detail: Option<String>,
    pub at: DateTime<Utc>,
}

/// What somebody did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsoleDeed {
    SignedIn,
    /// Tried to sign in with a key that opens nothing.
    SignInRefused,
    SignedOut,
    Taken,
    GivenBack,
    Closed,
    Reopened,
    Answered,
    Deleted,
    ListImported,
    PersonaSaved,
    RmaAdvanced,
    EscalationResolved,
}

impl ConsoleDeed {
    pub const ALL: [Self; 13] = [
        Self::SignedIn,
        Self::SignInRefused,
        Self::SignedOut,
        Self::Taken,
        Self::GivenBack,
        Self::Closed,
        Self::Reopened,
        Self::Answered,
        Self::Deleted,
        Self::ListImported,
        Self::PersonaSaved,
        Self::RmaAdvanced,
        Self::EscalationResolved,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::SignedIn => "signed_in",
            Self::SignInRefused => "sign_in_refused",
            Self::SignedOut => "signed_out",
            Self::Taken => "taken",
            Self::GivenBack => "given_back",
            Self::Closed => "closed",
            Self::Reopened => "reopened",
            Self::Answered => "answered",
            Self::Deleted => "deleted",
            Self::ListImported => "list_imported",
            Self::PersonaSaved => "persona_saved",
            Self::RmaAdvanced => "rma_advanced",
            Self::EscalationResolved => "escalation_resolved",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|deed| deed.as_str() == text)
    }
}
