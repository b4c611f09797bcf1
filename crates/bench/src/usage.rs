//! What the kernel says a process and its descendants have used. A server may do work in helper
//! processes, so figures are always sums over the tree.

use std::collections::HashSet;
use std::fs;
use std::time::Duration;

use crate::Result;

/// Processor time so far. Living processes have a fine clock; of ended ones only ticks are known.
pub fn cpu(root: i32) -> Result<Duration> {
    let tree = tree(root)?;
    let alive: Duration = tree.iter().filter_map(|it| clock(it.pid)).sum();
    let ticks: u64 = tree.iter().map(|it| it.ended_ticks).sum();
    let per_second = rustix::param::clock_ticks_per_second();
    Ok(alive + Duration::from_secs_f64(ticks as f64 / per_second as f64))
}

/// Processor time of this program so far, its children apart.
pub fn own() -> Result<Duration> {
    alone(i32::try_from(std::process::id())?)
}

/// Processor time of a process so far, its children apart.
pub fn alone(pid: i32) -> Result<Duration> {
    clock(pid).ok_or_else(|| "the kernel does not say what the process has used".into())
}

/// Processor time of all children of this program that have ended and were waited for.
pub fn ended_children() -> Result<Duration> {
    // SAFETY: zeroes are a valid value of this plain struct.
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the call writes to the value that it is given and keeps nothing.
    if unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut used) } != 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    let seconds = |it: libc::timeval| it.tv_sec as f64 + it.tv_usec as f64 / 1e6;
    Ok(Duration::from_secs_f64(
        seconds(used.ru_utime) + seconds(used.ru_stime),
    ))
}

/// The processor-time clock of a process; nothing for one that has just ended.
fn clock(pid: i32) -> Option<Duration> {
    let mut id = 0;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: both calls write to the value that they are given and keep nothing.
    let read = unsafe {
        libc::clock_getcpuclockid(pid, &raw mut id) == 0
            && libc::clock_gettime(id, &raw mut time) == 0
    };
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let nanos = u32::try_from(time.tv_nsec).ok()?;
    read.then(|| Duration::new(seconds, nanos))
}

/// Memory now, in MB: all that is resident in the process, and of its descendants what they hold
/// beyond the same program. (Shares of pages would be fairer, but depend on who else runs the program.)
pub fn memory(root: i32) -> Result<f64> {
    let kilobytes = |process: &Process| match process.pid == root {
        true => resident(process.pid, "Rss:"),
        false => resident(process.pid, "Anonymous:"),
    };
    let sum: u64 = tree(root)?.iter().filter_map(kilobytes).sum();
    Ok(sum as f64 * 1024.0 / 1e6)
}

/// The same, once the server has had a moment to give memory back.
pub async fn settled_memory(root: i32) -> Result<f64> {
    tokio::time::sleep(Duration::from_millis(500)).await;
    memory(root)
}

/// The most memory that was ever resident in the process, in MB.
pub fn peak_memory(pid: i32) -> Result<f64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: Option<f64> = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    let kilobytes = kilobytes.ok_or("the kernel does not say how much memory was used")?;
    Ok(kilobytes * 1024.0 / 1e6)
}

/// A line of the memory summary in KiB; nothing for a process that has just ended.
fn resident(pid: i32, which: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(which))?;
    line.split_whitespace().next()?.parse().ok()
}

struct Process {
    pid: i32,
    parent: i32,
    /// What its ended children have used.
    ended_ticks: u64,
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
    // User and system time.
    let times = fields.get(13..15)?.iter().map(|it| it.parse::<u64>().ok());
    Some(Process {
        pid,
        parent,
        ended_ticks: times.sum::<Option<u64>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_line_with_a_bad_name() {
        let line = "7 (a) b (c) S 3 7 7 0 -1 4194304 9 9 0 0 5 6 10 20 20 0 1 0";
        let process = parse(7, line).unwrap();
        assert_eq!((process.parent, process.ended_ticks), (3, 30));
    }

    #[test]
    fn knows_this_process() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(memory(own).unwrap() > 0.1);
        assert!(peak_memory(own).unwrap() > 0.1);
        assert!(cpu(own).unwrap() > Duration::ZERO);
        assert!(cpu(i32::MAX).is_err());
    }
}
