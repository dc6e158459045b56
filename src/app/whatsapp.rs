//! Messages and reports that arrive over WhatsApp.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use chrono::{TimeDelta, Utc};
use tokio::sync::{Mutex, MutexGuard};
use tracing::{Instrument, debug, error};

use super::{App, NewConversation, OpenError};
use crate::channels::Announcer;
use crate::domain::commerce::Tenant;
use crate::domain::identity::e164::E164;
use crate::domain::{Author, Channel, Conversation, Notice, TenantId};
use crate::jobs::deliver::Deliver;
use crate::providers::messaging::Account;
use crate::store::StoreError;
use crate::store::acceptance::IdempotencyKey;
use crate::store::channels::Inbound;
use crate::store::deliveries::{DeliveryReport, Part};
use crate::turn::{AcceptError, Message};

/// Where Twilio delivers messages and reports. A report's query names the message.
pub const WEBHOOK: &str = "/webhooks/twilio";

/// How long a conversation may be silent. A later message opens a new one.
const SESSION: TimeDelta = TimeDelta::hours(24);
/// Locks of customers. Two customers may share one.
const LOCKS: usize = 64;

/// A customer's message.
#[derive(Clone, Debug)]
pub struct Incoming {
    pub from: E164,
    /// Empty for a picture or another message without text.
    pub text: String,
    /// The provider's id of the message.
    pub reference: String,
}

/// Why a message was not stored. The provider may send it again.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Accept(#[from] AcceptError),
}

impl From<StoreError> for ReceiveError {
    fn from(cause: StoreError) -> Self {
        Self::Accept(cause.into())
    }
}

/// Lets one message of a customer be received at a time, so that the first two open one conversation.
#[derive(Debug)]
pub(super) struct CustomerLocks {
    locks: Vec<Mutex<()>>,
    hasher: RandomState,
}

impl Default for CustomerLocks {
    fn default() -> Self {
        Self { locks: (0..LOCKS).map(|_| Mutex::default()).collect(), hasher: RandomState::new() }
    }
}

impl CustomerLocks {
    async fn lock(&self, tenant: &TenantId, customer: &E164) -> MutexGuard<'_, ()> {
        let hash = usize::try_from(self.hasher.hash_one((tenant, customer)) % LOCKS as u64).unwrap_or_default();
        self.locks[hash].lock().await
    }
}

impl App {
    /// Returns the shop with this WhatsApp number, and its account at the provider.
    pub async fn find_whatsapp_shop(&self, number: &E164) -> Result<Option<(Tenant, Account)>, StoreError> {
        let Some(shop) = self.store.find_tenant_of_number(number).await? else { return Ok(None) };
        let account = Deliver::account(&self.store.tenant(&shop.id), self.config.commerce.tenant_key.as_ref()).await?;
        if account.is_none() {
            error!(tenant = %shop.id, "A WhatsApp message was refused: the shop has no usable credentials of Twilio");
        }
        Ok(account.map(|account| (shop, account)))
    }

    /// Stores a customer's message, in the customer's conversation or in a new one. A message that was stored before changes nothing.
    /// It completes even if the caller is dropped, so that a repetition finds what became of the first attempt.
    pub async fn receive(self: &Arc<Self>, shop: Tenant, incoming: Incoming) -> Result<(), ReceiveError> {
        let app = self.clone();
        let receiving = async move { app.receive_now(&shop, incoming).await };
        // The task is lost only if it panicked.
        self.turns.spawn(receiving.in_current_span()).await.unwrap_or(Err(AcceptError::Overloaded.into()))
    }

    async fn receive_now(&self, shop: &Tenant, incoming: Incoming) -> Result<(), ReceiveError> {
        let Incoming { from, text, reference } = incoming;
        let _one = self.customer_locks.lock(&shop.id, &from).await;
        let (conversation, opens) = match self.active_conversation(&shop.id, &from).await? {
            Some(active) => (active.id, None),
            None => {
                let new = self.new_conversation(shop, &from)?;
                (new.id, Some(Box::new(new)))
            }
        };
        let notice = text.is_empty().then_some(Notice::OnlyText);
        let text = if text.is_empty() { "📎".to_owned() } else { text };
        let idempotency = Some(IdempotencyKey { body_hash: reference.clone(), key: reference });
        let inbound = Some(Inbound { channel: Channel::WhatsApp, from, opens, notice });
        let message = Message { inbound, ..Message::new(Author::Customer, text, idempotency) };
        self.engine.accept(&shop.id, conversation, message).await?;
        Ok(())
    }

    /// Returns the customer's last conversation, unless it was silent for too long.
    async fn active_conversation(
        &self,
        tenant: &TenantId,
        customer: &E164,
    ) -> Result<Option<Conversation>, StoreError> {
        let store = self.store.tenant(tenant);
        let Some(session) = store.find_channel_session(Channel::WhatsApp, customer).await? else { return Ok(None) };
        let found = store.find_conversation(session.conversation).await?;
        Ok(found.filter(|found| Utc::now() - found.last_activity_at.max(session.received_at) < SESSION))
    }

    fn new_conversation(&self, shop: &Tenant, customer: &E164) -> Result<Conversation, OpenError> {
        let settings = &shop.settings;
        let persona = settings.whatsapp.persona.as_ref().map(|persona| persona.as_str().to_owned());
        let prompts = self.shops.get(&shop.id).prompts().clone();
        let is_known = |name: &String| prompts.find_persona(name).is_some();
        if let Some(unknown) = persona.as_ref().filter(|name| !is_known(name)) {
            error!(tenant = %shop.id, persona = unknown, "The shop's WhatsApp persona does not exist; the default one answers");
        }
        let new = NewConversation {
            user_id: Some(customer.as_str().to_owned()),
            persona: persona.filter(is_known),
            likely_languages: vec![settings.languages.default_language()],
            ..NewConversation::default()
        };
        // A customer who writes first is greeted by the reply.
        let (conversation, _) = self.begin_conversation(&shop.id, &new, Utc::now())?;
        Ok(Conversation { channel: Some(Channel::WhatsApp), ..conversation })
    }

    /// Stores what the provider reports about a part of a message.
    pub async fn receive_report(
        &self,
        tenant: &TenantId,
        part: Part,
        report: &DeliveryReport<'_>,
    ) -> Result<(), StoreError> {
        match self.store.tenant(tenant).report_delivery(part, report, Utc::now()).await? {
            Some(conversation) => {
                self.reports.note(conversation);
                self.engine.note_change(tenant, conversation);
            }
            None => debug!("Ignored a report about an unknown message"),
        }
        Ok(())
    }
}
