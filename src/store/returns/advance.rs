//! The later steps of an RMA, and its label.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::LockType;
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QuerySelect};
use serde_json::json;

use super::rows::load_rmas;
use super::{write_order_step, write_rma_step};
use crate::domain::commerce::{Order, OrderStatus};
use crate::domain::identity::Email;
use crate::domain::returns::{Label, NoStep, Rma, RmaId, RmaNumber, RmaStatus, TrackingNumber};
use crate::domain::{ActorKind, AuditEntry, Language, StatusChange, TenantId};
use crate::store::audit::{Actor, record};
use crate::store::conversations::language_of;
use crate::store::entities::{labels, rmas};
use crate::store::mails::{NewMail, last_mail_of, queue};
use crate::store::orders::lock_order;
use crate::store::{Result, TenantStore};

/// The result of [`TenantStore::advance_rma`]. Only `Done` changes the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advance {
    Done(Box<Rma>),
    Refused(NoStep),
    NotFound,
}

/// The result of [`TenantStore::issue_label`]. Only `Issued` changes the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelOutcome {
    Issued(Label),
    /// The RMA already has this label.
    Repeated(Label),
    Refused(NoStep),
    NotFound,
}

impl TenantStore<'_> {
    /// Changes the status of an RMA. When the last item of an order is refunded, the order becomes `Returned`.
    /// `Label_Sent` is refused without a label: [`Self::issue_label`] does both.
    pub async fn advance_rma(&self, number: &RmaNumber, to: RmaStatus, by: &Actor<'_>) -> Result<Advance> {
        let transaction = self.store.begin_fenced().await?;
        let Some(rma) = self.lock_rma(&transaction, number).await? else { return Ok(Advance::NotFound) };
        let step = match rma.step(to) {
            Ok(step) => step,
            Err(refusal) => return Ok(Advance::Refused(refusal)),
        };
        if to == RmaStatus::LabelSent && rma.label.is_none() {
            return Ok(Advance::Refused(NoStep::NoLabel));
        }
        write_rma_step(&transaction, self.tenant, &rma, step, None, by).await?;
        self.mail_milestone(&transaction, &rma, to, by).await?;
        if to == RmaStatus::Refunded {
            self.close_order(&transaction, &rma, by).await?;
        }
        self.record_act(&transaction).await?;
        transaction.commit().await?;
        Ok(Advance::Done(Box::new(Rma { status: step.to(), updated_at: by.now, ..rma })))
    }

    /// Stores the label of an RMA and changes its status to `Label_Sent`. Idempotent.
    pub async fn issue_label(
        &self,
        number: &RmaNumber,
        tracking: &TrackingNumber,
        by: &Actor<'_>,
    ) -> Result<LabelOutcome> {
        let transaction = self.store.begin_fenced().await?;
        let Some(rma) = self.lock_rma(&transaction, number).await? else { return Ok(LabelOutcome::NotFound) };
        if let Some(label) = rma.label {
            return Ok(LabelOutcome::Repeated(label));
        }
        let step = match rma.step(RmaStatus::LabelSent) {
            Ok(step) => step,
            Err(refusal) => return Ok(LabelOutcome::Refused(refusal)),
        };
        let label = Label { tracking: tracking.clone(), created_at: by.now };
        insert_label(&transaction, self.tenant, rma.id, &label).await?;
        let issued = AuditEntry {
            after: Some(json!({"tracking": tracking})),
            ..by.entry("label.issued", &rma.order, Some(&rma.number))
        };
        record(&transaction, self.tenant, &[issued]).await?;
        write_rma_step(&transaction, self.tenant, &rma, step, None, by).await?;
        // The mail about a new return already has a link to the label.
        if by.kind == ActorKind::Person {
            self.mail_milestone(&transaction, &rma, RmaStatus::LabelSent, by).await?;
        }
        self.record_act(&transaction).await?;
        transaction.commit().await?;
        Ok(LabelOutcome::Issued(label))
    }

    /// Queues a mail about the new status, once, to the address and in the language of the previous mail.
    async fn mail_milestone(
        &self,
        transaction: &DatabaseTransaction,
        rma: &Rma,
        to: RmaStatus,
        by: &Actor<'_>,
    ) -> Result<()> {
        let template = match to {
            RmaStatus::LabelSent => "label_ready",
            RmaStatus::Received => "return_received",
            RmaStatus::Rejected => "return_rejected",
            RmaStatus::Refunded => "refund_paid",
            RmaStatus::Initiated
            | RmaStatus::InTransit
            | RmaStatus::Inspected
            | RmaStatus::Approved
            | RmaStatus::Processed => return Ok(()),
        };
        let Some(order) = lock_order(transaction, self.tenant, &rma.order).await? else { return Ok(()) };
        let (to, language) = self.recipient(transaction, rma, &order).await?;
        let number = NewMail::number_for(rma, template);
        let mail = NewMail { to, ..NewMail::about(template, number, &order, Some(rma), language) };
        queue(transaction, self.tenant, &mail, by.who, by.now).await?;
        Ok(())
    }

    /// Returns the address and the language of the last mail about the RMA. The customer may have named that address in the chat.
    pub(super) async fn recipient(
        &self,
        transaction: &DatabaseTransaction,
        rma: &Rma,
        order: &Order,
    ) -> Result<(Email, Language)> {
        let last = last_mail_of(transaction, self.tenant, &rma.number).await?;
        let language = match &last {
            Some(last) => last.language,
            None => language_of(transaction, rma.conversation).await?,
        };
        // Retention erases the addresses of old mails. The order keeps its address.
        let to = last.map(|last| last.to).filter(|to| !to.is_erased());
        Ok((to.unwrap_or_else(|| order.email.clone()), language))
    }

    /// Returns the RMA, and locks it and its order until the transaction ends.
    pub(super) async fn lock_rma(&self, transaction: &DatabaseTransaction, number: &RmaNumber) -> Result<Option<Rma>> {
        let find = || self.rows::<rmas::Entity>().filter(rmas::Column::Number.eq(number.as_str()));
        let Some(row) = find().one(transaction).await? else { return Ok(None) };
        if let Ok(order) = row.order_number.parse() {
            lock_order(transaction, self.tenant, &order).await?;
        }
        // Read again after taking the lock: it may have changed while this call waited.
        let found = find().lock(LockType::Update).all(transaction).await?;
        Ok(load_rmas(transaction, found).await?.into_iter().next())
    }

    /// Marks the order as returned if all its items are refunded.
    async fn close_order(&self, transaction: &DatabaseTransaction, rma: &Rma, by: &Actor<'_>) -> Result<()> {
        let Some(order) = lock_order(transaction, self.tenant, &rma.order).await? else { return Ok(()) };
        let is_paid_back = |status: RmaStatus| status == RmaStatus::Refunded;
        let all = order.items.iter().all(|item| item.rma.as_ref().is_some_and(|rma| is_paid_back(rma.status)));
        match StatusChange::new(order.status, OrderStatus::Returned) {
            Ok(step) if all => write_order_step(transaction, self.tenant, &order.number, step, by).await,
            _ => Ok(()),
        }
    }
}

/// Stores the label of an RMA.
pub(in crate::store) async fn insert_label(
    transaction: &DatabaseTransaction,
    tenant: &TenantId,
    rma: RmaId,
    label: &Label,
) -> Result<()> {
    let row = labels::ActiveModel {
        rma_id: Set(rma.0),
        tenant_id: Set(tenant.to_string()),
        tracking: Set(label.tracking.to_string()),
        created_at: Set(label.created_at),
    };
    labels::Entity::insert(row).exec_without_returning(transaction).await?;
    Ok(())
}
