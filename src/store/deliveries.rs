//! Deliveries of messages over a channel. Each is stored in the transaction of its message, with the job that sends it.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::Expr;
use sea_orm::sea_query::ExprTrait;
use sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, UpdateMany};

use super::entities::{TenantEntity, deliveries};
use super::jobs::{DELIVER_MESSAGE, NewJob, enqueue};
use super::{Result, TenantStore, from_db, to_db, unreadable};
use crate::domain::commerce::consent::MessagePurpose;
use crate::domain::{ConversationId, Delivery, DeliveryStatus, MessageId, TenantId};

use deliveries::Column as C;

/// A message to deliver.
#[derive(Clone, Debug)]
pub(super) struct NewDelivery<'a> {
    pub tenant: &'a TenantId,
    pub message: MessageId,
    pub conversation: ConversationId,
    pub turn: u32,
    pub position: u32,
    pub purpose: MessagePurpose,
    pub now: DateTime<Utc>,
}

/// A part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub message: MessageId,
    /// From 0.
    pub number: u32,
}

/// What a provider reports about a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryReport<'a> {
    pub status: DeliveryStatus,
    /// The provider's id of the part.
    pub reference: &'a str,
    pub error: Option<&'a str>,
}

/// The delivery of a message.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
#[schema(as = Delivery)]
pub struct Delivered {
    pub status: DeliveryStatus,
    /// The provider's code of an error, or why nothing was sent: `outside_window`, `no_number` or `too_old`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Stores deliveries and their jobs. Repeating it changes nothing.
pub(super) async fn enqueue_deliveries<'a>(connection: &impl ConnectionTrait, new: &[NewDelivery<'a>]) -> Result<()> {
    let rows = new.iter().map(|delivery| deliveries::ActiveModel {
        message_id: Set(delivery.message.0),
        tenant_id: Set(delivery.tenant.to_string()),
        conversation_id: Set(delivery.conversation.0),
        turn: Set(to_db(delivery.turn)),
        position: Set(to_db(delivery.position)),
        purpose: Set(delivery.purpose.as_str().to_owned()),
        status: Set(DeliveryStatus::Waiting.as_str().to_owned()),
        part: Set(0),
        parts: Set(0),
        reference: Set(None),
        error: Set(None),
        attempted_at: Set(None),
        created_at: Set(delivery.now),
        updated_at: Set(delivery.now),
    });
    deliveries::Entity::insert_many(rows).on_conflict_do_nothing().exec_without_returning(connection).await?;
    let job = |new: &NewDelivery<'a>| {
        NewJob::new(DELIVER_MESSAGE, new.message.0, new.tenant, new.now).in_conversation(new.conversation)
    };
    enqueue(connection, &new.iter().map(job).collect::<Vec<_>>()).await
}

