//! `frontdesk index`: updates the vectors of the shop's documents, with or without a running server.
//!
//! `report` is the result and its output.
//!
//! Exit codes: 0, success; 1, the model refused some chunks, and the others are indexed; 2, an error in the command line, a file, the
//! embedding model or the index. An interrupted run keeps its progress, and the next run continues.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use chrono::Utc;
use indicatif::{ProgressBar, ProgressStyle};

use self::report::Vectors;
use super::lists::open_store;
use super::output;
use crate::config::{Config, Env};
use crate::domain::TenantId;
use crate::persona::Prompts;
use crate::providers::embedding::{Embedder, EmbeddingError, OllamaEmbedding};
use crate::providers::vector::{Collection, VectorIndex};
use crate::retrieval::calibration::Calibration;
use crate::retrieval::library::collection_name;
use crate::retrieval::memory::Memory;
use crate::retrieval::sync::{self, Plan, Progress, SyncError, SyncReport, Target};
use crate::retrieval::{Library, SearchRules, Shelf, folder, open_vectors};
use crate::store::Store;

mod report;

pub use self::report::Report;

/// The arguments of `frontdesk index`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// The folder of the documents [default: the shop's]
    #[arg(long, value_name = "DIR")]
    pub path: Option<PathBuf>,
    /// The collection of the vectors [default: KNOWLEDGE_COLLECTION]. A persona's folder uses NAME-FOLDER
    #[arg(long, value_name = "NAME")]
    pub collection: Option<String>,
    /// The shop that owns the documents
    #[arg(long, value_name = "NAME", default_value_t)]
    pub tenant: TenantId,
    /// Delete the collections first, and have the server embed all messages again. Needed after a change of the embedding model
    #[arg(long)]
    pub rebuild: bool,
    /// Print what would change without changing anything
    #[arg(long)]
    pub dry_run: bool,
    /// Also measure the similarity of unrelated chunks and propose NO_CONTEXT_THRESHOLDS
    #[arg(long, conflicts_with = "dry_run")]
    pub calibrate: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

/// Runs the command, prints the result or the error, and returns the exit code.
pub async fn run(args: &Args) -> ExitCode {
    output::finish(index_configured(args).await, args.json)
}

async fn index_configured(args: &Args) -> anyhow::Result<Report> {
    let config = Config::read(Env::from_process())?;
    let embedder = embedder(&config)?;
    let (mut scratch, mut opened) = (None, None);
    let vectors = async || {
        let (store, folder) = open_store(&config.store.url, config.store.timeout, args.dry_run).await?;
        scratch = folder;
        let vectors = open_vectors(&config, &store)?;
        opened = Some((store, vectors.clone()));
        Ok(vectors)
    };
    let mut report = index(args, &config, &embedder, vectors).await?;
    if let Some((store, vectors)) = opened.filter(|_| args.rebuild && !args.dry_run && report.error.is_none()) {
        report.messages = Some(rebuild_memory(&config, &store, embedder, vectors).await?);
    }
    Ok(report)
}

/// Deletes the vectors of messages, which are of the same model, and queues all messages to be embedded by the server. Returns the number
/// of messages.
async fn rebuild_memory(
    config: &Config,
    store: &Store,
    embedder: Embedder,
    vectors: Arc<dyn VectorIndex>,
) -> anyhow::Result<u64> {
    let memory = Memory::new(Arc::new(embedder), vectors, config.vectors.collection.clone());
    // Before the jobs, so that a running server with another model cannot store its vectors.
    for tenant in &store.list_tenants_with_conversations().await? {
        memory.start_over(tenant).await?;
    }
    Ok(store.enqueue_all_messages(Utc::now()).await?)
}

pub(super) fn embedder(config: &Config) -> anyhow::Result<Embedder> {
    let model = OllamaEmbedding::new(&config.embed).context("OLLAMA_HOST is not valid")?;
    Ok(Embedder::new(Arc::new(model), config.embed.clone()))
}

/// Reads and syncs the documents. Errors of the embedding model or the index go into the report, next to what is known
/// about the documents.
///
/// # Errors
/// Fails if one of the shop's files is not valid.
pub async fn index(
    args: &Args,
    config: &Config,
    embedder: &Embedder,
    vectors: impl AsyncFnOnce() -> anyhow::Result<Arc<dyn VectorIndex>>,
) -> anyhow::Result<Report> {
    let started = Instant::now();
    let documents = Documents::read(args, config)?;
    let mut report = Report::new(args, config, &documents);
    let synced = async {
        if !args.dry_run {
            // Checked first, so that a missing model is the first error.
            embedder.space().await.map_err(|error| model_missing(&error, config))?;
        }
        let vectors = vectors().await?;
        Run { args, config, embedder, vectors: vectors.as_ref() }.sync(&documents, &mut report).await
    };
    report.error = Box::pin(synced).await.err().map(|error| format!("{error:#}"));
    report.seconds = output::seconds(started.elapsed());
    Ok(report)
}

/// The dependencies of one run.
struct Run<'a> {
    args: &'a Args,
    config: &'a Config,
    embedder: &'a Embedder,
    vectors: &'a dyn VectorIndex,
}

