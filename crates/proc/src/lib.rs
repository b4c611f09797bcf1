//! The processes of the machine, as `/proc` of Linux shows them: who is whose child, since when, and with which
//! variables. Where there is no `/proc`, there are no processes.

use std::collections::HashSet;
use std::fs;

/// A process at the moment it was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    pub pid: i32,
    pub parent: i32,
    pub group: i32,
    pub session: i32,
    /// When it began, in ticks of the clock since the machine started. With the number it names a process for good.
    pub began: u64,
    /// What its children have used that ended and were waited for, in ticks.
    pub ended_ticks: u64,
    /// It has ended, and its parent has not waited for it yet.
    pub has_ended: bool,
}

/// The numbers of all processes that this user may see.
pub fn pids() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// All processes that this user may see.
pub fn all() -> Vec<Process> {
    pids().filter_map(Process::read).collect()
}

/// A process and all that descend from it, out of those given.
pub fn tree(root: i32, mut all: Vec<Process>) -> Vec<Process> {
    let mut found = Vec::new();
    let mut pids = HashSet::from([root]);
    // A child's number may be lower than its parent's, so one pass is not enough.
    loop {
        let is_ours = |it: &mut Process| it.pid == root || pids.contains(&it.parent);
        let ours: Vec<_> = all.extract_if(.., is_ours).collect();
        if ours.is_empty() {
            return found;
        }
        pids.extend(ours.iter().map(|it| it.pid));
        found.extend(ours);
    }
}

/// Whether a process began with a variable like this, given as `NAME=value`. One that has ended has none.
pub fn has_variable(pid: i32, is_wanted: impl Fn(&[u8]) -> bool) -> bool {
    let variables = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    variables.split(|byte| *byte == 0).any(is_wanted)
}

impl Process {
    /// A process or thread; `None` if it is gone.
    pub fn read(pid: i32) -> Option<Process> {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        Process::parse(pid, &stat)
    }

    /// A line of `/proc/PID/stat`; the name in it may hold any bytes, but ends with the last parenthesis.
    fn parse(pid: i32, stat: &[u8]) -> Option<Process> {
        let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
        let fields = str::from_utf8(&stat[after_name..]).ok()?;
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<i32>().ok();
        let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
        Some(Process {
            pid,
            has_ended: matches!(*fields.first()?, "Z" | "X"),
            parent: number(1)?,
            group: number(2)?,
            session: number(3)?,
            ended_ticks: ticks(13)? + ticks(14)?,
            began: ticks(19)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Process, all, has_variable, tree};

    const REST: &str = "42 8 9 0 -1 4194304 9 9 0 0 5 6 10 20 20 0 1 0 777 1 1";

    #[test]
    fn a_process_may_have_any_name() {
        let process = Process {
            pid: 7,
            parent: 42,
            group: 8,
            session: 9,
            began: 777,
            ended_ticks: 30,
            has_ended: false,
        };
        let line = [b"7 (a) 1 \xff (b)) S ", REST.as_bytes()].concat();
        assert_eq!(Process::parse(7, &line), Some(process));
        let ended = format!("7 (a) Z {REST}");
        let has_ended = true;
        assert_eq!(
            Process::parse(7, ended.as_bytes()),
            Some(Process {
                has_ended,
                ..process
            })
        );
        assert_eq!(Process::parse(7, b"7 (sh"), None);
    }

    #[test]
    fn children_are_found_whatever_their_numbers() {
        let process = |pid, parent| Process {
            pid,
            parent,
            group: 1,
            session: 1,
            began: 0,
            ended_ticks: 0,
            has_ended: false,
        };
        let table = vec![process(2, 9), process(9, 5), process(5, 1), process(6, 1)];
        let mut pids: Vec<i32> = tree(5, table).iter().map(|it| it.pid).collect();
        pids.sort_unstable();
        assert_eq!(pids, [2, 5, 9]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_is_among_them() {
        let pid = i32::try_from(std::process::id()).unwrap();
        assert!(all().iter().any(|it| it.pid == pid && !it.has_ended));
        let path = std::env::var("PATH").unwrap();
        let wanted = format!("PATH={path}");
        assert!(has_variable(pid, |it| it == wanted.as_bytes()));
    }
}
