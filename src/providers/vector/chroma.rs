//! A Chroma server, over its HTTP API of version 2.
//!
//! A client of our own: `chromadb` speaks the API that the server has given up, and `chroma` cannot be built without
//! `protoc`. Records are kept as Chroma's own clients keep them, so that those read them too. The server's nearest neighbours
//! are approximate where a collection is large.

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
use super::{Collection, Hit, Labels, Record, Space, VectorError, VectorIndex, check_labels, check_vector};
use crate::config::VectorConfig;

/// Keys of a collection's metadata.
const MODEL: &str = "embedding_model";
const DIMENSION: &str = "embedding_dimension";
/// Records in one request, even where the server takes more: 256 vectors of 1,024 numbers are 3 MB of JSON.
const RECORDS_AT_ONCE: usize = 256;
/// Ids that are listed or removed in one request.
const IDS_AT_ONCE: usize = 1000;

/// A [`VectorIndex`] on a Chroma server.
pub struct ChromaIndex {
    wire: Wire,
    /// What was found, by the name on the server.
    found: Mutex<HashMap<String, Found>>,
    /// Records in one request.
    batch: OnceCell<usize>,
}

/// Why there can be no such client.
#[derive(Debug, thiserror::Error)]
pub enum InvalidChroma {
    #[error("CHROMA_URL must be an http(s) URL without a query, such as http://127.0.0.1:8000, and is '{0}'")]
    Address(String),
    #[error(transparent)]
    Client(#[from] reqwest::Error),
}

/// A collection that is there.
#[derive(Clone)]
struct Found {
    id: String,
    dimension: usize,
}

#[derive(Deserialize)]
struct CollectionAnswer {
    id: String,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
    /// Of the vectors that are in it; `None`: there are none yet.
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
    /// Connects to nothing yet. `url` is [`VectorConfig::chroma_url`].
    ///
    /// # Errors
    /// [`InvalidChroma::Address`]: `url` is no URL of a server.
    pub fn new(url: &str, config: &VectorConfig) -> Result<Self, InvalidChroma> {
        Ok(Self { wire: Wire::new(url, config.timeout)?, found: Mutex::default(), batch: OnceCell::new() })
    }

    /// The collection as the server has it; `None`: it has none of this name.
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
        let found = Found { id: answer.id.clone(), dimension: answer.space().dimension };
        self.found().insert(name.to_owned(), found.clone());
        found
    }

    /// Posts to a collection; `None`: there is none. One that was dropped and made again by somebody else has another id, so
    /// it is looked up once more when the server does not know the one that is remembered.
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

    /// Chroma merges a record's metadata into what it has; a key goes when it is null. So keys that the record no longer
    /// has are named.
    async fn upsert_some(&self, name: &str, records: &[&Record]) -> Result<(), VectorError> {
        let ids: Vec<&str> = records.iter().map(|record| record.id.as_str()).collect();
        let asked = json!({ "ids": ids, "include": ["metadatas"], "limit": ids.len() });
        let Some(there) = self.post::<GetAnswer>(name, "get", &asked).await? else { return Err(not_there(name)) };
        let old = there.ids.into_iter().zip(there.metadatas.unwrap_or_default());
        let mut old: HashMap<String, Map<String, Value>> =
            old.filter_map(|(id, metadata)| Some((id, metadata?))).collect();
        let metadatas: Vec<Value> = records
            .iter()
            .map(|record| {
                let mut metadata = old.remove(&record.id).unwrap_or_default();
                metadata.values_mut().for_each(|value| *value = Value::Null);
                metadata.extend(record.metadata.iter().map(|(name, value)| (name.clone(), value.as_str().into())));
                // It refuses an empty one.
                if metadata.is_empty() { Value::Null } else { metadata.into() }
            })
            .collect();
        let body = json!({
            "ids": ids,
            "embeddings": records.iter().map(|record| &record.vector).collect::<Vec<_>>(),
            "documents": records.iter().map(|record| &record.text).collect::<Vec<_>>(),
            "metadatas": metadatas,
        });
        self.post::<Value>(name, "upsert", &body).await?.map(drop).ok_or_else(|| not_there(name))
    }

    async fn batch(&self) -> Result<usize, VectorError> {
        let read = || async {
            let checks: Checks = self.wire.get_server("pre-flight-checks").await?;
            Ok(checks.max_batch_size.clamp(1, RECORDS_AT_ONCE))
        };
        self.batch.get_or_try_init(read).await.copied()
    }

    /// No code can panic while it holds this.
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
                let made = self.wire.ask(Method::POST, "collections", Some(&body)).await?;
                made.ok_or_else(|| VectorError::Refused("Chroma has no database default_database".to_owned()))?
            }
        };
        let (collection, found) = (name.clone(), answer.space());
        if found != *space {
            return Err(VectorError::OtherSpace { collection, found, wanted: space.clone() });
        }
        let compares_by = &answer.configuration_json["hnsw"]["space"];
        if compares_by.as_str().is_some_and(|space| space != "cosine") {
            return Err(VectorError::Refused(format!(
                "the collection {collection} compares by {compares_by} and not by cosine: run `frontdesk index --rebuild`"
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
        let found = self.find(&name).await?.ok_or_else(|| not_there(&name))?;
        records.iter().try_for_each(|record| check_vector(&record.vector, found.dimension))?;
        // Which one counts, where a request has one id twice, is not told.
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
        vector: &[f32],
        limit: usize,
        only: &Labels,
    ) -> Result<Vec<Hit>, VectorError> {
        let name = name::on_server(collection)?;
        let Some(found) = self.find(&name).await? else { return Ok(Vec::new()) };
        check_vector(vector, found.dimension)?;
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
        Err(self.wire.is_no_chroma("its heartbeat is not Chroma's"))
    }
}

impl CollectionAnswer {
    /// What its metadata says; what another client made says nothing.
    fn space(&self) -> Space {
        let metadata = |key: &str| self.metadata.as_ref().and_then(|metadata| metadata.get(key));
        let model = metadata(MODEL).and_then(Value::as_str).unwrap_or("a model that is not named").to_owned();
        let dimension = metadata(DIMENSION).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
        Space { model, dimension: dimension.or(self.dimension).unwrap_or(0) }
    }
}

impl QueryAnswer {
    /// Chroma's cosine distance is 1 − similarity. A vector of zeros has none.
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

/// Chroma's filter for records that have all these labels.
fn labelled(only: &Labels) -> Value {
    let mut each: Vec<Value> = only.iter().map(|(name, value)| json!({ name: { "$eq": value } })).collect();
    // It refuses an "and" of one.
    if each.len() == 1 { each.remove(0) } else { json!({ "$and": each }) }
}

fn not_there(name: &str) -> VectorError {
    VectorError::Refused(format!("there is no collection {name}"))
}
