//! `GET /console/api/knowledge`

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
use crate::http::problem::Problem;
use crate::http::views::{optional_time, time};
use crate::retrieval::Warning;
use crate::retrieval::search::{Embedding, IndexedDocument, IndexedFolder, LastSync, Overview};

/// What is indexed.
#[derive(Serialize, ToSchema)]
pub(super) struct KnowledgeView {
    /// By folder.
    collections: Vec<CollectionView>,
    embedding: EmbeddingView,
    /// What somebody should mend.
    problems: Vec<ProblemView>,
}

/// A folder of documents, whose vectors are kept together.
#[derive(Serialize, ToSchema)]
struct CollectionView {
    name: String,
    /// Below the knowledge folder; empty: the files at its top.
    folder: String,
    documents: Vec<DocumentView>,
    chunks: usize,
    /// Chunks that have a vector; null where meaning is not searched, or nobody can say.
    embedded: Option<usize>,
}

/// A file of the knowledge folder.
#[derive(Serialize, ToSchema)]
struct DocumentView {
    /// Its path below the knowledge folder.
    file: String,
    title: String,
    #[schema(value_type = Option<String>, example = "vi")]
    language: Option<Language>,
    /// As its front matter writes it.
    version: Option<String>,
    chunks: usize,
    #[serde(serialize_with = "optional_time")]
    changed_at: Option<DateTime<Utc>>,
}

/// How texts become vectors.
#[derive(Serialize, ToSchema)]
struct EmbeddingView {
    on: bool,
    model: Option<String>,
    /// How the vectors were last brought into line with the documents.
    last_sync: Option<SyncView>,
}

/// A run that brought vectors into line with the documents.
#[derive(Serialize, ToSchema)]
struct SyncView {
    #[serde(serialize_with = "time")]
    at: DateTime<Utc>,
    embedded: usize,
    removed: usize,
    /// Why it ended early.
    error: Option<String>,
}

/// Something in a file that somebody should mend.
#[derive(Serialize, ToSchema)]
struct ProblemView {
    file: String,
    /// Counted from 1; null: the whole file.
    line: Option<usize>,
    problem: String,
}

/// The documents that are searched, and what should be mended in them.
#[utoipa::path(
    get, path = "/console/api/knowledge", operation_id = "console_knowledge", tag = "console",
    responses(
        (status = 200, description = "what is indexed", body = KnowledgeView),
        (status = 401, description = "`unauthorized`", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "`not_found`: there is no console, or the documents are another shop's", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "`rate_limited`", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn get(_: Editor, State(app): State<Arc<App>>) -> Result<Json<KnowledgeView>, ApiError> {
    Ok(Json(app.knowledge().await.into()))
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
