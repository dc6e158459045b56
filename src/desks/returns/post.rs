//! What a return leaves to be done: labels are made and mails sent, out of the jobs in the store, however often it takes.
//!
//! A mail that could not be sent comes again, later each time, with the same Message-ID. So a mail server that is down loses
//! nothing, and a kill between the server's word and our commit sends a mail twice at worst.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use rand::RngExt;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, warn};

use super::decisions;
use super::mail::{MailTexts, MailValues, Template, Written};
use super::texts::{LabelTexts, ReturnsTexts};
use crate::config::OutboxConfig;
use crate::domain::returns::{Hand, Notice, RmaId, RmaNumber, TrackingNumber};
use crate::domain::{ConversationId, Metadata, TenantId};
use crate::persona::texts::{ByLanguage, fill};
use crate::providers::email::{Email, EmailError, Mailer};
use crate::store::jobs::{Job, JobKind};
use crate::store::mails::{Mail, MailId, MailOutcome, MailStatus};
use crate::store::returns::By;
use crate::store::{Store, StoreError};
use crate::tools::label::Label;
use crate::tools::label_link::{LabelClaim, LabelLinks};

/// The longest wait between two attempts.
const BACK_OFF_MAX: Duration = Duration::from_secs(600);
/// How often jobs are looked for when nobody says that there are some.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// A mail that could not be sent for so long never will be: RFC 5321, 4.5.4.1, has it 4 to 5 days.
const GIVE_UP_AFTER: TimeDelta = TimeDelta::days(5);
/// Jobs that are taken at once.
const BATCH: u64 = 16;

/// The worker of labels and mails.
pub struct Post {
    store: Store,
    mailer: Arc<dyn Mailer>,
    links: LabelLinks,
    config: OutboxConfig,
    /// The words of mails and labels; `None`: no persona of the shop takes returns.
    texts: RwLock<Option<Arc<PostTexts>>>,
    posted: Notify,
    /// Counts the batches that were done.
    done: watch::Sender<u64>,
}

/// Something that the shop says in a conversation.
pub struct Announcement {
    pub text: String,
    pub metadata: Metadata,
    /// The same announcement has the same key, and is said once.
    pub key: String,
}

/// What came of an announcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announced {
    /// It is stored and will be said, or its conversation is gone.
    Done,
    /// The server takes nothing in now.
    Later,
}

/// Starts a turn with a message of the shop. The turn engine implements it.
#[async_trait]
pub trait Announcer: Send + Sync {
    async fn announce(
        &self,
        tenant: &TenantId,
        conversation: ConversationId,
        said: Announcement,
    ) -> Result<Announced, StoreError>;
}

/// The texts of mails, of messages about decisions, and of labels in the desk's first language.
pub(super) struct PostTexts {
    pub said: Arc<ByLanguage<ReturnsTexts>>,
    pub mails: MailTexts,
    pub label: LabelTexts,
}

/// Why a mail is not on its way.
#[derive(Debug, thiserror::Error)]
enum Undelivered {
    #[error(transparent)]
    Email(#[from] EmailError),
    #[error("{0}")]
    Unwritable(String),
}

impl Undelivered {
    fn is_for_good(&self) -> bool {
        matches!(self, Self::Email(cause) if !cause.is_temporary())
    }
}

impl Post {
    pub fn new(store: Store, mailer: Arc<dyn Mailer>, links: LabelLinks, config: OutboxConfig) -> Arc<Self> {
        let (done, _) = watch::channel(0);
        Arc::new(Self { store, mailer, links, config, texts: RwLock::default(), posted: Notify::new(), done })
    }

    /// The words from now on.
    pub(super) fn set_texts(&self, texts: Arc<PostTexts>) {
        *self.texts.write().unwrap_or_else(PoisonError::into_inner) = Some(texts);
    }

