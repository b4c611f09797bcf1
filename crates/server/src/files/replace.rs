//! Writing a whole file at once: readers see the old content or the new, and a full disk leaves the old.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::platform;

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
    let old = match platform::without_waiting(OpenOptions::new().write(true)).open(&target) {
        Ok(file) => Some(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    match old {
        None => {
            let new = NewFile::create(&target, |options| options)?;
            finish(new, &target, &mut content, None)
        }
        Some(mut old) => match stand_in(&old, &target)? {
            Some(new) => {
                let permissions = old.metadata()?.permissions();
                // Not every system replaces a file that is open.
                drop(old);
                finish(new, &target, &mut content, Some(permissions))
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
    Err(platform::too_many_links())
}

/// A file that is removed again unless it takes the place of another.
struct NewFile {
    file: File,
    path: PathBuf,
    kept: bool,
}

impl NewFile {
    /// Creates a file next to `target`, whose permissions are settled by `access`.
    fn create(
        target: &Path,
        access: fn(&mut OpenOptions) -> &mut OpenOptions,
    ) -> io::Result<NewFile> {
        let name = format!("{TEMPORARY}{}", Uuid::new_v4().simple());
        let path = target.with_file_name(name);
        let file = access(OpenOptions::new().write(true).create_new(true)).open(&path)?;
        let kept = false;
        Ok(NewFile { file, path, kept })
    }

    fn take_place_of(mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        self.kept = true;
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.kept
            && let Err(error) = fs::remove_file(&self.path)
        {
            tracing::warn!(%error, path = %self.path.display(), "failed to remove temporary file");
        }
    }
}

/// A new file that can take the place of `old`, with the same owner; `None` if there cannot be one.
fn stand_in(old: &File, target: &Path) -> io::Result<Option<NewFile>> {
    let metadata = old.metadata()?;
    if !metadata.is_file() || platform::has_other_names(old, &metadata)? {
        return Ok(None);
    }
    let new = match NewFile::create(target, platform::private_file) {
        Ok(new) => new,
        // The directory may forbid what the file allows, or be one of the kernel's, which has its own files.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied
                    | io::ErrorKind::ReadOnlyFilesystem
                    | io::ErrorKind::NotFound
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let owned = platform::take_owner(&new.file, &metadata)?;
    Ok(owned.then_some(new))
}

fn finish(
    mut new: NewFile,
    target: &Path,
    content: &mut Source<'_>,
    permissions: Option<Permissions>,
) -> io::Result<()> {
    content.write_to(&mut new.file)?;
    if let Some(permissions) = content.permissions()?.or(permissions) {
        new.file.set_permissions(permissions)?;
    }
    new.take_place_of(target)
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
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn write(path: &Path, content: &str) -> io::Result<()> {
        replace(path, Source::Bytes(content.as_bytes()))
    }

    #[test]
    fn permissions_and_links_stay() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        write(&file, "1").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o741)).unwrap();
        let link = directory.path().join("link");
        symlink("file", &link).unwrap();
        write(&link, "2").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "2");
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o741
        );
        assert!(link.is_symlink());
        fs::hard_link(&file, directory.path().join("twin")).unwrap();
        write(&file, "3").unwrap();
        assert_eq!(
            fs::read_to_string(directory.path().join("twin")).unwrap(),
            "3"
        );
    }

    #[test]
    fn a_dangling_link_creates_what_it_names() {
        let directory = tempfile::tempdir().unwrap();
        symlink("new", directory.path().join("link")).unwrap();
        write(&directory.path().join("link"), "x").unwrap();
        assert_eq!(
            fs::read_to_string(directory.path().join("new")).unwrap(),
            "x"
        );
        symlink("round", directory.path().join("round")).unwrap();
        let error = write(&directory.path().join("round"), "x").unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ELOOP));
    }

    #[test]
    fn a_failure_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let error = write(&directory.path().join("no/file"), "x").unwrap_err();
        assert_eq!(error.to_string(), "No such file or directory (os error 2)");
        let error = write(directory.path(), "x").unwrap_err();
        assert_eq!(error.to_string(), "Is a directory (os error 21)");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
