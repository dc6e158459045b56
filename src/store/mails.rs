//! E-mails to customers. A mail is stored in the transaction of the change that it reports, and sent by a job.

use chrono::{DateTime, TimeDelta, Utc};
use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::sea_query::LockType;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::{Value, json};
use uuid::Uuid;

use super::audit::record;
use super::entities::{TenantEntity, mails};
use super::jobs::{NewJob, delete_job, enqueue};
use super::{Result, StoreError, TenantStore, unreadable};
use crate::domain::commerce::{Order, OrderNumber};
use crate::domain::identity::Email;
use crate::domain::returns::{MailNumber, Rma, RmaNumber};
use crate::domain::{AuditEntry, ConversationId, Language, TenantId, string_enum};

/// Sends a mail; the subject is the mail's id.
pub const SEND_MAIL: &str = "send_mail";
/// How long a mail is retried. RFC 5321, 4.5.4.1, recommends 4 to 5 days.
pub const RETRIED_FOR: TimeDelta = TimeDelta::days(5);

/// Identifies a mail in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MailId(pub Uuid);

string_enum! {
    /// The status of a mail.
    pub enum MailStatus {
        Queued = "queued",
        Sent = "sent",
        Failed = "failed",
    }
}

/// A mail to store and send.
#[derive(Clone, Debug, PartialEq)]
pub struct NewMail {
    /// The Message-ID, the same for every attempt.
    pub number: MailNumber,
    pub to: Email,
    /// The name of the template, without language and extension.
    pub template: String,
    pub language: Language,
    /// The variables of the template: a JSON object.
    pub context: Value,
    pub conversation: Option<ConversationId>,
    pub order: Option<OrderNumber>,
    pub rma: Option<RmaNumber>,
}

impl NewMail {
    /// A mail about an order, or about an RMA of it, to the address on the order.
    pub fn about(template: &str, number: MailNumber, order: &Order, rma: Option<&Rma>, language: Language) -> Self {
        Self {
            number,
            to: order.email.clone(),
            template: template.to_owned(),
            language,
            context: mail_context(order, rma),
            conversation: rma.and_then(|rma| rma.conversation),
            order: Some(order.number.clone()),
            rma: rma.map(|rma| rma.number.clone()),
        }
    }

    /// Returns the number of the mail with this template about this RMA. It is always the same.
    pub fn number_for(rma: &Rma, template: &str) -> MailNumber {
        MailNumber::new(rma.created_at, &[rma.number.as_str(), template])
    }
}

/// Returns the variables of a template about an order. The amount is formatted when the mail is sent.
pub fn mail_context(order: &Order, rma: Option<&Rma>) -> Value {
    json!({
        "customer_name": order.customer.name, "order_number": order.number, "rma_number": rma.map(|rma| &rma.number),
        "refund_amount": rma.map(|rma| rma.refund.to_string()),
    })
}

/// A stored mail.
#[derive(Clone, Debug, PartialEq)]
pub struct Mail {
    pub id: MailId,
    pub number: MailNumber,
    pub to: Email,
    pub template: String,
    pub language: Language,
    pub context: Value,
    pub conversation: Option<ConversationId>,
    pub order: Option<OrderNumber>,
    pub rma: Option<RmaNumber>,
    pub status: MailStatus,
    /// The first 200 characters of what was sent.
    pub preview: Option<String>,
    /// Why sending failed: for the log and the shop, never for a customer.
    pub error: Option<String>,
    pub created_at: DateTime<Utc>,
    pub sent_at: Option<DateTime<Utc>>,
}

