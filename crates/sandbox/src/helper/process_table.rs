//! Who is whose child, as `/proc` tells.

use std::fs;

/// A line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub pid: libc::pid_t,
    pub parent: libc::pid_t,
    pub group: libc::pid_t,
}

/// All processes that this user may see.
pub(crate) fn all() -> Vec<Entry> {
    let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
    folders
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
    let (parent, group) = parse(&stat)?;
    Some(Entry { pid, parent, group })
}

/// The parent and the group in a line of `/proc/PID/stat`; the name before them may hold any bytes.
fn parse(stat: &[u8]) -> Option<(libc::pid_t, libc::pid_t)> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let mut fields = str::from_utf8(&stat[after_name..])
        .ok()?
        .split_ascii_whitespace()
        .skip(1);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_process_may_have_any_name() {
        assert_eq!(parse(b"7 (a) 1 \xff (b)) S 42 7 7 0 -1"), Some((42, 7)));
        assert_eq!(parse(b"7 (sh"), None);
    }
}
