//! The jail for machines without namespaces: Landlock rules that a process takes upon itself.
//!
//! Landlock only ever adds rights: what is open below a folder cannot be closed again further down.
//! A writable folder that holds protected paths therefore stays shut, and the [broker](super::broker)
//! does there what the command may do.

use std::{
    fs,
    io::{self, IsTerminal},
    os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd},
    path::Path,
};

use super::{DEVICES, sys};
use crate::{
    fd::StdFds,
    rules::{Access, Rules},
};

const EXECUTE: u64 = 1 << 0;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
/// Removing and making entries of all kinds.
const CHANGE_DIR: u64 = 0b1_1111_1111 << 4;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;

/// Making device files stays forbidden everywhere.
const MAKE_DEVICES: u64 = 1 << 6 | 1 << 11;

/// The rights that mean something for a file that is no folder.
const FILE_RIGHTS: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;

const READ: u64 = EXECUTE | READ_FILE | READ_DIR;

/// Signals stay inside, since this version.
pub(crate) const SCOPED_SIGNALS: u32 = 6;
const SCOPE_SIGNAL: u64 = 1 << 1;

#[repr(C)]
struct RulesetAttr {
    files: u64,
    network: u64,
    scoped: u64,
}

#[repr(C, packed)]
struct PathBeneathAttr {
    allowed: u64,
    parent: RawFd,
}

/// Rules in the kernel, not yet in force.
pub(crate) struct Ruleset {
    fd: OwnedFd,
    /// The rights that these rules govern; all others stay as they are.
    governed: u64,
}

/// The version of Landlock in the kernel; 0 if it is missing or switched off.
pub(crate) fn version() -> u32 {
    // SAFETY: with this flag and no attributes the call only returns a number.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<u8>(),
            0,
            1,
        )
    };
    u32::try_from(version).unwrap_or(0)
}

impl Ruleset {
    /// Rules for a command with these standard streams.
    pub(crate) fn new(rules: &Rules, version: u32, stdio: &StdFds) -> io::Result<Self> {
        let write = WRITE_FILE | CHANGE_DIR | newer_rights(version);
        let read = if rules.readable.is_some() {
            READ
        } else {
            READ_FILE
        };
        let attributes = RulesetAttr {
            files: write | read,
            network: 0,
            scoped: if version >= SCOPED_SIGNALS {
                SCOPE_SIGNAL
            } else {
                0
            },
        };
        // Older kernels know a shorter structure.
        let size = if version >= SCOPED_SIGNALS {
            size_of::<RulesetAttr>()
        } else {
            size_of::<u64>()
        };
        // SAFETY: the kernel reads `size` bytes of the structure and returns a new descriptor.
        let fd = unsafe {
            let fd = sys::check(libc::syscall(
                libc::SYS_landlock_create_ruleset,
                &raw const attributes,
                size,
                0,
            ))?;
            OwnedFd::from_raw_fd(fd as RawFd)
        };
        let ruleset = Self {
            fd,
            governed: attributes.files,
        };
        ruleset.allow_devices(stdio)?;
        ruleset.allow_reading(rules)?;
        let all = write & !MAKE_DEVICES | READ;
        for entry in &rules.entries {
            if entry.access == Access::Write && !rules.has_exception_below(&entry.path) {
                ruleset.allow_path(&entry.path, all)?;
            }
        }
        Ok(ruleset)
    }

    /// A few devices and the command's own terminal.
    fn allow_devices(&self, stdio: &StdFds) -> io::Result<()> {
        let use_it = READ_FILE | WRITE_FILE | IOCTL_DEV;
        for device in DEVICES {
            self.allow_path(Path::new(device), use_it)?;
        }
        for fd in stdio.iter().filter(|fd| fd.is_terminal()) {
            self.allow(fd.as_fd(), use_it)?;
        }
        Ok(())
    }

    /// Everything but devices, or just what the rules say. Other terminals and disks are not for
    /// reading either.
    fn allow_reading(&self, rules: &Rules) -> io::Result<()> {
        let Some(readable) = &rules.readable else {
            for entry in fs::read_dir("/")?.flatten() {
                if entry.file_name() != "dev" {
                    self.allow_path(&entry.path(), READ)?;
                }
            }
            return Ok(());
        };
        let own = rules.entries.iter().map(|entry| &entry.path);
        for path in readable.iter().chain(own) {
            self.allow_path(path, READ)?;
        }
        self.allow_path(Path::new("/proc"), READ)
    }

    /// Adds rights at and below a path; one that is gone or a symbolic link needs none.
    fn allow_path(&self, path: &Path, rights: u64) -> io::Result<()> {
        match sys::open_path(path) {
            Ok(file) => self.allow(file.as_fd(), rights),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn allow(&self, file: BorrowedFd<'_>, rights: u64) -> io::Result<()> {
        let kind = fs::File::from(file.try_clone_to_owned()?)
            .metadata()?
            .file_type();
        if kind.is_symlink() {
            return Ok(());
        }
        let meaningful = if kind.is_dir() { u64::MAX } else { FILE_RIGHTS };
        let rule = PathBeneathAttr {
            allowed: rights & meaningful & self.governed,
            parent: file.as_raw_fd(),
        };
        if rule.allowed == 0 {
            return Ok(());
        }
        // SAFETY: the kernel reads one rule of the kind "path beneath".
        sys::check(unsafe {
            libc::syscall(
                libc::SYS_landlock_add_rule,
                self.fd.as_raw_fd(),
                1,
                &raw const rule,
                0,
            )
        })
        .map(drop)
    }

    /// Puts the rules in force for this process and all it starts.
    pub(crate) fn restrict_self(&self) -> io::Result<()> {
        // SAFETY: an open ruleset and no flags.
        sys::check(unsafe {
            libc::syscall(libc::SYS_landlock_restrict_self, self.fd.as_raw_fd(), 0)
        })
        .map(drop)
    }
}

/// The rights that came after the first version.
fn newer_rights(version: u32) -> u64 {
    [(2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)]
        .into_iter()
        .filter(|(since, _)| version >= *since)
        .fold(0, |rights, (_, right)| rights | right)
}
