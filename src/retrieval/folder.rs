//! Reads a folder of documents.

use std::collections::HashMap;
use std::fs::{self, DirEntry};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use tracing::{info, warn};
use utoipa::ToSchema;

use super::chunk::Chunk;
use super::document::split_front_matter;
use super::page::{self, Page};
use super::rules::SearchRules;
use super::tokens::estimate;
use super::{RetrievalError, catalogue};
use crate::config::ChunkConfig;
use crate::domain::text::clean;

/// A file that is not a document: warranty records are imported into the store.
const NOT_KNOWLEDGE: &str = "warranty.csv";

/// The documents of a folder, ready for search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shelf {
    /// Sorted by path, then by position in the file.
    pub chunks: Vec<Arc<Chunk>>,
    pub report: Report,
}

/// The result of reading a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of files with at least one chunk.
    pub documents: usize,
    pub chunks: usize,
    /// Chunks with too little content (see [`page`]).
    pub dropped: Vec<Dropped>,
    pub warnings: Vec<Warning>,
}

/// A chunk that is not indexed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dropped {
    pub file: String,
    /// The headings above it, joined by ` > `.
    pub section: String,
    pub tokens: usize,
}

/// A problem in a file, for an editor to fix. The rest of the folder can still be searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = ProblemView)]
pub struct Warning {
    pub file: String,
    /// The line, counted from 1; null for the whole file.
    pub line: Option<usize>,
    pub problem: String,
}

/// Reads the documents of `root`/`folder`, including its subfolders. An empty `folder` reads only the files at the top
/// of `root`.
///
/// Reads `*.md`, `*.csv` except `warranty.csv`, and `*.txt`, all in UTF-8. Ignores other files and names that start
/// with a dot. A file that cannot be read is a warning, and a missing folder is empty. Follows links to files but not
/// to folders, which could form a cycle.
///
/// # Errors
/// The folder exists but cannot be listed.
pub fn read(root: &Path, folder: &str, rules: &SearchRules, sizes: &ChunkConfig) -> Result<Shelf, RetrievalError> {
    let mut shelf = Shelf::default();
    let mut paths = Vec::new();
    list(&root.join(folder), folder, !folder.is_empty(), &mut paths)?;
    paths.sort();
    for (doc_id, path) in doc_ids(paths) {
        let mut complaints = Vec::new();
        let page = Source { root, doc_id: &doc_id, path: &path }.read(rules, sizes, &mut complaints);
        shelf.add(&path, page, complaints);
    }
    if shelf.chunks.is_empty() {
        info!(folder = %root.join(folder).display(), "No documents to search");
    }
    Ok(shelf)
}

/// Lists the folders directly below `root` that contain documents, sorted by name.
///
/// # Errors
/// The folder exists but cannot be listed.
pub fn below(root: &Path) -> Result<Vec<String>, RetrievalError> {
    let mut folders = Vec::new();
    for entry in entries(root)? {
        let name = entry.file_name().to_string_lossy().into_owned();
        let mut paths = Vec::new();
        if is_folder(&entry) && !name.starts_with('.') {
            list(&entry.path(), &name, true, &mut paths)?;
        }
        folders.extend((!paths.is_empty()).then_some(name));
    }
    folders.sort();
    Ok(folders)
}

fn list(folder: &Path, shown: &str, deep: bool, paths: &mut Vec<String>) -> Result<(), RetrievalError> {
    for entry in entries(folder)? {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if shown.is_empty() { name.clone() } else { format!("{shown}/{name}") };
        if name.starts_with('.') || name == NOT_KNOWLEDGE {
            continue;
        }
        if is_folder(&entry) {
            if deep {
                list(&entry.path(), &path, deep, paths)?;
            }
        // A broken link is kept, to be reported. A pipe is skipped, because reading it could block.
        } else if fs::metadata(entry.path()).map_or(true, |found| found.is_file()) && Ending::of(&name).is_some() {
            paths.push(path);
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> Result<Vec<DirEntry>, RetrievalError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries.collect::<io::Result<Vec<_>>>(),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    };
    entries.map_err(|source| RetrievalError::Folder { path: folder.to_owned(), source })
}

fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_dir())
}

