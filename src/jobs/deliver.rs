//! Delivers the messages of a conversation over its channel, one after another. Each run of a job sends one part of a message.
//!
//! A part is marked before it is sent. If the answer is lost or the process dies, the provider is asked
//! whether it has the part before the part is sent again.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::timeout;
use tracing::{debug, warn};

use super::{Job, JobContext, JobError, LeasedJob};
use crate::channels::{Reports, markup, split};
use crate::domain::channel::{NO_NUMBER, OUTSIDE_WINDOW, TOO_OLD};
use crate::domain::commerce::tenant::{ContentSid, CredentialName};
use crate::domain::identity::e164::E164;
use crate::domain::sealed::SealingKey;
use crate::domain::{Channel, ConversationId, Delivery, DeliveryStatus, Sender};
use crate::providers::messaging::{Accepted, Account, Content, MessageGateway, Outgoing, SendError};
use crate::store::deliveries::{DeliveryReport, Part};
use crate::store::jobs::DELIVER_MESSAGE;
use crate::store::shoppers::ShopperKey;
use crate::store::tenants::credential_owner;
use crate::store::{StoreError, TenantStore};

/// The longest part, in UTF-16 units. Twilio refuses longer ones (21617).
const PART_MAX: usize = 1600;
/// How long after a customer's message WhatsApp accepts texts.
pub const WINDOW: TimeDelta = TimeDelta::hours(24);
/// How long a message is retried.
const GIVE_UP_AFTER: TimeDelta = TimeDelta::hours(24);
/// How long a message waits for the end of an earlier turn.
const TURN_WAIT: Duration = Duration::from_millis(200);
/// Conversations that are served at the same time.
const AT_ONCE: usize = 64;

/// Sends the next part of the messages of the job's conversation.
pub struct Deliver {
    pub gateway: Arc<dyn MessageGateway>,
    /// Opens the shops' credentials.
    pub key: Option<SealingKey>,
    /// Where the provider reports; the message's id and part follow. `None`: the server cannot be reached.
    pub report_to: Option<String>,
    pub pace: Duration,
    pub reports: Reports,
}

/// Who sends what to whom.
struct Route {
    account: Account,
    from: E164,
    to: E164,
    /// The next part's text.
    text: String,
    /// The next part, from 0, and how many parts the message has.
    number: u32,
    count: u32,
    /// Sends the text in a template.
    template: Option<ContentSid>,
}

/// The result of preparing a delivery.
enum Prepared {
    Ready(Route),
    /// It is not sent.
    Ends(DeliveryStatus, &'static str),
}

#[async_trait]
impl Job for Deliver {
    fn name(&self) -> &'static str {
        DELIVER_MESSAGE
    }

    fn queue(&self) -> &'static str {
        "messages"
    }

    fn at_once(&self) -> usize {
        AT_ONCE
    }

    async fn run(&self, context: &JobContext, job: &LeasedJob) -> Result<(), JobError> {
        let door = context.store.tenant(&job.tenant);
        let Some(conversation) = job.conversation else { return Ok(()) };
        let Some(delivery) = door.next_delivery(conversation).await? else { return Ok(()) };
        // A person's answer and a message of the shop are stored while an earlier turn may still speak.
        let first_open = if delivery.position == 0 { door.first_open_turn(conversation).await? } else { None };
        if first_open.is_some_and(|turn| turn < delivery.turn) {
            return Err(JobError::Later(TURN_WAIT));
        }
        let ended = match self.prepare(&door, &delivery).await? {
            Some(Prepared::Ready(route)) => self.send(&door, &delivery, &route).await,
            Some(Prepared::Ends(status, why)) => {
                Ok(door.end_delivery(delivery.message, status, why, Utc::now()).await?)
            }
            None => Ok(door.remove_delivery(delivery.message).await?),
        };
        if let Some(announcer) = &context.announcer {
            announcer.note_change(&job.tenant, conversation);
        }
        ended?;
        // The job stays until the message of its subject is complete. This run may have sent a part of an earlier message.
        let is_own = delivery.message.0 == job.subject;
        match door.next_delivery(conversation).await? {
            Some(next) if !is_own || next.message == delivery.message => Err(JobError::Later(Duration::ZERO)),
            _ => Ok(()),
        }
    }
}

