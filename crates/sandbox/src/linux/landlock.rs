//! The jail for machines without namespaces: Landlock rules that a process takes upon itself. Beside
//! namespaces they only keep shut what a read-only mount leaves open.
//!
//! Landlock only ever adds rights: what is open below a directory cannot be closed again further down.
//! A writable directory that holds protected paths therefore stays shut, and the [broker](super::broker)
//! does there what the command may do.

use std::{
    fs,
    io::{self, IsTerminal},
    os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd},
    path::Path,
};

use super::{DEVICES, sys};
use crate::{
    Network,
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

/// The rights that mean something for a file that is no directory.
const FILE_RIGHTS: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;

const READ: u64 = EXECUTE | READ_FILE | READ_DIR;

/// Signals stay inside, since this version.
pub(crate) const SCOPED_SIGNALS: u32 = 6;
const SCOPE_SIGNAL: u64 = 1 << 1;
/// Unix sockets without a path stay inside, since the same version.
const SCOPE_ABSTRACT_SOCKETS: u64 = 1 << 0;

/// Since this version rules can let files move between directories. Before, they forbid that by being
/// there.
const MOVES: u32 = 2;

/// File systems of the sandbox's own, which have modes to say what may be written.
const PRIVATE: [&str; 4] = ["/dev/shm", "/dev/pts", "/dev/ptmx", "/proc"];

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
        let ruleset = Self::create(write | read, SCOPE_SIGNAL | scope(rules), version)?;
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

    /// Rules for a command behind read-only mounts, which do not keep it from writing into pipes; none
    /// if the kernel is too old.
    pub(crate) fn beside_mounts(
        rules: &Rules,
        version: u32,
        stdio: &StdFds,
    ) -> io::Result<Option<Self>> {
        if version < MOVES {
            return Ok(None);
        }
        let ruleset = Self::create(WRITE_FILE | REFER, scope(rules), version)?;
        ruleset.allow_devices(stdio)?;
        ruleset.allow_path(Path::new("/"), REFER)?;
        for path in PRIVATE {
            ruleset.allow_path(Path::new(path), WRITE_FILE)?;
        }
        for entry in rules.entries.iter().filter(|it| it.access == Access::Write) {
            ruleset.allow_path(&entry.path, WRITE_FILE)?;
        }
        Ok(Some(ruleset))
    }

    fn create(files: u64, scoped: u64, version: u32) -> io::Result<Self> {
        let attributes = RulesetAttr {
            files,
            network: 0,
            scoped,
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
        Ok(Self {
            fd,
            governed: files,
        })
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

    /// Everything but devices, or just what the rules say, and nothing that is hidden. Other terminals
    /// and disks are not for reading either.
    fn allow_reading(&self, rules: &Rules) -> io::Result<()> {
        let Some(readable) = &rules.readable else {
            for entry in fs::read_dir("/")?.flatten() {
                if entry.file_name() != "dev" {
                    self.allow_reading_below(&entry.path(), rules)?;
                }
            }
            return self.allow_reading_entries(rules);
        };
        for path in readable {
            self.allow_reading_below(path, rules)?;
        }
        self.allow_path(Path::new("/proc"), READ)?;
        self.allow_reading_entries(rules)
    }

    /// What rules of their own show, be it inside of something hidden.
    fn allow_reading_entries(&self, rules: &Rules) -> io::Result<()> {
        for entry in rules.entries.iter().filter(|entry| !entry.is_hidden()) {
            self.allow_reading_below(&entry.path, rules)?;
        }
        Ok(())
    }

    /// Where something is hidden further down, everything around it is opened one by one: what appears
    /// there later stays shut.
    fn allow_reading_below(&self, path: &Path, rules: &Rules) -> io::Result<()> {
        if rules.is_hidden(path) {
            return Ok(());
        }
        if !rules.hides_below(path) {
            return self.allow_path(path, READ);
        }
        self.allow_path(path, READ_DIR)?;
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            self.allow_reading_below(&entry.path(), rules)?;
        }
        // A directory that cannot be listed may still be passed through.
        for child in rules.ways_to_hidden(path) {
            self.allow_reading_below(&child, rules)?;
        }
        Ok(())
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

/// What stays inside, if the kernel can see to it: sockets without a path lead out unless all may be
/// reached.
fn scope(rules: &Rules) -> u64 {
    match rules.network {
        Network::Host => 0,
        Network::Off | Network::Gate | Network::Internet => SCOPE_ABSTRACT_SOCKETS,
    }
}

/// The rights that came after the first version.
fn newer_rights(version: u32) -> u64 {
    [(2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)]
        .into_iter()
        .filter(|(since, _)| version >= *since)
        .fold(0, |rights, (_, right)| rights | right)
}
