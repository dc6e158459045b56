//! Sends e-mails.
//!
//! A mail that could not be sent is retried with the same Message-ID. If the process is killed between the mail server's answer
//! and the commit, the mail is sent twice.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::Utc;
use tracing::{debug, error};

use super::{Job, JobContext, JobError, JobRunner, LeasedJob};
use crate::notify::Notifier;
use crate::store::mails::{MailId, MailOutcome, MailStatus, RETRIED_FOR, SEND_MAIL};
use crate::store::{StoreError, TenantStore};

/// Renders and sends the mail that the subject names.
pub struct SendMail(pub Arc<Notifier>);

#[async_trait]
impl Job for SendMail {
    fn name(&self) -> &'static str {
        SEND_MAIL
    }

    /// A mail server that does not answer must not delay other jobs.
    fn queue(&self) -> &'static str {
        "mails"
    }

    async fn run(&self, context: &JobContext, job: &LeasedJob) -> Result<(), JobError> {
        let store = context.store.tenant(&job.tenant);
        let id = MailId(job.subject);
        let mail = store.find_mail(id).await?.filter(|mail| mail.status != MailStatus::Sent);
        let Some(mail) = mail else { return Ok(()) };
        if mail.to.is_erased() {
            let outcome = MailOutcome::Failed { error: "the recipient's address was erased" };
            store.finish_mail(id, &mail.to, &outcome, Utc::now()).await?;
            return Ok(());
        }
        let cause = match self.0.send(&job.tenant, &mail).await {
            Ok(rendered) => {
                let outcome = MailOutcome::Sent { preview: &rendered.preview() };
                if !store.finish_mail(id, &mail.to, &outcome, Utc::now()).await?
                    && store.find_mail(id).await?.is_some_and(|mail| mail.to.is_erased())
                {
                    // The customer's data was erased while the mail was sent.
                    self.0.forget(&mail).await.map_err(JobError::failed)?;
                }
                debug!(mail = %mail.number, "Sent a mail");
                return Ok(());
            }
            Err(cause) => cause,
        };
        let reason = cause.to_string();
        if !store.finish_mail(id, &mail.to, &MailOutcome::Failed { error: &reason }, Utc::now()).await? {
            // The mail was queued again for another address, with a new job.
            return Ok(());
        }
        if cause.is_permanent() || Utc::now() - mail.created_at > RETRIED_FOR {
            error!(mail = %mail.number, error = reason, "Gave up a mail");
            return Ok(());
        }
        Err(JobError::Failed(reason))
    }
}

/// Waits at most `limit` for the first attempt to send the mail, and returns its status. A mail that is still queued then
/// is sent later.
pub async fn wait_for_attempt(
    jobs: &JobRunner,
    store: &TenantStore<'_>,
    mail: MailId,
    limit: Duration,
) -> Result<MailStatus, StoreError> {
    let mut ended = jobs.subscribe();
    jobs.wake();
    let attempt = async {
        loop {
            let status = store.find_mail(mail).await?.map_or(MailStatus::Failed, |mail| mail.status);
            if status != MailStatus::Queued || ended.changed().await.is_err() {
                return Ok(status);
            }
        }
    };
    tokio::time::timeout(limit, attempt).await.unwrap_or(Ok(MailStatus::Queued))
}
