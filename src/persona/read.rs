//! Reads the files under `prompts/`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use super::file::Spoken;
use super::{Persona, PromptError, PromptErrors, file};
use crate::domain::text::clean;

/// Parses the files at the top of the folder. The errors name every invalid one.
pub(super) fn parse_personas(
    folder: &Path,
    files: &BTreeMap<String, String>,
    spoken: &Spoken<'_>,
) -> Result<BTreeMap<String, Arc<Persona>>, PromptErrors> {
    let (mut personas, mut errors) = (BTreeMap::new(), Vec::new());
    for (name, content) in files {
        if let Some(id) = name.strip_suffix(".md").filter(|id| !id.contains('/')) {
            let shown = folder.join(name).display().to_string();
            match file::parse(&shown, id, content, spoken) {
                Ok(persona) => drop(personas.insert(id.to_owned(), Arc::new(persona))),
                Err(error) => errors.push(error),
            }
        }
    }
    let mut errors = errors.into_iter();
    match errors.next() {
        Some(first) => Err(PromptErrors { first, others: errors.collect() }),
        None => Ok(personas),
    }
}

pub(super) fn read_folder(root: &Path, folder: &Path, files: &mut BTreeMap<String, String>) -> Result<(), PromptError> {
    let unreadable = |path: &Path, error: std::io::Error| PromptError {
        file: path.display().to_string(),
        line: None,
        hint: format!("cannot read the file ({error}): start frontdesk in the folder that contains prompts/"),
        fault: None,
    };
    for entry in std::fs::read_dir(folder).map_err(|error| unreadable(folder, error))? {
        let path = entry.map_err(|error| unreadable(folder, error))?.path();
        let hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
        if hidden {
            continue;
        }
        if path.is_dir() {
            read_folder(root, &path, files)?;
        } else if path.extension().is_some_and(|extension| ["md", "toml", "tsv"].map(OsStr::new).contains(&extension)) {
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            files.insert(name, read(&path)?);
        }
    }
    Ok(())
}

pub(super) fn read(path: &Path) -> Result<String, PromptError> {
    let error = |hint: String| PromptError { file: path.display().to_string(), line: None, hint, fault: None };
    let bytes = std::fs::read(path).map_err(|cause| error(format!("cannot read the file: {cause}")))?;
    let text = String::from_utf8(bytes).map_err(|cause| {
        let good = &cause.as_bytes()[..cause.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        PromptError { line: Some(line), ..error("the file is not UTF-8: save it as UTF-8".to_owned()) }
    })?;
    Ok(clean(&text).into_owned())
}

pub(super) fn same_folder(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}
