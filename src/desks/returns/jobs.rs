//! The background jobs of the returns desk.

use async_trait::async_trait;
use chrono::Utc;

use crate::domain::ActorKind;
use crate::domain::returns::{RmaId, TrackingNumber};
use crate::jobs::{Job, JobContext, JobError, LeasedJob};
use crate::store::audit::Actor;
use crate::store::returns::ISSUE_LABEL;

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
        let by = Actor { kind: ActorKind::Automatic, who: "job", conversation: rma.conversation, now: Utc::now() };
        // An RMA keeps the label that it has. A locked one is refused: resolving the escalation enqueues the job again.
        store.issue_label(&rma.number, &TrackingNumber::new(rand::random()), &by).await?;
        Ok(())
    }
}
