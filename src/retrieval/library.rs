//! The shop's documents by folder, and which of them a persona sees.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use sha1::{Digest, Sha1};

use super::RetrievalError;
use super::chunk::Chunk;
use super::folder::{self, Report, Shelf};
use super::rules::SearchRules;
use crate::config::ChunkConfig;
use crate::domain::text::{fold, hex};

/// The documents by folder below the knowledge folder. The empty name stands for the files at its top.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Library {
    pub shelves: BTreeMap<String, Shelf>,
}

impl Library {
    /// Reads these folders of `root`, each once, as [`folder::read`] does.
    ///
    /// # Errors
    /// A folder exists but cannot be listed.
    pub fn load<'a>(
        root: &Path,
        folders: impl IntoIterator<Item = &'a str>,
        rules: &SearchRules,
        sizes: &ChunkConfig,
    ) -> Result<Self, RetrievalError> {
        let mut library = Self::default();
        for name in folders {
            if !library.shelves.contains_key(name) {
                library.shelves.insert(name.to_owned(), folder::read(root, name, rules, sizes)?);
            }
        }
        Ok(library)
    }

    /// Returns the documents of these folders, as a persona with these folders sees them. Nested folders do not repeat
    /// a document.
    pub fn shelf_of<S: AsRef<str>>(&self, folders: &[S]) -> Shelf {
        let mut union = Shelf::default();
        let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
        for (name, shelf) in &self.shelves {
            if !folders.iter().any(|folder| folder.as_ref() == name) {
                continue;
            }
            for chunk in &shelf.chunks {
                if *seen.entry(&chunk.path).or_insert(name) == name {
                    union.chunks.push(Arc::<Chunk>::clone(chunk));
                }
            }
            let new = |file: &str| seen.get(file).is_none_or(|shelf| shelf == name);
            let Report { dropped, warnings, .. } = &shelf.report;
            union.report.dropped.extend(dropped.iter().filter(|dropped| new(&dropped.file)).cloned());
            union.report.warnings.extend(warnings.iter().filter(|warning| new(&warning.file)).cloned());
        }
        union.report.documents = seen.len();
        union.report.chunks = union.chunks.len();
        union
    }
}

/// Returns the vector collection of a folder: `base` for the top, `base-folder` for others.
///
/// Vector servers accept only ASCII letters, digits, and `_` and single `-` between them. Other characters are removed
/// from the name, and eight digits of its SHA-1 are appended, so that no two folders share a collection.
pub fn collection_name(base: &str, folder: &str) -> String {
    if folder.is_empty() {
        return base.to_owned();
    }
    let plain: String =
        fold(folder).chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '-' }).collect();
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    let plain = words.join("-");
    if plain == folder && plain.ends_with(|c: char| c.is_ascii_alphanumeric()) {
        return format!("{base}-{folder}");
    }
    let digest = Sha1::digest(folder);
    let digits = hex(&digest[..4]);
    let parts = [base, &plain, &digits];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn persona_sees_only_its_folders() {
        let root = tempfile::tempdir().unwrap();
        for file in ["top.md", "returns/a.md", "returns/vip/b.md", "telecom/c.md"] {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "# Returns\n\nReturns are free.").unwrap();
        }
        let rules = SearchRules::from_toml("").unwrap();
        let folders = ["", "returns", "returns/vip", "telecom", "returns"];
        let library = Library::load(root.path(), folders, &rules, &ChunkConfig::default()).unwrap();
        let paths = |folders: &[&str]| {
            let shelf = library.shelf_of(folders);
            assert_eq!((shelf.report.documents, shelf.report.chunks), (shelf.chunks.len(), shelf.chunks.len()));
            shelf.chunks.iter().map(|chunk| chunk.path.clone()).collect::<Vec<_>>()
        };
        assert_eq!(library.shelves.len(), 4);
        assert_eq!(paths(&[""]), ["top.md"]);
        assert_eq!(paths(&["returns", "returns/vip"]), ["returns/a.md", "returns/vip/b.md"]);
        assert_eq!(paths(&["telecom", ""]), ["top.md", "telecom/c.md"]);
        assert_eq!(paths(&["none"]), [""; 0]);
    }

    #[test]
    fn every_folder_has_its_own_valid_collection() {
        for (folder, name) in
            [("", "k"), ("returns", "k-returns"), ("Telecom_2", "k-telecom_2-"), ("đổi trả", "k-doi-tra-")]
        {
            assert!(collection_name("k", folder).starts_with(name), "{folder}");
        }
        let folders =
            ["", "a", "a/b", "a b", "a-b", "á-b", "A", "a--b", "-a", "FAQ - Kunden", "ご案内", "よくある質問"];
        let names = folders.map(|folder| collection_name("k", folder));
        let mut apart = names.to_vec();
        apart.sort();
        apart.dedup();
        assert_eq!(apart.len(), names.len(), "{names:?}");
        assert!(names.iter().all(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')), "{names:?}");
        assert!(names.iter().all(|name| !name.contains("--")), "{names:?}");
    }
}
