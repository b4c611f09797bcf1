//! Copies the directory of a plugin, within limits. What could reach beyond the directory is refused.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::PluginError;

/// How large a plugin may be.
#[derive(Clone, Copy)]
struct Limits {
    /// How far directories may be nested.
    depth: usize,
    /// How many files and directories there may be.
    entries: usize,
    /// How many bytes the files may have together.
    bytes: u64,
}

const LIMITS: Limits = Limits {
    depth: 16,
    entries: 10_000,
    bytes: 256 * 1024 * 1024,
};

/// A copy that is being made.
pub(super) struct PluginCopy<'a> {
    source: &'a Path,
    limits: Limits,
    entries: usize,
    bytes: u64,
}

impl<'a> PluginCopy<'a> {
    pub fn new(source: &'a Path) -> PluginCopy<'a> {
        PluginCopy::within(source, LIMITS)
    }

    fn within(source: &'a Path, limits: Limits) -> PluginCopy<'a> {
        PluginCopy {
            source,
            limits,
            entries: 0,
            bytes: 0,
        }
    }

    /// Copies all files and directories. Links that stay within the plugin are left behind.
    pub fn run(mut self, to: &Path) -> Result<(), PluginError> {
        let source = self.source.to_owned();
        self.directory(&source, to, self.limits.depth)
    }

    fn directory(&mut self, from: &Path, to: &Path, depth: usize) -> Result<(), PluginError> {
        if depth == 0 {
            return Err(self.refused(from, "is nested too deeply"));
        }
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let (path, target) = (entry.path(), to.join(entry.file_name()));
            self.entries += 1;
            if self.entries > self.limits.entries {
                let most = self.limits.entries;
                let text = format!("the plugin has more than {most} files");
                return Err(PluginError::Refused(text));
            }
            if kind.is_dir() {
                self.directory(&path, &target, depth - 1)?;
            } else if kind.is_file() {
                self.file(&path, &target)?;
            } else if kind.is_symlink() && self.leads_out(&path) {
                return Err(self.refused(&path, "is a link out of the plugin"));
            }
        }
        Ok(())
    }

    fn file(&mut self, from: &Path, to: &Path) -> Result<(), PluginError> {
        // The file may have been replaced by a link since it was listed; `open` follows none to a device.
        let mut source = quipu_disk::open(from)?;
        let mut target = File::create_new(to)?;
        let left = self.limits.bytes - self.bytes;
        let copied = io::copy(&mut io::Read::take(&mut source, left + 1), &mut target)?;
        if copied > left {
            let most = self.limits.bytes;
            let text = format!("the files of the plugin have more than {most} bytes");
            return Err(PluginError::Refused(text));
        }
        self.bytes += copied;
        target.set_permissions(source.metadata()?.permissions())?;
        Ok(())
    }

    /// Whether a link leads out of the plugin; one that leads nowhere might do so later.
    fn leads_out(&self, link: &Path) -> bool {
        let inside = |target: PathBuf| {
            let root = self.source.canonicalize();
            root.is_ok_and(|root| target.starts_with(root))
        };
        !link.canonicalize().is_ok_and(inside)
    }

    fn refused(&self, path: &Path, why: &str) -> PluginError {
        let path = path.strip_prefix(self.source).unwrap_or(path);
        PluginError::Refused(format!("`{}` {why}", path.display()))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const SMALL: Limits = Limits {
        depth: 3,
        entries: 4,
        bytes: 10,
    };

    /// Copies a directory next to it; the copy is gone after a failure.
    fn copy(source: &Path) -> Result<PathBuf, String> {
        let to = source.with_file_name("copy");
        let copied = PluginCopy::within(source, SMALL).run(&to);
        copied.map(|()| to.clone()).map_err(|error| {
            fs::remove_dir_all(&to).expect("the copy can be removed");
            error.to_string()
        })
    }

    #[test]
    fn links_within_are_left_behind_and_others_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let source = directory.path().join("source");
        fs::create_dir_all(source.join("a")).unwrap();
        fs::write(source.join("a/file"), "x").unwrap();
        symlink("file", source.join("a/link")).unwrap();
        let copied = copy(&source).unwrap();
        assert_eq!(fs::read_to_string(copied.join("a/file")).unwrap(), "x");
        assert!(copied.join("a/link").symlink_metadata().is_err());
        fs::remove_dir_all(copied).unwrap();
        for target in ["/etc", "../..", "nowhere"] {
            symlink(target, source.join("out")).unwrap();
            let refused = copy(&source).unwrap_err();
            assert_eq!(refused, "`out` is a link out of the plugin");
            fs::remove_file(source.join("out")).unwrap();
        }
    }

    #[test]
    fn large_trees_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| {
            let path = directory.path().join(name);
            fs::create_dir_all(&path).unwrap();
            path
        };
        let deep = at("deep");
        fs::create_dir_all(deep.join("x/x/x")).unwrap();
        assert_eq!(copy(&deep).unwrap_err(), "`x/x/x` is nested too deeply");
        let large = at("large");
        fs::write(large.join("a"), "12345").unwrap();
        fs::write(large.join("b"), "123456").unwrap();
        let text = "the files of the plugin have more than 10 bytes";
        assert_eq!(copy(&large).unwrap_err(), text);
        let wide = at("wide");
        for number in 0..5 {
            File::create(wide.join(number.to_string())).unwrap();
        }
        let text = "the plugin has more than 4 files";
        assert_eq!(copy(&wide).unwrap_err(), text);
    }
}