impl Deliver {
    /// Returns the account of the shop at the provider, if its credentials are stored and can be opened.
    pub async fn account(door: &TenantStore<'_>, key: Option<&SealingKey>) -> Result<Option<Account>, StoreError> {
        let Some(key) = key else { return Ok(None) };
        let sealed = door.list_credentials().await?;
        let open = |name: CredentialName| key.open(&credential_owner(door.tenant(), name), sealed.get(&name)?).ok();
        let tokens = [CredentialName::TwilioAuthToken, CredentialName::TwilioSecondAuthToken];
        let tokens: Vec<String> = tokens.into_iter().filter_map(open).collect();
        let id = open(CredentialName::TwilioAccountSid);
        Ok(id.filter(|_| !tokens.is_empty()).map(|id| Account { shop: door.tenant().clone(), id, tokens }))
    }

    /// Returns what to send, or why not. `None`: the message was deleted.
    async fn prepare(&self, door: &TenantStore<'_>, delivery: &Delivery) -> Result<Option<Prepared>, JobError> {
        let ends = |status, why| Ok(Some(Prepared::Ends(status, why)));
        let conversation = door.find_conversation(delivery.conversation).await?;
        let messages = door.list_messages_by_id(delivery.conversation, &[delivery.message]).await?;
        let (Some(conversation), Some(message)) = (conversation, messages.into_iter().next()) else { return Ok(None) };
        let to = conversation.user_id.as_ref().and_then(|user| user.parse::<E164>().ok());
        let shop = door.find_tenant().await?;
        let from = shop.as_ref().and_then(|shop| shop.whatsapp_number.clone());
        let (Some(to), Some(shop), Some(from)) = (to, shop, from) else {
            return ends(DeliveryStatus::Failed, NO_NUMBER);
        };
        let now = Utc::now();
        // Without a new row: after an erasure at the same time, it would hold the erased number.
        let shopper = door.find_shopper(&ShopperKey::Phone(to.clone())).await?;
        let consent = shopper.map(|shopper| shopper.consent).unwrap_or_default();
        if !consent.permits(delivery.purpose) {
            return ends(DeliveryStatus::Withheld, delivery.purpose.as_str());
        }
        if now - delivery.created_at > GIVE_UP_AFTER {
            return ends(DeliveryStatus::Failed, TOO_OLD);
        }
        let session = door.find_channel_session(Channel::WhatsApp, &to).await?;
        let is_open = session.is_some_and(|session| now - session.received_at < WINDOW);
        let template = shop.settings.whatsapp.template.clone().filter(|_| !is_open);
        if !is_open && template.is_none() {
            return ends(DeliveryStatus::Failed, OUTSIDE_WINDOW);
        }
        let account = Self::account(door, self.key.as_ref()).await?;
        let account = account.ok_or_else(|| JobError::failed("the shop has no usable credentials of Twilio"))?;
        let text = match message.sender {
            // A person does not write Markdown: `40*30*20` is a size.
            Sender::Agent => message.text,
            _ => markup::to_whatsapp(&message.text),
        };
        let parts: Vec<String> = match template {
            // A variable of a template is one line.
            Some(_) => vec![text.split_whitespace().collect::<Vec<_>>().join(" ")],
            None => split::split(&text, PART_MAX).into_iter().map(str::to_owned).collect(),
        };
        if parts.iter().all(String::is_empty) {
            return Ok(None);
        }
        let is_unsent = matches!(delivery.status, DeliveryStatus::Waiting | DeliveryStatus::Sending);
        let number = if is_unsent { delivery.part } else { delivery.part + 1 };
        let count = u32::try_from(parts.len()).unwrap_or(u32::MAX);
        // A template holds a whole message. It cannot bring the rest of a message whose first parts were sent inside the window.
        let Some(text) = parts.into_iter().nth(number as usize) else {
            return ends(DeliveryStatus::Failed, OUTSIDE_WINDOW);
        };
        Ok(Some(Prepared::Ready(Route { account, from, to, text, number, count, template })))
    }

