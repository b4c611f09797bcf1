//! Changing modes, owners, times, lengths and attributes in the command's stead.

use std::{
    fs::File,
    io,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::fs::MetadataExt,
    },
    path::Path,
};

use super::{
    Broker,
    calls::{Call, TimeForm},
    changes::reopen,
    resolve,
    target::Target,
};
use crate::{fd::check, linux::sys};

impl Broker<'_> {
    /// Changes a file that may be written. Landlock would not refuse the rest, so we do.
    pub(super) fn touch(&self, call: &Call, target: &Target<'_>) -> io::Result<()> {
        let question = target.question;
        match *call {
            Call::SetMode { file, mode } => {
                let file = self.writable(target, target.file(file)?)?;
                let (path, mode) = (resolve::handle(&file), question.int(mode).cast_unsigned());
                // SAFETY: a terminated path.
                done(unsafe { libc::chmod(path.as_ptr(), mode) })
            }
            Call::SetOwner { file, user, group } => {
                let file = self.writable(target, target.file(file)?)?;
                let [user, group] = [user, group].map(|id| question.int(id).cast_unsigned());
                let (fd, this) = (file.as_raw_fd(), libc::AT_EMPTY_PATH);
                // SAFETY: an open descriptor and an empty string.
                done(unsafe { libc::fchownat(fd, c"".as_ptr(), user, group, this) })
            }
            Call::SetTimes { file, times, form } => {
                let times = read_times(target, times, form)?;
                let file = self.writable(target, target.file(file)?)?;
                let times = times
                    .as_ref()
                    .map_or(std::ptr::null(), |times| times.as_ptr());
                let (fd, this) = (file.as_raw_fd(), libc::AT_EMPTY_PATH);
                // SAFETY: an open descriptor, an empty string, and two times or none.
                done(unsafe { libc::utimensat(fd, c"".as_ptr(), times, this) })
            }
            Call::SetLength { file, length } => {
                let length = question.arguments[length].cast_signed();
                let file = self.writable(target, target.file(file)?)?;
                let file = reopen(&file, libc::O_WRONLY, 0)?;
                // SAFETY: an open descriptor.
                done(unsafe { libc::ftruncate(file.as_raw_fd(), length) })
            }
            Call::SetAttribute { file, name } => {
                let text = sys::c_path(Path::new(&target.text(name)?))?;
                let size = question.arguments[name + 2] as usize;
                let value = target.bytes(name + 1, size)?;
                let flags = question.int(name + 3);
                let file = self.writable(target, target.file(file)?)?;
                let (path, name) = (resolve::handle(&file), text.as_ptr());
                // SAFETY: terminated strings and a value of that size.
                done(unsafe {
                    libc::setxattr(path.as_ptr(), name, value.as_ptr().cast(), size, flags)
                })
            }
            Call::RemoveAttribute { file, name } => {
                let text = sys::c_path(Path::new(&target.text(name)?))?;
                let file = self.writable(target, target.file(file)?)?;
                let path = resolve::handle(&file);
                // SAFETY: terminated strings.
                done(unsafe { libc::removexattr(path.as_ptr(), text.as_ptr()) })
            }
            _ => Err(io::Error::from_raw_os_error(libc::ENOSYS)),
        }
    }

    /// Passes a file on if the command may change it: it lies where it may write, or nowhere at all,
    /// as pipes and deleted files do.
    fn writable(&self, target: &Target<'_>, file: OwnedFd) -> io::Result<OwnedFd> {
        let path = resolve::real_path(&file)?;
        let nowhere = !path.is_absolute() || File::from(file.try_clone()?).metadata()?.nlink() == 0;
        if (nowhere || self.rules.writable_root(&path).is_some()) && self.still_waits(target) {
            return Ok(file);
        }
        Err(io::Error::from_raw_os_error(libc::EPERM))
    }
}

/// The two times of a call; none if it means now.
fn read_times(
    target: &Target<'_>,
    argument: usize,
    form: TimeForm,
) -> io::Result<Option<[libc::timespec; 2]>> {
    if target.question.arguments[argument] == 0 {
        return Ok(None);
    }
    let word = size_of::<i64>();
    let count = if matches!(form, TimeForm::Seconds) {
        2
    } else {
        4
    };
    let bytes = target.bytes(argument, count * word)?;
    let numbers: Vec<i64> = bytes
        .chunks_exact(word)
        .map(|bytes| i64::from_ne_bytes(bytes.try_into().unwrap_or_default()))
        .collect();
    let time = |index: usize| match form {
        TimeForm::Seconds => libc::timespec {
            tv_sec: numbers[index],
            tv_nsec: 0,
        },
        TimeForm::Microseconds => libc::timespec {
            tv_sec: numbers[2 * index],
            tv_nsec: numbers[2 * index + 1].saturating_mul(1000),
        },
        TimeForm::Nanoseconds => libc::timespec {
            tv_sec: numbers[2 * index],
            tv_nsec: numbers[2 * index + 1],
        },
    };
    Ok(Some([time(0), time(1)]))
}

fn done(result: libc::c_int) -> io::Result<()> {
    check(result).map(drop)
}