/// The result of sending a mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailOutcome<'a> {
    Sent { preview: &'a str },
    Failed { error: &'a str },
}

impl<'a> NewJob<'a> {
    pub(super) fn mail(tenant: &'a TenantId, mail: MailId, now: DateTime<Utc>) -> Self {
        Self::new(SEND_MAIL, mail.0, tenant, now)
    }
}

impl TenantStore<'_> {
    /// Stores a mail and a job that sends it. A mail with the same number is stored once.
    pub async fn queue_mail(&self, new: &NewMail, who: &str, now: DateTime<Utc>) -> Result<MailId> {
        let transaction = self.store.begin_fenced().await?;
        let id = queue(&transaction, self.tenant, new, who, now).await?;
        transaction.commit().await?;
        Ok(id)
    }

    pub async fn find_mail(&self, id: MailId) -> Result<Option<Mail>> {
        let found = self.rows::<mails::Entity>().filter(mails::Column::Id.eq(id.0));
        found.one(&self.store.read).await?.map(read_mail).transpose()
    }

    /// The mails about an RMA, oldest first.
    pub async fn list_mails_of(&self, rma: &RmaNumber) -> Result<Vec<Mail>> {
        let rows = self
            .rows::<mails::Entity>()
            .filter(mails::Column::RmaNumber.eq(rma.as_str()))
            .order_by_asc(mails::Column::CreatedAt)
            .order_by_asc(mails::Column::Id)
            .all(&self.store.read)
            .await?;
        rows.into_iter().map(read_mail).collect()
    }

    /// Stores the result of sending a mail to `tried`. Returns `false` and changes nothing if there is no such mail, if it
    /// was sent already, or if its address has changed.
    pub async fn finish_mail(
        &self,
        id: MailId,
        tried: &Email,
        outcome: &MailOutcome<'_>,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let change = match outcome {
            MailOutcome::Sent { preview } => mails::ActiveModel {
                status: Set(MailStatus::Sent.as_str().to_owned()),
                preview: Set(Some((*preview).to_owned())),
                error: Set(None),
                sent_at: Set(Some(now)),
                ..Default::default()
            },
            MailOutcome::Failed { error } => mails::ActiveModel {
                status: Set(MailStatus::Failed.as_str().to_owned()),
                error: Set(Some((*error).to_owned())),
                ..Default::default()
            },
        };
        let is_its = |mail: &Mail| mail.status != MailStatus::Sent && mail.to == *tried;
        self.change_mail(id, "job", now, is_its, change).await
    }

    /// Queues a failed mail again, for another address if one is given. A sent or queued mail is queued only for another address.
    /// Returns `false` and changes nothing if the mail cannot be queued.
    pub async fn requeue_mail(&self, id: MailId, to: Option<&Email>, who: &str, now: DateTime<Utc>) -> Result<bool> {
        let change = mails::ActiveModel {
            status: Set(MailStatus::Queued.as_str().to_owned()),
            recipient: to.map_or(NotSet, |to| Set(to.as_str().to_owned())),
            preview: Set(None),
            error: Set(None),
            sent_at: Set(None),
            ..Default::default()
        };
        let may_go = |mail: &Mail| match mail.status {
            // Its context was erased.
            _ if mail.to.is_erased() => false,
            MailStatus::Failed => true,
            MailStatus::Sent | MailStatus::Queued => to.is_some_and(|to| *to != mail.to),
        };
        self.change_mail(id, who, now, may_go, change).await
    }

    /// Changes a mail if `may` allows it, with its row locked. A queued mail gets a new job.
    async fn change_mail(
        &self,
        id: MailId,
        who: &str,
        now: DateTime<Utc>,
        may: impl FnOnce(&Mail) -> bool + Send,
        change: mails::ActiveModel,
    ) -> Result<bool> {
        let transaction = self.store.begin_fenced().await?;
        let found = self.rows::<mails::Entity>().filter(mails::Column::Id.eq(id.0));
        let row = found.lock(LockType::Update).one(&transaction).await?;
        let Some(before) = row.map(read_mail).transpose()? else { return Ok(false) };
        if !may(&before) {
            return Ok(false);
        }
        let changed = mails::Entity::update_many()
            .set(change)
            .filter(mails::Column::Id.eq(id.0))
            .exec_with_returning(&transaction)
            .await?;
        let after = changed.into_iter().next().map(read_mail).transpose()?;
        let after = after.ok_or(StoreError::Conflict { table: "mails" })?;
        // Repeated failures are one entry of the audit log.
        if after.status != before.status || after.to != before.to {
            let status = json!({"status": before.status.as_str()});
            record(&transaction, self.tenant, &[entry(&after, who, Some(status), now)]).await?;
        }
        if after.status == MailStatus::Queued {
            // A dead or running job for the earlier attempt would keep the new one out.
            delete_job(&transaction, SEND_MAIL, id.0).await?;
            enqueue(&transaction, &[NewJob::mail(self.tenant, id, now)]).await?;
        }
        transaction.commit().await?;
        Ok(true)
    }
}

