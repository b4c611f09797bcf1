//! Everything that came from one child process, wherever it went: its process group, its descendants,
//! and those that left both, which a variable in their environment gives away.
//!
//! On Linux all three are found; elsewhere the group is.

use std::collections::HashSet;
use std::io;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process::{Child, Command};

/// How often survivors are looked for before the rest is given up (as another user's, or stuck).
const ROUNDS: u32 = 100;

/// The processes below one child.
#[derive(Clone, Debug)]
pub(crate) struct Family {
    leader: Pid,
    #[cfg_attr(
        not(target_os = "linux"),
        expect(
            dead_code,
            reason = "only Linux tells what others have in their environment"
        )
    )]
    mark: String,
    /// Descendants seen while their parents lived, with the time when they began.
    seen: HashSet<(Pid, u64)>,
}

impl Family {
    /// The variable that descendants inherit.
    const MARK: &str = "QUIPU_CLIENT_CHILD";

    /// Prepares the start of a child: a process group of its own, and a value of the variable that no other
    /// child has.
    pub fn mark(command: &mut Command) -> String {
        use std::hash::{BuildHasher as _, Hasher as _, RandomState};
        let random = RandomState::new().build_hasher().finish();
        let mark = format!("{}-{random:016x}", std::process::id());
        command.env(Family::MARK, &mark).process_group(0);
        mark
    }

    /// The family of a child that was just started.
    pub fn new(child: &Child, mark: String) -> io::Result<Family> {
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        let leader = i32::try_from(child.id().ok_or_else(gone)?).ok();
        Ok(Family {
            leader: leader.and_then(Pid::from_raw).unwrap_or(Pid::INIT),
            mark,
            seen: HashSet::new(),
        })
    }

    /// Looks at the descendants now, since nobody can tell whose they were once their parents are gone.
    pub fn remember(&mut self) {
        self.seen = self.members();
    }

    /// Kills everyone, and waits until they are gone.
    pub async fn kill(&self) {
        let family = self.clone();
        let killing = tokio::task::spawn_blocking(move || {
            for _ in 0..ROUNDS {
                if !family.kill_once() {
                    return;
                }
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            tracing::warn!("some processes that the server started could not be killed");
        });
        if killing.await.is_err() {
            self.kill_once();
        }
    }

    /// Sends everyone the signal; says whether there was anyone.
    pub fn kill_once(&self) -> bool {
        if self.leader == Pid::INIT {
            return false;
        }
        let members = self.members();
        for (pid, _) in &members {
            // Who is gone already need not be killed.
            kill_process(*pid, Signal::KILL).ok();
        }
        let in_group = kill_process_group(self.leader, Signal::KILL).is_ok();
        !members.is_empty() || (in_group && !cfg!(target_os = "linux"))
    }

    #[cfg(not(target_os = "linux"))]
    fn members(&self) -> HashSet<(Pid, u64)> {
        HashSet::new()
    }

    /// All living members but zombies, with the times when they began.
    #[cfg(target_os = "linux")]
    fn members(&self) -> HashSet<(Pid, u64)> {
        let table = linux::processes();
        let mut members: HashSet<(Pid, u64)> = table
            .iter()
            .filter(|it| {
                it.group == raw(self.leader)
                    || self.seen.contains(&(it.pid, it.began))
                    || it.has_variable(Family::MARK, &self.mark)
            })
            .map(|it| (it.pid, it.began))
            .collect();
        let mut parents: HashSet<i32> = members.iter().map(|(pid, _)| raw(*pid)).collect();
        loop {
            let before = members.len();
            for it in &table {
                if parents.contains(&it.parent) && members.insert((it.pid, it.began)) {
                    parents.insert(raw(it.pid));
                }
            }
            if members.len() == before {
                break;
            }
        }
        members.retain(|(pid, _)| table.iter().any(|it| it.pid == *pid && !it.is_zombie));
        members
    }
}

#[cfg(target_os = "linux")]
fn raw(pid: Pid) -> i32 {
    pid.as_raw_nonzero().get()
}

#[cfg(target_os = "linux")]
mod linux {
    //! The table of processes, as `/proc` tells it.

    use std::fs;

    use rustix::process::Pid;

    pub struct Process {
        pub pid: Pid,
        pub parent: i32,
        pub group: i32,
        pub began: u64,
        pub is_zombie: bool,
    }

    /// Everyone who can be looked at.
    pub fn processes() -> Vec<Process> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|it| it.file_name().to_str()?.parse().ok());
        pids.filter_map(process).collect()
    }

    fn process(pid: i32) -> Option<Process> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name before the bracket may hold anything.
        let (_, rest) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        Some(Process {
            pid: Pid::from_raw(pid)?,
            is_zombie: *fields.first()? == "Z",
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            began: fields.get(19)?.parse().ok()?,
        })
    }

    impl Process {
        pub fn has_variable(&self, name: &str, value: &str) -> bool {
            let path = format!("/proc/{}/environ", self.pid.as_raw_nonzero());
            let wanted = format!("{name}={value}");
            let variables = fs::read(path).unwrap_or_default();
            variables
                .split(|byte| *byte == 0)
                .any(|it| it == wanted.as_bytes())
        }
    }
}
