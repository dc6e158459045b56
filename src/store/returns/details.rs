//! Adds the customer's answers and details to a ticket.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::LockType;
use sea_orm::{EntityTrait, QuerySelect};
use serde_json::json;

use super::resolve::about;
use super::rows::read_ticket;
use crate::domain::returns::{Resolution, Ticket};
use crate::domain::{AuditEntry, AuditKind};
use crate::store::audit::{Actor, record};
use crate::store::entities::tickets;
use crate::store::{Result, TenantStore};

impl TenantStore<'_> {
    /// Adds the customer's answer to the ticket. Returns `None` if the ticket has no open question.
    pub async fn answer_question(&self, ticket: &str, answer: &str, by: &Actor<'_>) -> Result<Option<Ticket>> {
        self.add_words(ticket, answer, by, |ticket| ticket.question.is_some()).await
    }

    /// Adds a further detail of the customer to an open ticket. Returns `None` if the ticket takes no more.
    pub async fn add_detail(&self, ticket: &str, detail: &str, by: &Actor<'_>) -> Result<Option<Ticket>> {
        self.add_words(ticket, detail, by, takes_details).await
    }

    async fn add_words(
        &self,
        ticket: &str,
        answer: &str,
        by: &Actor<'_>,
        accepts: fn(&Ticket) -> bool,
    ) -> Result<Option<Ticket>> {
        let transaction = self.store.begin_fenced().await?;
        let find = tickets::Entity::find_by_id((self.tenant.to_string(), ticket.to_owned()));
        let row = find.lock(LockType::Update).one(&transaction).await?;
        let Some(ticket) = row.map(read_ticket).transpose()?.filter(accepts) else {
            return Ok(None);
        };
        let summary = match &ticket.question {
            Some(question) => format!("{}{QUESTION}{question}\nAnswer: {answer}", ticket.summary),
            // On one line, so that it is not read as a question.
            None => format!("{}\nDetail: {}", ticket.summary, answer.replace('\n', " ")),
        };
        let earlier = ticket.question.as_ref().map(|_| Resolution::MoreInfo);
        let change = tickets::ActiveModel {
            summary: Set(summary.clone()),
            resolution: Set(None),
            resolved_by: Set(None),
            resolved_why: Set(None),
            ..Default::default()
        };
        self.change_ticket(&transaction, &ticket.id, change).await?;
        self.record_joined(&transaction, &ticket, by).await?;
        let answered = AuditEntry {
            kind: AuditKind::User,
            before: Some(json!({"ticket": ticket.id, "resolution": earlier})),
            after: Some(json!({"ticket": ticket.id})),
            ..about(&ticket, "ticket.answered", by)
        };
        record(&transaction, self.tenant, &[answered]).await?;
        transaction.commit().await?;
        Ok(Some(Ticket { summary, question: None, ..ticket }))
    }
}

/// Begins a person's question in a summary.
const QUESTION: &str = "\nQuestion: ";

impl Ticket {
    /// Whether a person has asked the customer something that was answered.
    pub fn was_asked(&self) -> bool {
        self.summary.contains(QUESTION)
    }
}

/// Nothing is added to a summary of this size or more, in bytes.
pub(super) const SUMMARY_MAX_BYTES: usize = 20_000;

fn takes_details(ticket: &Ticket) -> bool {
    ticket.resolved.is_none() && ticket.summary.len() < SUMMARY_MAX_BYTES
}
