//! Reading the file system for a plan: where a path really leads, and the bounded text of what is
//! there.

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// The largest file that can be patched. A plan holds the old and the new text of every file in
/// memory.
pub const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// How many symbolic links to follow by hand before calling it a loop, as the kernel does.
const MAX_LINKS: usize = 40;

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The directory entry itself, with every directory on the way resolved. Removing the path
    /// removes this.
    pub(crate) entry: PathBuf,
    /// The file behind it, other than `entry` only for a symbolic link. Writing to the path writes
    /// this.
    pub(crate) file: PathBuf,
}

impl Place {
    /// The entry as such, be it a link or not.
    pub(crate) fn without_following(self) -> Self {
        Self {
            file: self.entry.clone(),
            ..self
        }
    }
}

/// Finds where the absolute `path` leads; neither it nor its directory need exist.
pub(crate) fn resolve(path: &Path) -> io::Result<Place> {
    let entry = resolve_parent(path)?;
    let mut file = entry.clone();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&file) {
            Ok(target) => {
                let base = file.parent().unwrap_or(Path::new("")).to_owned();
                file = resolve_parent(&base.join(target))?;
            }
            Err(_) => return Ok(Place { entry, file }),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

/// `path` with all links but a last one resolved, and `.` and `..` gone.
fn resolve_parent(path: &Path) -> io::Result<PathBuf> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::IsADirectory.into());
    };
    for known in parent.ancestors() {
        match fs::canonicalize(known) {
            Ok(real) => {
                let rest = parent.strip_prefix(known).unwrap_or(Path::new(""));
                return Ok(normalise(&real.join(rest)).join(name));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(normalise(path))
}

/// Removes `.` and `..` by looking at the text only.
pub(crate) fn normalise(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// The text of a regular file of bearable size, or why it cannot be had.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    quipu_disk::read_text(path, MAX_FILE_BYTES).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => io::Error::other(format!(
            "larger than {MAX_FILE_BYTES} bytes, the most that can be patched"
        )),
        _ => error,
    })
}

/// Whether a regular file holds exactly this text. It is read in pieces, so that a large one takes no
/// memory.
pub(crate) fn holds(path: &Path, text: &str) -> bool {
    let length = text.len() as u64;
    fs::metadata(path).is_ok_and(|it| it.is_file() && it.len() == length)
        && quipu_disk::open(path).is_ok_and(|file| is_equal(file, text.as_bytes()).unwrap_or(false))
}

fn is_equal(mut file: fs::File, mut rest: &[u8]) -> io::Result<bool> {
    let mut piece = vec![0; 64 * 1024];
    loop {
        let read = file.read(&mut piece)?;
        if read == 0 {
            return Ok(rest.is_empty());
        }
        let Some(more) = rest.strip_prefix(&piece[..read]) else {
            return Ok(false);
        };
        rest = more;
    }
}

/// The error of a path whose file is not there, with the system's own words.
pub(crate) fn not_found() -> io::Error {
    io::Error::from_raw_os_error(2)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn resolves_links_dots_and_missing_parts() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir(root.join("real")).unwrap();
        fs::write(root.join("real/f"), "").unwrap();
        symlink("real", root.join("dir")).unwrap();
        symlink("dir/f", root.join("link")).unwrap();
        symlink("link", root.join("chain")).unwrap();
        symlink("nowhere/x", root.join("dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let file = |path: &str| resolve(&root.join(path)).unwrap().file;
        assert_eq!(file("dir/f"), root.join("real/f"));
        assert_eq!(file("dir/../dir/./f"), root.join("real/f"));
        assert_eq!(file("chain"), root.join("real/f"));
        assert_eq!(file("dangling"), root.join("nowhere/x"));
        assert_eq!(file("new/../deep/x"), root.join("deep/x"));
        assert_eq!(
            resolve(&root.join("chain")).unwrap().entry,
            root.join("chain")
        );
        assert!(resolve(&root.join("loop")).is_err());
        assert!(resolve(&root.join("real/f/x/y")).is_err());
        assert!(resolve(&root.join("real/..")).is_err());
    }

    #[test]
    fn a_file_holds_its_text_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let text = "0123456\n".repeat(10_000);
        fs::write(&path, &text).unwrap();
        assert!(holds(&path, &text));
        assert!(!holds(&path, &text[1..]));
        assert!(!holds(&path, &format!("{text}\n")));
        assert!(!holds(&path, &(text[1..].to_owned() + "\n")));
        assert!(!holds(dir.path(), ""));
        assert!(!holds(&dir.path().join("none"), ""));
    }

    #[test]
    fn only_text_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("bin"), [0xff]).unwrap();
        let message = |path: &Path| read_text(path).unwrap_err().to_string();
        assert_eq!(
            message(&dir.path().join("bin")),
            "stream did not contain valid UTF-8"
        );
        assert_eq!(message(dir.path()), "Is a directory (os error 21)");
        assert_eq!(message(Path::new("/dev/zero")), "not a regular file");
    }
}
