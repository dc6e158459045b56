//! Replaces files atomically: readers see the old or the new content, even after a power failure.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Writes a file and syncs it to disk. Keeps the permissions of an existing file, follows symbolic links, and refuses to replace a
/// read-only file. Blocks.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    // Renaming onto a link would replace the link.
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
    // The permissions of any new file, which the umask reduces. Everything that reads the folder ignores hidden files.
    let permissions = fs::Permissions::from_mode(0o666);
    let mut file = tempfile::Builder::new().permissions(permissions).prefix(".").suffix(".new").tempfile_in(folder)?;
    file.write_all(content)?;
    if let Some(earlier) = earlier {
        file.as_file().set_permissions(earlier)?;
    }
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|error| error.error)?;
    // Syncs the new name.
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn write_keeps_permissions_and_links() {
        let (folder, shared) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (link, file) = (folder.path().join("persona.md"), shared.path().join("p.md"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&file, &link).unwrap();
        write(&link, b"new").unwrap();
        assert_eq!((fs::read_to_string(&file).unwrap().as_str(), mode(&file)), ("new", 0o640));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(shared.path()).unwrap().count(), 1, "no temporary file is left");
        let fresh = folder.path().join("fresh");
        write(&fresh, b"x").unwrap();
        assert_eq!(mode(&fresh), mode_of_new_file(folder.path()));
    }

    fn mode_of_new_file(folder: &Path) -> u32 {
        fs::write(folder.join("any"), "").unwrap();
        mode(&folder.join("any"))
    }

    #[test]
    fn read_only_file_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("p.md");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
        assert_eq!(write(&file, b"new").unwrap_err().kind(), ErrorKind::PermissionDenied);
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        assert!(write(&folder.path().join("none/p.md"), b"x").is_err());
    }
}
