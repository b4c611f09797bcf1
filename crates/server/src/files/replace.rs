//! Writing a whole file at once: readers see the old content or the new, and a full disk leaves the old.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// The beginning of the names of files that are about to replace another.
pub(crate) const TEMPORARY: &str = ".quipu-write-";
/// The most links that are followed one after the other, as the kernel has it.
const LINKS: usize = 40;

/// Where new content comes from.
pub(crate) enum Source<'a> {
    Bytes(&'a [u8]),
    /// Another file, whose permissions are taken too.
    File(&'a mut File),
}

impl Source<'_> {
    fn write_to(&mut self, file: &mut File) -> io::Result<()> {
        match self {
            Source::Bytes(bytes) => file.write_all(bytes),
            Source::File(source) => {
                source.rewind()?;
                io::copy(*source, file).map(drop)
            }
        }
    }

    fn permissions(&self) -> io::Result<Option<Permissions>> {
        match self {
            Source::Bytes(_) => Ok(None),
            Source::File(file) => Ok(Some(file.metadata()?.permissions())),
        }
    }
}

/// Creates a file or replaces its content. Links are followed; permissions and owner of an existing file
/// stay. A file that could not be replaced without losing these, or that is no regular one, is written
/// in place.
pub(crate) fn replace(path: &Path, mut content: Source<'_>) -> io::Result<()> {
    let target = follow(path)?;
    let old = match OpenOptions::new()
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(&target)
    {
        Ok(file) => Some(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    match old {
        None => {
            let file = temporary(&target, Permissions::from_mode(0o666))?;
            finish(file, &target, &mut content, None)
        }
        Some(mut old) => match stand_in(&old, &target)? {
            Some(file) => {
                let permissions = old.metadata()?.permissions();
                finish(file, &target, &mut content, Some(permissions))
            }
            None => write_in_place(&mut old, &mut content),
        },
    }
}

/// What a path leads to; the last part need not exist.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..LINKS {
        let Ok(link) = fs::read_link(&target) else {
            return Ok(target);
        };
        target.pop();
        target.push(link);
    }
    Err(io::Error::from_raw_os_error(libc::ELOOP))
}

fn temporary(target: &Path, permissions: Permissions) -> io::Result<NamedTempFile> {
    let folder = target.parent().unwrap_or(target);
    tempfile::Builder::new()
        .prefix(TEMPORARY)
        .permissions(permissions)
        .tempfile_in(folder)
        .map_err(plain)
}

/// What the operating system said, without the name of the temporary file.
fn plain(error: io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|it| it.source());
    let code = inner
        .and_then(|it| it.downcast_ref::<io::Error>())
        .and_then(io::Error::raw_os_error);
    code.map_or(error, io::Error::from_raw_os_error)
}

/// A new file that can take the place of `old`, with the same owner; `None` if there cannot be one.
fn stand_in(old: &File, target: &Path) -> io::Result<Option<NamedTempFile>> {
    let metadata = old.metadata()?;
    if !metadata.is_file() || metadata.nlink() > 1 {
        return Ok(None);
    }
    let file = match temporary(target, Permissions::from_mode(0o600)) {
        Ok(file) => file,
        // The folder may forbid what the file allows.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let new = file.as_file().metadata()?;
    let same_owner = (new.uid(), new.gid()) == (metadata.uid(), metadata.gid());
    let owned =
        same_owner || fchown(file.as_file(), Some(metadata.uid()), Some(metadata.gid())).is_ok();
    Ok(owned.then_some(file))
}

fn finish(
    mut file: NamedTempFile,
    target: &Path,
    content: &mut Source<'_>,
    permissions: Option<Permissions>,
) -> io::Result<()> {
    content.write_to(file.as_file_mut())?;
    if let Some(permissions) = content.permissions()?.or(permissions) {
        file.as_file().set_permissions(permissions)?;
    }
    file.persist(target)
        .map(drop)
        .map_err(|failed| failed.error)
}

fn write_in_place(file: &mut File, content: &mut Source<'_>) -> io::Result<()> {
    let regular = file.metadata()?.is_file();
    if regular {
        file.set_len(0)?;
    }
    content.write_to(file)?;
    match content.permissions()? {
        Some(permissions) if regular => file.set_permissions(permissions),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn write(path: &Path, content: &str) -> io::Result<()> {
        replace(path, Source::Bytes(content.as_bytes()))
    }

    #[test]
    fn permissions_and_links_stay() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        write(&file, "1").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o741)).unwrap();
        let link = folder.path().join("link");
        symlink("file", &link).unwrap();
        write(&link, "2").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "2");
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o741
        );
        assert!(link.is_symlink());
        fs::hard_link(&file, folder.path().join("twin")).unwrap();
        write(&file, "3").unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("twin")).unwrap(), "3");
    }

    #[test]
    fn a_dangling_link_creates_what_it_names() {
        let folder = tempfile::tempdir().unwrap();
        symlink("new", folder.path().join("link")).unwrap();
        write(&folder.path().join("link"), "x").unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("new")).unwrap(), "x");
        symlink("round", folder.path().join("round")).unwrap();
        let error = write(&folder.path().join("round"), "x").unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ELOOP));
    }

    #[test]
    fn a_failure_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let error = write(&folder.path().join("no/file"), "x").unwrap_err();
        assert_eq!(error.to_string(), "No such file or directory (os error 2)");
        let error = write(folder.path(), "x").unwrap_err();
        assert_eq!(error.to_string(), "Is a directory (os error 21)");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
