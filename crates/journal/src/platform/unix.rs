//! The unix way.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

/// Lets new files be for their owner only.
pub(crate) fn private_file(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600)
}

/// Lets new directories be for their owner only.
pub(crate) fn private_dir(builder: &mut DirBuilder) -> &mut DirBuilder {
    builder.mode(0o700)
}

/// Whether an open file has been deleted.
pub(crate) fn is_deleted(_: &File, state: &Metadata) -> io::Result<bool> {
    Ok(state.nlink() == 0)
}

/// Reads some bytes from a place in a file; none at its end.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    file.read_at(buffer, at)
}

/// Makes the entries of a directory survive a power failure.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// Allocates room in a file from a place on, without changing its length.
#[cfg(target_os = "linux")]
pub(crate) fn allocate(file: &File, from: u64, len: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    Ok(fallocate(file, FallocateFlags::KEEP_SIZE, from, len)?)
}

/// Allocates room in a file from a place on, without changing its length.
#[cfg(not(target_os = "linux"))]
pub(crate) fn allocate(_: &File, _: u64, _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Locks a file against others who ask; fails with `WouldBlock` while somebody else has the lock.
pub(crate) fn try_lock(file: &File) -> io::Result<()> {
    Ok(flock(file, FlockOperation::NonBlockingLockExclusive)?)
}

/// Whether `path` still leads to this open file.
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let (open, named) = (file.metadata()?, std::fs::symlink_metadata(path));
    match named {
        Ok(named) => Ok((open.dev(), open.ino()) == (named.dev(), named.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
