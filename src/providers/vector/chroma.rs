//! The vector index on a Chroma server, over its HTTP API version 2.
//!
//! This is a custom client: `chromadb` uses the removed API version 1, and `chroma` needs `protoc` to build. Records have the format of
//! Chroma's own clients. In large collections, nearest neighbours are approximate.

mod name;
mod wire;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::OnceCell;

use self::wire::Wire;
use super::{
    Collection, Hit, Labels, Record, Space, VectorError, VectorIndex, check_labels, check_space, check_vector,
};
use crate::config::VectorConfig;

/// Keys of a collection's metadata.
const MODEL: &str = "embedding_model";
const DIMENSION: &str = "embedding_dimension";
/// The maximum number of records per request: 256 vectors of 1,024 dimensions are 3 MB of JSON.
const RECORDS_AT_ONCE: usize = 256;
/// Ids that are listed or removed per request.
const IDS_AT_ONCE: usize = 1000;

/// A [`VectorIndex`] on a Chroma server.
pub struct ChromaIndex {
    wire: Wire,
    /// Known collections by their name on the server.
    found: Mutex<HashMap<String, Found>>,
    /// Records per request.
    batch: OnceCell<usize>,
}

/// Why a client cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum InvalidChroma {
    #[error("CHROMA_URL must be an http(s) URL without a query, such as http://127.0.0.1:8000 (got '{0}')")]
    Address(String),
    #[error(transparent)]
    Client(#[from] reqwest::Error),
}

/// A known collection.
#[derive(Clone)]
struct Found {
    id: String,
    space: Space,
}

#[derive(Deserialize)]
struct CollectionAnswer {
    id: String,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
    /// The dimension of its vectors; `None` while it is empty.
    #[serde(default)]
    dimension: Option<usize>,
    #[serde(default)]
    configuration_json: Value,
}

#[derive(Deserialize)]
struct QueryAnswer {
    ids: Vec<Vec<String>>,
    distances: Vec<Vec<Option<f32>>>,
    embeddings: Vec<Vec<Option<Vec<f32>>>>,
}

#[derive(Deserialize)]
struct GetAnswer {
    ids: Vec<String>,
    #[serde(default)]
    metadatas: Option<Vec<Option<Map<String, Value>>>>,
    #[serde(default)]
    embeddings: Option<Vec<Option<Vec<f32>>>>,
}

#[derive(Deserialize)]
struct Checks {
    max_batch_size: usize,
}

impl ChromaIndex {
    /// Does not connect yet. `url` is [`VectorConfig::chroma_url`].
    ///
    /// # Errors
    /// [`InvalidChroma::Address`] if `url` is not valid.
    pub fn new(url: &str, config: &VectorConfig) -> Result<Self, InvalidChroma> {
        Ok(Self { wire: Wire::new(url, config.timeout)?, found: Mutex::default(), batch: OnceCell::new() })
    }

    /// Reads a collection from the server.
    async fn look_up(&self, name: &str) -> Result<Option<CollectionAnswer>, VectorError> {
        self.wire.ask(Method::GET, &format!("collections/{name}"), None).await
    }

    async fn find(&self, name: &str) -> Result<Option<Found>, VectorError> {
        if let Some(found) = self.found().get(name) {
            return Ok(Some(found.clone()));
        }
        let Some(answer) = self.look_up(name).await? else { return Ok(None) };
        Ok(Some(self.remember(name, &answer)))
    }

    fn remember(&self, name: &str, answer: &CollectionAnswer) -> Found {
        let found = Found { id: answer.id.clone(), space: answer.space() };
        self.found().insert(name.to_owned(), found.clone());
        found
    }

    /// Posts to a collection. Returns `None` if it does not exist. If the server does not know the cached id, looks it up again, since
    /// another client may have recreated the collection.
    async fn post<T: serde::de::DeserializeOwned>(
        &self,
        name: &str,
        action: &str,
        body: &Value,
    ) -> Result<Option<T>, VectorError> {
        for _ in 0..2 {
            let Some(found) = self.find(name).await? else { return Ok(None) };
            let path = format!("collections/{}/{action}", found.id);
            if let Some(answer) = self.wire.ask(Method::POST, &path, Some(body)).await? {
                return Ok(Some(answer));
            }
            self.found().remove(name);
        }
        Ok(None)
    }

