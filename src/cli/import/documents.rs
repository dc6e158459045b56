//! `frontdesk import documents`: turns a shop's PDF, DOCX, text and Markdown files into pages of its knowledge folder.
//!
//! - [`read`] reads one file in a separate process with limits on memory, time and output
//! - `page` makes a page of its text
//!
//! Every file is read before the first page is written. Exit codes: 0, success; 1, a file cannot be read and nothing was written; 2, an
//! error in the command line, the configuration or the folder.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::ValueEnum;
use serde::Serialize;

use crate::cli::output::{REFUSED, Report};
use crate::config::{Config, Env};
use crate::domain::{Language, TenantId};
use crate::persona::Prompts;
use crate::retrieval::document::split_front_matter;

mod docx;
mod page;
mod pdf;
pub mod read;

/// The arguments of `frontdesk import documents`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The files: .pdf, .docx, .txt or .md, at most 20 MB each
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// What the files are
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: DocumentType,
    /// The shop that answers from them
    #[arg(long, value_name = "NAME", default_value_t)]
    pub tenant: TenantId,
    /// The folder of the shop's knowledge, which a persona must search [default: the first one that the shop's persona searches]
    #[arg(long, value_name = "NAME")]
    pub folder: Option<String>,
    /// The language of the files, such as en or sw [default: recognized]
    #[arg(long, value_name = "CODE")]
    pub language: Option<Language>,
    /// Read the files and report without writing anything
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

/// What a document is. Its pages are in a folder of this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DocumentType {
    /// Rules, such as those for returns
    Policy,
    /// Questions and answers
    Faq,
    /// A description, such as a manual
    Doc,
    /// Instructions for how the shop works
    Sop,
    /// Summaries of conversations, which a person has approved
    Summary,
}

impl DocumentType {
    fn as_str(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Faq => "faq",
            Self::Doc => "doc",
            Self::Sop => "sop",
            Self::Summary => "summary",
        }
    }
}

/// What became of the files.
#[derive(Debug, Serialize)]
pub struct ImportedDocuments {
    tenant: TenantId,
    folder: PathBuf,
    dry_run: bool,
    written: bool,
    documents: Vec<ImportedDocument>,
}

/// What became of one file.
#[derive(Debug, Serialize)]
struct ImportedDocument {
    file: PathBuf,
    #[serde(flatten)]
    state: State,
}

#[derive(Debug, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
enum State {
    New { page: String },
    Changed { page: String },
    Unchanged { page: String },
    Refused { problem: String },
}

/// Reads the files and writes their pages, unless one is refused.
pub(super) async fn import(args: &Args) -> anyhow::Result<ImportedDocuments> {
    let args = args.clone();
    tokio::task::spawn_blocking(move || import_now(&args)).await?
}

fn import_now(args: &Args) -> anyhow::Result<ImportedDocuments> {
    let config = Config::read(Env::from_process())?;
    let folder = folder_of(args, &config)?;
    let mut pages = BTreeMap::new();
    let mut documents = Vec::new();
    for file in &args.files {
        let state = match read_page(args, file, &pages) {
            Ok((name, page)) => {
                let state = compare(&folder, &name, &page)?;
                pages.insert(name, page);
                state
            }
            Err(problem) => State::Refused { problem: format!("{problem:#}") },
        };
        documents.push(ImportedDocument { file: file.clone(), state });
    }
    let is_refused = documents.iter().any(|document| matches!(document.state, State::Refused { .. }));
    let written = !is_refused && !args.dry_run;
    if written {
        write_pages(&folder, &pages).with_context(|| format!("cannot write to {}", folder.display()))?;
    }
    Ok(ImportedDocuments { tenant: args.tenant.clone(), folder, dry_run: args.dry_run, written, documents })
}

