//! What the kernel says a process and its descendants have used. A server may do work in helper
//! processes, so figures are always sums over the tree.

use std::fs;
use std::time::Duration;

use quipu_proc::Process;

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

/// How many processes there are, the root included.
pub fn processes(root: i32) -> Result<usize> {
    Ok(tree(root)?.len())
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

/// The process and all descendants that live.
fn tree(root: i32) -> Result<Vec<Process>> {
    let tree = quipu_proc::tree(root, quipu_proc::all());
    match tree.is_empty() {
        true => Err("the server has ended".into()),
        false => Ok(tree),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_this_process() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(memory(own).unwrap() > 0.1);
        assert!(peak_memory(own).unwrap() > 0.1);
        assert!(cpu(own).unwrap() > Duration::ZERO);
        assert!(cpu(i32::MAX).is_err());
    }
}
