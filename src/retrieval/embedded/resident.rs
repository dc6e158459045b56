//! Which collections have a copy in memory, and that each is as the database says.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::codes::Question;
use super::matrix::Matrix;
use crate::providers::vector::{Collection, Hit, Labels, VectorError};
use crate::store::vectors::{StoredVector, VectorCollection, VectorScope};
use crate::store::{Store, TenantStore};

/// Rows that are read at once while loading.
const PAGE: u64 = 1000;
/// Where more rows changed, the collection is loaded anew.
const CHANGES_MAX: usize = 2000;

/// The copies, and the bound on what they take together.
#[derive(Debug)]
pub struct Resident {
    max_bytes: usize,
    copies: Mutex<HashMap<Collection, Arc<Copy>>>,
    /// Counts searches, so that it is known which copy was used last.
    clock: AtomicU64,
}

/// A collection in memory.
#[derive(Debug, Default)]
pub struct Copy {
    /// Held by whoever brings it up to date: others wait, and find it done.
    updating: tokio::sync::Mutex<()>,
    held: RwLock<Option<Held>>,
    /// What it takes or is about to take.
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
        Self { max_bytes, copies: Mutex::default(), clock: AtomicU64::new(1) }
    }

    /// The collection's copy, at least as new as `state`; `None`: it is too large for memory.
    pub async fn current(
        &self,
        store: &Store,
        collection: &Collection,
        state: &VectorCollection,
    ) -> Result<Option<Arc<Copy>>, VectorError> {
        let copy = Arc::clone(self.copies().entry(collection.clone()).or_default());
        copy.used.store(self.clock.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
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

    /// Makes room for a copy of this size, and lets those go that were not used for longest. `false`: there is no room even
    /// without the others. A search that is under way keeps its copy until it ends.
    fn reserve(&self, collection: &Collection, copy: &Arc<Copy>, bytes: usize) -> bool {
        let mut copies = self.copies();
        if bytes > self.max_bytes {
            copies.remove(collection);
            return false;
        }
        copy.bytes.store(bytes as u64, Ordering::Relaxed);
        // Another reservation may have let it go in the meantime.
        copies.insert(collection.clone(), Arc::clone(copy));
        while copies.values().map(|copy| copy.bytes.load(Ordering::Relaxed)).sum::<u64>() > self.max_bytes as u64 {
            let others = copies.iter().filter(|(name, _)| *name != collection);
            let oldest = others.min_by_key(|(_, copy)| copy.used.load(Ordering::Relaxed));
            let Some(oldest) = oldest.map(|(name, _)| name.clone()) else { break };
            copies.remove(&oldest);
        }
        true
    }

    /// No code can panic while it holds this.
    fn copies(&self) -> MutexGuard<'_, HashMap<Collection, Arc<Copy>>> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Copy {
    /// Searches on a thread that may be busy for a while.
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
        // Whoever changes it holds `updating`, and searches only read: this waits for a change that was given up at most.
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        held.as_ref().is_some_and(|held| held.generation == state.generation && held.version >= state.version)
    }

    /// Applies what changed since. `false`: nothing is loaded, or so much changed that loading is cheaper.
    ///
    /// The state was read first: a row that was written after it is met again at the next time.
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
        let (copy, generation, new_version) = (Arc::clone(self), state.generation, state.version);
        blocking(move || {
            let mut held = copy.held.write().unwrap_or_else(PoisonError::into_inner);
            // One whose search was given up may come late: then another has done its work.
            let Some(held) = held.as_mut().filter(|held| held.generation == generation && held.version == version)
            else {
                return;
            };
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
        // The old one goes first, so that the two are never in memory together.
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
        tracing::debug!(collection = collection.name, rows = matrix.len(), "Vectors are loaded into memory");
        let held = Held { generation: state.generation, version: state.version, matrix };
        let copy = Arc::clone(self);
        blocking(move || *copy.held.write().unwrap_or_else(PoisonError::into_inner) = Some(held)).await
    }
}

/// Rows of another dimension are left out: the collection was dropped and made again while it was read, and its next
/// state says so.
fn put(matrix: &mut Matrix, row: &StoredVector) {
    if row.vector.len() == matrix.dimension() {
        matrix.put(&row.id, &row.vector, &row.labels);
    }
}

/// What takes longer than other tasks should wait runs elsewhere.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, VectorError> {
    spawn_blocking(work).await.map_err(|error| VectorError::Unavailable(format!("the search was ended: {error}")))
}
