//! Reports which documents are indexed, for the console and `frontdesk index`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::PoisonError;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use super::Knowledge;
use crate::domain::Language;
use crate::domain::calendar::{optional_time, time};
use crate::providers::vector::Collection;
use crate::retrieval::folder::{Shelf, Warning};
use crate::retrieval::sync::{SyncError, SyncReport, plan};

/// The timeout for counting the vectors of a collection.
const COUNTING: Duration = Duration::from_secs(2);

/// The documents of a shop and their vectors.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = KnowledgeView)]
pub struct Overview {
    /// One for each folder.
    pub collections: Vec<IndexedFolder>,
    pub embedding: Embedding,
    /// Problems in the files, for an editor to fix.
    pub problems: Vec<Warning>,
}

/// A folder of documents and its vectors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = CollectionView)]
pub struct IndexedFolder {
    pub name: String,
    /// The path below the knowledge folder; empty for its top level.
    pub folder: String,
    pub documents: Vec<IndexedDocument>,
    pub chunks: usize,
    /// The number of chunks with a vector; null if vectors are off or the count is unknown.
    pub embedded: Option<usize>,
}

/// A file of the knowledge folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = DocumentView)]
pub struct IndexedDocument {
    /// The path below the knowledge folder.
    pub file: String,
    pub title: String,
    #[schema(value_type = Option<String>, example = "vi")]
    pub language: Option<Language>,
    /// The version in the front matter.
    pub version: Option<String>,
    pub chunks: usize,
    #[serde(serialize_with = "optional_time")]
    pub changed_at: Option<DateTime<Utc>>,
}

/// The embedding model and its last run.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = EmbeddingView)]
pub struct Embedding {
    pub on: bool,
    pub model: Option<String>,
    /// The last run that updated the vectors.
    pub last_sync: Option<LastSync>,
}

/// A run that updated the vectors after the documents changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = SyncView)]
pub struct LastSync {
    #[serde(serialize_with = "time")]
    pub at: DateTime<Utc>,
    pub embedded: usize,
    pub removed: usize,
    /// Why the run failed.
    pub error: Option<String>,
    #[serde(skip)]
    refused: Vec<Warning>,
    /// Whether any chunk had a vector after the run.
    #[serde(skip)]
    pub(super) has_vectors: bool,
}

impl LastSync {
    pub(super) fn of(at: DateTime<Utc>, reports: &Result<Vec<SyncReport>, SyncError>) -> Self {
        let (reports, error) = match reports {
            Ok(reports) => (reports.as_slice(), None),
            Err(error) => (&[][..], Some(error.to_string())),
        };
        let refused = reports.iter().flat_map(|report| &report.refused).map(|chunk| Warning {
            file: chunk.file.clone(),
            line: None,
            problem: format!(
                "the embedding model refuses the section \"{}\", so it is found only by its words: {}",
                chunk.section, chunk.why
            ),
        });
        Self {
            at,
            embedded: reports.iter().map(|report| report.embedded).sum(),
            removed: reports.iter().map(|report| report.removed).sum(),
            error,
            refused: refused.collect(),
            has_vectors: reports.iter().any(|report| report.kept + report.embedded > 0),
        }
    }
}

impl Knowledge {
    /// Reports the documents that were read, and how many of their chunks have vectors.
    pub async fn overview(&self) -> Overview {
        let shelves = self.shelves.load_full();
        let last_sync = self.last_sync.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut collections = Vec::new();
        let mut problems = Vec::new();
        for (folder, shelf) in &shelves.library.shelves {
            let collection = self.collection(folder);
            let embedded = self.count_embedded(&collection, shelf).await;
            let documents = documents(&self.knowledge.folder, shelf).await;
            problems.extend(shelf.report.warnings.iter().cloned());
            let (folder, chunks) = (folder.clone(), shelf.chunks.len());
            collections.push(IndexedFolder { name: collection.name, folder, documents, chunks, embedded });
        }
        problems.extend(last_sync.iter().flat_map(|sync| sync.refused.iter().cloned()));
        let on = self.has_meaning();
        let embedding = Embedding { on, model: on.then(|| self.embedder.model().to_owned()), last_sync };
        Overview { collections, embedding, problems }
    }

    async fn count_embedded(&self, collection: &Collection, shelf: &Shelf) -> Option<usize> {
        if !self.has_meaning() {
            return None;
        }
        let counted = tokio::time::timeout(COUNTING, plan(self.vectors.as_ref(), collection, shelf)).await;
        let missing = counted.ok()?.ok()?.missing.len();
        Some(shelf.chunks.len().saturating_sub(missing))
    }
}

/// Lists the files with chunks, sorted by path.
async fn documents(root: &Path, shelf: &Shelf) -> Vec<IndexedDocument> {
    let mut documents: BTreeMap<&str, IndexedDocument> = BTreeMap::new();
    for chunk in &shelf.chunks {
        let document = documents.entry(&chunk.path).or_insert_with(|| IndexedDocument {
            file: chunk.path.clone(),
            // The title of a catalogue row is its product.
            title: if chunk.product.is_some() { chunk.doc_id.clone() } else { chunk.title.clone() },
            language: chunk.language,
            version: chunk.version.clone(),
            chunks: 0,
            changed_at: None,
        });
        document.chunks += 1;
    }
    let mut documents: Vec<IndexedDocument> = documents.into_values().collect();
    for document in &mut documents {
        let written = tokio::fs::metadata(root.join(&document.file)).await.and_then(|metadata| metadata.modified());
        document.changed_at = written.ok().map(DateTime::from);
    }
    documents
}
