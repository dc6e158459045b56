//! Verifies a claim of a customer ("this is my order") with counted attempts, for every desk.
//!
//! Failed attempts are counted for the conversation, the client and the thing that is asked for: an order or an account. Each
//! count locks by itself ([`AttemptLimit`]). The counts are in the store ([`crate::store::attempts`]), so that they hold
//! across conversations and restarts.
//!
//! A conversation whose `user_id` is set needs no attempt: the shop has vouched for it.

use chrono::{DateTime, Utc};

use super::Turn;
use crate::domain::commerce::{Order, OrderNumber};
use crate::domain::identity::Contact;
use crate::domain::identity::attempts::{AttemptLimit, AttemptSubject};
use crate::domain::telecom::InvoiceNumber;
use crate::domain::{AuditEntry, AuditKind, ConversationId};
use crate::store::attempts::{AttemptBy, Verification};
use crate::store::{StoreError, TenantStore};

/// The attempts that a turn may make at one thing.
pub struct Attempts<'a> {
    store: TenantStore<'a>,
    conversation: ConversationId,
    subjects: Vec<AttemptSubject>,
    limit: AttemptLimit,
    now: DateTime<Utc>,
}

impl<'a> Attempts<'a> {
    /// `client` is the pseudonym of the client's address, if the turn has one.
    pub fn new(
        store: TenantStore<'a>,
        turn: &Turn,
        client: Option<String>,
        of: AttemptSubject,
        limit: AttemptLimit,
    ) -> Self {
        let own = [AttemptSubject::Conversation(turn.conversation.id), of];
        let subjects = own.into_iter().chain(client.map(AttemptSubject::Client)).collect();
        Self { store, conversation: turn.conversation.id, subjects, limit, now: turn.accepted_at() }
    }

    /// Returns the order if it has this contact, and counts a failure otherwise.
    pub async fn at_order(&self, number: &OrderNumber, contact: &Contact) -> Result<Verification<Order>, StoreError> {
        let verified = self.store.verify_order(number, contact, self.by()).await?;
        self.result_of(verified).await
    }

    /// Returns the account's `user_id` if the customer named it, and one of its invoices, and counts a failure otherwise. Without an
    /// invoice (`ACCOUNT_VERIFICATION=none`), the account must only exist. Call it once for each pair that the customer names, with
    /// [`AttemptSubject::Account`] of the same claimed id.
    pub async fn at_account(
        &self,
        claimed: &str,
        invoice: Option<&InvoiceNumber>,
    ) -> Result<Verification<String>, StoreError> {
        let verified = self.store.verify_account(claimed, invoice, self.by()).await?;
        if let Verification::Verified(user_id) = &verified {
            // An erasure finds the conversation by this entry.
            let entry = AuditEntry {
                kind: AuditKind::User,
                conversation: Some(self.conversation),
                account: Some(user_id.clone()),
                ..AuditEntry::system("customer", "account.verified", self.now)
            };
            self.store.record(&entry).await?;
        }
        self.result_of(verified).await
    }

    fn by(&self) -> AttemptBy<'_> {
        AttemptBy { subjects: &self.subjects, limit: &self.limit, now: self.now }
    }

    /// The attempt that reaches the limit is locked as well.
    async fn result_of<T>(&self, verified: Verification<T>) -> Result<Verification<T>, StoreError> {
        Ok(match verified {
            Verification::Missed => self.find_lock().await?.unwrap_or(Verification::Missed),
            verified => verified,
        })
    }

    /// Returns the lock, if there were too many failed attempts.
    async fn find_lock<T>(&self) -> Result<Option<Verification<T>>, StoreError> {
        let until = self.store.find_miss_lock(&self.subjects, self.now).await?;
        Ok(until.map(|until| Verification::Locked { until }))
    }

    /// Returns the order if it has this contact, without counting a failure: the customer did not name the contact for it.
    pub async fn peek_at_order(
        &self,
        number: &OrderNumber,
        contact: &Contact,
    ) -> Result<Verification<Order>, StoreError> {
        if let Some(locked) = self.find_lock().await? {
            return Ok(locked);
        }
        let order = self.store.find_order(number).await?.filter(|order| order.has_contact(contact));
        Ok(order.map_or(Verification::Missed, Verification::Verified))
    }
}
