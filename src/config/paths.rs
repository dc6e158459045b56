//! Checks the paths of settings.

use std::path::{Path, PathBuf};

/// Returns the nearest existing folder above a file.
pub fn nearest_folder(path: &Path) -> PathBuf {
    let mut above = path.ancestors().skip(1);
    match above.find(|folder| folder.exists()) {
        Some(folder) => folder.to_owned(),
        // A relative path.
        None => PathBuf::from("."),
    }
}

/// Checks that files can be created in the folder, with an unnamed temporary file.
pub fn may_create_in(folder: &Path) -> std::io::Result<()> {
    tempfile::tempfile_in(folder).map(drop)
}
