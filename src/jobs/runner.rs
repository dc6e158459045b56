//! Runs the jobs in the store.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use rand::RngExt;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{debug, error, warn};

use super::{Job, JobContext, JobError, LeasedJob, NewJob};
use crate::channels::Announcer;
use crate::config::JobsConfig;
use crate::store::jobs::{self, EMBEDDING_JOBS, JobCounts};
use crate::store::{Store, StoreError};

/// The longest wait between two attempts.
const BACK_OFF_MAX: Duration = Duration::from_secs(600);
/// How often the runner looks for due jobs without being woken.
const POLL_EVERY: Duration = Duration::from_secs(5);

/// Runs background jobs. Jobs of one queue run one after another, oldest first; queues run at the same time.
pub struct JobRunner {
    pub(super) store: Store,
    pub(super) config: JobsConfig,
    jobs: RwLock<BTreeMap<&'static str, Arc<dyn Job>>>,
    /// The jobs that wait for a service, and until when.
    paused: Mutex<BTreeMap<&'static str, Instant>>,
    wake: Notify,
    /// Whether jobs were stored for which the runner was not woken.
    is_wake_due: AtomicBool,
    /// When jobs run again, as far as this process knows.
    due: Mutex<BTreeSet<Instant>>,
    /// There may be more jobs for a running queue.
    more: Notify,
    /// Counts the batches that have ended.
    ended: watch::Sender<u64>,
    /// Runs the jobs that turns wait for.
    pub(super) tasks: TaskTracker,
}

impl JobRunner {
    pub fn new(store: Store, config: JobsConfig) -> Arc<Self> {
        let (ended, _) = watch::channel(0);
        let (jobs, paused) = (RwLock::default(), Mutex::default());
        Arc::new(Self {
            store,
            config,
            jobs,
            paused,
            wake: Notify::new(),
            is_wake_due: AtomicBool::new(false),
            due: Mutex::default(),
            more: Notify::new(),
            ended,
            tasks: TaskTracker::new(),
        })
    }

    /// Adds a job. It replaces the one with the same name.
    pub fn register(&self, job: Arc<dyn Job>) {
        self.jobs.write().unwrap_or_else(PoisonError::into_inner).insert(job.name(), job);
        self.wake();
    }

