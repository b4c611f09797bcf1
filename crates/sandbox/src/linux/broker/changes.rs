//! Making, opening, moving and removing files in the command's stead.

use std::{
    fs::File,
    io,
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd},
        unix::fs::FileTypeExt,
    },
    path::Path,
};

use super::{
    Broker,
    calls::{Call, PathArg},
    listener::Answer,
    resolve::{self, Place},
    target::{Named, Target},
};
use crate::{fd::check, linux::sys};

/// The bits of a mode that can be set.
const MODE_BITS: u32 = 0o7777;

impl Broker<'_> {
    /// Carries out a change, or finds that it is not ours to carry out. An error means that the
    /// question could not even be understood.
    pub(super) fn change(&self, call: &Call, target: &Target<'_>) -> io::Result<Answer> {
        let question = target.question;
        match *call {
            Call::Open { path, flags, mode } => {
                let flags = question.flags(flags);
                self.open(
                    target,
                    &target.named(path)?,
                    flags,
                    question.int(mode).cast_unsigned(),
                )
            }
            Call::MakeDirectory { path, mode } => {
                let mode = question.int(mode).cast_unsigned() & MODE_BITS & !target.mode_mask()?;
                self.at_place(target, path, |place| {
                    // SAFETY: an open directory and a terminated name.
                    unsafe { libc::mkdirat(place.directory.as_raw_fd(), place.name.as_ptr(), mode) }
                })
            }
            Call::MakeNode { path, mode } => self.make_node(target, path, question.int(mode)),
            Call::Remove { path, flags } => self.remove(target, path, question.flags(flags)),
            Call::Rename { from, to, flags } => {
                let flags = question.flags(flags).cast_unsigned();
                self.rename(target, from, to, flags)
            }
            Call::Link { from, to, flags } => self.link(target, from, to, question.flags(flags)),
            Call::LinkText { text, path } => {
                let text = sys::c_path(Path::new(&target.text(text)?))?;
                self.at_place(target, path, |place| {
                    let (directory, name) = (place.directory.as_raw_fd(), place.name.as_ptr());
                    // SAFETY: an open directory and terminated strings.
                    unsafe { libc::symlinkat(text.as_ptr(), directory, name) }
                })
            }
            _ => Ok(Answer::Proceed),
        }
    }

    /// Acts if one of the paths is ours and all of them may be written.
    fn act(
        &self,
        target: &Target<'_>,
        paths: &[&Path],
        deed: impl FnOnce() -> io::Result<Answer>,
    ) -> io::Result<Answer> {
        let ours = paths.iter().any(|path| self.is_ours(path));
        let writable = paths
            .iter()
            .all(|path| self.rules.writable_root(path).is_some());
        if !ours || !writable || !self.still_waits(target) {
            return Ok(Answer::Proceed);
        }
        Ok(deed().unwrap_or_else(|error| Answer::Error(error.raw_os_error().unwrap_or(libc::EIO))))
    }

    fn at_place(
        &self,
        target: &Target<'_>,
        path: PathArg,
        deed: impl FnOnce(&Place) -> libc::c_int,
    ) -> io::Result<Answer> {
        let place = place(&target.named(path)?)?;
        self.act(target, &[&place.path], || done(deed(&place)))
    }

    fn open(
        &self,
        target: &Target<'_>,
        named: &Named,
        flags: libc::c_int,
        mode: u32,
    ) -> io::Result<Answer> {
        if flags & libc::O_PATH != 0 {
            return Ok(Answer::Proceed);
        }
        let exclusive = flags & libc::O_CREAT != 0 && flags & libc::O_EXCL != 0;
        let follow = flags & libc::O_NOFOLLOW == 0 && !exclusive;
        match resolve::existing(named.base.as_ref(), &named.text, follow) {
            Ok(found) => self.act(target, &[&found.path], || {
                if exclusive {
                    return Ok(Answer::Error(libc::EEXIST));
                }
                let mode = mode & MODE_BITS & !target.mode_mask()?;
                answer_file(reopen(&found.file, flags, mode), flags)
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound && flags & libc::O_CREAT != 0 => {
                let mode = mode & MODE_BITS & !target.mode_mask()?;
                let place = place(named)?;
                self.act(target, &[&place.path], || {
                    answer_file(create(&place, flags, mode), flags)
                })
            }
            Err(error) => Err(error),
        }
    }

    fn make_node(
        &self,
        target: &Target<'_>,
        path: PathArg,
        mode: libc::c_int,
    ) -> io::Result<Answer> {
        let mode = mode.cast_unsigned();
        let kind = mode & libc::S_IFMT;
        if !matches!(kind, 0 | libc::S_IFREG | libc::S_IFIFO) {
            return Ok(Answer::Proceed);
        }
        let mode = kind | mode & MODE_BITS & !target.mode_mask()?;
        self.at_place(target, path, |place| {
            // SAFETY: an open directory and a terminated name.
            unsafe { libc::mknodat(place.directory.as_raw_fd(), place.name.as_ptr(), mode, 0) }
        })
    }

    fn remove(&self, target: &Target<'_>, path: PathArg, flags: libc::c_int) -> io::Result<Answer> {
        let place = place(&target.named(path)?)?;
        if self.rules.is_fixed(&place.path) {
            return Ok(Answer::Proceed);
        }
        self.act(target, &[&place.path], || {
            let (directory, name) = (place.directory.as_raw_fd(), place.name.as_ptr());
            // SAFETY: an open directory and a terminated name.
            done(unsafe { libc::unlinkat(directory, name, flags) })
        })
    }

    fn rename(
        &self,
        target: &Target<'_>,
        from: PathArg,
        to: PathArg,
        flags: u32,
    ) -> io::Result<Answer> {
        let [from, to] = [place(&target.named(from)?)?, place(&target.named(to)?)?];
        // What is protected would move along and be unprotected in its new place.
        if [&from, &to]
            .iter()
            .any(|place| self.rules.is_fixed(&place.path))
        {
            return Ok(Answer::Proceed);
        }
        self.act(target, &[&from.path, &to.path], || {
            // SAFETY: open directories and terminated names.
            let result = unsafe {
                libc::syscall(
                    libc::SYS_renameat2,
                    from.directory.as_raw_fd(),
                    from.name.as_ptr(),
                    to.directory.as_raw_fd(),
                    to.name.as_ptr(),
                    flags,
                )
            };
            done(result as libc::c_int)
        })
    }

    /// The file behind a new link becomes writable by it, so it must have been writable before.
    fn link(
        &self,
        target: &Target<'_>,
        from: PathArg,
        to: PathArg,
        flags: libc::c_int,
    ) -> io::Result<Answer> {
        let found = target.link_source(from, flags)?;
        let place = place(&target.named(to)?)?;
        self.act(target, &[&found.path, &place.path], || {
            let source = resolve::handle(&found.file);
            let (directory, name) = (place.directory.as_raw_fd(), place.name.as_ptr());
            let follow = libc::AT_SYMLINK_FOLLOW;
            // SAFETY: an open directory and terminated strings.
            done(unsafe { libc::linkat(libc::AT_FDCWD, source.as_ptr(), directory, name, follow) })
        })
    }
}

fn place(named: &Named) -> io::Result<Place> {
    resolve::place(named.base.as_ref(), &named.text)
}

/// We must not wait for anybody: neither for the other end of a pipe nor for who holds a lease.
const AT_ONCE: libc::c_int = libc::O_CLOEXEC | libc::O_NOCTTY | libc::O_NONBLOCK;

/// Opens a file that was found, with the flags that were asked for.
pub(super) fn reopen(found: &OwnedFd, flags: libc::c_int, mode: u32) -> io::Result<OwnedFd> {
    check_kind(found)?;
    let settled = libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW;
    let path = resolve::handle(found);
    // SAFETY: a terminated path.
    let file = owned(unsafe { libc::open(path.as_ptr(), flags & !settled | AT_ONCE, mode) })?;
    with_flags(file, flags)
}

/// Makes a file where there was none a moment ago.
fn create(place: &Place, flags: libc::c_int, mode: u32) -> io::Result<OwnedFd> {
    let opened = flags | libc::O_NOFOLLOW | AT_ONCE;
    let (directory, name) = (place.directory.as_raw_fd(), place.name.as_ptr());
    // SAFETY: an open directory and a terminated name.
    let file = owned(unsafe { libc::openat(directory, name, opened, mode) })?;
    // Somebody may have put something else there meanwhile.
    check_kind(&file)?;
    with_flags(file, flags)
}

/// A device leads out of any directory.
fn check_kind(file: &OwnedFd) -> io::Result<()> {
    let kind = File::from(file.try_clone()?).metadata()?.file_type();
    if kind.is_symlink() {
        return Err(io::Error::from_raw_os_error(libc::ELOOP));
    }
    if kind.is_file() || kind.is_dir() || kind.is_fifo() {
        return Ok(());
    }
    Err(io::Error::from_raw_os_error(libc::EACCES))
}

/// The file as if it had been opened with no other flags than these.
fn with_flags(file: OwnedFd, flags: libc::c_int) -> io::Result<OwnedFd> {
    if flags & libc::O_NONBLOCK == 0 {
        let flags = flags & !libc::O_ASYNC;
        // SAFETY: sets flags of an open descriptor.
        check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags) })?;
    }
    Ok(file)
}

/// Passes a file on. A pipe that nobody reads yet opens when somebody does.
fn answer_file(file: io::Result<OwnedFd>, flags: libc::c_int) -> io::Result<Answer> {
    match file {
        Err(error)
            if error.raw_os_error() == Some(libc::ENXIO) && flags & libc::O_NONBLOCK == 0 =>
        {
            Ok(Answer::Later)
        }
        file => file.map(|file| Answer::File {
            file,
            close_on_exec: flags & libc::O_CLOEXEC != 0,
        }),
    }
}

fn owned(result: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: the call that made the descriptor has just returned it.
    check(result).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

fn done(result: libc::c_int) -> io::Result<Answer> {
    check(result).map(|_| Answer::Value(0))
}
