//! A small file system that can be filled and made read-only, for tests of what a disk can do to a server.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A mounted file system of one megabyte; it is unmounted when dropped.
pub struct SmallDisk(TempDir);

impl SmallDisk {
    /// Mounts one; why not, if this user may not mount.
    #[expect(clippy::disallowed_methods, reason = "a test of the disk needs a disk")]
    pub fn mount() -> Result<SmallDisk, String> {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
            .arg(directory.path())
            .output();
        match mount {
            Ok(done) if done.status.success() => Ok(SmallDisk(directory)),
            Ok(done) => Err(String::from_utf8_lossy(&done.stderr).trim().to_owned()),
            Err(error) => Err(format!("no `mount`: {error}")),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Changes how it is mounted, to `ro` say.
    #[expect(clippy::disallowed_methods, reason = "a test of the disk needs a disk")]
    pub fn remount(&self, options: &str) {
        let done = Command::new("mount")
            .args(["-o", &format!("remount,{options}")])
            .arg(self.path())
            .status();
        assert!(done.is_ok_and(|it| it.success()), "{options}: no remount");
    }

    /// Leaves no room; what must be removed to make some.
    pub fn fill(&self) -> PathBuf {
        let ballast = self.path().join("ballast");
        let mut size = 1 << 20;
        let mut bytes = Vec::new();
        while size > 0 {
            bytes.resize(bytes.len() + size, 0);
            if std::fs::write(&ballast, &bytes).is_err() {
                bytes.truncate(bytes.len() - size);
            }
            size /= 2;
        }
        std::fs::write(&ballast, &bytes).expect("what fitted before fits again");
        ballast
    }
}

impl Drop for SmallDisk {
    #[expect(clippy::disallowed_methods, reason = "a test of the disk needs a disk")]
    fn drop(&mut self) {
        let done = Command::new("umount").arg("-l").arg(self.path()).status();
        if !done.is_ok_and(|status| status.success()) {
            eprintln!("{} stays mounted", self.path().display());
        }
    }
}
