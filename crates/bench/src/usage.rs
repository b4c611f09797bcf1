//! What the kernel says a process and its descendants have used. A server may do work in helper
//! processes, so figures are always sums over the tree.

use std::collections::HashSet;
use std::fs;
use std::time::Duration;

use crate::Result;

/// Processor time so far, children that have ended included.
pub fn cpu(root: i32) -> Result<Duration> {
    let ticks: u64 = tree(root)?.iter().map(|process| process.ticks).sum();
    let per_second = rustix::param::clock_ticks_per_second();
    Ok(Duration::from_secs_f64(ticks as f64 / per_second as f64))
}

/// Memory now, in MB. Pages that processes share count once.
pub fn memory(root: i32) -> Result<f64> {
    let kilobytes: u64 = tree(root)?
        .iter()
        .filter_map(|it| proportional(it.pid))
        .sum();
    Ok(kilobytes as f64 * 1024.0 / 1e6)
}

/// The proportional set size in KiB; nothing for a process that has just ended.
fn proportional(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.split_whitespace().next()?.parse().ok()
}

struct Process {
    pid: i32,
    parent: i32,
    ticks: u64,
}

/// The process and all descendants that live.
fn tree(root: i32) -> Result<Vec<Process>> {
    let mut others = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let pid = entry?.file_name().to_string_lossy().parse();
        let stat = |pid| fs::read_to_string(format!("/proc/{pid}/stat")).ok();
        others.extend(pid.ok().and_then(|pid| parse(pid, &stat(pid)?)));
    }
    let mut found = Vec::new();
    let mut pids = HashSet::from([root]);
    // A child's number may be lower than its parent's, so one pass is not enough.
    loop {
        let is_ours = |it: &mut Process| it.pid == root || pids.contains(&it.parent);
        let ours: Vec<_> = others.extract_if(.., is_ours).collect();
        if ours.is_empty() {
            break;
        }
        pids.extend(ours.iter().map(|it| it.pid));
        found.extend(ours);
    }
    match found.is_empty() {
        true => Err("the server has ended".into()),
        false => Ok(found),
    }
}

/// One line of `/proc/PID/stat`. The name in it may hold anything but ends with the last parenthesis.
fn parse(pid: i32, stat: &str) -> Option<Process> {
    let fields: Vec<_> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let parent = fields.get(1)?.parse().ok()?;
    // User and system time, each of the process and of its ended children.
    let times = fields.get(11..15)?.iter().map(|it| it.parse::<u64>().ok());
    Some(Process {
        pid,
        parent,
        ticks: times.sum::<Option<u64>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_line_with_a_bad_name() {
        let line = "7 (a) b (c) S 3 7 7 0 -1 4194304 9 9 0 0 5 6 10 20 20 0 1 0";
        let process = parse(7, line).unwrap();
        assert_eq!((process.parent, process.ticks), (3, 41));
    }

    #[test]
    fn knows_this_process() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(memory(own).unwrap() > 0.1);
        assert!(cpu(own).is_ok());
        assert!(cpu(i32::MAX).is_err());
    }
}
