//! The unix way.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown,
};
use std::path::Path;

use quipu_config::Env;
use tokio::signal::unix::{SignalKind, signal};

pub(crate) use std::os::unix::fs::symlink;
pub(crate) use tokio::signal::unix::Signal;

/// Lets new files be for their owner only.
pub(crate) fn private_file(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600)
}

/// Whether only its owner may open a file.
pub(crate) fn is_private(state: &Metadata) -> bool {
    state.mode() & 0o077 == 0
}

/// Lets new directories be for their owner only.
pub(crate) fn private_dir(builder: &mut DirBuilder) -> &mut DirBuilder {
    builder.mode(0o700)
}

/// Opens a pipe at once, whether or not somebody has its other end.
pub(crate) fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags(libc::O_NONBLOCK)
}

/// What the system says of a directory that should be a file.
pub(crate) fn is_a_directory() -> io::Error {
    io::Error::from_raw_os_error(libc::EISDIR)
}

/// What the system says of links that lead nowhere.
pub(crate) fn too_many_links() -> io::Error {
    io::Error::from_raw_os_error(libc::ELOOP)
}

/// Whether a file has other names, which a new file in its place would not have.
pub(crate) fn has_other_names(_: &File, state: &Metadata) -> io::Result<bool> {
    Ok(state.nlink() > 1)
}

/// Gives a new file the owner of an old one; `false` if that is not allowed.
pub(crate) fn take_owner(new: &File, old: &Metadata) -> io::Result<bool> {
    let (uid, gid) = (old.uid(), old.gid());
    let own = new.metadata()?;
    Ok((own.uid(), own.gid()) == (uid, gid) || fchown(new, Some(uid), Some(gid)).is_ok())
}

/// Whether nobody can write to standard input any more; what was written may be unread.
pub(crate) fn input_is_closed() -> bool {
    let mut input = libc::pollfd {
        fd: libc::STDIN_FILENO,
        events: 0,
        revents: 0,
    };
    // SAFETY: one descriptor, described by memory that lives through the call, which does not wait.
    let found = unsafe { libc::poll(&raw mut input, 1, 0) };
    found == 1 && input.revents & libc::POLLHUP != 0
}

/// The signals that ask this process to stop.
pub(crate) fn stop_signals() -> [io::Result<Signal>; 2] {
    [SignalKind::terminate(), SignalKind::interrupt()].map(signal)
}

/// The signal that asks this process to make way for a new one once its turns are done.
pub(crate) fn reload_signal() -> Option<io::Result<Signal>> {
    Some(signal(SignalKind::hangup()))
}

/// The user's shell, or one that every system has if `SHELL` is no shell: accounts of services have
/// `/usr/sbin/nologin` or `/bin/false` there.
pub(crate) fn shell(env: &Env) -> String {
    let usual = ["/bin/bash", "/bin/sh"];
    let shell = env.get("SHELL").into_iter().chain(usual);
    let found = shell.into_iter().find(|shell| is_shell(Path::new(shell)));
    found.unwrap_or("/bin/sh").to_owned()
}

/// Whether a path is absolute and names a program whose name is that of a shell.
fn is_shell(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let metadata = std::fs::metadata(path);
    path.is_absolute()
        && name.is_some_and(|name| name.ends_with("sh"))
        && metadata.is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

/// How many files this process may have open.
pub(crate) fn max_open_files() -> Option<usize> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the call writes to the value that it is given and keeps nothing.
    let read = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    (read == 0).then(|| usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX))
}
