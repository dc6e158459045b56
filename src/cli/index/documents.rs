//! Which folders are read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Args;
use crate::config::Config;
use crate::persona::Prompts;
use crate::retrieval::{Library, SearchRules, folder};

/// The documents that personas know.
pub(super) struct Documents {
    pub root: PathBuf,
    pub library: Library,
    /// Folders with documents that no persona names.
    pub unnamed: Vec<String>,
}

impl Documents {
    /// The files at the top and the folders that personas name. With `--path`, what the personas name need not be there: it is another
    /// place than theirs.
    pub fn read(args: &Args, config: &Config) -> anyhow::Result<Self> {
        let prompts = Prompts::load(&config.prompts.folder, &config.prompts.persona)?;
        let rules = SearchRules::read(&prompts)?;
        let root = args.path.as_ref().unwrap_or(&config.knowledge.folder);
        check_folder(root)?;
        let mut folders = prompts.knowledge_folders();
        folders.insert("");
        if args.path.is_some() {
            folders.retain(|name| root.join(name).is_dir());
        } else {
            prompts.check_knowledge(root)?;
        }
        let library = Library::load(root, folders.iter().copied(), &rules, &config.knowledge.chunks)?;
        let unnamed = unnamed(folder::below(root)?, &folders);
        Ok(Self { root: root.clone(), library, unnamed })
    }
}

/// A folder that is not there is an empty one to a server; whoever asks for it to be indexed mistyped it.
pub(in crate::cli) fn check_folder(folder: &Path) -> anyhow::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    anyhow::bail!("{} is no folder: name the folder of the documents with --path or KNOWLEDGE_PATH", folder.display())
}

fn unnamed(folders: Vec<String>, named: &BTreeSet<&str>) -> Vec<String> {
    let is_named = |folder: &String| named.iter().any(|name| name.split('/').next() == Some(folder));
    folders.into_iter().filter(|folder| !is_named(folder)).collect()
}
