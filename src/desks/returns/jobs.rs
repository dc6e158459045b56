//! The background jobs of the returns desk.

use async_trait::async_trait;
use chrono::Utc;

use super::decisions;
use super::texts::ReturnsTexts;
use crate::desks::TextsOfShops;
use crate::domain::returns::{Hand, Notice, Outcome, RmaId, TrackingNumber};
use crate::jobs::{Job, JobContext, JobError, LeasedJob};
use crate::store::returns::{By, ISSUE_LABEL, SAY_DECISION};

/// Issues the label of an RMA.
pub(super) struct IssueLabel;

#[async_trait]
impl Job for IssueLabel {
    fn name(&self) -> &'static str {
        ISSUE_LABEL
    }

    async fn run(&self, context: &JobContext, job: &LeasedJob) -> Result<(), JobError> {
        let store = context.store.tenant(&job.tenant);
        let Some(rma) = store.find_rma_by_id(RmaId(job.subject)).await? else { return Ok(()) };
        let by = By { hand: Hand::Automatic, who: "job", conversation: rma.conversation, now: Utc::now() };
        // An RMA keeps the label that it has. A locked one is refused: resolving the escalation enqueues the job again.
        store.issue_label(&rma.number, &TrackingNumber::new(rand::random()), &by).await?;
        Ok(())
    }
}

/// Announces a person's decision in the chat, in the customer's language.
pub(super) struct AnnounceDecision(pub TextsOfShops<ReturnsTexts>);

#[async_trait]
impl Job for AnnounceDecision {
    fn name(&self) -> &'static str {
        SAY_DECISION
    }

    async fn run(&self, context: &JobContext, job: &LeasedJob) -> Result<(), JobError> {
        let notice: Option<Notice> = job.payload();
        let (Some(notice), Some(id)) = (notice, job.conversation) else { return Ok(()) };
        let found = context.store.tenant(&job.tenant).find_conversation(id).await?;
        let Some(conversation) = found else { return Ok(()) };
        // A persona may come back at a reload: the decision waits for it.
        let Some((texts, common)) = self.0.get(&job.tenant) else {
            return Err(JobError::without_persona(job));
        };
        // A job that waited may come after the refund, which the customer knows by then.
        if let Outcome::Continues { rma } | Outcome::Returned { rma, .. } = &notice.outcome
            && context.store.tenant(&job.tenant).find_rma(rma).await?.is_some_and(|rma| rma.status.has_ended())
        {
            return Ok(());
        }
        // The variant depends on the job alone, so that a repeated job says the same.
        let variant = usize::from(job.subject.as_bytes()[0]);
        let language = texts.closest(conversation.language);
        let numbers = &common.get(language).number_format;
        let text = decisions::text(texts.get(language), numbers, &notice, variant).map_err(JobError::failed)?;
        context.announce(job, text, decisions::metadata(&notice)).await
    }
}
