//! The result of a run and its output.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

use super::{Args, Documents};
use crate::cli::output::{self, FAILED, REFUSED};
use crate::config::Config;
use crate::retrieval::calibration::{Calibration, PERCENTILES};
use crate::retrieval::folder::{Dropped, Warning};
use crate::retrieval::library::collection_name;
use crate::retrieval::sync::RefusedChunk;

/// The result of one run, as printed with `--json`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub path: String,
    pub model: String,
    pub dry_run: bool,
    pub documents: usize,
    pub chunks: usize,
    /// Chunks with too few words to be indexed.
    pub dropped: usize,
    /// Chunks that the embedding model refused.
    pub refused: usize,
    pub seconds: f64,
    pub folders: Vec<FolderReport>,
    /// Folders that no persona names, which are not indexed.
    pub folders_of_no_persona: Vec<String>,
    /// After `--rebuild`: messages that the server will embed again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
    /// The error that ended the run.
    pub error: Option<String>,
}

/// One folder and its collection.
#[derive(Clone, Debug, Serialize)]
pub struct FolderReport {
    /// The path below the top folder; empty for the top folder.
    pub folder: String,
    pub collection: String,
    pub documents: usize,
    pub chunks: usize,
    #[serde(flatten)]
    pub vectors: Option<Vectors>,
    /// The similarity of chunks, with `--calibrate` and enough chunks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    pub dropped_chunks: Vec<Dropped>,
    pub warnings: Vec<Warning>,
}

/// The changes to a collection. With `--dry-run`, the changes that would be made.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Vectors {
    pub kept: usize,
    pub embedded: usize,
    pub removed: usize,
    #[serde(rename = "refused_chunks")]
    pub refused: Vec<RefusedChunk>,
}

impl Report {
    /// Creates the report of what is known before embedding.
    pub(super) fn new(args: &Args, config: &Config, documents: &Documents) -> Self {
        let base = args.collection.as_ref().unwrap_or(&config.knowledge.collection);
        let folders: Vec<FolderReport> = documents
            .library
            .shelves
            .iter()
            .map(|(folder, shelf)| FolderReport {
                folder: folder.clone(),
                collection: collection_name(base, folder),
                documents: shelf.report.documents,
                chunks: shelf.report.chunks,
                vectors: None,
                calibration: None,
                dropped_chunks: shelf.report.dropped.clone(),
                warnings: shelf.report.warnings.clone(),
            })
            .collect();
        Self {
            path: documents.root.display().to_string(),
            model: config.embed.model.clone(),
            dry_run: args.dry_run,
            documents: folders.iter().map(|folder| folder.documents).sum(),
            chunks: folders.iter().map(|folder| folder.chunks).sum(),
            dropped: folders.iter().map(|folder| folder.dropped_chunks.len()).sum(),
            refused: 0,
            seconds: 0.0,
            folders,
            folders_of_no_persona: documents.unnamed.clone(),
            messages: None,
            error: None,
        }
    }
}

impl output::Report for Report {
    fn exit_code(&self) -> ExitCode {
        match (&self.error, self.refused) {
            (Some(_), _) => ExitCode::from(FAILED),
            (None, 0) => ExitCode::SUCCESS,
            (None, _) => ExitCode::from(REFUSED),
        }
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        for folder in &self.folders {
            folder.write_text(self, out)?;
        }
        if let Some(messages) = self.messages {
            writeln!(out, "queued {messages} messages, which the server embeds in the background")?;
            writeln!(out, "after a change of the embedding model, restart the server")?;
        }
        let Self { documents, chunks, dropped, refused, seconds, .. } = self;
        writeln!(out, "{documents} documents, {chunks} chunks, {dropped} dropped, {refused} refused; {seconds:.3} s")
    }

    fn write_remarks(&self, out: &mut dyn Write, _json: bool) -> io::Result<()> {
        for folder in &self.folders_of_no_persona {
            writeln!(out, "{}/{folder}: not indexed, since no persona names it under knowledge:", self.path)?;
        }
        if self.dry_run && self.error.is_none() {
            writeln!(out, "dry run: nothing was written")?;
        }
        match &self.error {
            Some(error) => writeln!(out, "error: {error}"),
            None => Ok(()),
        }
    }
}

impl FolderReport {
    fn write_text(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let Report { path, dry_run, model, .. } = report;
        let folder = if self.folder.is_empty() { path.clone() } else { format!("{path}/{}", self.folder) };
        write!(out, "{folder}: {} documents, {} chunks", self.documents, self.chunks)?;
        match &self.vectors {
            None => writeln!(out)?,
            Some(Vectors { kept, embedded, removed, .. }) => {
                let would = if *dry_run { "would be " } else { "" };
                let collection = &self.collection;
                writeln!(out, "; {collection}: {embedded} {would}embedded, {kept} kept, {removed} {would}removed")?;
            }
        }
        if let Some(Calibration { pairs, percentiles, threshold }) = &self.calibration {
            write!(out, "cosine of {pairs} pairs of chunks of different documents:")?;
            for (percent, cosine) in PERCENTILES.iter().zip(percentiles) {
                write!(out, " p{percent} {cosine:.3}")?;
            }
            writeln!(out, "; proposed for {model}: NO_CONTEXT_THRESHOLDS={model}={threshold:.3}")?;
        }
        for Warning { file, line, problem } in &self.warnings {
            let line = line.map(|line| format!(":{line}")).unwrap_or_default();
            writeln!(out, "warning: {path}/{file}{line}: {problem}")?;
        }
        for Dropped { file, section, tokens } in &self.dropped_chunks {
            writeln!(
                out,
                "dropped: {path}/{file} {section:?}: {tokens} tokens without a word of the document's summary or headings"
            )?;
        }
        for RefusedChunk { file, section, why } in self.vectors.iter().flat_map(|vectors| &vectors.refused) {
            writeln!(out, "refused: {path}/{file} {section:?}: {why}")?;
        }
        Ok(())
    }
}
