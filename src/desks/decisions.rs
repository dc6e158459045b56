//! Decisions of the shop's people on tickets, whatever the conversation's desk: announces them in the chat, and takes the customer's
//! answers to their questions.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use serde_json::json;

use super::{Desk, Services, Shops, Turn};
use crate::domain::commerce::consent::MessagePurpose;
use crate::domain::returns::{Notice, Outcome, Resolution, Ticket};
use crate::domain::{Kind, Metadata};
use crate::jobs::{Job, JobContext, JobError, LeasedJob};
use crate::store::StoreError;
use crate::store::audit::Actor;
use crate::store::returns::SAY_DECISION;

/// How many characters of an answer are stored with the ticket. The conversation has all of it.
const ANSWER_MAX_CHARS: usize = 1000;

/// Returns the ticket with a question that the customer has read and not answered: the newest question, if there are several.
/// Asks the store only if there may be one; most conversations have none.
pub(super) async fn find_asking(services: &Services, turn: &Turn) -> Result<Option<Ticket>, StoreError> {
    let store = services.store.tenant(&turn.conversation.tenant);
    for message in turn.history.iter().rev().filter(|message| message.created_at <= turn.accepted_at()) {
        let decision = message.metadata.0.get("decision");
        let asked = decision.filter(|decision| decision["decision"] == Resolution::MoreInfo.as_str());
        let Some(id) = asked.and_then(|asked| asked["ticket_id"].as_str()) else { continue };
        if let Some(ticket) = store.find_ticket(id).await?.filter(|ticket| ticket.question.is_some()) {
            return Ok(Some(ticket));
        }
    }
    Ok(None)
}

/// Stores the customer's message with a ticket, as the answer to its question or else as a detail, and calls the person. Returns
/// whether the ticket took it.
pub(super) async fn add_message(
    services: &Services,
    turn: &mut Turn,
    ticket: &Ticket,
    by: &Actor<'_>,
) -> Result<bool, StoreError> {
    let words: String = turn.message.text.chars().take(ANSWER_MAX_CHARS).collect();
    let store = services.store.tenant(&turn.conversation.tenant);
    let stored = match ticket.question {
        Some(_) => store.answer_question(&ticket.id, &words, by).await?,
        None => store.add_detail(&ticket.id, &words, by).await?,
    };
    if stored.is_some() && services.config.console.on {
        turn.call_person();
    }
    Ok(stored.is_some())
}

/// Announces a decision in the customer's language: in the desk's own words, if it has any for it, else in the shop's common texts.
pub struct AnnounceDecision {
    /// The shops hold the job runner, which holds this job.
    shops: Weak<Shops>,
}

impl AnnounceDecision {
    pub fn new(shops: &Arc<Shops>) -> Self {
        Self { shops: Arc::downgrade(shops) }
    }
}

#[async_trait]
impl Job for AnnounceDecision {
    fn name(&self) -> &'static str {
        SAY_DECISION
    }

    async fn run(&self, context: &JobContext, job: &LeasedJob) -> Result<(), JobError> {
        let notice: Option<Notice> = job.payload();
        let (Some(notice), Some(id)) = (notice, job.conversation) else { return Ok(()) };
        let store = context.store.tenant(&job.tenant);
        let Some(conversation) = store.find_conversation(id).await? else { return Ok(()) };
        // A job that waited may come after the refund, which the customer knows by then.
        if let Outcome::Continues { rma } | Outcome::Returned { rma, .. } = &notice.outcome
            && store.find_rma(rma).await?.is_some_and(|rma| rma.status.has_ended())
        {
            return Ok(());
        }
        let shops = self.shops.upgrade().ok_or_else(|| JobError::Unavailable("the server has stopped".to_owned()))?;
        let shop = shops.get(&job.tenant);
        let persona = shop.prompts().find_persona(&conversation.persona);
        let own = persona.and_then(|persona| shop.find_desk(&persona.desk));
        // The variant depends on the job alone, so that a repeated job says the same.
        let (language, variant) = (conversation.language, usize::from(job.subject.as_bytes()[0]));
        let words =
            |desk: &Arc<dyn Desk>| desk.decision(&notice, language, variant).map_err(JobError::failed).transpose();
        // The persona may be gone, or use another desk by now: then any desk of the shop that can say it.
        let text = match own.as_ref().and_then(words).transpose()?.or_else(|| shop.common(language).decision(&notice)) {
            Some(text) => Some(text),
            None => shop.desks().find_map(words).transpose()?,
        };
        // A persona may come back at a reload: what only its desk can say waits for it.
        let Some(text) = text else { return Err(JobError::without_persona(job)) };
        context.announce(job, text, metadata(&notice)).await
    }
}

/// Returns the decision for clients, which do not read the text.
fn metadata(notice: &Notice) -> Metadata {
    let (outcome, rma) = match &notice.outcome {
        Outcome::Returned { rma, .. } | Outcome::Continues { rma } => (Resolution::Approve.as_str(), Some(rma)),
        Outcome::OrderCancelled => (Resolution::Approve.as_str(), None),
        Outcome::Rejected | Outcome::OrderKept => (Resolution::Reject.as_str(), None),
        Outcome::MoreInfo { .. } => (Resolution::MoreInfo.as_str(), None),
        Outcome::Closed => ("closed", None),
    };
    let decision = json!({ "ticket_id": notice.ticket, "decision": outcome, "rma_number": rma });
    // The customer asked for it, so a STOP does not hold it back.
    let metadata = Metadata::of(Kind::Agent).with("decision", decision).with("purpose", MessagePurpose::Reply);
    match &notice.by {
        Some(name) => metadata.with("name", name),
        None => metadata,
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::domain::{Author, Language};
    use crate::persona::Prompts;
    use crate::persona::texts::CommonTexts;

    fn notice(outcome: Outcome) -> Notice {
        Notice { ticket: "TICKET-1-AAAA".to_owned(), order: None, by: None, outcome, at: DateTime::UNIX_EPOCH }
    }

    #[test]
    fn common_texts_have_what_every_desk_decides() {
        let (prompts, question) = (Prompts::shipped(), "Is the sole torn?");
        for (code, word) in
            [("en", "closed"), ("vi", "đóng"), ("pl", "zamknięte"), ("sw", "limefungwa"), ("sheng", "limefungwa")]
        {
            let common: CommonTexts = prompts.texts("common", code.parse::<Language>().unwrap()).unwrap();
            assert_eq!(common.check(), Ok(()), "{code}");
            let said = |outcome| common.decision(&notice(outcome));
            let closed = said(Outcome::Closed).unwrap();
            assert!(closed.contains("TICKET-1-AAAA") && closed.contains(word), "{closed}");
            let asked = said(Outcome::MoreInfo { question: question.to_owned() }).unwrap();
            assert!(asked.contains("TICKET-1-AAAA") && asked.contains(question), "{asked}");
            assert_eq!(said(Outcome::Rejected), None, "only its desk can say it");
        }
    }

    #[test]
    fn stop_does_not_withhold_a_decision() {
        let purpose = Author::Shop { metadata: metadata(&notice(Outcome::Closed)) }.purpose();
        assert_eq!(purpose, MessagePurpose::Reply);
    }
}
