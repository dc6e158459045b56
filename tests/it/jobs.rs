//! The job runner.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use chrono::Utc;
use frontdesk::config::JobsConfig;
use frontdesk::domain::identity::ERASED_DOMAIN;
use frontdesk::domain::{ConversationId, TenantId};
use frontdesk::jobs::send_mail::SendMail;
use frontdesk::jobs::{Job, JobContext, JobError, JobRunner, LeasedJob, NewJob};
use frontdesk::notify::{Notifier, RenderedMail};
use frontdesk::providers::email::{EmailError, Mailer};
use frontdesk::store::Store;
use frontdesk::store::jobs::{EMBED_MESSAGE, JobCounts};
use frontdesk::store::mails::{MailId, MailStatus, NewMail, SEND_MAIL};
use serde_json::json;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::store::{TestStore, count_jobs, tenant};
use crate::support::eventually_async;

/// A job that does what its payload says, and notes each run.
#[derive(Default)]
struct Echo {
    runs: Mutex<Vec<(u32, Vec<String>)>>,
}

#[async_trait]
impl Job for Echo {
    fn name(&self) -> &'static str {
        "echo"
    }

    fn batch_size(&self) -> u64 {
        3
    }

    fn has_attempt_limit(&self) -> bool {
        true
    }

    async fn run(&self, _: &JobContext, job: &LeasedJob) -> Result<(), JobError> {
        match job.payload::<String>().as_deref() {
            Some("fail") => Err(JobError::failed("no")),
            Some("panic") => panic!("a job that panics"),
            Some("down") if job.attempts == 1 && self.runs.lock().unwrap().len() < 3 => {
                Err(JobError::Unavailable("the service is down".to_owned()))
            }
            _ => Ok(()),
        }
    }

    async fn run_batch(&self, context: &JobContext, jobs: &[LeasedJob]) -> Result<(), JobError> {
        let payloads = jobs.iter().filter_map(LeasedJob::payload).collect();
        self.runs.lock().unwrap().push((jobs[0].attempts, payloads));
        for job in jobs {
            self.run(context, job).await?;
        }
        Ok(())
    }
}

/// A job that runs a second time after the milliseconds of its payload.
#[derive(Default)]
struct Again {
    begun: Mutex<BTreeSet<Uuid>>,
}

#[async_trait]
impl Job for Again {
    fn name(&self) -> &'static str {
        "again"
    }

    fn has_attempt_limit(&self) -> bool {
        true
    }

    async fn run(&self, _: &JobContext, job: &LeasedJob) -> Result<(), JobError> {
        let after = Duration::from_millis(job.payload::<String>().unwrap().parse().unwrap());
        if self.begun.lock().unwrap().insert(job.subject) { Err(JobError::Later(after)) } else { Ok(()) }
    }
}

/// An embedding that ends when it is notified.
#[derive(Default)]
struct SlowEmbedding(Notify);

#[async_trait]
impl Job for SlowEmbedding {
    fn name(&self) -> &'static str {
        EMBED_MESSAGE
    }

    async fn run(&self, _: &JobContext, _: &LeasedJob) -> Result<(), JobError> {
        self.0.notified().await;
        Ok(())
    }
}

fn config() -> JobsConfig {
    JobsConfig {
        embed_batch: 1,
        attempts: 2,
        back_off: Duration::ZERO,
        pause: Duration::from_millis(10),
        lease: Duration::from_secs(60),
        embed_wait: None,
    }
}

/// Runs jobs with these payloads until as many are left as `left` says; returns the runs.
async fn run(name: &str, payloads: &[&str], left: JobCounts) -> Vec<(u32, Vec<String>)> {
    let TestStore { store, _folder } = TestStore::open().await;
    let shop = tenant("acme");
    let (runner, job, shutdown) =
        (JobRunner::new(store.clone(), config()), Arc::new(Echo::default()), CancellationToken::new());
    runner.register(job.clone());
    for (at, payload) in payloads.iter().enumerate() {
        enqueue(&runner, &shop, name, at, payload).await;
    }
    // Before the runner starts: a job that has run can be stored again.
    if name != "echo" {
        enqueue(&runner, &shop, "echo", 0, "known").await;
    }
    let running = tokio::spawn(runner.clone().run(None, shutdown.clone()));
    if name != "echo" {
        wait_for(&store, "echo", JobCounts::default()).await;
    }
    wait_for(&store, name, left).await;
    shutdown.cancel();
    running.await.unwrap();
    assert_eq!(count_jobs(&store, &[name]).await, left);
    std::mem::take(&mut *job.runs.lock().unwrap())
}

async fn enqueue(runner: &JobRunner, shop: &TenantId, name: &str, at: usize, payload: &str) {
    let job = NewJob::new(name, Uuid::from_u128(at as u128), shop, Utc::now()).with_payload(json!(payload));
    runner.enqueue(&job).await.unwrap();
    runner.enqueue(&job).await.unwrap();
}

async fn wait_for(store: &Store, name: &str, left: JobCounts) {
    eventually_async("the jobs have run", async || count_jobs(store, &[name]).await == left).await;
}

fn run_of(attempts: u32, payloads: &[&str]) -> (u32, Vec<String>) {
    (attempts, payloads.iter().map(ToString::to_string).collect())
}

#[tokio::test]
async fn job_enqueued_twice_runs_once() {
    assert_eq!(run("echo", &["a"], JobCounts::default()).await, [run_of(1, &["a"])]);
}