impl Run<'_> {
    async fn sync(&self, documents: &Documents, report: &mut Report) -> anyhow::Result<()> {
        let base = self.args.collection.as_ref().unwrap_or(&self.config.knowledge.collection);
        for ((folder, shelf), folder_report) in documents.library.shelves.iter().zip(&mut report.folders) {
            let collection = Collection { tenant: self.args.tenant.clone(), name: collection_name(base, folder) };
            let vectors = if self.args.dry_run {
                self.plan(&collection, shelf).await?
            } else {
                self.sync_one(&collection, shelf).await?
            };
            report.refused += vectors.refused.len();
            if self.args.calibrate {
                folder_report.calibration = Calibration::of(self.vectors, &collection, shelf).await?;
            }
            folder_report.vectors = Some(vectors);
        }
        Ok(())
    }

    async fn plan(&self, collection: &Collection, shelf: &Shelf) -> anyhow::Result<Vectors> {
        let Plan { missing, gone, kept } = sync::plan(self.vectors, collection, shelf).await?;
        let again = if self.args.rebuild { kept } else { 0 };
        Ok(Vectors {
            kept: kept - again,
            embedded: missing.len() + again,
            removed: gone.len() + again,
            refused: Vec::new(),
        })
    }

    async fn sync_one(&self, collection: &Collection, shelf: &Shelf) -> anyhow::Result<Vectors> {
        if self.args.rebuild {
            self.vectors.drop_collection(collection).await?;
        }
        let bar = progress_bar(&collection.name);
        let batch = self.config.embed.batch;
        let target = Target { index: self.vectors, embedder: self.embedder, collection, batch };
        let progress = |Progress { done, total }: Progress| {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        };
        let synced = sync::sync(&target, shelf, &progress).await;
        bar.finish_and_clear();
        match synced {
            Ok(SyncReport { kept, embedded, removed, refused, .. }) => Ok(Vectors { kept, embedded, removed, refused }),
            Err(SyncError::Embedding(error)) => Err(model_missing(&error, self.config)),
            Err(SyncError::Vectors(error)) => Err(error.into()),
        }
    }
}

/// Describes how to fix an embedding model that does not answer.
pub(super) fn model_missing(error: &EmbeddingError, config: &Config) -> anyhow::Error {
    let host = &config.embed.host;
    let hint = match error {
        EmbeddingError::Off => "set EMBED=auto".to_owned(),
        EmbeddingError::Unavailable(_) => format!(
            "OLLAMA_HOST is {host}: start Ollama there with `ollama serve`, or set OLLAMA_HOST; the model is {}",
            config.embed.model
        ),
        EmbeddingError::Refused(_) | EmbeddingError::Protocol(_) => format!(
            "run `ollama pull {}` at {host}, or name another embedding model in OLLAMA_EMBED_MODEL",
            config.embed.model
        ),
    };
    anyhow::anyhow!("{error}: {hint}. Until then, documents are found by words only")
}

/// Creates a progress bar, which is hidden unless stderr is a terminal.
pub(super) fn progress_bar(what: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {msg} [{bar:30}] {pos} of {len} chunks, {per_sec}, {eta} left");
    let bar = ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(what.to_owned());
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// The documents of all personas.
struct Documents {
    pub root: PathBuf,
    pub library: Library,
    /// Folders that no persona names.
    pub unnamed: Vec<String>,
}

impl Documents {
    /// Reads the files of the top folder and of the folders that personas name. With `--path`, those folders may be missing.
    pub fn read(args: &Args, config: &Config) -> anyhow::Result<Self> {
        let shop = config.shop(&args.tenant);
        let prompts = Prompts::load_shop(&config.prompts, &shop)?;
        let rules = SearchRules::read(&prompts)?;
        let Some(root) = args.path.as_ref().or(shop.knowledge.as_ref()) else {
            anyhow::bail!("the shop {} has no folder of documents: name one with --path", args.tenant)
        };
        check_folder(root)?;
        let mut folders = prompts.knowledge_folders();
        folders.insert("");
        // Another shop may have the default shop's personas without all of their folders.
        if args.path.is_some() || shop.prompts.is_some() {
            folders.retain(|name| root.join(name).is_dir());
        } else {
            prompts.check_knowledge(root)?;
        }
        let library = Library::load(root, folders.iter().copied(), &rules, &config.knowledge.chunks)?;
        let unnamed = unnamed(folder::below(root)?, &folders);
        Ok(Self { root: root.clone(), library, unnamed })
    }
}

/// Rejects a missing folder, which is probably mistyped. A server treats it as empty instead.
pub(super) fn check_folder(folder: &Path) -> anyhow::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    anyhow::bail!(
        "{} is not a folder: name the folder of the documents with --path or KNOWLEDGE_PATH",
        folder.display()
    )
}

fn unnamed(folders: Vec<String>, named: &BTreeSet<&str>) -> Vec<String> {
    let is_named = |folder: &String| named.iter().any(|name| name.split('/').next() == Some(folder));
    folders.into_iter().filter(|folder| !is_named(folder)).collect()
}
