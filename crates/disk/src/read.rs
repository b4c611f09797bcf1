//! Reading with a limit, and only what has an end: a pipe may never be written, a device may never stop.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

/// Opens a regular file, and nothing else. What is looked at is what was opened, so that swapping it
/// meanwhile gains nothing.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    // Opening a pipe waits for its other end, otherwise. For regular files it means nothing.
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    }
    let file = options.open(path)?;
    require_regular(&file)?;
    Ok(file)
}

/// Refuses what is not a regular file.
pub fn require_regular(file: &File) -> io::Result<()> {
    let metadata = file.metadata()?;
    if metadata.is_file() {
        return Ok(());
    }
    if metadata.is_dir() {
        // The system's own words, as reading it would give.
        #[cfg(unix)]
        return Err(rustix::io::Errno::ISDIR.into());
        #[cfg(not(unix))]
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Err(io::Error::other("not a regular file"))
}

/// The bytes of a file that has at most `max` of them.
pub fn read(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let bytes = read_start(path, max.saturating_add(1))?;
    if bytes.len() as u64 > max {
        let why = format!("it has more than {max} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}

/// The first bytes of a file, at most `max`.
pub fn read_start(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let expected = file.metadata()?.len().min(max);
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0));
    file.take(max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a file that has at most `max` bytes.
pub fn read_text(path: &Path, max: u64) -> io::Result<String> {
    String::from_utf8(read(path, max)?).map_err(|_| {
        let why = "stream did not contain valid UTF-8";
        io::Error::new(io::ErrorKind::InvalidData, why)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f");
        std::fs::write(&path, "four").unwrap();
        assert_eq!(read_text(&path, 4).unwrap(), "four");
        let error = read_text(&path, 3).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read_start(&path, 3).unwrap(), b"fou");
        std::fs::write(&path, [0xff]).unwrap();
        let error = read_text(&path, 4).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    #[cfg(unix)]
    #[test]
    fn what_has_no_end_is_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
        let zero = directory.path().join("zero");
        std::os::unix::fs::symlink("/dev/zero", &zero).unwrap();
        for path in [&pipe, &zero] {
            let error = read(path, 10).unwrap_err();
            assert_eq!(error.to_string(), "not a regular file");
        }
        let error = read(directory.path(), 10).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
        let error = read(&directory.path().join("none"), 10).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