#[tokio::test]
async fn failing_job_becomes_a_dead_letter() {
    for payload in ["fail", "panic"] {
        let runs = run("echo", &[payload], JobCounts { waiting: 0, dead: 1 }).await;
        assert_eq!(runs, [run_of(1, &[payload]), run_of(2, &[payload])]);
    }
}

#[tokio::test]
async fn only_the_failing_job_is_retried() {
    let runs = run("echo", &["a", "fail", "b"], JobCounts { waiting: 0, dead: 1 }).await;
    let alone = ["a", "fail", "b"].map(|payload| run_of(1, &[payload]));
    assert_eq!(runs[0], run_of(1, &["a", "fail", "b"]));
    assert_eq!(runs[1..4], alone);
    assert_eq!(runs[4..], [run_of(2, &["fail"])]);
}

#[tokio::test]
async fn unavailable_service_does_not_count_attempts() {
    let runs = run("echo", &["down"], JobCounts::default()).await;
    assert_eq!(runs, [run_of(1, &["down"]), run_of(1, &["down"]), run_of(1, &["down"])]);
}

#[tokio::test]
async fn unknown_job_stays_in_the_store() {
    let left = JobCounts { waiting: 1, dead: 0 };
    assert_eq!(run("unknown", &["a"], left).await, [run_of(1, &["known"])]);
}

#[tokio::test]
async fn each_waiting_job_runs_on_time() {
    // The runner looks for due jobs every 5 seconds as well. On a slow machine, only a later round ends before that, so this fails only
    // if no job is ever on time.
    eventually_async("the jobs run on time", async || {
        let TestStore { store, _folder } = TestStore::open().await;
        let (runner, shutdown) = (JobRunner::new(store.clone(), config()), CancellationToken::new());
        runner.register(Arc::<Again>::default());
        for (at, wait) in ["50", "200"].iter().enumerate() {
            enqueue(&runner, &tenant("acme"), "again", at, wait).await;
        }
        let begun = Instant::now();
        let running = tokio::spawn(runner.clone().run(None, shutdown.clone()));
        wait_for(&store, "again", JobCounts::default()).await;
        let took = begun.elapsed();
        shutdown.cancel();
        running.await.unwrap();
        took < Duration::from_millis(4800)
    })
    .await;
}

#[tokio::test]
async fn slow_embedding_ends_after_its_turn() {
    let TestStore { store, _folder } = TestStore::open().await;
    let slow = JobsConfig { embed_wait: Some(Duration::from_millis(20)), ..config() };
    let (runner, job) = (JobRunner::new(store.clone(), slow), Arc::<SlowEmbedding>::default());
    runner.register(job.clone());
    let (shop, conversation) = (tenant("acme"), ConversationId::now());
    let new = NewJob::new(EMBED_MESSAGE, Uuid::from_u128(1), &shop, Utc::now()).in_conversation(conversation);
    runner.enqueue(&new).await.unwrap();
    runner.embed_messages_of(conversation).await;
    assert_eq!(count_jobs(&store, &[EMBED_MESSAGE]).await.waiting, 1);
    job.0.notify_one();
    wait_for(&store, EMBED_MESSAGE, JobCounts::default()).await;
}

/// A mail server that does not answer. It notes that it was called.
#[derive(Default)]
struct SilentMailer(Notify);

#[async_trait]
impl Mailer for SilentMailer {
    async fn send(&self, _: &frontdesk::providers::email::Email) -> Result<(), EmailError> {
        self.0.notify_one();
        std::future::pending().await
    }

    fn describe(&self) -> String {
        "silent".to_owned()
    }
}

/// Returns a runner of mails and `echo` jobs, with one mail to this address.
async fn runner_with_mail(to: &str) -> (TestStore, Arc<JobRunner>, Arc<SilentMailer>, MailId) {
    let test = TestStore::open().await;
    let mail = NewMail {
        number: "MSG-1700000000-1A2B3C4D".parse().unwrap(),
        to: to.parse().unwrap(),
        template: "greeting".to_owned(),
        language: "en".parse().unwrap(),
        context: json!({}),
        conversation: None,
        order: None,
        rma: None,
    };
    let id = test.store.tenant(&tenant("acme")).queue_mail(&mail, "desk", Utc::now()).await.unwrap();
    let (runner, mailer) = (JobRunner::new(test.store.clone(), config()), Arc::<SilentMailer>::default());
    let notifier = Notifier::new(mailer.clone());
    let rendered = RenderedMail { subject: "Hello".to_owned(), text: "Hello\n".to_owned() };
    notifier.register(&["greeting"], Arc::new(move |_, _| Ok(rendered.clone())));
    runner.register(Arc::new(SendMail(notifier)));
    runner.register(Arc::<Echo>::default());
    (test, runner, mailer, id)
}

#[tokio::test]
async fn silent_mail_server_delays_no_other_job() {
    let (test, runner, mailer, _) = runner_with_mail("john@example.com").await;
    let running = tokio::spawn(runner.clone().run(None, CancellationToken::new()));
    mailer.0.notified().await;
    enqueue(&runner, &tenant("acme"), "echo", 0, "a").await;
    wait_for(&test.store, "echo", JobCounts::default()).await;
    running.abort();
}

#[tokio::test]
async fn mail_to_an_erased_address_fails() {
    let (test, runner, _, id) = runner_with_mail(&format!("erased-1@{ERASED_DOMAIN}")).await;
    let running = tokio::spawn(runner.clone().run(None, CancellationToken::new()));
    wait_for(&test.store, SEND_MAIL, JobCounts::default()).await;
    running.abort();
    let mail = test.store.tenant(&tenant("acme")).find_mail(id).await.unwrap().unwrap();
    assert_eq!(mail.status, MailStatus::Failed);
}
