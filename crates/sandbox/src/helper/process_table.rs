//! Who is whose child, as `/proc` tells.

use std::fs;

/// A line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub pid: libc::pid_t,
    pub parent: libc::pid_t,
    pub group: libc::pid_t,
    pub session: libc::pid_t,
    /// Nobody has taken leave of it yet.
    pub has_ended: bool,
}

/// All processes that this user may see.
pub(crate) fn all() -> Vec<Entry> {
    let directories = fs::read_dir("/proc").into_iter().flatten().flatten();
    directories
        .filter_map(|entry| read(entry.file_name().to_str()?.parse().ok()?))
        .collect()
}

/// Whether a line of parents leads from a process or thread to this process; `None` if it does not
/// exist.
pub(crate) fn is_below_us(pid: libc::pid_t) -> Option<bool> {
    let us = std::process::id().cast_signed();
    let mut parent = read(pid)?.parent;
    while parent > 1 && parent != us {
        // Parents that end meanwhile leave their children to us; the question can be asked again.
        parent = read(parent).map_or(1, |entry| entry.parent);
    }
    Some(parent == us)
}

/// A process or thread; `None` if it is gone.
fn read(pid: libc::pid_t) -> Option<Entry> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse(pid, &stat)
}

/// A line of `/proc/PID/stat`; the name in it may hold any bytes.
fn parse(pid: libc::pid_t, stat: &[u8]) -> Option<Entry> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let mut fields = str::from_utf8(&stat[after_name..])
        .ok()?
        .split_ascii_whitespace();
    let has_ended = matches!(fields.next()?, "Z" | "X");
    let mut number = || fields.next()?.parse().ok();
    Some(Entry {
        pid,
        parent: number()?,
        group: number()?,
        session: number()?,
        has_ended,
    })
}

#[cfg(test)]
mod tests {
    use super::{Entry, parse};

    #[test]
    fn a_process_may_have_any_name() {
        let entry = Entry {
            pid: 7,
            parent: 42,
            group: 8,
            session: 9,
            has_ended: false,
        };
        assert_eq!(parse(7, b"7 (a) 1 \xff (b)) S 42 8 9 0 -1"), Some(entry));
        let has_ended = true;
        assert_eq!(
            parse(7, b"7 (a) Z 42 8 9 0 -1"),
            Some(Entry { has_ended, ..entry })
        );
        assert_eq!(parse(7, b"7 (sh"), None);
    }
}