    pub(super) fn find(&self, name: &str) -> Option<Arc<dyn Job>> {
        self.jobs.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    fn jobs(&self) -> Vec<Arc<dyn Job>> {
        self.jobs.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Stores a job and runs it as soon as possible. A stored job with the same name and subject stays unchanged.
    pub async fn enqueue(&self, job: &NewJob<'_>) -> Result<(), StoreError> {
        self.store.tenant(job.tenant).enqueue_job(job).await?;
        self.wake();
        Ok(())
    }

    /// Looks for due jobs now, because some may have been stored.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Counts the jobs that were inserted. They may not be committed yet.
    pub fn count_stored(&self) -> u64 {
        jobs::count_stored()
    }

    /// Wakes the runner if jobs were inserted since `count`, or if some wait for this call. Call it after the commit.
    pub fn wake_if_stored_since(&self, count: u64) {
        if self.is_wake_due.swap(false, Ordering::Relaxed) | (self.count_stored() != count) {
            self.wake();
        }
    }

    /// Lets the jobs that were inserted since `count` wait for the next [`JobRunner::wake_if_stored_since`].
    pub fn wake_later_if_stored_since(&self, count: u64) {
        if self.count_stored() != count {
            self.is_wake_due.store(true, Ordering::Relaxed);
        }
    }

    /// A counter that changes whenever jobs have ended.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.ended.subscribe()
    }

    fn paused<T>(&self, change: impl FnOnce(&mut BTreeMap<&'static str, Instant>) -> T) -> T {
        change(&mut self.paused.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Remembers when a job runs again, so that it does not wait for the next poll.
    fn note_due(&self, at: Instant) {
        self.due.lock().unwrap_or_else(PoisonError::into_inner).insert(at);
        self.wake();
    }

    /// Removes the times before `searched_at`, and returns the first of the others.
    fn next_due(&self, searched_at: Instant) -> Option<Instant> {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        *due = due.split_off(&searched_at);
        due.first().copied()
    }

    fn pause(&self, job: &dyn Job, wait: Duration) {
        self.paused(|paused| paused.insert(job.name(), Instant::now() + wait));
    }

    /// Whether the job can run now. If its service is down, the job is paused.
    pub(super) fn can_run(&self, job: &dyn Job) -> bool {
        if self.paused(|paused| paused.get(job.name()).is_some_and(|until| *until > Instant::now())) {
            return false;
        }
        if !job.is_ready() {
            self.pause(job, self.config.pause);
        }
        job.is_ready()
    }

    /// Runs jobs until the shutdown, then waits for those that are running. A job that is dropped before its end runs
    /// again at the next start.
    pub async fn run(self: Arc<Self>, announcer: Option<Arc<dyn Announcer>>, shutdown: CancellationToken) {
        let context = JobContext { store: self.store.clone(), announcer };
        let mut running: JoinSet<(&'static str, Result<(), StoreError>)> = JoinSet::new();
        let mut busy: BTreeSet<&'static str> = BTreeSet::new();
        let mut unknown: BTreeSet<String> = BTreeSet::new();
        // The leases of an earlier process, and of jobs that could not end because the store was unavailable.
        let mut has_stale_leases = true;
        let mut report_at = Instant::now();
        while !shutdown.is_cancelled() {
            let searched_at = Instant::now();
            match self.find_due_queues(&mut has_stale_leases, &busy).await {
                Ok(due) => {
                    for queue in due {
                        if !busy.insert(queue) {
                            self.more.notify_one();
                            continue;
                        }
                        let (runner, context, shutdown) = (self.clone(), context.clone(), shutdown.clone());
                        running.spawn(async move { (queue, runner.run_queue(queue, &context, &shutdown).await) });
                    }
                }
                Err(cause) => {
                    warn!(error = %cause, "Background jobs are waiting for the store");
                    has_stale_leases = true;
                }
            }
            let now = Instant::now();
            if report_at <= now {
                self.report_backlog(&mut unknown).await;
                report_at = now + POLL_EVERY;
            }
            let resume = self.paused(|paused| paused.values().copied().filter(|until| *until > now).min());
            // The search may have missed what became due meanwhile.
            let next = resume.into_iter().chain(self.next_due(searched_at)).fold(report_at, Instant::min);
            tokio::select! {
                Some(Ok((queue, result))) = running.join_next() => {
                    busy.remove(queue);
                    if let Err(cause) = result {
                        warn!(error = %cause, queue, "Background jobs are waiting for the store");
                        has_stale_leases = true;
                        self.jobs().iter().filter(|job| job.queue() == queue).for_each(|job| self.pause(job.as_ref(), POLL_EVERY));
                    }
                }
                () = tokio::time::sleep_until(next) => {}
                () = self.wake.notified() => {}
                () = shutdown.cancelled() => {}
            }
        }
        while running.join_next().await.is_some() {}
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Finds the queues that have due jobs which can run.
    async fn find_due_queues(
        &self,
        has_stale_leases: &mut bool,
        busy: &BTreeSet<&'static str>,
    ) -> Result<BTreeSet<&'static str>, StoreError> {
        let now = Utc::now();
        if *has_stale_leases {
            let jobs = self.jobs();
            let idle: Vec<&str> = jobs.iter().filter(|job| !busy.contains(job.queue())).map(|job| job.name()).collect();
            self.store.release_jobs(&idle, now).await?;
            *has_stale_leases = false;
        }
        // Not those that wait for a service, of which there may be many.
        let mut jobs = self.jobs();
        jobs.retain(|job| self.can_run(job.as_ref()));
        let names: Vec<&str> = jobs.iter().map(|job| job.name()).collect();
        let due = self.store.list_due_jobs(&names, now).await?;
        Ok(due.iter().filter_map(|name| self.find(name)).map(|job| job.queue()).collect())
    }

    /// Runs a queue until it has no due jobs that can run.
    async fn run_queue(
        &self,
        queue: &str,
        context: &JobContext,
        shutdown: &CancellationToken,
    ) -> Result<(), StoreError> {
        let at_once = self.jobs_of(queue).iter().map(|job| job.at_once()).max().unwrap_or(1);
        let mut running = FuturesUnordered::new();
        loop {
            if running.len() < at_once && !shutdown.is_cancelled() {
                let mut leasing = pin!(self.lease(queue, at_once, at_once - running.len()));
                // The running jobs continue meanwhile: one of them may hold the connection that the lease waits for.
                let parts = loop {
                    tokio::select! {
                        parts = &mut leasing => break parts?,
                        Some(result) = running.next() => result?,
                    }
                };
                running.extend(parts.into_iter().map(|part| self.run_leased(part, context)));
            }
            tokio::select! {
                ended = running.next() => match ended {
                    Some(result) => result?,
                    None => return Ok(()),
                },
                () = self.more.notified(), if at_once > 1 && !running.is_empty() => {}
            }
        }
    }

    fn jobs_of(&self, queue: &str) -> Vec<Arc<dyn Job>> {
        self.jobs().into_iter().filter(|job| job.queue() == queue).collect()
    }

    /// Leases due jobs of the queue, in at most `room` parts: one batch, or jobs that run at the same time.
    async fn lease(&self, queue: &str, at_once: usize, room: usize) -> Result<Vec<Vec<LeasedJob>>, StoreError> {
        let mut jobs = self.jobs_of(queue);
        jobs.retain(|job| self.can_run(job.as_ref()));
        let names: Vec<&str> = jobs.iter().map(|job| job.name()).collect();
        let batch = jobs.iter().map(|job| job.batch_size()).max().unwrap_or_default();
        let limit = if at_once > 1 { room as u64 } else { batch };
        let leased = self.store.lease_jobs(&names, Utc::now(), self.config.lease, limit).await?;
        let size = if at_once > 1 { 1 } else { leased.len().max(1) };
        Ok(leased.chunks(size).map(<[LeasedJob]>::to_vec).collect())
    }

    /// Runs leased jobs, those with the same name and shop together, and stores the results.
    pub(super) async fn run_leased(&self, mut leased: Vec<LeasedJob>, context: &JobContext) -> Result<(), StoreError> {
        leased.sort_by(|a, b| (&a.name, &a.tenant).cmp(&(&b.name, &b.tenant)));
        for batch in leased.chunk_by(|a, b| (&a.name, &a.tenant) == (&b.name, &b.tenant)) {
            let Some(job) = self.find(&batch[0].name) else { continue };
            let mut parts = vec![batch];
            while let Some(part) = parts.pop() {
                match self.attempt(job.as_ref(), context, part).await {
                    // Only the jobs that fail alone as well are retried.
                    Err(JobError::Failed(_)) if part.len() > 1 => parts.extend(part.chunks(1).rev()),
                    Err(JobError::Store(cause)) => return Err(cause),
                    result => self.store_result(job.as_ref(), part, result).await?,
                }
            }
            self.ended.send_modify(|count| *count += 1);
        }
        Ok(())
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
    ) -> Result<(), StoreError> {
        let name = job.name();
        let Err(cause) = result else {
            count_attempts(name, "done", batch.len());
            return self.store.finish_jobs(batch).await;
        };
        let reason = cause.to_string();
        if let JobError::Unavailable(_) = cause {
            debug!(error = reason, job = name, jobs = batch.len(), "Jobs are waiting for a service");
            self.pause(job, self.config.pause);
            return self.store.retry_jobs(batch, Utc::now(), &reason, false).await;
        }
        if let JobError::Later(after) = cause {
            let run_at = Utc::now() + TimeDelta::from_std(after).unwrap_or(TimeDelta::MAX);
            self.store.retry_jobs(batch, run_at, &reason, false).await?;
            self.note_due(Instant::now() + after);
            return Ok(());
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
        Ok(())
    }

    /// Reports how many jobs there are, and each name that no job has once. Reads all jobs.
    async fn report_backlog(&self, unknown: &mut BTreeSet<String>) {
        let Ok(counts) = self.store.count_jobs().await else { return };
        for name in counts.keys().filter(|name| self.find(name).is_none()) {
            if unknown.insert(name.clone()) {
                warn!(job = name, "Jobs with an unknown name stay in the store");
            }
        }
        let mut embedding: Option<JobCounts> = None;
        for job in self.jobs() {
            let name = job.name();
            let JobCounts { waiting, dead } = counts.get(name).copied().unwrap_or_default();
            metrics::gauge!("frontdesk_background_jobs", "job" => name, "state" => "waiting").set(waiting as f64);
            metrics::gauge!("frontdesk_background_jobs", "job" => name, "state" => "dead").set(dead as f64);
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