    /// Writes some records. Chroma merges metadata into the existing metadata and removes null keys, so outdated keys are set to null.
    async fn upsert_some(&self, name: &str, records: &[&Record]) -> Result<(), VectorError> {
        let ids: Vec<&str> = records.iter().map(|record| record.id.as_str()).collect();
        let asked = json!({ "ids": ids, "include": ["metadatas"], "limit": ids.len() });
        let Some(existing) = self.post::<GetAnswer>(name, "get", &asked).await? else { return Err(missing(name)) };
        let old = existing.ids.into_iter().zip(existing.metadatas.unwrap_or_default());
        let mut old: HashMap<String, Map<String, Value>> =
            old.filter_map(|(id, metadata)| Some((id, metadata?))).collect();
        let metadatas: Vec<Value> = records
            .iter()
            .map(|record| {
                let mut metadata = old.remove(&record.id).unwrap_or_default();
                metadata.values_mut().for_each(|value| *value = Value::Null);
                metadata.extend(record.metadata.iter().map(|(name, value)| (name.clone(), value.as_str().into())));
                // Chroma rejects empty metadata.
                if metadata.is_empty() { Value::Null } else { metadata.into() }
            })
            .collect();
        let body = json!({
            "ids": ids,
            "embeddings": records.iter().map(|record| &record.vector).collect::<Vec<_>>(),
            "documents": records.iter().map(|record| &record.text).collect::<Vec<_>>(),
            "metadatas": metadatas,
        });
        self.post::<Value>(name, "upsert", &body).await?.map(drop).ok_or_else(|| missing(name))
    }

    async fn batch(&self) -> Result<usize, VectorError> {
        let read = || async {
            let checks: Checks = self.wire.get_server("pre-flight-checks").await?;
            Ok(checks.max_batch_size.clamp(1, RECORDS_AT_ONCE))
        };
        self.batch.get_or_try_init(read).await.copied()
    }

    fn found(&self) -> MutexGuard<'_, HashMap<String, Found>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl VectorIndex for ChromaIndex {
    async fn open(&self, collection: &Collection, space: &Space) -> Result<(), VectorError> {
        let name = name::on_server(collection)?;
        let answer = match self.look_up(&name).await? {
            Some(answer) => answer,
            None => {
                let body = json!({
                    "name": name,
                    "get_or_create": true,
                    "configuration": { "hnsw": { "space": "cosine" } },
                    "metadata": { MODEL: space.model, DIMENSION: space.dimension },
                });
                let created = self.wire.ask(Method::POST, "collections", Some(&body)).await?;
                created
                    .ok_or_else(|| VectorError::Refused("the database default_database does not exist".to_owned()))?
            }
        };
        check_space(&name, &answer.space(), space)?;
        let compares_by = &answer.configuration_json["hnsw"]["space"];
        if compares_by.as_str().is_some_and(|space| space != "cosine") {
            return Err(VectorError::Refused(format!(
                "the collection {name} uses {compares_by} instead of cosine: run `frontdesk index --rebuild`"
            )));
        }
        self.remember(&name, &answer);
        Ok(())
    }

    async fn upsert(&self, collection: &Collection, records: &[Record]) -> Result<(), VectorError> {
        if records.is_empty() {
            return Ok(());
        }
        let name = name::on_server(collection)?;
        let found = self.find(&name).await?.ok_or_else(|| missing(&name))?;
        records.iter().try_for_each(|record| check_vector(&record.vector, found.space.dimension))?;
        // Chroma does not define which record is used if a request repeats an id.
        let records: BTreeMap<&str, &Record> = records.iter().map(|record| (record.id.as_str(), record)).collect();
        let records: Vec<&Record> = records.into_values().collect();
        for some in records.chunks(self.batch().await?) {
            self.upsert_some(&name, some).await?;
        }
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
        let name = name::on_server(collection)?;
        let Some(found) = self.find(&name).await? else { return Ok(Vec::new()) };
        check_space(&name, &found.space, space)?;
        check_vector(vector, space.dimension)?;
        if limit == 0 {
            return Ok(Vec::new());
        }
        let mut body = json!({
            "query_embeddings": [vector],
            "n_results": limit,
            "include": ["distances", "embeddings"],
        });
        if !only.is_empty() {
            body["where"] = labelled(only);
        }
        let answer: Option<QueryAnswer> = self.post(&name, "query", &body).await?;
        // Another process may have created the collection again, with another model.
        if let Some(found) = self.find(&name).await? {
            check_space(&name, &found.space, space)?;
        }
        Ok(answer.map(QueryAnswer::into_hits).unwrap_or_default())
    }

