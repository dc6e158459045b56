//! Stores vectors in the shop's database and searches them exactly, in this process. It needs no other server.
//!
//! The few vectors of a conversation are read through an index and compared one by one. Any other search uses a copy of
//! the collection in memory ([`matrix`]). [`resident`] loads the copy on first use, and updates it after a write by any
//! process. A collection that is too large for memory is read in pages for each question. All three ways return the
//! same hits.

mod codes;
mod matrix;
mod nearest;
mod resident;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use async_trait::async_trait;

use self::codes::{Question, dot, unit};
use self::nearest::Nearest;
use self::resident::Resident;
use crate::providers::vector::{
    CONVERSATION_ID, Collection, Hit, Labels, Record, Space, VectorError, VectorIndex, check_labels, check_space,
    check_vector,
};
use crate::store::vectors::{StoredVector, VectorCollection, VectorRow, VectorScope};
use crate::store::{Store, StoreError};

/// The number of rows in a page.
const PAGE: u64 = 512;
/// The maximum dimension, larger than that of any embedding model. Sums of codes could hold twice as many.
const DIMENSION_MAX: usize = 65_536;

/// A [`VectorIndex`] on the store.
#[derive(Debug)]
pub struct EmbeddedIndex {
    store: Store,
    resident: Arc<Resident>,
}

impl EmbeddedIndex {
    /// Creates an index whose copies in memory use at most `memory_max` bytes, estimated by
    /// [`matrix::Matrix::estimate`].
    pub fn new(store: Store, memory_max: usize) -> Self {
        Self { store, resident: Arc::new(Resident::new(memory_max)) }
    }

    async fn find(&self, collection: &Collection) -> Result<Option<VectorCollection>, VectorError> {
        Ok(self.store.tenant(&collection.tenant).find_vector_collection(&collection.name).await?)
    }

    /// Compares the question with the rows, page by page. Rows that are written meanwhile may be missed.
    async fn search_stored(
        &self,
        collection: &Collection,
        question: &Question,
        limit: usize,
        scope: VectorScope<'_>,
        only: &Labels,
    ) -> Result<Vec<Hit>, VectorError> {
        let store = self.store.tenant(&collection.tenant);
        let mut best = Nearest::new(limit);
        let mut after = None;
        loop {
            let rows = store.list_vectors(&collection.name, scope, after.as_deref(), PAGE).await?;
            let Some(last) = rows.last() else { break };
            after = Some(last.id.clone());
            for StoredVector { id, vector, labels, .. } in rows {
                if only.iter().all(|(name, value)| labels.get(name) == Some(value)) {
                    best.offer(dot(&question.vector, &vector), id, vector);
                }
            }
        }
        let hits = best.into_sorted().into_iter();
        Ok(hits.map(|ranked| Hit { id: ranked.key, similarity: ranked.similarity, vector: ranked.value }).collect())
    }
}

#[async_trait]
impl VectorIndex for EmbeddedIndex {
    async fn open(&self, collection: &Collection, space: &Space) -> Result<(), VectorError> {
        if !(1..=DIMENSION_MAX).contains(&space.dimension) {
            return Err(VectorError::Refused(format!("a vector has 1 to {DIMENSION_MAX} numbers")));
        }
        let store = self.store.tenant(&collection.tenant);
        let made = store.open_vector_collection(&collection.name, &space.model, space.dimension).await?;
        check_space(&collection.name, &space_of(&made), space)
    }

    async fn upsert(&self, collection: &Collection, records: &[Record]) -> Result<(), VectorError> {
        if records.is_empty() {
            return Ok(());
        }
        let Some(found) = self.find(collection).await? else { return Err(not_open(collection)) };
        records.iter().try_for_each(|record| check_vector(&record.vector, found.dimension))?;
        let rows: Vec<VectorRow> = records.iter().map(row).collect();
        let written = self.store.tenant(&collection.tenant).upsert_vectors(&collection.name, &rows).await?;
        if written { Ok(()) } else { Err(not_open(collection)) }
    }

    async fn query(
        &self,
        collection: &Collection,
        space: &Space,
        vector: &[f32],
        limit: usize,
        only: &Labels,
    ) -> Result<Vec<Hit>, VectorError> {
        let Some(state) = self.find(collection).await? else {
            self.resident.forget(collection);
            return Ok(Vec::new());
        };
        check_space(&collection.name, &space_of(&state), space)?;
        check_vector(vector, space.dimension)?;
        if limit == 0 {
            return Ok(Vec::new());
        }
        let question = Question::new(vector);
        if let Some(conversation) = only.get(CONVERSATION_ID) {
            let only = without_conversation(only);
            let scope = VectorScope::Conversation(conversation);
            return self.search_stored(collection, &question, limit, scope, &only).await;
        }
        match self.resident.current(&self.store, collection, state).await? {
            Some(copy) => copy.nearest(question, limit, only.clone()).await,
            None => self.search_stored(collection, &question, limit, VectorScope::All, only).await,
        }
    }

    async fn vectors(&self, collection: &Collection, ids: &[String]) -> Result<HashMap<String, Vec<f32>>, VectorError> {
        let found = self.store.tenant(&collection.tenant).list_vectors_by_id(&collection.name, ids).await?;
        Ok(found.into_iter().collect())
    }

    async fn ids(&self, collection: &Collection) -> Result<HashSet<String>, VectorError> {
        let ids = self.store.tenant(&collection.tenant).list_vector_ids(&collection.name).await?;
        Ok(ids.into_iter().collect())
    }

    async fn delete(&self, collection: &Collection, ids: &[String]) -> Result<(), VectorError> {
        Ok(self.store.tenant(&collection.tenant).delete_vectors(&collection.name, ids).await?)
    }

    async fn delete_where(&self, collection: &Collection, only: &Labels) -> Result<(), VectorError> {
        check_labels(only)?;
        let conversation = only.get(CONVERSATION_ID).map(String::as_str);
        let store = self.store.tenant(&collection.tenant);
        Ok(store.delete_labelled_vectors(&collection.name, conversation, &without_conversation(only)).await?)
    }

    async fn drop_collection(&self, collection: &Collection) -> Result<(), VectorError> {
        self.store.tenant(&collection.tenant).drop_vector_collection(&collection.name).await?;
        self.resident.forget(collection);
        Ok(())
    }

    async fn ping(&self) -> Result<(), VectorError> {
        Ok(self.store.ping().await?)
    }
}

impl From<StoreError> for VectorError {
    fn from(error: StoreError) -> Self {
        if error.is_unavailable() { Self::Unavailable(error.to_string()) } else { Self::Refused(error.to_string()) }
    }
}

fn space_of(collection: &VectorCollection) -> Space {
    Space { model: collection.model.clone(), dimension: collection.dimension }
}

fn row(record: &Record) -> VectorRow {
    VectorRow {
        id: record.id.clone(),
        conversation_id: record.metadata.get(CONVERSATION_ID).cloned(),
        vector: unit(&record.vector),
        text: record.text.clone(),
        labels: without_conversation(&record.metadata),
    }
}

/// Removes the conversation from the labels, because it has a separate column.
fn without_conversation(labels: &Labels) -> Labels {
    let mut labels = labels.clone();
    labels.remove(CONVERSATION_ID);
    labels
}

fn not_open(collection: &Collection) -> VectorError {
    VectorError::Refused(format!("there is no collection {}", collection.name))
}
