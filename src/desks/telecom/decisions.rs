//! Decisions of the shop's people on refund cases: announces them in the chat, and ends the refund in the desk's memory.

use async_trait::async_trait;
use serde_json::json;

use super::Telecom;
use super::billing::about;
use super::memory::Memory;
use super::texts::Text;
use crate::desks::TextsOfShops;
use crate::dialogue::Turn;
use crate::domain::telecom::refund::PAYOUT_DAYS;
use crate::domain::telecom::{CaseNotice, CaseStatus, RefundCase};
use crate::domain::{Kind, Metadata};
use crate::jobs::{Job, JobContext, JobError, LeasedJob};
use crate::replies::Replies;
use crate::store::StoreError;
use crate::store::refund_cases::SAY_REFUND_DECISION;

/// Announces a person's decision in the chat, in the customer's language.
pub(super) struct AnnounceDecision(pub TextsOfShops<Replies<Text>>);

#[async_trait]
impl Job for AnnounceDecision {
    fn name(&self) -> &'static str {
        SAY_REFUND_DECISION
    }

    async fn run(&self, context: &JobContext, job: &LeasedJob) -> Result<(), JobError> {
        let store = context.store.tenant(&job.tenant);
        let (Some(notice), Some(id)) = (job.payload::<CaseNotice>(), job.conversation) else { return Ok(()) };
        let (Some(conversation), Some(case)) =
            (store.find_conversation(id).await?, store.find_refund_case(notice.case).await?)
        else {
            return Ok(());
        };
        // A persona may come back at a reload: the decision waits for it.
        let Some((texts, common)) = self.0.get(&job.tenant) else {
            return Err(JobError::without_persona(job));
        };
        let key = match case.status {
            CaseStatus::Approved => Text::DecisionApproved,
            CaseStatus::Rejected => Text::DecisionRejected,
            CaseStatus::Opened | CaseStatus::PendingReview => return Ok(()),
        };
        let language = texts.closest(conversation.language);
        let common = common.get(language);
        let (id, amount) = (case.id.to_string(), case.amount.shown(&common.number_format));
        let values = [
            ("case", id.as_str()),
            ("invoice", case.invoice.as_str()),
            ("amount", &amount),
            ("transfer", PAYOUT_DAYS),
            ("hotline", &common.hotline),
        ];
        let text = texts.get(language).text(key, &values).map_err(JobError::failed)?;
        context.announce(job, text, metadata(&case, notice.by.as_deref())).await
    }
}

/// Returns the decision for clients, which do not read the text.
fn metadata(case: &RefundCase, by: Option<&str>) -> Metadata {
    let decision = json!({ "case_id": case.id, "decision": case.status });
    let metadata = about(case).with("type", Kind::Agent).with("decision", decision);
    match by {
        Some(name) => metadata.with("name", name),
        None => metadata,
    }
}

impl Telecom {
    /// Ends the refund once a person has decided on its case. Asks the store only while a case is open.
    pub(super) async fn settle_refund(&self, turn: &Turn, memory: &mut Memory) -> Result<(), StoreError> {
        let id = memory.billing_case_id.as_ref().and_then(|id| id.parse().ok());
        let (Some(id), true, None) = (id, memory.context_flags.refund_in_progress, &memory.refund) else {
            return Ok(());
        };
        let case = self.store_of(turn).find_refund_case(id).await?;
        memory.context_flags.refund_in_progress = case.is_some_and(|case| case.status.is_open());
        Ok(())
    }
}
