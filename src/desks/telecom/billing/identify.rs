//! Whose account it is: the conversation's `user_id`, or a user id with one of its invoice numbers.

use crate::config::AccountVerification;
use crate::desks::telecom::Telecom;
use crate::desks::telecom::memory::{Asked, Claimed, Memory};
use crate::desks::telecom::said::Said;
use crate::desks::telecom::texts::Text;
use crate::dialogue::verification::Attempts;
use crate::dialogue::{DeskError, Turn};
use crate::domain::identity::attempts::AttemptSubject;
use crate::store::attempts::Verification;

/// What is known about the account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::desks::telecom) enum Identity {
    /// The account with this user id is the customer's.
    Known(String),
    /// The customer has not named an id.
    Unknown,
    /// The customer has named an id, and no invoice.
    Unproved,
    /// The customer of a known account names another one, and no invoice of it.
    Other,
    /// The id does not exist, or the invoice belongs to another account.
    Wrong,
    /// There were too many wrong attempts.
    Locked,
}

impl Identity {
    /// Returns what the desk says, and what it asks with it.
    pub fn question(&self) -> (Text, Option<Asked>) {
        match self {
            Self::Known(_) | Self::Unknown => (Text::AskUserId, Some(Asked::UserId)),
            Self::Unproved => (Text::AskProof, Some(Asked::Proof)),
            Self::Other => (Text::OtherAccount, Some(Asked::Proof)),
            Self::Wrong => (Text::NotVerified, Some(Asked::Proof)),
            Self::Locked => (Text::Locked, None),
        }
    }
}

impl Telecom {
    /// Takes the id and the invoice that the message names, and verifies them once for each message that names one.
    pub(in crate::desks::telecom) async fn identify(
        &self,
        turn: &Turn,
        said: &Said,
        asked: Option<Asked>,
        memory: &mut Memory,
    ) -> Result<Identity, DeskError> {
        let is_other = |known: &str, named: Option<&str>| named.is_some_and(|named| !named.eq_ignore_ascii_case(known));
        if let Some(user_id) = &turn.conversation.user_id {
            let is_other = is_other(user_id, said.user_id());
            return Ok(if is_other { Identity::Other } else { Identity::Known(user_id.clone()) });
        }
        let account = &mut memory.account;
        // A word that only looks like an id may be a device or an invoice, so it counts only where the desk asks for an id, or next to
        // an invoice: "u456, INV-45601".
        let guessed = match (asked, &account.user_id, &account.invoice) {
            (Some(Asked::UserId), None, _) => said.guessed_user_id(),
            (None, None, _) if said.names_account() => {
                said.guessed_user_id().filter(|id| id.starts_with(char::is_alphabetic))
            }
            // The desk said that the two do not match.
            (Some(Asked::Proof), Some(known), Some(_)) => said.corrected_user_id(known),
            _ => None,
        };
        let other = account.other.take();
        let other = other.filter(|_| asked == Some(Asked::Proof) && said.invoice(asked, None).is_some());
        let user_id = said.user_id().or(guessed.filter(|_| account.verified.is_none())).or(other.as_deref());
        // The desk asked for both, so the number of the invoice needs no name next to the id.
        let answers_both = asked == Some(Asked::UserId) && user_id.is_some() && account.invoice.is_none();
        let invoice = said.invoice(if answers_both { Some(Asked::Invoice) } else { asked }, user_id);
        let verification = self.services.config.telecom.verification;
        let mut proved = None;
        if account.verified.as_ref().is_some_and(|known| is_other(known, user_id)) {
            if invoice.is_none() && verification == AccountVerification::Invoice {
                account.other = user_id.map(str::to_owned);
                return Ok(Identity::Other);
            }
            // The invoice before proved only that account.
            proved = Some(std::mem::take(account));
        }
        if let Some(verified) = &account.verified {
            return Ok(Identity::Known(verified.clone()));
        }
        let names_something = user_id.is_some() || invoice.is_some();
        account.user_id = user_id.map(str::to_owned).or(account.user_id.take());
        account.invoice = invoice.or(account.invoice.take());
        let Some(claimed) = &account.user_id else { return Ok(Identity::Unknown) };
        let proof = match verification {
            AccountVerification::None => None,
            AccountVerification::Invoice => match &account.invoice {
                Some(invoice) => Some(invoice),
                None => return Ok(Identity::Unproved),
            },
        };
        if !names_something {
            return Ok(Identity::Unproved);
        }
        let client = turn.caller.address.map(|address| self.services.client_names.of(address));
        let (subject, limit) = (AttemptSubject::Account(claimed.clone()), self.services.config.identity.attempts);
        let attempts = Attempts::new(self.store_of(turn), turn, client, subject, limit);
        let identity = match attempts.at_account(claimed, proof).await? {
            Verification::Verified(user_id) => {
                account.verified = Some(user_id.clone());
                return Ok(Identity::Known(user_id));
            }
            Verification::Missed => Identity::Wrong,
            Verification::Locked { .. } => Identity::Locked,
        };
        // A proved account stays until another one is proved.
        if let Some(proved) = proved {
            *account = Claimed { other: account.user_id.take(), ..proved };
        }
        Ok(identity)
    }
}
