//! Keeps copies of collections in memory, and updates them from the database.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};

use tokio::task::{JoinError, spawn_blocking};
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::codes::Question;
use super::matrix::Matrix;
use crate::providers::vector::{Collection, Hit, Labels, VectorError};
use crate::store::vectors::{StoredVector, VectorCollection, VectorScope};
use crate::store::{Store, TenantStore};

/// The number of rows to read at once while loading.
const PAGE: u64 = 1000;
/// If more rows have changed, the collection is loaded again.
const CHANGES_MAX: usize = 2000;

/// The copies, with a limit on their total size.
#[derive(Debug)]
pub struct Resident {
    max_bytes: usize,
    copies: Mutex<HashMap<Collection, Arc<Copy>>>,
    /// Counts searches, to determine which copy was used last.
    clock: AtomicU64,
    /// Running updates. They only read, so a shutdown need not wait for them.
    updates: TaskTracker,
}

/// A collection in memory.
#[derive(Debug, Default)]
pub struct Copy {
    /// Locked during an update. Other searches wait for it.
    updating: tokio::sync::Mutex<()>,
    held: RwLock<Option<Held>>,
    /// The reserved size in bytes.
    bytes: AtomicU64,
    used: AtomicU64,
}

#[derive(Debug)]
struct Held {
    generation: Uuid,
    version: i64,
    matrix: Matrix,
}

impl Resident {
    pub fn new(max_bytes: usize) -> Self {
        Self { max_bytes, copies: Mutex::default(), clock: AtomicU64::new(1), updates: TaskTracker::new() }
    }

