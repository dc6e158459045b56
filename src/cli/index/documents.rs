//! The folders of documents that are indexed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Args;
use crate::config::Config;
use crate::persona::Prompts;
use crate::retrieval::{Library, SearchRules, folder};

/// The documents of all personas.
pub(super) struct Documents {
    pub root: PathBuf,
    pub library: Library,
    /// Folders that no persona names.
    pub unnamed: Vec<String>,
}

impl Documents {
    /// Reads the files of the top folder and of the folders that personas name. With `--path`, those folders may be missing.
    pub fn read(args: &Args, config: &Config) -> anyhow::Result<Self> {
        let prompts = Prompts::load(&config.prompts.folder, &config.prompts.persona)?;
        let rules = prompts.toml_with("rules/search.toml", SearchRules::from_toml)?;
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

/// Rejects a missing folder, which is probably mistyped. A server treats it as empty instead.
pub(in crate::cli) fn check_folder(folder: &Path) -> anyhow::Result<()> {
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