    async fn vectors(&self, collection: &Collection, ids: &[String]) -> Result<HashMap<String, Vec<f32>>, VectorError> {
        let name = name::on_server(collection)?;
        let mut vectors = HashMap::new();
        for ids in ids.chunks(RECORDS_AT_ONCE) {
            let body = json!({ "ids": ids, "include": ["embeddings"], "limit": ids.len() });
            let Some(answer) = self.post::<GetAnswer>(&name, "get", &body).await? else { break };
            let found = answer.ids.into_iter().zip(answer.embeddings.unwrap_or_default());
            vectors.extend(found.filter_map(|(id, vector)| Some((id, vector?))));
        }
        Ok(vectors)
    }

    async fn ids(&self, collection: &Collection) -> Result<HashSet<String>, VectorError> {
        let name = name::on_server(collection)?;
        let mut ids = HashSet::new();
        for offset in (0..).step_by(IDS_AT_ONCE) {
            let body = json!({ "include": [], "limit": IDS_AT_ONCE, "offset": offset });
            let page = self.post::<GetAnswer>(&name, "get", &body).await?.map(|answer| answer.ids).unwrap_or_default();
            let last = page.len() < IDS_AT_ONCE;
            ids.extend(page);
            if last {
                break;
            }
        }
        Ok(ids)
    }

    async fn delete(&self, collection: &Collection, ids: &[String]) -> Result<(), VectorError> {
        let name = name::on_server(collection)?;
        for ids in ids.chunks(IDS_AT_ONCE) {
            self.post::<Value>(&name, "delete", &json!({ "ids": ids })).await?;
        }
        Ok(())
    }

    async fn delete_where(&self, collection: &Collection, only: &Labels) -> Result<(), VectorError> {
        check_labels(only)?;
        let name = name::on_server(collection)?;
        self.post::<Value>(&name, "delete", &json!({ "where": labelled(only) })).await?;
        Ok(())
    }

    async fn drop_collection(&self, collection: &Collection) -> Result<(), VectorError> {
        let name = name::on_server(collection)?;
        self.wire.ask::<Value>(Method::DELETE, &format!("collections/{name}"), None).await?;
        self.found().remove(&name);
        Ok(())
    }

    async fn ping(&self) -> Result<(), VectorError> {
        let answer: Value = self.wire.get_server("heartbeat").await?;
        if answer.get("nanosecond heartbeat").is_some() {
            return Ok(());
        }
        Err(self.wire.not_chroma("its heartbeat is not Chroma's"))
    }
}

impl CollectionAnswer {
    /// Returns the space in the metadata, which collections of other clients lack.
    fn space(&self) -> Space {
        let metadata = |key: &str| self.metadata.as_ref().and_then(|metadata| metadata.get(key));
        let model = metadata(MODEL).and_then(Value::as_str).unwrap_or("an unknown model").to_owned();
        let dimension = metadata(DIMENSION).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
        Space { model, dimension: dimension.or(self.dimension).unwrap_or(0) }
    }
}

impl QueryAnswer {
    /// Converts distances to similarities: Chroma's cosine distance is 1 − similarity, or null for a zero vector.
    fn into_hits(self) -> Vec<Hit> {
        let (ids, distances) = (self.ids.into_iter().flatten(), self.distances.into_iter().flatten());
        let hits = ids.zip(distances).zip(self.embeddings.into_iter().flatten());
        hits.map(|((id, distance), vector)| {
            let similarity = distance.map_or(0.0, |distance| (1.0 - distance).clamp(-1.0, 1.0));
            Hit { id, similarity, vector: vector.unwrap_or_default() }
        })
        .collect()
    }
}

/// Creates Chroma's filter for records with all these labels.
fn labelled(only: &Labels) -> Value {
    let mut each: Vec<Value> = only.iter().map(|(name, value)| json!({ name: { "$eq": value } })).collect();
    // Chroma rejects an "$and" of one condition.
    if each.len() == 1 { each.remove(0) } else { json!({ "$and": each }) }
}

fn missing(name: &str) -> VectorError {
    VectorError::Refused(format!("the collection {name} does not exist"))
}
