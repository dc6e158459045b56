//! `GET /console/api/knowledge`: the indexed documents.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use super::owner::Editor;
use crate::app::App;
use crate::domain::Language;
use crate::http::error::ApiError;
use crate::http::refusals::RefusedConsole;
use crate::http::views::{optional_time, time};
use crate::retrieval::Warning;
use crate::retrieval::search::{Embedding, IndexedDocument, IndexedFolder, LastSync, Overview};

/// The indexed documents.
#[derive(Serialize, ToSchema)]
pub(super) struct KnowledgeView {
    /// One for each folder.
    collections: Vec<CollectionView>,
    embedding: EmbeddingView,
    /// Problems in the files, for an editor to fix.
    problems: Vec<ProblemView>,
}

/// A folder of documents and its vectors.
#[derive(Serialize, ToSchema)]
struct CollectionView {
    name: String,
    /// The path below the knowledge folder; empty for its top level.
    folder: String,
    documents: Vec<DocumentView>,
    chunks: usize,
    /// The number of chunks with a vector; null if vectors are off or the count is unknown.
    embedded: Option<usize>,
}

/// A file of the knowledge folder.
#[derive(Serialize, ToSchema)]
struct DocumentView {
    /// The path below the knowledge folder.
    file: String,
    title: String,
    #[schema(value_type = Option<String>, example = "vi")]
    language: Option<Language>,
    /// The version in the front matter.
    version: Option<String>,
    chunks: usize,
    #[serde(serialize_with = "optional_time")]
    changed_at: Option<DateTime<Utc>>,
}

/// The embedding model and its last run.
#[derive(Serialize, ToSchema)]
struct EmbeddingView {
    on: bool,
    model: Option<String>,
    /// The last run that updated the vectors.
    last_sync: Option<SyncView>,
}

/// A run that updated the vectors after the documents changed.
#[derive(Serialize, ToSchema)]
struct SyncView {
    #[serde(serialize_with = "time")]
    at: DateTime<Utc>,
    embedded: usize,
    removed: usize,
    /// Why the run failed.
    error: Option<String>,
}

/// A problem in a file, for an editor to fix.
#[derive(Serialize, ToSchema)]
struct ProblemView {
    file: String,
    /// The line, counted from 1; null for the whole file.
    line: Option<usize>,
    problem: String,
}

/// Lists the searched documents and the problems in them.
#[utoipa::path(
    get, path = "/console/api/knowledge", operation_id = "console_knowledge", tag = "console",
    responses(
        (status = 200, description = "the documents", body = KnowledgeView),
        RefusedConsole,
        (status = 404, description = "`not_found`: the console is off, or the shop has no folder"),
    )
)]
pub(super) async fn get(Editor(owner): Editor, State(app): State<Arc<App>>) -> Result<Json<KnowledgeView>, ApiError> {
    Ok(Json(app.knowledge(&owner.tenant).await.into()))
}

impl From<Overview> for KnowledgeView {
    fn from(overview: Overview) -> Self {
        Self {
            collections: overview.collections.into_iter().map(Into::into).collect(),
            embedding: overview.embedding.into(),
            problems: overview.problems.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<IndexedFolder> for CollectionView {
    fn from(indexed: IndexedFolder) -> Self {
        let IndexedFolder { name, folder, documents, chunks, embedded } = indexed;
        Self { name, folder, documents: documents.into_iter().map(Into::into).collect(), chunks, embedded }
    }
}

impl From<IndexedDocument> for DocumentView {
    fn from(document: IndexedDocument) -> Self {
        let IndexedDocument { file, title, language, version, chunks, changed_at } = document;
        Self { file, title, language, version, chunks, changed_at }
    }
}

impl From<Embedding> for EmbeddingView {
    fn from(embedding: Embedding) -> Self {
        let Embedding { on, model, last_sync } = embedding;
        Self { on, model: on.then_some(model), last_sync: last_sync.map(Into::into) }
    }
}

impl From<LastSync> for SyncView {
    fn from(sync: LastSync) -> Self {
        Self { at: sync.at, embedded: sync.embedded, removed: sync.removed, error: sync.error }
    }
}

impl From<Warning> for ProblemView {
    fn from(warning: Warning) -> Self {
        let Warning { file, line, problem } = warning;
        Self { file, line, problem }
    }
}
