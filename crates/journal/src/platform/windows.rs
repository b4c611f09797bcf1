//! The Windows way. Files are as private as the directory they are made in: a profile is its user's own.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::FileExt;
use std::os::windows::io::AsRawHandle;
use std::path::Path;

use windows_sys::Win32::Foundation::ERROR_LOCK_VIOLATION;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_STANDARD_INFO, FileStandardInfo, GetFileInformationByHandleEx, LOCKFILE_EXCLUSIVE_LOCK,
    LOCKFILE_FAIL_IMMEDIATELY, LockFileEx,
};
use windows_sys::Win32::System::IO::OVERLAPPED;

pub(crate) fn private_file(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

pub(crate) fn private_dir(builder: &mut DirBuilder) -> &mut DirBuilder {
    builder
}

/// Whether an open file has been deleted.
pub(crate) fn is_deleted(file: &File, _: &Metadata) -> io::Result<bool> {
    let mut info = FILE_STANDARD_INFO::default();
    // SAFETY: the handle is open, and the pointer is to a local of the type and size that are given.
    check(unsafe {
        GetFileInformationByHandleEx(
            file.as_raw_handle(),
            FileStandardInfo,
            (&raw mut info).cast(),
            size_of_val(&info) as u32,
        )
    })?;
    Ok(info.DeletePending || info.NumberOfLinks == 0)
}

/// Reads some bytes from a place in a file; none at its end.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    file.seek_read(buffer, at)
}

/// The file system keeps its directories whole by itself.
pub(crate) fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Allocates room in a file from a place on, without changing its length.
pub(crate) fn allocate(_: &File, _: u64, _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Locks a file against others who ask; fails with `WouldBlock` while somebody else has the lock.
pub(crate) fn try_lock(file: &File) -> io::Result<()> {
    let mut place = beyond_everything();
    let flags = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    // SAFETY: the handle is open and not overlapped, so the call is over when it returns.
    let locked = check(unsafe { LockFileEx(file.as_raw_handle(), flags, 0, 1, 0, &raw mut place) });
    locked.map_err(|error| match error.raw_os_error() {
        Some(code) if code == ERROR_LOCK_VIOLATION as i32 => io::ErrorKind::WouldBlock.into(),
        _ => error,
    })
}

/// Whether `path` still leads to this open file: a file that is open cannot be removed here.
pub(crate) fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Where a lock keeps nobody from reading or writing: these bind those who do not ask, too.
fn beyond_everything() -> OVERLAPPED {
    let mut place = OVERLAPPED::default();
    place.Anonymous.Anonymous.Offset = u32::MAX - 1;
    place.Anonymous.Anonymous.OffsetHigh = i32::MAX as u32;
    place
}

fn check(result: windows_sys::core::BOOL) -> io::Result<()> {
    match result {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
