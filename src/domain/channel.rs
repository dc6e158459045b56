//! Messaging channels, and how far a message that goes out over one has come.

use chrono::{DateTime, Utc};

use super::commerce::consent::MessagePurpose;
use super::string_enum::string_enum;
use super::{ConversationId, MessageId};

string_enum! {
    /// Where a conversation takes place, other than the web. Its messages are delivered by a provider.
    pub enum Channel {
        WhatsApp = "whatsapp",
    }
}

string_enum! {
    /// How far the delivery of a message has come. Reports of a provider come late, twice and in any order: a report never takes a
    /// message back to an earlier status of this list.
    pub enum DeliveryStatus {
        /// It, or its next part, is still to be sent.
        Waiting = "waiting",
        /// A request was begun. If its answer is lost, the provider is asked before it is repeated.
        Sending = "sending",
        /// The provider has it.
        Accepted = "accepted",
        Sent = "sent",
        /// It was not delivered and will not be.
        Failed = "failed",
        /// The customer has ended messages of this kind.
        Withheld = "withheld",
        /// It is on the customer's phone.
        Delivered = "delivered",
        Read = "read",
    }
}

string_enum! {
    /// Why a message is answered with a fixed sentence instead of by its desk.
    pub enum Notice {
        /// The customer writes too much. Said once, until a message is answered again.
        OverLimit = "over_limit",
        /// The message has no text.
        OnlyText = "only_text",
    }
}

/// Why a message was not sent, besides the codes of a provider.
pub const OUTSIDE_WINDOW: &str = "outside_window";
pub const NO_NUMBER: &str = "no_number";
pub const TOO_OLD: &str = "too_old";

impl DeliveryStatus {
    /// Returns the statuses that a report of this one replaces.
    pub fn replaces(self) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(move |earlier| *earlier < self)
    }
}

/// The delivery of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub message: MessageId,
    pub conversation: ConversationId,
    pub turn: u32,
    /// The message's position in the turn.
    pub position: u32,
    pub purpose: MessagePurpose,
    pub status: DeliveryStatus,
    /// The part that the status is about, from 0.
    pub part: u32,
    /// When the request for this part was begun.
    pub attempted_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_only_go_forward() {
        let replaced = |status: DeliveryStatus| status.replaces().collect::<Vec<_>>();
        use DeliveryStatus::*;
        assert_eq!(replaced(Sent), [Waiting, Sending, Accepted]);
        assert_eq!(replaced(Failed), [Waiting, Sending, Accepted, Sent]);
        assert!(replaced(Delivered).contains(&Failed) && !replaced(Delivered).contains(&Read));
    }
}