/// Returns the last mail about an RMA.
pub(super) async fn last_mail_of(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    rma: &RmaNumber,
) -> Result<Option<Mail>> {
    let row = mails::Entity::of(tenant)
        .filter(mails::Column::RmaNumber.eq(rma.as_str()))
        .order_by_desc(mails::Column::CreatedAt)
        .order_by_desc(mails::Column::Id)
        .one(connection)
        .await?;
    row.map(read_mail).transpose()
}

/// Stores a mail, its job and its audit entry in a transaction of the caller.
pub(super) async fn queue(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    new: &NewMail,
    who: &str,
    now: DateTime<Utc>,
) -> Result<MailId> {
    let there = mails::Entity::of(tenant).filter(mails::Column::Number.eq(new.number.as_str())).one(connection).await?;
    if let Some(row) = there {
        return Ok(MailId(row.id));
    }
    let id = MailId(Uuid::now_v7());
    let row = mails::ActiveModel {
        id: Set(id.0),
        tenant_id: Set(tenant.to_string()),
        number: Set(new.number.to_string()),
        conversation_id: Set(new.conversation.map(|id| id.0)),
        order_number: Set(new.order.as_ref().map(ToString::to_string)),
        rma_number: Set(new.rma.as_ref().map(ToString::to_string)),
        recipient: Set(new.to.as_str().to_owned()),
        template: Set(new.template.clone()),
        language: Set(new.language.to_string()),
        context: Set(new.context.clone()),
        status: Set(MailStatus::Queued.as_str().to_owned()),
        preview: Set(None),
        error: Set(None),
        created_at: Set(now),
        sent_at: Set(None),
    };
    let mail = read_mail(mails::Entity::insert(row).exec_with_returning(connection).await?)?;
    enqueue(connection, &[NewJob::mail(tenant, id, now)]).await?;
    record(connection, tenant, &[entry(&mail, who, None, now)]).await?;
    Ok(id)
}

fn entry(mail: &Mail, who: &str, before: Option<Value>, now: DateTime<Utc>) -> AuditEntry {
    let after = json!({
        "mail": mail.number, "template": mail.template, "to": mail.to.masked(), "status": mail.status.as_str(),
    });
    AuditEntry {
        before,
        after: Some(after),
        conversation: mail.conversation,
        order: mail.order.clone(),
        rma: mail.rma.clone(),
        ..AuditEntry::system(who, &format!("mail.{}", mail.status.as_str()), now)
    }
}

pub(super) fn read_mail(row: mails::Model) -> Result<Mail> {
    let wrong = |error: &dyn std::fmt::Display| unreadable("mails", error);
    Ok(Mail {
        id: MailId(row.id),
        number: row.number.parse().map_err(|error| wrong(&error))?,
        to: row.recipient.parse().map_err(|error| wrong(&error))?,
        template: row.template,
        language: row.language.parse().map_err(|error| wrong(&error))?,
        context: row.context,
        conversation: row.conversation_id.map(ConversationId),
        order: row.order_number.map(|number| number.parse()).transpose().map_err(|error| wrong(&error))?,
        rma: row.rma_number.map(|number| number.parse()).transpose().map_err(|error| wrong(&error))?,
        status: MailStatus::parse(&row.status).ok_or_else(|| unreadable("mails", "status"))?,
        preview: row.preview,
        error: row.error,
        created_at: row.created_at,
        sent_at: row.sent_at,
    })
}
