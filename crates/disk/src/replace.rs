//! Puts a file in place in one step: readers see the old text or the new one, and a crash leaves one of
//! them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::lock::lock_directory;

/// So many symbolic links are followed.
const MAX_LINKS: usize = 40;

/// A file about to be replaced. Other writers that lock it wait until this is dropped.
#[derive(Debug)]
pub struct Target {
    path: PathBuf,
    directory: PathBuf,
    /// Held for the lock on the directory.
    _lock: File,
}

impl Target {
    /// Locks a file that may or may not exist. A symbolic link is followed, and stays. Blocks for some seconds at
    /// most, if others keep the directory locked.
    pub fn lock(path: &Path) -> io::Result<Self> {
        let path = follow_links(path)?;
        let directory = path.parent().unwrap_or(Path::new("/")).to_owned();
        fs::create_dir_all(&directory)?;
        let lock = lock_directory(&directory)?;
        Ok(Self {
            path,
            directory,
            _lock: lock,
        })
    }

    /// Replaces the content. The file keeps its mode; a new one is readable by its owner only.
    pub fn replace(&self, content: &[u8]) -> io::Result<()> {
        let mode = fs::metadata(&self.path).map(|it| it.permissions()).ok();
        self.put(content, mode)
    }

    /// Replaces the content with a secret: the file is readable by its owner only, whatever it was.
    pub fn replace_secret(&self, content: &[u8]) -> io::Result<()> {
        self.put(content, None)
    }

    fn put(&self, content: &[u8], mode: Option<fs::Permissions>) -> io::Result<()> {
        let (temporary, mut file) = create_temporary(&self.path)?;
        let result = (|| {
            if let Some(mode) = mode {
                file.set_permissions(mode)?;
            }
            file.write_all(content)?;
            file.sync_all()?;
            fs::rename(&temporary, &self.path)?;
            sync_directory(&self.directory)
        })();
        if result.is_err() {
            // The error matters more than a left-over file.
            fs::remove_file(&temporary).ok();
        }
        result
    }
}

/// Puts a file in place in one step, without a lock and without waiting for the disk. Readers see the old text or the
/// new one, also if this process dies; if the system does, the file may be empty.
pub fn put(path: &Path, content: &[u8]) -> io::Result<()> {
    let (temporary, mut file) = create_temporary(path)?;
    let result = file
        .write_all(content)
        .and_then(|()| fs::rename(&temporary, path));
    if result.is_err() {
        // The error matters more than a left-over file.
        fs::remove_file(&temporary).ok();
    }
    result
}

/// Where a chain of symbolic links ends, even if nothing is there.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("/")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other(format!(
        "too many symbolic links at {}",
        path.display()
    )))
}

/// A new file next to the target, readable by its owner only.
fn create_temporary(target: &Path) -> io::Result<(PathBuf, File)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    loop {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let path = target.with_file_name(format!(".{name}.{}.{number}.tmp", std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(unix)]
fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

#[cfg(not(unix))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}
