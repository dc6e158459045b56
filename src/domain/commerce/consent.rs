//! What a customer has agreed to receive. Each change is a separate row, and rows are only added: the last one holds.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::domain::MessageId;
use crate::domain::string_enum::string_enum;
use crate::domain::text::words;

/// What a customer receives besides replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Consent {
    /// Offers and news.
    pub marketing: bool,
    /// What happens to the customer's orders.
    pub notifications: bool,
}

impl Default for Consent {
    /// A new customer gets notifications about orders, and no marketing.
    fn default() -> Self {
        Self { marketing: false, notifications: true }
    }
}

string_enum! {
    /// Why a message is sent.
    pub enum MessagePurpose {
        /// It answers the customer.
        Reply = "reply",
        Notification = "notification",
        Marketing = "marketing",
    }
}

/// A word by which a customer changes their consent, without any model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsentCommand {
    /// Ends everything that is not a reply.
    Stop,
    /// Restores what held before `Stop`.
    Start,
}

string_enum! {
    /// Who changed the consent.
    pub enum ConsentActor {
        Customer = "customer",
        /// A person of the shop, at the customer's request.
        Shop = "shop",
    }
}

/// A change of the consent: a row that is only ever added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsentChange {
    pub who: ConsentActor,
    pub at: DateTime<Utc>,
    pub from: Consent,
    pub to: Consent,
    /// The message that asked for it.
    pub message: Option<MessageId>,
}

impl Consent {
    const NONE: Self = Self { marketing: false, notifications: false };

    /// Returns what holds after these changes, oldest first.
    pub fn after(changes: &[ConsentChange]) -> Self {
        changes.last().map_or_else(Self::default, |change| change.to)
    }

    /// Whether a message may be sent.
    pub fn permits(self, purpose: MessagePurpose) -> bool {
        match purpose {
            MessagePurpose::Reply => true,
            MessagePurpose::Notification => self.notifications,
            MessagePurpose::Marketing => self.marketing,
        }
    }
}

impl ConsentCommand {
    /// Reads a message that is nothing but the command: STOP, UNSUBSCRIBE or START, in any case and with any punctuation. "Stop sending
    /// me the red ones" is none.
    pub fn of(message: &str) -> Option<Self> {
        match words(message).as_slice() {
            [word] if word == "stop" || word == "unsubscribe" => Some(Self::Stop),
            [word] if word == "start" => Some(Self::Start),
            _ => None,
        }
    }

    /// Returns what the command makes of the consent after these changes, oldest first.
    pub fn apply(self, changes: &[ConsentChange]) -> Consent {
        let now = Consent::after(changes);
        match self {
            Self::Stop => Consent::NONE,
            Self::Start if now == Consent::NONE => {
                let stop = changes.iter().rev().find(|change| change.from != Consent::NONE);
                stop.map_or_else(Consent::default, |stop| stop.from)
            }
            Self::Start => now,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn change(from: Consent, to: Consent) -> ConsentChange {
        ConsentChange { who: ConsentActor::Customer, at: DateTime::UNIX_EPOCH, from, to, message: None }
    }

    /// Adds the change to the rows, if it changes anything.
    fn change_to(rows: &mut Vec<ConsentChange>, to: Consent) {
        let from = Consent::after(rows);
        if from != to {
            rows.push(change(from, to));
        }
    }

    #[test]
    fn command_stands_alone() {
        for (message, expected) in [
            ("STOP", Some(ConsentCommand::Stop)),
            (" stop. ", Some(ConsentCommand::Stop)),
            ("Unsubscribe!", Some(ConsentCommand::Stop)),
            ("start", Some(ConsentCommand::Start)),
            ("STOP 🛑", Some(ConsentCommand::Stop)),
            ("stop it", None),
            ("Stop sending me the red ones", None),
            ("start again", None),
            ("bus stop", None),
            ("", None),
            ("nonstop", None),
        ] {
            assert_eq!(ConsentCommand::of(message), expected, "{message:?}");
        }
    }

    #[test]
    fn start_restores_what_held_before_stop() {
        let both = Consent { marketing: true, notifications: true };
        let mut rows = Vec::new();
        change_to(&mut rows, both);
        let stopped = ConsentCommand::Stop.apply(&rows);
        change_to(&mut rows, stopped);
        assert_eq!((Consent::after(&rows), rows.len()), (Consent::NONE, 2));
        assert_eq!(ConsentCommand::Start.apply(&rows), both);
        assert_eq!(ConsentCommand::Start.apply(&[]), Consent::default());
    }

    #[derive(Clone, Copy, Debug)]
    enum Act {
        Command(ConsentCommand),
        Prefer(Consent),
    }

    fn any_act() -> impl Strategy<Value = Act> {
        prop_oneof![
            Just(Act::Command(ConsentCommand::Stop)),
            Just(Act::Command(ConsentCommand::Start)),
            any::<(bool, bool)>()
                .prop_map(|(marketing, notifications)| Act::Prefer(Consent { marketing, notifications })),
        ]
    }

    fn rows_of(acts: &[Act]) -> Vec<ConsentChange> {
        let mut rows = Vec::new();
        for act in acts {
            let to = match act {
                Act::Command(command) => command.apply(&rows),
                Act::Prefer(consent) => *consent,
            };
            change_to(&mut rows, to);
        }
        rows
    }

    proptest! {
        // Feature: tulia-ai-v2-langgraph-refactor, Property 10: Immediate Consent Processing
        #[test]
        fn nothing_but_replies_is_sent_after_stop(acts in prop::collection::vec(any_act(), 0..12)) {
            let mut rows = rows_of(&acts);
            let stopped = ConsentCommand::Stop.apply(&rows);
            change_to(&mut rows, stopped);
            for purpose in MessagePurpose::ALL {
                prop_assert_eq!(Consent::after(&rows).permits(*purpose), *purpose == MessagePurpose::Reply);
            }
        }

        // Feature: tulia-ai-v2-langgraph-refactor, Property 11: Consent Enforcement Consistency
        #[test]
        fn rows_are_a_chain_that_is_only_extended(acts in prop::collection::vec(any_act(), 1..12)) {
            let rows = rows_of(&acts);
            prop_assert!(rows.windows(2).all(|pair| pair[0].to == pair[1].from));
            prop_assert!(rows.first().is_none_or(|first| first.from == Consent::default()));
            prop_assert!(rows.iter().all(|row| row.from != row.to));
            let earlier = rows_of(&acts[..acts.len() - 1]);
            prop_assert_eq!(&rows[..earlier.len()], earlier.as_slice());
        }

        #[test]
        fn stop_and_start_together_change_nothing(acts in prop::collection::vec(any_act(), 0..12)) {
            let mut rows = rows_of(&acts);
            let before = Consent::after(&rows);
            for command in [ConsentCommand::Stop, ConsentCommand::Stop, ConsentCommand::Start] {
                let to = command.apply(&rows);
                change_to(&mut rows, to);
            }
            prop_assert!(before == Consent::NONE || Consent::after(&rows) == before);
        }
    }
}