/// Returns each file with its document's id: the stem, or the whole path if another file has the same stem.
fn doc_ids(paths: Vec<String>) -> Vec<(String, String)> {
    let mut count: HashMap<String, usize> = HashMap::new();
    for path in &paths {
        *count.entry(stem(path)).or_default() += 1;
    }
    let id =
        |path: &String| Some(stem(path)).filter(|stem| count.get(stem) == Some(&1)).unwrap_or_else(|| path.clone());
    paths.into_iter().map(|path| (id(&path), path)).collect()
}

fn stem(path: &str) -> String {
    Path::new(path).file_stem().map_or(path.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

#[derive(Clone, Copy)]
enum Ending {
    Markdown,
    Catalogue,
    Text,
}

impl Ending {
    fn of(file: &str) -> Option<Self> {
        match Path::new(file).extension()?.to_str()?.to_lowercase().as_str() {
            "md" | "markdown" => Some(Self::Markdown),
            "csv" => Some(Self::Catalogue),
            "txt" => Some(Self::Text),
            _ => None,
        }
    }
}

type Complaints = Vec<(Option<usize>, String)>;

/// A file to read.
struct Source<'a> {
    root: &'a Path,
    doc_id: &'a str,
    path: &'a str,
}

impl Source<'_> {
    fn read(&self, rules: &SearchRules, sizes: &ChunkConfig, complaints: &mut Complaints) -> Page {
        let text = match read_text(&self.root.join(self.path)) {
            Ok(text) => text,
            Err(problem) => {
                complaints.push((None, problem));
                return Page::default();
            }
        };
        let page = match Ending::of(self.path) {
            Some(Ending::Markdown) => {
                let (about, body, complaint) = split_front_matter(&text, &rules.languages);
                complaints.extend(complaint.map(|(line, problem)| (Some(line), problem)));
                if about.approved == Some(false) {
                    return Page::default();
                }
                page::markdown(self.doc_id, self.path, about, body, &rules.languages, sizes)
            }
            Some(Ending::Catalogue) => {
                let (chunks, found) = catalogue::rows(self.doc_id, self.path, &text, rules);
                complaints.extend(found.into_iter().map(|(line, problem)| (Some(line), problem)));
                Page { chunks, dropped: Vec::new() }
            }
            Some(Ending::Text) => page::plain(self.doc_id, self.path, &text, &rules.languages, sizes),
            None => Page::default(),
        };
        if page.chunks.is_empty() && !text.trim().is_empty() {
            complaints.push((None, "it has no rows, or no text below its headings".to_owned()));
        }
        page
    }
}

fn read_text(path: &PathBuf) -> Result<String, String> {
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count();
        format!("it is not UTF-8 (line {line})")
    })?;
    Ok(clean(&text).into_owned())
}

impl Shelf {
    fn add(&mut self, file: &str, page: Page, complaints: Complaints) {
        let report = &mut self.report;
        report.documents += usize::from(!page.chunks.is_empty());
        report.chunks += page.chunks.len();
        report.dropped.extend(page.dropped.iter().map(|chunk| Dropped {
            file: file.to_owned(),
            section: chunk.section().into_owned(),
            tokens: estimate(&chunk.text),
        }));
        self.chunks.extend(page.chunks.into_iter().map(Arc::new));
        for (line, problem) in complaints {
            match line {
                Some(line) => warn!(file, line, "Problem in a document: {problem}"),
                None => warn!(file, "Skipped a document: {problem}"),
            }
            report.warnings.push(Warning { file: file.to_owned(), line, problem });
        }
    }
}

#[cfg(test)]
mod tests;
