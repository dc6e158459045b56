//! Writing a file as a whole: whoever reads it meanwhile sees the earlier content or the new one, and so does who reads it after a
//! power cut.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// Writes the file. One that is there keeps its permissions, and a link goes on leading to it; one that nobody may write is
/// left alone. Blocks until the disk has it.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    // Renaming onto a link would put the file in its place.
    let target = match path.canonicalize() {
        Ok(target) => target,
        Err(error) if error.kind() == ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let earlier = fs::metadata(&target).ok().map(|metadata| metadata.permissions());
    if earlier.as_ref().is_some_and(fs::Permissions::readonly) {
        return Err(ErrorKind::PermissionDenied.into());
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Hidden, so that nobody who reads the folder takes it for one of its files.
    let mut file = builder().prefix(".").suffix(".new").tempfile_in(folder)?;
    file.write_all(content)?;
    if let Some(earlier) = earlier {
        file.as_file().set_permissions(earlier)?;
    }
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|error| error.error)?;
    sync_folder(folder)
}

#[cfg(unix)]
fn builder<'a>() -> tempfile::Builder<'a, 'a> {
    use std::os::unix::fs::PermissionsExt;
    let mut builder = tempfile::Builder::new();
    // As any new file; the process's mask takes away what it takes away.
    builder.permissions(fs::Permissions::from_mode(0o666));
    builder
}

#[cfg(not(unix))]
fn builder<'a>() -> tempfile::Builder<'a, 'a> {
    tempfile::Builder::new()
}

/// The new name is on the disk as well; elsewhere than on Unix a folder cannot be opened, and needs not be.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_keeps_its_permissions_and_a_link_leads_to_it_still() {
        let (folder, shared) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (link, file) = (folder.path().join("persona.md"), shared.path().join("p.md"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&file, &link).unwrap();
        write(&link, b"new").unwrap();
        assert_eq!((fs::read_to_string(&file).unwrap().as_str(), mode(&file)), ("new", 0o640));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(shared.path()).unwrap().count(), 1, "nothing is left beside it");
        let fresh = folder.path().join("fresh");
        write(&fresh, b"x").unwrap();
        assert_eq!(mode(&fresh), mode_of_any_new_file(folder.path()));
    }

    fn mode_of_any_new_file(folder: &Path) -> u32 {
        fs::write(folder.join("any"), "").unwrap();
        mode(&folder.join("any"))
    }

    #[test]
    fn what_nobody_may_write_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("p.md");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
        assert_eq!(write(&file, b"new").unwrap_err().kind(), ErrorKind::PermissionDenied);
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        assert!(write(&folder.path().join("none/p.md"), b"x").is_err());
    }
}