    fn texts(&self) -> Option<Arc<PostTexts>> {
        self.texts.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What carries the mails, in one line.
    pub fn describe(&self) -> String {
        self.mailer.describe()
    }

    /// The label that a link opens, by its path's last part and its signature, as a PDF; `None`: no link of ours, or no longer one, or no label yet.
    pub async fn label(&self, label: &str, signature: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let claim = self.links.open(label, signature, Utc::now());
        let (Some(claim), Some(texts)) = (claim, self.texts()) else { return Ok(None) };
        let rma = self.store.tenant(&claim.tenant).find_rma(&claim.rma).await?;
        Ok(rma.and_then(|rma| {
            let tracking = rma.label?.tracking;
            let words = &texts.label;
            let line = |text: &str, value: &dyn std::fmt::Display| fill(text, &[("value", &value.to_string())]);
            let lines = [
                line(&words.rma, &rma.number),
                line(&words.order, &rma.order),
                line(&words.carrier, &tracking.carrier()),
            ];
            Some(Label { title: &words.title, tracking: &tracking.to_string(), lines: &lines }.pdf())
        }))
    }

    /// A link to the label of an RMA, which holds from now on.
    pub(super) fn label_link(&self, tenant: &TenantId, rma: &RmaNumber) -> String {
        self.links.link(&LabelClaim { tenant: tenant.clone(), rma: rma.clone() }, Utc::now())
    }

    /// There may be something to do.
    pub fn wake(&self) {
        self.posted.notify_one();
    }

    /// Waits, at most for `within`, until the mail was tried; gives how it stands then. A mail that has not been tried by then is
    /// on its way all the same.
    pub async fn settle(&self, tenant: &TenantId, mail: MailId, within: Duration) -> Result<MailStatus, StoreError> {
        let mut done = self.done.subscribe();
        self.wake();
        let store = self.store.tenant(tenant);
        let tried = async {
            loop {
                let status = store.find_mail(mail).await?.map_or(MailStatus::Failed, |mail| mail.status);
                if status != MailStatus::Queued || done.changed().await.is_err() {
                    return Ok(status);
                }
            }
        };
        tokio::time::timeout(within, tried).await.unwrap_or(Ok(MailStatus::Queued))
    }

    /// Works until the shutdown. What was begun is left as it stands: its lease ends, and it comes again.
    pub async fn run(self: Arc<Self>, announcer: Option<Arc<dyn Announcer>>, shutdown: CancellationToken) {
        shutdown.run_until_cancelled(self.work(announcer.as_deref())).await;
    }

    async fn work(&self, announcer: Option<&dyn Announcer>) {
        // What an earlier run began, or a store that went away kept us from ending.
        let mut begun = true;
        loop {
            begun = match self.begin_again(begun, announcer).await {
                Ok(()) => false,
                Err(cause) => {
                    warn!(error = %cause, "Labels and mails wait for the store");
                    true
                }
            };
            drop(tokio::time::timeout(LOOK_EVERY, self.posted.notified()).await);
        }
    }

    async fn begin_again(&self, begun: bool, announcer: Option<&dyn Announcer>) -> Result<(), StoreError> {
        if begun {
            self.store.release_jobs(JobKind::RETURNS, Utc::now()).await?;
        }
        self.work_through(announcer).await
    }

    /// Does all that is due.
    async fn work_through(&self, announcer: Option<&dyn Announcer>) -> Result<(), StoreError> {
        loop {
            let jobs = self.store.lease_jobs(JobKind::RETURNS, Utc::now(), self.config.lease, BATCH).await?;
            if jobs.is_empty() {
                return Ok(());
            }
            for job in &jobs {
                match self.carry_out(job, announcer).await {
                    Err(cause) if cause.is_unavailable() => return Err(cause),
                    // What the store refuses is this job's alone: those behind it are done.
                    Err(cause) => self.put_off(job, &cause.to_string()).await?,
                    Ok(()) => {}
                }
                self.done.send_modify(|count| *count += 1);
            }
        }
    }

    async fn carry_out(&self, job: &Job, announcer: Option<&dyn Announcer>) -> Result<(), StoreError> {
        match job.kind {
            JobKind::IssueLabel => self.issue_label(job).await,
            JobKind::SendMail => self.send(job).await,
            JobKind::SayDecision => self.say_decision(job, announcer).await,
            JobKind::EmbedMessage | JobKind::ForgetConversation | JobKind::ForgetMessage => Ok(()),
        }
    }

    /// Makes the label of an RMA; one that has its label, or is locked, keeps what it has.
    async fn issue_label(&self, job: &Job) -> Result<(), StoreError> {
        let store = self.store.tenant(&job.tenant);
        let done = || self.store.finish_jobs(std::slice::from_ref(job));
        let Some(rma) = store.find_rma_by_id(RmaId(job.subject)).await? else { return done().await };
        let by = By { hand: Hand::Automatic, who: "job", conversation: rma.conversation, now: Utc::now() };
        let tracking = TrackingNumber::new(rand::random());
        // Refused is locked: the person who resolves the escalation gives the job again.
        store.issue_label(&rma.number, &tracking, &by).await?;
        done().await
    }

    /// Says in the chat what a person decided, in the customer's language.
    async fn say_decision(&self, job: &Job, announcer: Option<&dyn Announcer>) -> Result<(), StoreError> {
        let store = self.store.tenant(&job.tenant);
        let done = || self.store.finish_jobs(std::slice::from_ref(job));
        let notice = job.payload.as_ref().and_then(|payload| Notice::deserialize(payload).ok());
        let (Some(notice), Some(id), Some(announcer)) = (notice, job.conversation, announcer) else {
            return done().await;
        };
        let Some(conversation) = store.find_conversation(id).await? else { return done().await };
        let Some(texts) = self.texts() else {
            return self.put_off(job, "no persona of the shop takes returns, so there are no texts").await;
        };
        // Which variant is said follows from the job, so that a repeated job says the same.
        let variant = usize::from(job.subject.as_bytes()[0]);
        let language = texts.said.closest(conversation.language);
        let text = match decisions::text(texts.said.get(language), language, &notice, variant) {
            Ok(text) => text,
            Err(cause) => return self.put_off(job, &cause.to_string()).await,
        };
        let said =
            Announcement { text, metadata: decisions::metadata(&notice), key: format!("decision:{}", job.subject) };
        match announcer.announce(&job.tenant, id, said).await? {
            Announced::Done => done().await,
            // The lease ends, or the next start takes the job up.
            Announced::Later => Ok(()),
        }
    }

    async fn send(&self, job: &Job) -> Result<(), StoreError> {
        let store = self.store.tenant(&job.tenant);
        let id = MailId(job.subject);
        let mail = store.find_mail(id).await?.filter(|mail| mail.status != MailStatus::Sent && !mail.to.is_erased());
        let done = || self.store.finish_jobs(std::slice::from_ref(job));
        let Some(mail) = mail else { return done().await };
        match self.deliver(&job.tenant, &mail).await {
            Ok(written) => {
                let outcome = MailOutcome::Sent { preview: &written.preview() };
                if !store.finish_mail(id, &mail.to, &outcome, Utc::now()).await?
                    && store.find_mail(id).await?.is_some_and(|mail| mail.to.is_erased())
                    && let Err(cause) = self.mailer.forget(&mail.number.to_string()).await
                {
                    // The customer was erased while the mail was written.
                    return self.put_off(job, &cause.to_string()).await;
                }
                debug!(mail = %mail.number, "A mail was sent");
                done().await
            }
            Err(cause) => {
                let told = cause.to_string();
                if !store.finish_mail(id, &mail.to, &MailOutcome::Failed { error: &told }, Utc::now()).await? {
                    // It goes to another address by now, by another job.
                    return done().await;
                }
                if cause.is_for_good() || Utc::now() - mail.created_at > GIVE_UP_AFTER {
                    error!(mail = %mail.number, error = told, "A mail was given up");
                    return done().await;
                }
                self.put_off(job, &told).await
            }
        }
    }

    async fn deliver(&self, tenant: &TenantId, mail: &Mail) -> Result<Written, Undelivered> {
        let written = self.write(tenant, mail).map_err(Undelivered::Unwritable)?;
        let email = Email {
            id: mail.number.to_string(),
            to: mail.to.as_str().to_owned(),
            subject: written.subject.clone(),
            text: written.text.clone(),
        };
        self.mailer.send(&email).await?;
        Ok(written)
    }

    /// The mail's words, with a link to the label that holds from now on.
    fn write(&self, tenant: &TenantId, mail: &Mail) -> Result<Written, String> {
        let texts = self
            .texts()
            .ok_or_else(|| "no persona of the shop takes returns, so there are no mail texts".to_owned())?;
        let template =
            Template::parse(&mail.template).ok_or_else(|| format!("there is no mail template {}", mail.template))?;
        let of = |name: &str| mail.context.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let claim = mail.rma.clone().map(|rma| LabelClaim { tenant: tenant.clone(), rma });
        let values = MailValues {
            customer_name: of("customer_name"),
            order_number: of("order_number"),
            rma_number: of("rma_number"),
            refund_amount: of("refund_amount"),
            question: of("question"),
            label_url: claim.map(|claim| self.links.link(&claim, Utc::now())).unwrap_or_default(),
        };
        texts.mails.write(template, mail.language, &values).map_err(|error| error.to_string())
    }

    /// The job comes again later.
    async fn put_off(&self, job: &Job, cause: &str) -> Result<(), StoreError> {
        let kind = job.kind.as_str();
        warn!(error = cause, job.kind = kind, job.subject = %job.subject, job.attempts, "A job failed and comes again");
        let again = next_attempt(Utc::now(), self.config.back_off, job.attempts, rand::rng().random_range(0.5..1.0));
        self.store.retry_jobs(std::slice::from_ref(job), again, cause, true).await
    }
}

/// Twice as long each time, up to ten minutes, spread so that jobs do not come in step.
fn next_attempt(now: DateTime<Utc>, first: Duration, attempts: u32, spread: f64) -> DateTime<Utc> {
    let doubled = first.saturating_mul(2_u32.saturating_pow(attempts.saturating_sub(1).min(20)));
    now + TimeDelta::from_std(doubled.min(BACK_OFF_MAX).mul_f64(spread)).unwrap_or(TimeDelta::MAX)
}
