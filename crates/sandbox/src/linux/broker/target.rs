//! Looking into the process that asked: its memory, its directory, its descriptors.

use std::{
    ffi::OsString,
    fs::{self, File},
    io,
    os::{
        fd::OwnedFd,
        unix::{
            ffi::OsStringExt,
            fs::{FileExt, OpenOptionsExt},
        },
    },
    path::{Path, PathBuf},
};

use super::{
    calls::{FileArg, Follow, PathArg},
    listener::Question,
    resolve::{self, Found},
};

/// The longest path and the longest attribute that the kernel takes.
const TEXT_LIMIT: usize = 4096;
const VALUE_LIMIT: usize = 64 * 1024;

pub(super) struct Target<'a> {
    pub question: &'a Question,
    directory: PathBuf,
    memory: File,
}

/// A path as the process gave it.
#[derive(Debug)]
pub(super) struct Named {
    /// What a relative path starts from.
    pub base: Option<OwnedFd>,
    pub text: PathBuf,
}

impl<'a> Target<'a> {
    pub(super) fn open(question: &'a Question) -> io::Result<Self> {
        let directory = PathBuf::from(format!("/proc/{}", question.thread));
        let memory = File::open(directory.join("mem"))?;
        Ok(Self {
            question,
            directory,
            memory,
        })
    }

    /// The bytes at an address, up to a zero or the limit.
    pub(super) fn text(&self, argument: usize) -> io::Result<OsString> {
        let (start, mut text) = (self.question.arguments[argument], Vec::new());
        while text.len() < TEXT_LIMIT {
            // The next page may not be there.
            let address = start + text.len() as u64;
            let rest_of_page = 4096 - (address % 4096) as usize;
            let mut part = vec![0; rest_of_page];
            let count = self.memory.read_at(&mut part, address)?;
            match part[..count].iter().position(|byte| *byte == 0) {
                Some(end) => {
                    text.extend(&part[..end]);
                    return Ok(OsString::from_vec(text));
                }
                None if count == 0 => break,
                None => text.extend(&part[..count]),
            }
        }
        Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG))
    }

    /// So many bytes at an address.
    pub(super) fn bytes(&self, argument: usize, length: usize) -> io::Result<Vec<u8>> {
        if length > VALUE_LIMIT {
            return Err(io::Error::from_raw_os_error(libc::E2BIG));
        }
        let mut bytes = vec![0; length];
        self.memory
            .read_exact_at(&mut bytes, self.question.arguments[argument])?;
        Ok(bytes)
    }

    pub(super) fn named(&self, path: PathArg) -> io::Result<Named> {
        let text = PathBuf::from(self.text(path.text)?);
        let base = match path.directory {
            _ if text.is_absolute() => None,
            Some(directory) if self.question.int(directory) != libc::AT_FDCWD => {
                Some(self.descriptor(self.question.int(directory))?)
            }
            _ => Some(name_file(&self.directory.join("cwd"))?),
        };
        Ok(Named { base, text })
    }

    /// The file behind one of its descriptors, only named.
    pub(super) fn descriptor(&self, fd: libc::c_int) -> io::Result<OwnedFd> {
        name_file(&self.directory.join("fd").join(fd.to_string()))
    }

    /// The file that an argument means, only named.
    pub(super) fn file(&self, file: FileArg) -> io::Result<OwnedFd> {
        let (path, follow) = match file {
            FileArg::Descriptor(index) => return self.descriptor(self.question.int(index)),
            FileArg::Path(path, follow) => (path, follow),
        };
        let follow = match follow {
            Follow::Always => true,
            Follow::Never => false,
            Follow::Flags(index) => self.question.int(index) & libc::AT_SYMLINK_NOFOLLOW == 0,
        };
        // Some calls mean the directory's descriptor itself if there is no path.
        if let (0, Some(directory)) = (self.question.arguments[path.text], path.directory) {
            return self.descriptor(self.question.int(directory));
        }
        let named = self.named(path)?;
        if let Some(fd) = own_descriptor(&named.text) {
            return self.descriptor(fd);
        }
        match named.base {
            Some(base) if named.text.as_os_str().is_empty() => Ok(base),
            base => resolve::existing(base.as_ref(), &named.text, follow).map(|found| found.file),
        }
    }

    /// The file that a new hard link is to lead to. The call does not follow a link at its end unless
    /// it says so.
    pub(super) fn link_source(&self, path: PathArg, flags: libc::c_int) -> io::Result<Found> {
        let named = self.named(path)?;
        let follow = flags & libc::AT_SYMLINK_FOLLOW != 0;
        let file = match (own_descriptor(&named.text).filter(|_| follow), named.base) {
            (Some(fd), _) => self.descriptor(fd)?,
            (None, Some(base)) if named.text.as_os_str().is_empty() => base,
            (None, base) => return resolve::existing(base.as_ref(), &named.text, follow),
        };
        let path = resolve::real_path(&file)?;
        Ok(Found { file, path })
    }

    /// Which bits of a mode the process never wants to set.
    pub(super) fn mode_mask(&self) -> io::Result<u32> {
        let status = fs::read_to_string(self.directory.join("status"))?;
        let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
        mask.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok())
            .ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

/// The usual ways to write "my descriptor number so-and-so" as a path. They mean something else in
/// every process, so they cannot be resolved here as they are.
fn own_descriptor(path: &Path) -> Option<libc::c_int> {
    let number = ["/proc/self/fd", "/proc/thread-self/fd", "/dev/fd"]
        .iter()
        .find_map(|directory| path.strip_prefix(directory).ok())?;
    number.to_str()?.parse().ok()
}

fn name_file(path: &Path) -> io::Result<OwnedFd> {
    File::options()
        .read(true)
        .custom_flags(libc::O_PATH)
        .open(path)
        .map(Into::into)
}