impl TenantStore<'_> {
    /// Returns the conversation's first message that is not sent completely.
    pub async fn next_delivery(&self, conversation: ConversationId) -> Result<Option<Delivery>> {
        let ended = [DeliveryStatus::Failed, DeliveryStatus::Withheld].map(DeliveryStatus::as_str);
        let begun = [DeliveryStatus::Waiting, DeliveryStatus::Sending].map(DeliveryStatus::as_str);
        let has_more = Expr::col(C::Part).add(1).lt(Expr::col(C::Parts));
        let unsent = Condition::any().add(C::Status.is_in(begun)).add(has_more.and(C::Status.is_not_in(ended)));
        let row = self
            .rows::<deliveries::Entity>()
            .filter(C::ConversationId.eq(conversation.0))
            .filter(unsent)
            .order_by_asc(C::Turn)
            .order_by_asc(C::Position)
            .limit(1)
            .one(&self.store.read)
            .await?;
        row.map(read_delivery).transpose()
    }

    /// Returns when the provider accepted the conversation's last part, if that was after `since` and nothing was reported about it.
    pub async fn unreported_since(
        &self,
        conversation: ConversationId,
        since: DateTime<Utc>,
    ) -> Result<Option<DateTime<Utc>>> {
        let row = self
            .rows::<deliveries::Entity>()
            .filter(C::ConversationId.eq(conversation.0))
            .filter(C::Status.eq(DeliveryStatus::Accepted.as_str()))
            .filter(C::UpdatedAt.gt(since))
            .order_by_desc(C::UpdatedAt)
            .limit(1)
            .one(&self.store.read)
            .await?;
        Ok(row.map(|row| row.updated_at))
    }

    /// Returns the provider's ids of the conversation's parts.
    pub async fn list_delivery_references(&self, conversation: ConversationId) -> Result<Vec<String>> {
        let of_conversation = self.rows::<deliveries::Entity>().filter(C::ConversationId.eq(conversation.0));
        let rows: Vec<Option<String>> =
            of_conversation.select_only().column(C::Reference).into_tuple().all(&self.store.read).await?;
        Ok(rows.into_iter().flatten().collect())
    }

    /// Stores that a request for the part begins, before it does. Returns `false` if the message was deleted or has failed, or if the
    /// provider has reported about the part meanwhile.
    pub async fn begin_part(&self, part: Part, parts: u32, now: DateTime<Utc>) -> Result<bool> {
        let row = deliveries::ActiveModel {
            status: Set(DeliveryStatus::Sending.as_str().to_owned()),
            part: Set(to_db(part.number)),
            parts: Set(to_db(parts)),
            attempted_at: Set(Some(now)),
            updated_at: Set(now),
            ..Default::default()
        };
        let failed = C::Status.eq(DeliveryStatus::Failed.as_str());
        let unsent = [DeliveryStatus::Waiting, DeliveryStatus::Sending].map(DeliveryStatus::as_str);
        let is_open = C::Part.lt(to_db(part.number)).or(C::Status.is_in(unsent));
        let update = self.update_delivery(part.message).filter(failed.not()).filter(is_open).set(row);
        Ok(update.exec(self.store.writer()?).await?.rows_affected > 0)
    }

    /// Stores that the provider does not have the part, so that it can be sent again.
    pub async fn return_part(&self, part: Part, error: &str, now: DateTime<Utc>) -> Result<()> {
        let row = deliveries::ActiveModel {
            status: Set(DeliveryStatus::Waiting.as_str().to_owned()),
            error: Set(Some(error.to_owned())),
            updated_at: Set(now),
            ..Default::default()
        };
        let sending = C::Status.eq(DeliveryStatus::Sending.as_str());
        let update = self.update_delivery(part.message).filter(C::Part.eq(to_db(part.number))).filter(sending);
        update.set(row).exec(self.store.writer()?).await?;
        Ok(())
    }

    /// Ends a delivery that cannot or must not succeed.
    pub async fn end_delivery(
        &self,
        message: MessageId,
        status: DeliveryStatus,
        error: &str,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let row = deliveries::ActiveModel {
            status: Set(status.as_str().to_owned()),
            error: Set(Some(error.to_owned())),
            updated_at: Set(now),
            ..Default::default()
        };
        self.update_delivery(message).set(row).exec(self.store.writer()?).await?;
        Ok(())
    }

    /// Stores a report about a part, unless a later one is known. A failure of an earlier part counts as well, because the customer
    /// lacks it. Returns the message's conversation.
    pub async fn report_delivery(
        &self,
        part: Part,
        report: &DeliveryReport<'_>,
        now: DateTime<Utc>,
    ) -> Result<Option<ConversationId>> {
        let row = deliveries::ActiveModel {
            status: Set(report.status.as_str().to_owned()),
            reference: Set(Some(report.reference.to_owned())),
            error: Set(report.error.map(str::to_owned)),
            updated_at: Set(now),
            ..Default::default()
        };
        let number = to_db(part.number);
        let update = |is_about| {
            self.update_delivery(part.message)
                .filter(is_about)
                .filter(C::AttemptedAt.is_not_null())
                .filter(C::Status.is_in(report.status.replaces().map(DeliveryStatus::as_str)))
        };
        update(C::Part.eq(number)).set(row.clone()).exec(self.store.writer()?).await?;
        if report.status == DeliveryStatus::Failed {
            // The message has failed, whatever is reported about its later parts.
            let row = deliveries::ActiveModel { attempted_at: Set(None), ..row };
            update(C::Part.gt(number)).set(row).exec(self.store.writer()?).await?;
        }
        let found = self.rows::<deliveries::Entity>().filter(C::MessageId.eq(part.message.0));
        Ok(found.one(&self.store.read).await?.map(|row| ConversationId(row.conversation_id)))
    }

    /// Removes the delivery of a message that was deleted.
    pub async fn remove_delivery(&self, message: MessageId) -> Result<()> {
        let its = deliveries::Entity::delete_of(self.tenant).filter(C::MessageId.eq(message.0));
        its.exec(self.store.writer()?).await?;
        Ok(())
    }

    /// Returns how far the deliveries of these messages have come.
    pub async fn list_deliveries(
        &self,
        messages: impl IntoIterator<Item = MessageId>,
    ) -> Result<HashMap<MessageId, Delivered>> {
        let ids = messages.into_iter().map(|message| message.0);
        let rows = self.rows::<deliveries::Entity>().filter(C::MessageId.is_in(ids)).all(&self.store.read).await?;
        let read = |row: deliveries::Model| {
            let delivered = Delivered { status: read_status(&row.status)?, error: row.error };
            Ok((MessageId(row.message_id), delivered))
        };
        rows.into_iter().map(read).collect()
    }

    fn update_delivery(&self, message: MessageId) -> UpdateMany<deliveries::Entity> {
        deliveries::Entity::update_of(self.tenant).filter(C::MessageId.eq(message.0))
    }
}

fn read_status(name: &str) -> Result<DeliveryStatus> {
    DeliveryStatus::parse(name).ok_or_else(|| unreadable("deliveries", "status"))
}

fn read_delivery(row: deliveries::Model) -> Result<Delivery> {
    Ok(Delivery {
        message: MessageId(row.message_id),
        conversation: ConversationId(row.conversation_id),
        turn: from_db(row.turn),
        position: from_db(row.position),
        purpose: MessagePurpose::parse(&row.purpose).ok_or_else(|| unreadable("deliveries", "purpose"))?,
        status: read_status(&row.status)?,
        part: from_db(row.part),
        attempted_at: row.attempted_at,
        created_at: row.created_at,
    })
}