/// Returns the folder for the pages. Another shop's folder is never used.
fn folder_of(args: &Args, config: &Config) -> anyhow::Result<PathBuf> {
    let shop = config.shop(&args.tenant);
    let Some(root) = shop.knowledge.as_ref().filter(|_| shop.tenant == args.tenant) else {
        let own = config.shops.folder.join(args.tenant.as_str());
        bail!("the shop {} has no folder for documents: make {} with a shop.toml", args.tenant, own.display())
    };
    if let Some(folder) = &args.folder
        && (folder.is_empty() || folder.starts_with('.') || folder.contains(['/', '\\']))
    {
        bail!("--folder must be the name of a folder, such as help (got {folder:?})");
    }
    let prompts = Prompts::load_shop(&config.prompts, &shop)?;
    let folder = match &args.folder {
        Some(folder) if prompts.knowledge_folders().contains(folder.as_str()) => folder.clone(),
        Some(folder) => {
            bail!("no persona searches the folder {folder}: add `knowledge: {folder}` to a persona's front matter")
        }
        None => {
            let persona = prompts.default_persona();
            let named = persona.knowledge.iter().find(|folder| !folder.is_empty());
            named.cloned().with_context(|| {
                format!(
                    "the persona {} searches no folder: add `knowledge: help` to its front matter, or write --folder with a folder that \
                     another persona searches",
                    persona.id
                )
            })?
        }
    };
    Ok(root.join(folder).join(args.kind.as_str()))
}

/// Reads a file and makes its page. Returns the page's name and content.
fn read_page(args: &Args, file: &Path, others: &BTreeMap<String, String>) -> anyhow::Result<(String, String)> {
    let format = read::Format::of(file)?;
    let name = page::name_of(file)?;
    if others.contains_key(&name) {
        bail!("another file makes the page {name} as well: rename one of them");
    }
    let text = read::in_own_process(file, format)?;
    let page = page::make(file, format, &text, args.language)?;
    if args.kind == DocumentType::Summary && split_front_matter(&page, &[]).0.approved != Some(true) {
        bail!(
            "a summary must be Markdown with `approved: true` in its front matter, written by the person who has checked it"
        );
    }
    Ok((name, page))
}

fn compare(folder: &Path, name: &str, page: &str) -> anyhow::Result<State> {
    let path = folder.join(name);
    let shown = path.display().to_string();
    match fs::read_to_string(&path) {
        Ok(known) if known == page => Ok(State::Unchanged { page: shown }),
        Ok(_) => Ok(State::Changed { page: shown }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(State::New { page: shown }),
        Err(error) => Err(error).with_context(|| format!("cannot read {shown}")),
    }
}

/// Writes all pages under temporary names, then renames them. A running server never sees half a page.
fn write_pages(folder: &Path, pages: &BTreeMap<String, String>) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut written = Vec::new();
    for (name, page) in pages {
        let mut file = tempfile::Builder::new().prefix(".import-").tempfile_in(folder)?;
        file.write_all(page.as_bytes())?;
        file.as_file().sync_all()?;
        written.push((file, folder.join(name)));
    }
    for (file, path) in written {
        file.persist(path)?;
    }
    Ok(())
}

impl Report for ImportedDocuments {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        for ImportedDocument { file, state } in &self.documents {
            let file = file.display();
            match state {
                State::New { page } => writeln!(out, "{file}: new, {page}")?,
                State::Changed { page } => writeln!(out, "{file}: changed, {page}")?,
                State::Unchanged { page } => writeln!(out, "{file}: unchanged, {page}")?,
                State::Refused { problem } => writeln!(out, "{file}: refused: {problem}")?,
            }
        }
        Ok(())
    }

    fn write_remarks(&self, err: &mut dyn Write, json: bool) -> io::Result<()> {
        match (json, self.dry_run, self.written) {
            (true, ..) => Ok(()),
            (false, true, _) => writeln!(err, "dry run: nothing was written"),
            (false, false, true) => {
                writeln!(err, "a running server uses the pages at once; `frontdesk index` updates the vectors")
            }
            (false, false, false) => writeln!(err, "nothing was written; fix the refused files, or leave them out"),
        }
    }

    fn exit_code(&self) -> ExitCode {
        let is_refused = self.documents.iter().any(|document| matches!(document.state, State::Refused { .. }));
        if is_refused { ExitCode::from(REFUSED) } else { ExitCode::SUCCESS }
    }
}
