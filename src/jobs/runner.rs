//! Runs the jobs in the store.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use futures_util::FutureExt;
use rand::RngExt;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, warn};

use super::{Job, JobContext, JobError, LeasedJob, NewJob};
use crate::channels::Announcer;
use crate::config::JobsConfig;
use crate::store::jobs::{EMBEDDING_JOBS, JobCounts};
use crate::store::{Store, StoreError};

/// The longest wait between two attempts.
const BACK_OFF_MAX: Duration = Duration::from_secs(600);
/// How often the runner looks for due jobs without being woken.
const POLL_EVERY: Duration = Duration::from_secs(5);

/// Runs background jobs. Jobs with different names run at the same time; jobs with one name run one after another.
pub struct JobRunner {
    pub(super) store: Store,
    pub(super) config: JobsConfig,
    jobs: RwLock<BTreeMap<&'static str, Arc<dyn Job>>>,
    wake: Notify,
    /// Counts the batches that have ended.
    ended: watch::Sender<u64>,
}

/// Whether the services that a job needs are up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    Up,
    Down,
}

/// All due jobs with this name have ended, or none can run now.
type Ended = (&'static str, Result<Service, StoreError>);

impl JobRunner {
    pub fn new(store: Store, config: JobsConfig) -> Arc<Self> {
        let (ended, _) = watch::channel(0);
        Arc::new(Self { store, config, jobs: RwLock::default(), wake: Notify::new(), ended })
    }

    /// Adds a job. It replaces the one with the same name, such as when a desk is loaded again with new texts.
    pub fn register(&self, job: Arc<dyn Job>) {
        self.jobs.write().unwrap_or_else(PoisonError::into_inner).insert(job.name(), job);
        self.wake();
    }

    pub(super) fn find(&self, name: &str) -> Option<Arc<dyn Job>> {
        self.jobs.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    fn names(&self) -> Vec<&'static str> {
        self.jobs.read().unwrap_or_else(PoisonError::into_inner).keys().copied().collect()
    }

    /// Stores a job and runs it as soon as possible. A job with the same name and subject that is stored already stays unchanged.
    pub async fn enqueue(&self, job: &NewJob<'_>) -> Result<(), StoreError> {
        self.store.tenant(job.tenant).enqueue_job(job).await?;
        self.wake();
        Ok(())
    }

    /// Looks for due jobs now, because some may have been stored.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// A counter that changes whenever jobs have ended.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.ended.subscribe()
    }

    /// Runs jobs until the shutdown, then waits for those that are running. A job that is dropped before its end runs
    /// again at the next start.
    pub async fn run(self: Arc<Self>, announcer: Option<Arc<dyn Announcer>>, shutdown: CancellationToken) {
        let context = JobContext { store: self.store.clone(), announcer };
        let mut running: JoinSet<Ended> = JoinSet::new();
        let mut busy: BTreeSet<&'static str> = BTreeSet::new();
        let mut paused: BTreeMap<&'static str, Instant> = BTreeMap::new();
        let mut unknown: BTreeSet<String> = BTreeSet::new();
        // The leases of an earlier process, and of jobs that could not end because the store was unavailable.
        let mut has_stale_leases = true;
        while !shutdown.is_cancelled() {
            match self.find_due(&mut has_stale_leases, &busy, &mut unknown).await {
                Ok(due) => {
                    paused.retain(|_, until| *until > Instant::now());
                    for job in due {
                        if !paused.contains_key(job.name()) && busy.insert(job.name()) {
                            let (runner, context, shutdown) = (self.clone(), context.clone(), shutdown.clone());
                            running.spawn(async move { runner.run_due(job, &context, &shutdown).await });
                        }
                    }
                }
                Err(cause) => {
                    warn!(error = %cause, "Background jobs are waiting for the store");
                    has_stale_leases = true;
                }
            }
            let next = paused.values().min().map(|until| until.saturating_duration_since(Instant::now()));
            tokio::select! {
                Some(Ok((name, result))) = running.join_next() => {
                    busy.remove(name);
                    match result {
                        Ok(Service::Up) => {}
                        Ok(Service::Down) => drop(paused.insert(name, Instant::now() + self.config.pause)),
                        Err(cause) => {
                            warn!(error = %cause, job = name, "Background jobs are waiting for the store");
                            has_stale_leases = true;
                            paused.insert(name, Instant::now() + POLL_EVERY);
                        }
                    }
                    self.report_backlog().await;
                }
                () = tokio::time::sleep(next.unwrap_or(POLL_EVERY).min(POLL_EVERY)) => self.report_backlog().await,
                () = self.wake.notified() => {}
                () = shutdown.cancelled() => {}
            }
        }
        while running.join_next().await.is_some() {}
    }

    /// Finds the jobs that have due rows.
    async fn find_due(
        &self,
        has_stale_leases: &mut bool,
        busy: &BTreeSet<&'static str>,
        unknown: &mut BTreeSet<String>,
    ) -> Result<Vec<Arc<dyn Job>>, StoreError> {
        let now = Utc::now();
        if *has_stale_leases {
            let idle: Vec<&str> = self.names().into_iter().filter(|name| !busy.contains(name)).collect();
            self.store.release_jobs(&idle, now).await?;
            *has_stale_leases = false;
        }
        let mut due = Vec::new();
        for name in self.store.list_due_job_names(now).await? {
            match self.find(&name) {
                Some(job) => due.push(job),
                None if unknown.contains(&name) => {}
                None => {
                    warn!(job = name, "Jobs with an unknown name stay in the store");
                    unknown.insert(name);
                }
            }
        }
        Ok(due)
    }

    /// Runs a job's due rows until none is left.
    async fn run_due(&self, job: Arc<dyn Job>, context: &JobContext, shutdown: &CancellationToken) -> Ended {
        let name = job.name();
        let result = async {
            while !shutdown.is_cancelled() {
                if !job.is_ready() {
                    return Ok(Service::Down);
                }
                let leased = self.store.lease_jobs(name, Utc::now(), self.config.lease, job.batch_size()).await?;
                if leased.is_empty() {
                    break;
                }
                if self.run_leased(job.as_ref(), context, leased).await? == Service::Down {
                    return Ok(Service::Down);
                }
            }
            Ok(Service::Up)
        };
        (name, result.await)
    }

    /// Runs leased rows and stores the results.
    pub(super) async fn run_leased(
        &self,
        job: &dyn Job,
        context: &JobContext,
        mut leased: Vec<LeasedJob>,
    ) -> Result<Service, StoreError> {
        leased.sort_by(|a, b| a.tenant.cmp(&b.tenant));
        let mut service = Service::Up;
        for batch in leased.chunk_by(|a, b| a.tenant == b.tenant) {
            let mut parts = vec![batch];
            while let Some(part) = parts.pop() {
                match self.attempt(job, context, part).await {
                    // Only the jobs that fail alone as well are retried.
                    Err(JobError::Failed(_)) if part.len() > 1 => parts.extend(part.chunks(1).rev()),
                    Err(JobError::Store(cause)) => return Err(cause),
                    result => {
                        if self.store_result(job, part, result).await? == Service::Down {
                            service = Service::Down;
                        }
                    }
                }
            }
            self.ended.send_modify(|count| *count += 1);
        }
        Ok(service)
    }

    /// Runs jobs of one shop. An error of the store is returned as such only while the store is unavailable.
    async fn attempt(&self, job: &dyn Job, context: &JobContext, batch: &[LeasedJob]) -> Result<(), JobError> {
        match AssertUnwindSafe(job.run_batch(context, batch)).catch_unwind().await {
            Ok(Err(JobError::Store(cause))) if !cause.is_unavailable() => Err(JobError::failed(cause)),
            Ok(result) => result,
            Err(_) => Err(JobError::failed("the job panicked")),
        }
    }

    /// Deletes jobs that succeeded, and schedules or gives up those that failed.
    async fn store_result(
        &self,
        job: &dyn Job,
        batch: &[LeasedJob],
        result: Result<(), JobError>,
    ) -> Result<Service, StoreError> {
        let name = job.name();
        let Err(cause) = result else {
            count_attempts(name, "done", batch.len());
            self.store.finish_jobs(batch).await?;
            return Ok(Service::Up);
        };
        let reason = cause.to_string();
        if let JobError::Unavailable(_) = cause {
            debug!(error = reason, job = name, jobs = batch.len(), "Jobs are waiting for a service");
            self.store.retry_jobs(batch, Utc::now(), &reason, false).await?;
            return Ok(Service::Down);
        }
        for failed in batch {
            let (subject, attempts) = (failed.subject, failed.attempts);
            if job.has_attempt_limit() && attempts >= self.config.attempts {
                error!(error = reason, job = name, job.subject = %subject, attempts, "A job became a dead letter");
                count_attempts(name, "dead", 1);
                self.store.make_dead_letter(failed, &reason).await?;
            } else {
                warn!(error = reason, job = name, job.subject = %subject, attempts, "A job failed and will be retried");
                count_attempts(name, "failed", 1);
                let jitter = rand::rng().random_range(0.5..1.0);
                let run_at = Utc::now() + back_off(self.config.back_off, attempts, jitter);
                self.store.retry_jobs(std::slice::from_ref(failed), run_at, &reason, true).await?;
            }
        }
        Ok(Service::Up)
    }

    async fn report_backlog(&self) {
        let Ok(counts) = self.store.count_jobs().await else { return };
        let mut embedding: Option<JobCounts> = None;
        for name in self.names() {
            let JobCounts { waiting, dead } = counts.get(name).copied().unwrap_or_default();
            metrics::gauge!("frontdesk_jobs", "job" => name, "state" => "waiting").set(waiting as f64);
            metrics::gauge!("frontdesk_jobs", "job" => name, "state" => "dead").set(dead as f64);
            if EMBEDDING_JOBS.contains(&name) {
                let sum = embedding.get_or_insert_default();
                (sum.waiting, sum.dead) = (sum.waiting + waiting, sum.dead + dead);
            }
        }
        if let Some(JobCounts { waiting, dead }) = embedding {
            metrics::gauge!("frontdesk_embedding_backlog_jobs").set(waiting as f64);
            metrics::gauge!("frontdesk_embedding_dead_jobs").set(dead as f64);
        }
    }
}

fn count_attempts(name: &'static str, result: &'static str, jobs: usize) {
    metrics::counter!("frontdesk_job_attempts_total", "job" => name, "result" => result).increment(jobs as u64);
}

/// The wait after so many attempts: doubled each time, up to [`BACK_OFF_MAX`], times a random factor so that jobs that failed
/// together are not retried together.
fn back_off(first: Duration, attempts: u32, jitter: f64) -> TimeDelta {
    let doubled = first.saturating_mul(2_u32.saturating_pow(attempts.saturating_sub(1).min(20)));
    TimeDelta::from_std(doubled.min(BACK_OFF_MAX).mul_f64(jitter)).unwrap_or(TimeDelta::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_off_doubles_up_to_ten_minutes() {
        let seconds = |attempts| back_off(Duration::from_secs(2), attempts, 1.0).num_seconds();
        assert_eq!([1, 2, 3, 4, 40].map(seconds), [2, 4, 8, 16, 600]);
    }
}
