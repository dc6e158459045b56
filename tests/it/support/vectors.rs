//! Vectors without a model and without a database: an index in memory, and a model that counts words.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use frontdesk::config::EmbedConfig;
use frontdesk::providers::embedding::{Embedder, EmbeddingError, EmbeddingModel};
use frontdesk::providers::vector::{Collection, Hit, Labels, Record, Space, VectorError, VectorIndex, check_space};

type Kept = (Space, BTreeMap<String, Record>);

/// Keeps vectors as long as it lives.
pub struct MemoryVectors {
    collections: Mutex<BTreeMap<Collection, Kept>>,
    /// So many batches are taken before the index is gone.
    pub batches_left: AtomicUsize,
}

impl Default for MemoryVectors {
    fn default() -> Self {
        Self { collections: Mutex::default(), batches_left: AtomicUsize::new(usize::MAX) }
    }
}

impl MemoryVectors {
    /// The names of the collections that are there.
    pub fn names(&self) -> Vec<String> {
        self.collections.lock().unwrap().keys().map(|collection| collection.name.clone()).collect()
    }

    /// The records of a collection, by id.
    pub fn records(&self, collection: &Collection) -> Vec<Record> {
        let collections = self.collections.lock().unwrap();
        collections.get(collection).map(|(_, records)| records.values().cloned().collect()).unwrap_or_default()
    }

    fn with<T>(&self, collection: &Collection, work: impl FnOnce(&mut BTreeMap<String, Record>) -> T) -> T {
        let mut collections = self.collections.lock().unwrap();
        work(&mut collections.get_mut(collection).expect("the collection is open").1)
    }
}

#[async_trait]
impl VectorIndex for MemoryVectors {
    async fn open(&self, collection: &Collection, space: &Space) -> Result<(), VectorError> {
        let mut collections = self.collections.lock().unwrap();
        let (found, _) = collections.entry(collection.clone()).or_insert_with(|| (space.clone(), BTreeMap::new()));
        check_space(&collection.name, found, space)
    }

    async fn upsert(&self, collection: &Collection, records: &[Record]) -> Result<(), VectorError> {
        let left = self.batches_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        left.map_err(|_| VectorError::Unavailable("it went away".to_owned()))?;
        self.with(collection, |kept| kept.extend(records.iter().map(|record| (record.id.clone(), record.clone()))));
        Ok(())
    }

    async fn query(
        &self,
        collection: &Collection,
        space: &Space,
        vector: &[f32],
        limit: usize,
        only: &Labels,
    ) -> Result<Vec<Hit>, VectorError> {
        if let Some((found, _)) = self.collections.lock().unwrap().get(collection) {
            check_space(&collection.name, found, space)?;
        }
        let fits = |record: &Record| only.iter().all(|(name, value)| record.metadata.get(name) == Some(value));
        let mut hits: Vec<Hit> = self
            .records(collection)
            .into_iter()
            .filter(fits)
            .map(|record| Hit {
                similarity: record.vector.iter().zip(vector).map(|(a, b)| a * b).sum(),
                id: record.id,
                vector: record.vector,
            })
            .collect();
        hits.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        hits.truncate(limit);
        Ok(hits)
    }

    async fn vectors(&self, collection: &Collection, ids: &[String]) -> Result<HashMap<String, Vec<f32>>, VectorError> {
        let records = self.records(collection).into_iter().filter(|record| ids.contains(&record.id));
        Ok(records.map(|record| (record.id, record.vector)).collect())
    }

    async fn ids(&self, collection: &Collection) -> Result<HashSet<String>, VectorError> {
        Ok(self.records(collection).into_iter().map(|record| record.id).collect())
    }

    async fn delete(&self, collection: &Collection, ids: &[String]) -> Result<(), VectorError> {
        self.with(collection, |kept| kept.retain(|id, _| !ids.contains(id)));
        Ok(())
    }

    async fn delete_where(&self, collection: &Collection, only: &Labels) -> Result<(), VectorError> {
        let fits = |record: &Record| only.iter().all(|(name, value)| record.metadata.get(name) == Some(value));
        self.with(collection, |kept| kept.retain(|_, record| !fits(record)));
        Ok(())
    }

    async fn drop_collection(&self, collection: &Collection) -> Result<(), VectorError> {
        self.collections.lock().unwrap().remove(collection);
        Ok(())
    }

    async fn ping(&self) -> Result<(), VectorError> {
        Ok(())
    }
}

/// A model whose vectors count words by their first letters: texts that share words are near to each other.
pub struct WordModel {
    name: &'static str,
    asked: Mutex<Vec<String>>,
    /// Texts with this word are refused, alone or among others.
    refuses: &'static str,
    pub down: AtomicBool,
    /// So many requests fail before it answers. Those with the word of probes do not.
    pub failures: AtomicUsize,
}

impl WordModel {
    pub fn new(name: &'static str) -> Arc<Self> {
        Self::that_refuses(name, "no text holds this")
    }

    pub fn that_refuses(name: &'static str, refuses: &'static str) -> Arc<Self> {
        let (down, failures) = (AtomicBool::new(false), AtomicUsize::new(0));
        Arc::new(Self { name, asked: Mutex::default(), refuses, down, failures })
    }

    /// The documents' chunks that it embedded, in their order; the words of probes are left out.
    pub fn asked(&self) -> Vec<String> {
        let asked = std::mem::take(&mut *self.asked.lock().unwrap());
        asked.into_iter().filter(|text| text != "?").collect()
    }

    pub fn embedder(self: &Arc<Self>) -> Embedder {
        Embedder::new(self.clone(), EmbedConfig::default())
    }
}

#[async_trait]
impl EmbeddingModel for WordModel {
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let left = || self.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        let fails = texts.iter().any(|text| text != "?") && left().is_ok();
        if fails || self.down.load(Ordering::SeqCst) {
            return Err(EmbeddingError::Unavailable("nothing answers".to_owned()));
        }
        if texts.iter().any(|text| text.contains(self.refuses)) {
            return Err(EmbeddingError::Refused("400 the text is too long".to_owned()));
        }
        self.asked.lock().unwrap().extend_from_slice(texts);
        Ok(texts.iter().map(|text| vector(text)).collect())
    }

    fn name(&self) -> &str {
        self.name
    }
}

fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; 26];
    vector[25] = 0.1;
    for first in text.split(|c: char| !c.is_alphanumeric()).filter_map(|word| word.bytes().next()) {
        vector[usize::from(first.to_ascii_lowercase()) % 26] += 1.0;
    }
    vector
}
