//! Agents that a killed service left behind. They end by themselves, since their input has ended; until they have,
//! nobody else may work in their workspaces.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::record::{Record, Records, Status};
use crate::workspace;

/// The variable by which an agent and everything that it starts is known.
pub const VARIABLE: &str = "QUIPU_RUNNER_RUN";

/// How often survivors are looked for before the rest is given up (as another user's, or stuck).
const ROUNDS: u32 = 400;
/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// The value of the variable for one attempt; no other attempt has it.
#[must_use]
pub fn mark(root: &std::path::Path, identifier: &str, number: u32) -> String {
    let place = workspace::key(&format!("{}:", root.display()));
    let place = place.rsplit('-').next().unwrap_or_default().to_owned();
    format!("{place}-{}-{number}", workspace::key(identifier))
}

/// The marks of the attempts that were running when the service ended.
#[must_use]
pub fn marks(root: &std::path::Path, records: &Records) -> BTreeSet<String> {
    let running = |record: &&Record| {
        let last = record.attempts.last();
        last.is_some_and(|it| it.status == Status::Running)
    };
    let records = records.values().filter(running);
    let marks =
        records.filter_map(|it| Some(mark(root, &it.identifier, it.attempts.last()?.number)));
    marks.collect()
}

/// Kills every process with one of these marks, and waits until they are gone.
pub async fn end(marks: BTreeSet<String>) {
    if marks.is_empty() {
        return;
    }
    for _ in 0..ROUNDS {
        let wanted = marks.clone();
        let found = tokio::task::spawn_blocking(move || system::kill_marked(&wanted));
        if found.await.unwrap_or(0) == 0 {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
    tracing::warn!("some processes of an earlier service could not be ended");
}

#[cfg(target_os = "linux")]
mod system {
    //! Processes tell their environment here.

    use std::collections::BTreeSet;

    use rustix::process::{Pid, Signal, kill_process};

    use super::VARIABLE;

    /// How many were found.
    pub fn kill_marked(marks: &BTreeSet<String>) -> usize {
        let found = quipu_proc::pids().filter(|pid| is_marked(*pid, marks));
        let killed = found.filter_map(Pid::from_raw).map(|pid| {
            // A process that is gone already need not be killed.
            kill_process(pid, Signal::KILL).ok();
        });
        killed.count()
    }

    fn is_marked(pid: i32, marks: &BTreeSet<String>) -> bool {
        quipu_proc::has_variable(pid, |variable| {
            let text = std::str::from_utf8(variable).unwrap_or_default();
            let value = text.split_once('=').filter(|it| it.0 == VARIABLE);
            value.is_some_and(|it| marks.contains(it.1))
        })
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    //! Nobody tells the environment of processes here: they end by themselves when their input has.

    use std::collections::BTreeSet;

    pub fn kill_marked(_marks: &BTreeSet<String>) -> usize {
        0
    }
}