    /// Sends the next part, unless the provider has it already.
    async fn send(&self, door: &TenantStore<'_>, delivery: &Delivery, route: &Route) -> Result<(), JobError> {
        let (text, number) = (&route.text, route.number);
        let part = Part { message: delivery.message, number };
        let report_to = self.report_to.as_ref().map(|address| format!("{address}{}.{number}", delivery.message));
        let content = match &route.template {
            Some(id) => Content::Template { id: id.as_str(), text },
            None => Content::Text(text),
        };
        let outgoing = Outgoing { from: &route.from, to: &route.to, content, report_to: report_to.as_deref() };
        if let Some(since) = delivery.attempted_at.filter(|_| delivery.status == DeliveryStatus::Sending)
            && self.adopt(door, (delivery.conversation, part), route, &outgoing, since).await?
        {
            return Ok(());
        }
        self.wait_for_report(door, delivery.conversation).await?;
        if door.begin_part(part, route.count, Utc::now()).await? {
            self.send_part(door, part, route, &outgoing).await?;
        }
        Ok(())
    }

    async fn send_part(
        &self,
        door: &TenantStore<'_>,
        part: Part,
        route: &Route,
        outgoing: &Outgoing<'_>,
    ) -> Result<(), JobError> {
        match self.gateway.send(&route.account, outgoing).await {
            Ok(accepted) => Ok(keep(door, part, &accepted).await?),
            Err(SendError::Refused(code)) => {
                warn!(message.id = %part.message, error = code, "A message was refused");
                Ok(door.end_delivery(part.message, DeliveryStatus::Failed, &code, Utc::now()).await?)
            }
            Err(cause @ SendError::NotSent(_)) => {
                door.return_part(part, &cause.to_string(), Utc::now()).await?;
                Err(JobError::failed(cause))
            }
            Err(cause @ SendError::Lost(_)) => Err(JobError::failed(cause)),
        }
    }

    /// Looks for a part whose answer was lost. Returns whether the provider has it.
    async fn adopt(
        &self,
        door: &TenantStore<'_>,
        (conversation, part): (ConversationId, Part),
        route: &Route,
        outgoing: &Outgoing<'_>,
        since: DateTime<Utc>,
    ) -> Result<bool, JobError> {
        let found = self.gateway.find(&route.account, outgoing, since).await.map_err(JobError::failed)?;
        let known = door.list_delivery_references(conversation).await?;
        let Some(accepted) = found.into_iter().find(|found| !known.contains(&found.reference)) else {
            return Ok(false);
        };
        debug!(message.id = %part.message, "Found a message whose answer was lost");
        keep(door, part, &accepted).await?;
        Ok(true)
    }

    /// Waits until the conversation's last part is reported as sent, or for the pace.
    async fn wait_for_report(&self, door: &TenantStore<'_>, conversation: ConversationId) -> Result<(), StoreError> {
        let mut reports = self.reports.listen();
        let pace = TimeDelta::from_std(self.pace).unwrap_or(TimeDelta::MAX);
        while let Some(accepted) = door.unreported_since(conversation, Utc::now() - pace).await? {
            let left = (accepted + pace - Utc::now()).to_std().unwrap_or_default();
            let reported = async {
                // A lag may hide the report.
                while reports.recv().await.is_ok_and(|reported| reported != conversation) {}
            };
            if timeout(left, reported).await.is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// Stores that the provider has the part.
async fn keep(door: &TenantStore<'_>, part: Part, accepted: &Accepted) -> Result<(), StoreError> {
    let Accepted { reference, status, error } = accepted;
    let report = DeliveryReport { status: *status, reference, error: error.as_deref() };
    door.report_delivery(part, &report, Utc::now()).await?;
    Ok(())
}
