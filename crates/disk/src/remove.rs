//! Removing a directory with all it holds, however deep it is nested. A program that may write to it can make it tens
//! of thousands of levels deep within a second, so neither the stack nor the open files grow with the depth.

use std::io;
use std::path::Path;

/// Removes a directory and all it holds. Links are removed, not followed; a directory that is moved elsewhere
/// meanwhile ends it with an error.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    system::remove_tree(path)
}

#[cfg(not(unix))]
mod system {
    //! The standard library does not recurse here.

    pub use std::fs::remove_dir_all as remove_tree;
}

#[cfg(unix)]
mod system {
    //! One directory is open at a time. The way back up leads through `..`, which must be the directory that was
    //! left before.

    use std::ffi::{CString, OsStr};
    use std::io;
    use std::path::Path;

    use rustix::fd::OwnedFd;
    use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, fstat, openat, unlinkat};
    use rustix::io::Errno;

    const DIRECTORY: OFlags = OFlags::RDONLY
        .union(OFlags::DIRECTORY)
        .union(OFlags::NOFOLLOW)
        .union(OFlags::CLOEXEC);
    /// So many directories of a level are noted at once.
    const NOTED: usize = 64;

    /// A directory that is being removed.
    struct Level {
        /// Its device and number there.
        id: (u64, u64),
        /// Directories in it that are not empty.
        left: Vec<CString>,
        /// The one of them that is being removed, once it is entered.
        entered: CString,
    }

    pub fn remove_tree(path: &Path) -> io::Result<()> {
        let resolved = match path.file_name() {
            Some(_) => path.to_owned(),
            None => path.canonicalize()?,
        };
        let name = resolved.file_name().unwrap_or(OsStr::new("/"));
        let parent = resolved.parent().filter(|it| !it.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        let parent = openat(
            CWD,
            parent,
            DIRECTORY.difference(OFlags::NOFOLLOW),
            Mode::empty(),
        )?;
        empty(openat(&parent, name, DIRECTORY, Mode::empty())?)?;
        Ok(unlinkat(&parent, name, AtFlags::REMOVEDIR)?)
    }

    /// Removes everything in a directory.
    fn empty(mut directory: OwnedFd) -> io::Result<()> {
        let mut above: Vec<Level> = Vec::new();
        let mut level = Level::enter(&directory)?;
        loop {
            if level.left.is_empty() {
                level.left = remove_entries(&directory)?;
            }
            if let Some(name) = level.left.pop() {
                match openat(&directory, &name, DIRECTORY, Mode::empty()) {
                    Ok(inner) => {
                        level.entered = name;
                        above.push(std::mem::replace(&mut level, Level::enter(&inner)?));
                        directory = inner;
                    }
                    // It is gone, or something else by now.
                    Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
                    Err(error) => return Err(error.into()),
                }
                continue;
            }
            let Some(outer) = above.pop() else {
                return Ok(());
            };
            directory = openat(&directory, c"..", DIRECTORY, Mode::empty())?;
            level = outer;
            if id(&directory)? != level.id {
                let why = "a directory was moved while it was being removed";
                return Err(io::Error::other(why));
            }
            remove_directory(&directory, &level.entered)?;
        }
    }

    impl Level {
        fn enter(directory: &OwnedFd) -> io::Result<Level> {
            Ok(Level {
                id: id(directory)?,
                left: Vec::new(),
                entered: CString::default(),
            })
        }
    }

    /// Removes the files and empty directories in a directory, and gives the names of some others in it; none if
    /// there are none.
    fn remove_entries(directory: &OwnedFd) -> io::Result<Vec<CString>> {
        let mut left = Vec::new();
        for entry in Dir::read_from(directory)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let removed = match unlinkat(directory, name, AtFlags::empty()) {
                // Which of these is said of a directory differs between systems.
                Err(Errno::ISDIR | Errno::PERM) => unlinkat(directory, name, AtFlags::REMOVEDIR),
                removed => removed,
            };
            match removed {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(Errno::NOTEMPTY | Errno::EXIST) => left.push(name.to_owned()),
                // A file that may not be removed, not a directory.
                Err(Errno::NOTDIR) => return Err(Errno::PERM.into()),
                Err(error) => return Err(error.into()),
            }
            if left.len() == NOTED {
                break;
            }
        }
        Ok(left)
    }

    fn remove_directory(parent: &OwnedFd, name: &CString) -> io::Result<()> {
        match unlinkat(parent, name, AtFlags::REMOVEDIR) {
            // Something was put into it meanwhile, or it is gone: the next look at its parent tells.
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn id(directory: &OwnedFd) -> io::Result<(u64, u64)> {
        let stat = fstat(directory)?;
        #[allow(
            clippy::unnecessary_cast,
            clippy::cast_sign_loss,
            reason = "the types differ between systems"
        )]
        Ok((stat.st_dev as u64, stat.st_ino as u64))
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};

    use super::*;

    /// A chain of directories, each in the one before, with a file beside each.
    fn chain(root: &Path, depth: usize) {
        fs::create_dir(root).unwrap();
        let mut at = openat(CWD, root, OFlags::DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..depth {
            mkdirat(&at, "d", Mode::RWXU).unwrap();
            openat(&at, "f", OFlags::CREATE, Mode::RWXU).unwrap();
            at = openat(&at, "d", OFlags::DIRECTORY, Mode::empty()).unwrap();
        }
    }

    /// On a small stack and, since only few files are open at a time, under any limit of those.
    #[test]
    fn a_tree_may_be_deep() {
        // Removing a directory takes milliseconds on some disks.
        let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let directory = directory.unwrap();
        let root = directory.path().join("root");
        chain(&root, 20_000);
        let open = || fs::read_dir("/dev/fd").unwrap().count();
        let before = open();
        let removing = std::thread::Builder::new().stack_size(64 * 1024);
        let removed = removing.spawn({
            let root = root.clone();
            move || remove_tree(&root)
        });
        let removed = removed.unwrap();
        let mut most = 0;
        while !removed.is_finished() {
            most = most.max(open());
        }
        removed.join().unwrap().unwrap();
        assert!(most < before + 50, "{most} files were open");
        assert!(!root.exists());
    }

    #[test]
    fn a_tree_may_be_wide_and_links_in_it_are_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let (root, kept) = (directory.path().join("root"), directory.path().join("kept"));
        fs::create_dir_all(&kept).unwrap();
        fs::write(kept.join("file"), "x").unwrap();
        for n in 0..200 {
            fs::create_dir_all(root.join(format!("{n}/inner"))).unwrap();
            fs::write(root.join(format!("{n}/file")), "x").unwrap();
            symlink(&kept, root.join(format!("{n}/link"))).unwrap();
        }
        symlink("nowhere", root.join("dangling")).unwrap();
        remove_tree(&root).unwrap();
        assert!(!root.exists());
        assert!(kept.join("file").exists());
        symlink(&kept, &root).unwrap();
        remove_tree(&root).unwrap_err();
        assert!(kept.join("file").exists());
        assert_eq!(
            remove_tree(&directory.path().join("none"))
                .unwrap_err()
                .kind(),
            io::ErrorKind::NotFound
        );
    }
}
