//! Verifies a claim of a customer ("this is my order") with counted attempts, for every desk.
//!
//! Failed attempts are counted for the conversation, the client and the thing that is asked for: an order or an account. Each
//! count locks by itself ([`AttemptLimit`]). The counts are in the store ([`crate::store::order_misses`]), so that they hold
//! across conversations and restarts.

use chrono::{DateTime, Utc};

use super::Turn;
use crate::domain::commerce::{Order, OrderNumber};
use crate::domain::identity::Contact;
use crate::domain::identity::attempts::{AttemptLimit, AttemptSubject};
use crate::store::order_misses::Verification;
use crate::store::{StoreError, TenantStore};

/// The attempts that a turn may make at one thing.
pub struct Attempts<'a> {
    store: TenantStore<'a>,
    subjects: Vec<AttemptSubject>,
    limit: AttemptLimit,
    now: DateTime<Utc>,
}

/// The result of an attempt.
pub enum Attempt<T> {
    Verified(T),
    /// It does not exist, or the claim is wrong. The customer cannot distinguish the two.
    Failed,
    /// There were too many failed attempts.
    Locked,
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
        Self { store, subjects, limit, now: turn.accepted_at() }
    }

    pub async fn are_locked(&self) -> Result<bool, StoreError> {
        Ok(self.store.find_miss_lock(&self.subjects, self.now).await?.is_some())
    }

    /// Returns the order if it has this contact, and counts a failure otherwise.
    pub async fn at_order(&self, number: &OrderNumber, contact: &Contact) -> Result<Attempt<Order>, StoreError> {
        match self.store.verify_order(number, contact, &self.subjects, &self.limit, self.now).await? {
            Verification::Verified(order) => Ok(Attempt::Verified(*order)),
            Verification::Locked { .. } => Ok(Attempt::Locked),
            Verification::Missed if self.are_locked().await? => Ok(Attempt::Locked),
            Verification::Missed => Ok(Attempt::Failed),
        }
    }

    /// Returns the order if it has this contact, without counting a failure: the customer did not name the contact for it.
    pub async fn peek_at_order(&self, number: &OrderNumber, contact: &Contact) -> Result<Attempt<Order>, StoreError> {
        if self.are_locked().await? {
            return Ok(Attempt::Locked);
        }
        let order = self.store.find_order(number).await?.filter(|order| order.has_contact(contact));
        Ok(order.map_or(Attempt::Failed, Attempt::Verified))
    }
}
