//! Everything that came from one child process, wherever it went: its process group, its descendants,
//! and those that left both, which a variable in their environment gives away.
//!
//! On Linux all three are found; elsewhere the group is.

use std::collections::HashSet;
use std::io;

#[cfg(target_os = "linux")]
use quipu_proc::Process;
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
        let table = quipu_proc::all();
        let mark = format!("{}={}", Family::MARK, self.mark);
        let is_named = |it: &Process| named(it).is_some_and(|it| self.seen.contains(&it));
        let is_marked =
            |it: &Process| quipu_proc::has_variable(it.pid, |variable| variable == mark.as_bytes());
        let group = self.leader.as_raw_nonzero().get();
        let roots = table
            .iter()
            .filter(|it| it.group == group || is_named(it) || is_marked(it));
        let members = roots.flat_map(|root| quipu_proc::tree(root.pid, table.clone()));
        let living = members.filter(|it| !it.has_ended);
        living.filter_map(|it| named(&it)).collect()
    }
}

/// What names a process for good: its number, and the time when it began.
#[cfg(target_os = "linux")]
fn named(process: &Process) -> Option<(Pid, u64)> {
    Some((Pid::from_raw(process.pid)?, process.began))
}
