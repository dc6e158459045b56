//! What a run did, and how it is printed.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;

use super::documents::Documents;
use super::{Args, FAILED, REFUSED};
use crate::config::Config;
use crate::retrieval::calibration::{Calibration, PERCENTILES};
use crate::retrieval::folder::{Dropped, Warning};
use crate::retrieval::library::collection_name;
use crate::retrieval::sync::RefusedChunk;

/// Everything there is to say about one run; as JSON, what `--json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub path: String,
    pub model: String,
    pub dry_run: bool,
    pub documents: usize,
    pub chunks: usize,
    /// Chunks that say too little to be indexed.
    pub dropped: usize,
    /// Chunks that the embedding model refused.
    pub refused: usize,
    pub seconds: f64,
    pub folders: Vec<FolderReport>,
    /// Folders with documents that no persona names: they are not indexed.
    pub folders_of_no_persona: Vec<String>,
    /// After `--rebuild`: messages of conversations that the server will embed anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
    /// Why the run ended early.
    pub error: Option<String>,
}

/// One folder and its collection.
#[derive(Clone, Debug, Serialize)]
pub struct FolderReport {
    /// Below the path; empty: the files at its top.
    pub folder: String,
    pub collection: String,
    pub documents: usize,
    pub chunks: usize,
    #[serde(flatten)]
    pub vectors: Option<Vectors>,
    /// How alike its chunks are, if that was asked for and there are enough of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    pub dropped_chunks: Vec<Dropped>,
    pub warnings: Vec<Warning>,
}

/// What became of a collection, or would.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Vectors {
    pub kept: usize,
    pub embedded: usize,
    pub removed: usize,
    #[serde(rename = "refused_chunks")]
    pub refused: Vec<RefusedChunk>,
}

impl Report {
    /// What is known before anything is embedded.
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

    pub fn exit_code(&self) -> ExitCode {
        match (&self.error, self.refused) {
            (Some(_), _) => ExitCode::from(FAILED),
            (None, 0) => ExitCode::SUCCESS,
            (None, _) => ExitCode::from(REFUSED),
        }
    }

    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        writeln!(out)
    }

    /// A line for each folder, then what was left out, then the counts.
    pub fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        for folder in &self.folders {
            folder.write_text(self, out)?;
        }
        if let Some(messages) = self.messages {
            writeln!(out, "{messages} messages of conversations: the server embeds them in the background")?;
        }
        let Self { documents, chunks, dropped, refused, seconds, .. } = self;
        writeln!(out, "{documents} documents, {chunks} chunks, {dropped} dropped, {refused} refused; {seconds:.3} s")
    }

    /// What one should know beside the result.
    pub fn write_remarks(&self, out: &mut impl Write) -> io::Result<()> {
        for folder in &self.folders_of_no_persona {
            writeln!(out, "{}/{folder}: no persona names it under knowledge:, so it is left out", self.path)?;
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
    fn write_text(&self, report: &Report, out: &mut impl Write) -> io::Result<()> {
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

pub(super) fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1_000.0).round() / 1_000.0
}
