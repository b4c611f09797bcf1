//! The Windows way. Files are as private as the directory they are made in: a profile is its user's own.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::windows::io::AsRawHandle as _;
use std::path::Path;

use quipu_config::Env;
use tokio::signal::windows::{CtrlBreak, CtrlC, ctrl_break, ctrl_c};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_STANDARD_INFO, FileStandardInfo, GetFileInformationByHandleEx,
};

pub(crate) fn private_file(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

pub(crate) fn is_private(_: &Metadata) -> bool {
    true
}

pub(crate) fn private_dir(builder: &mut DirBuilder) -> &mut DirBuilder {
    builder
}

/// Pipes have names of their own here, which no file has.
pub(crate) fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

pub(crate) fn is_a_directory() -> io::Error {
    io::ErrorKind::IsADirectory.into()
}

pub(crate) fn too_many_links() -> io::Error {
    io::Error::other("too many links, one after the other")
}

/// Whether a file has other names, which a new file in its place would not have.
pub(crate) fn has_other_names(file: &File, _: &Metadata) -> io::Result<bool> {
    let mut info = FILE_STANDARD_INFO::default();
    // SAFETY: the handle is open, and the pointer is to a local of the type and size that are given.
    let asked = unsafe {
        GetFileInformationByHandleEx(
            file.as_raw_handle(),
            FileStandardInfo,
            (&raw mut info).cast(),
            size_of_val(&info) as u32,
        )
    };
    match asked {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(info.NumberOfLinks > 1),
    }
}

/// New files have the owner and the access list that their directory says.
pub(crate) fn take_owner(_: &File, _: &Metadata) -> io::Result<bool> {
    Ok(true)
}

/// Links to directories and to files are two kinds here.
pub(crate) fn symlink(target: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    let (target, link) = (target.as_ref(), link.as_ref());
    let directory = link.parent().unwrap_or(Path::new(""));
    if directory.join(target).is_dir() {
        std::os::windows::fs::symlink_dir(target, link)
    } else {
        std::os::windows::fs::symlink_file(target, link)
    }
}

/// A pipe with something unread in it does not tell, and this is only asked of such. A client that is gone is
/// noticed when it is written to.
pub(crate) fn input_is_closed() -> bool {
    false
}

/// Something that asks this process to stop.
pub(crate) enum Signal {
    Interrupt(CtrlC),
    Break(CtrlBreak),
}

impl Signal {
    pub async fn recv(&mut self) -> Option<()> {
        match self {
            Signal::Interrupt(signal) => signal.recv().await,
            Signal::Break(signal) => signal.recv().await,
        }
    }
}

/// The signals that ask this process to stop.
pub(crate) fn stop_signals() -> [io::Result<Signal>; 2] {
    [
        ctrl_break().map(Signal::Break),
        ctrl_c().map(Signal::Interrupt),
    ]
}

/// There is none.
pub(crate) fn reload_signal() -> Option<io::Result<Signal>> {
    None
}

/// The user's shell: what every Windows has, and scripts can be given to as one argument.
pub(crate) fn shell(_: &Env) -> String {
    "powershell.exe".to_owned()
}

/// There is no such limit.
pub(crate) fn max_open_files() -> Option<usize> {
    Some(usize::MAX)
}
