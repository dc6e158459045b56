//! Notifies the customer of a person's decision, and ends the customer's wait for a person.

use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, DatabaseTransaction, PaginatorTrait, QueryFilter};

use super::escalate::joined_conversations;
use super::resolve::{APPROVED, Case};
use crate::domain::audit::OPERATOR;
use crate::domain::returns::rma::rejection;
use crate::domain::returns::{MailNumber, Notice, Outcome, Rma, TicketKind};
use crate::domain::{ConversationId, ConversationStatus};
use crate::store::conversations::language_of;
use crate::store::entities::{TenantEntity, conversations, tickets};
use crate::store::jobs::{NewJob, enqueue};
use crate::store::mails::{NewMail, queue};
use crate::store::orders::lock_order;
use crate::store::{Result, TenantStore};

impl TenantStore<'_> {
    /// Queues the mail and the chat message, and ends the customer's wait for a person.
    pub(super) async fn notify_customer(&self, case: &Case<'_>, locked: &[Rma], outcome: Outcome) -> Result<()> {
        let (transaction, ticket) = (case.transaction, case.ticket);
        let template = match &outcome {
            // A created return has a mail of its kind.
            Outcome::Returned { .. } | Outcome::Closed | Outcome::OrderCancelled | Outcome::OrderKept => None,
            // The mail has a link to the label, which the customer has used by then.
            Outcome::Continues { rma }
                if locked.iter().any(|of| of.number == *rma && of.status.is_past_inspection()) =>
            {
                None
            }
            Outcome::Continues { .. } => Some(APPROVED),
            Outcome::Rejected => Some("return_rejected"),
            Outcome::MoreInfo { .. } => Some("more_info"),
        };
        if let (Some(template), Some(number)) = (template, &ticket.order)
            && let Some(order) = lock_order(transaction, self.tenant, number).await?
        {
            let id = MailNumber::new(case.by.now, &[&ticket.id, template]);
            // A rejection also releases RMAs that were decided before. The mail names one that it rejects.
            let is_rejected_now = |rma: &Rma| outcome != Outcome::Rejected || rejection(rma.status).is_ok();
            let rma = locked.iter().find(|rma| case.is_about(rma) && is_rejected_now(rma));
            let (to, language) = match rma {
                Some(rma) => self.recipient(transaction, rma, &order).await?,
                None => (order.email.clone(), language_of(transaction, ticket.conversation).await?),
            };
            let mut mail = NewMail { to, ..NewMail::about(template, id, &order, rma, language) };
            mail.conversation = ticket.conversation;
            if let Outcome::MoreInfo { question } = &outcome {
                mail.context["question"] = question.as_str().into();
            }
            queue(transaction, self.tenant, &mail, case.by.who, case.by.now).await?;
        }
        let mut concerned = joined_conversations(transaction, self.tenant, ticket).await?;
        concerned.extend(ticket.conversation);
        let notice = Notice {
            ticket: ticket.id.clone(),
            order: ticket.order.clone(),
            by: (case.by.who != OPERATOR).then(|| case.by.who.to_owned()),
            outcome,
            at: case.by.now,
        };
        // In the order in which every transaction locks conversations.
        for conversation in concerned {
            enqueue(transaction, &[NewJob::say_decision(self.tenant, conversation, &notice, case.by.now)]).await?;
            self.end_wait(transaction, conversation, &ticket.id).await?;
        }
        Ok(())
    }

    /// Ends the customer's wait for a person, unless another ticket of the conversation is open.
    async fn end_wait(
        &self,
        transaction: &DatabaseTransaction,
        conversation: ConversationId,
        ticket: &str,
    ) -> Result<()> {
        let open = self
            .rows::<tickets::Entity>()
            .filter(tickets::Column::ConversationId.eq(conversation.0))
            .filter(tickets::Column::Kind.is_in(TicketKind::DECIDED.map(TicketKind::as_str)))
            .filter(tickets::Column::Id.ne(ticket))
            .filter(tickets::Column::Resolution.is_null())
            .count(transaction)
            .await?;
        if open > 0 {
            return Ok(());
        }
        conversations::Entity::update_of(self.tenant)
            .set(conversations::ActiveModel {
                status: Set(ConversationStatus::Bot.as_str().to_owned()),
                waiting_since: Set(None),
                ..Default::default()
            })
            .filter(conversations::Column::Id.eq(conversation.0))
            .filter(conversations::Column::Status.eq(ConversationStatus::Waiting.as_str()))
            .exec(transaction)
            .await?;
        Ok(())
    }
}