    /// Returns the collection's copy, at least as new as `state`, or `None` if it is too large for memory.
    ///
    /// An update continues if its caller stops waiting, so that a later question finds its result.
    pub async fn current(
        self: &Arc<Self>,
        store: &Store,
        collection: &Collection,
        state: VectorCollection,
    ) -> Result<Option<Arc<Copy>>, VectorError> {
        let copy = Arc::clone(self.copies().entry(collection.clone()).or_default());
        copy.used.store(self.clock.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        if copy.is_at_least(&state) {
            return Ok(Some(copy));
        }
        let (resident, store, collection) = (Arc::clone(self), store.clone(), collection.clone());
        let updated = self.updates.spawn(async move { resident.update(copy, &store, &collection, &state).await });
        updated.await.map_err(|error| ended(&error))?
    }

    async fn update(
        &self,
        copy: Arc<Copy>,
        store: &Store,
        collection: &Collection,
        state: &VectorCollection,
    ) -> Result<Option<Arc<Copy>>, VectorError> {
        let _updating = copy.updating.lock().await;
        if copy.is_at_least(state) {
            return Ok(Some(Arc::clone(&copy)));
        }
        let rows = store.tenant(&collection.tenant);
        let count = usize::try_from(rows.count_vectors(&collection.name).await?).unwrap_or(usize::MAX);
        if !self.reserve(collection, &copy, Matrix::estimate(count, state.dimension)) {
            return Ok(None);
        }
        if !copy.catch_up(&rows, collection, state).await? {
            copy.load(&rows, collection, state).await?;
        }
        Ok(Some(Arc::clone(&copy)))
    }

    pub fn forget(&self, collection: &Collection) {
        self.copies().remove(collection);
    }

    /// Reserves memory for a copy and evicts the least recently used copies. Returns `false` if the copy alone is too
    /// large. A running search keeps its copy until it ends.
    fn reserve(&self, collection: &Collection, copy: &Arc<Copy>, bytes: usize) -> bool {
        let mut copies = self.copies();
        if bytes > self.max_bytes {
            copies.remove(collection);
            return false;
        }
        copy.bytes.store(bytes as u64, Ordering::Relaxed);
        // Another reservation may have evicted it in the meantime.
        copies.insert(collection.clone(), Arc::clone(copy));
        while copies.values().map(|copy| copy.bytes.load(Ordering::Relaxed)).sum::<u64>() > self.max_bytes as u64 {
            let others = copies.iter().filter(|(name, _)| *name != collection);
            let oldest = others.min_by_key(|(_, copy)| copy.used.load(Ordering::Relaxed));
            let Some(oldest) = oldest.map(|(name, _)| name.clone()) else { break };
            copies.remove(&oldest);
        }
        true
    }

    /// Locks the copies. No code can panic while holding this lock.
    fn copies(&self) -> MutexGuard<'_, HashMap<Collection, Arc<Copy>>> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Copy {
    /// Searches on a thread for blocking work.
    pub async fn nearest(
        self: Arc<Self>,
        question: Question,
        limit: usize,
        only: Labels,
    ) -> Result<Vec<Hit>, VectorError> {
        blocking(move || {
            let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
            held.as_ref().map_or_else(Vec::new, |held| held.matrix.nearest(&question, limit, &only))
        })
        .await
    }

    fn is_at_least(&self, state: &VectorCollection) -> bool {
        let held = match self.held.try_read() {
            Ok(held) => held,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // An update that is writing has not ended.
            Err(TryLockError::WouldBlock) => return false,
        };
        held.as_ref().is_some_and(|held| held.generation == state.generation && held.version >= state.version)
    }

    /// Applies the changes since the last update. Returns `false` if nothing is loaded, or if loading again is cheaper.
    ///
    /// The state is read before the rows, so a row that is written in between is read again by the next update.
    async fn catch_up(
        self: &Arc<Self>,
        rows: &TenantStore<'_>,
        collection: &Collection,
        state: &VectorCollection,
    ) -> Result<bool, VectorError> {
        let version = {
            let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
            held.as_ref().filter(|held| held.generation == state.generation).map(|held| held.version)
        };
        let Some(version) = version else { return Ok(false) };
        let limit = CHANGES_MAX as u64 + 1;
        let changed = rows.list_vectors(&collection.name, VectorScope::Since(version), None, limit).await?;
        if changed.len() > CHANGES_MAX {
            return Ok(false);
        }
        let left: Option<HashSet<String>> = if state.removed_version > version {
            Some(rows.list_vector_ids(&collection.name).await?.into_iter().collect())
        } else {
            None
        };
        let (copy, new_version) = (Arc::clone(self), state.version);
        blocking(move || {
            let mut held = copy.held.write().unwrap_or_else(PoisonError::into_inner);
            let Some(held) = held.as_mut() else { return };
            changed.iter().for_each(|row| put(&mut held.matrix, row));
            if let Some(left) = left {
                held.matrix.retain(|id| left.contains(id));
            }
            held.version = new_version;
        })
        .await?;
        Ok(true)
    }

    async fn load(
        self: &Arc<Self>,
        rows: &TenantStore<'_>,
        collection: &Collection,
        state: &VectorCollection,
    ) -> Result<(), VectorError> {
        // Drop the old copy first, so that there are never two in memory.
        let copy = Arc::clone(self);
        blocking(move || *copy.held.write().unwrap_or_else(PoisonError::into_inner) = None).await?;
        let mut matrix = Matrix::new(state.dimension);
        let mut after: Option<String> = None;
        loop {
            let page = rows.list_vectors(&collection.name, VectorScope::All, after.as_deref(), PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.id.clone());
            matrix = blocking(move || {
                page.iter().for_each(|row| put(&mut matrix, row));
                matrix
            })
            .await?;
        }
        tracing::debug!(collection = collection.name, rows = matrix.len(), "Loaded vectors into memory");
        let held = Held { generation: state.generation, version: state.version, matrix };
        let copy = Arc::clone(self);
        blocking(move || *copy.held.write().unwrap_or_else(PoisonError::into_inner) = Some(held)).await
    }
}

/// Adds a row, unless it has another dimension: then the collection was recreated while it was read, and the next
/// update reloads it.
fn put(matrix: &mut Matrix, row: &StoredVector) {
    if row.vector.len() == matrix.dimension() {
        matrix.put(&row.id, &row.vector, &row.labels);
    }
}

/// Runs blocking work on another thread.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, VectorError> {
    spawn_blocking(work).await.map_err(|error| ended(&error))
}

fn ended(error: &JoinError) -> VectorError {
    VectorError::Unavailable(format!("the search was ended: {error}"))
}
