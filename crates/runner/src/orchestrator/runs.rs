//! All running workers: how many there may be, where, and which of them must end.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::dispatch::routable;
use super::message::{Effect, Failure, Level, StopReason};
use super::run::Run;
use crate::config::Config;
use crate::record::Record;
use crate::ssh::HOST_UNAVAILABLE;
use crate::time::Millis;
use crate::tracker::{Issue, normalized};
use crate::workspace;

/// The running workers by the ids of their issues.
#[derive(Debug, Default)]
pub(super) struct Runs {
    pub by_issue: BTreeMap<String, Run>,
    /// Hosts that could not be reached when they were last asked.
    pub unreachable: BTreeSet<String>,
}

impl Runs {
    pub fn ids(&self) -> Vec<String> {
        self.by_issue.keys().cloned().collect()
    }

    /// Whether one more may run for an issue in this state.
    pub fn has_slot(&self, config: &Config, state: &str) -> bool {
        if self.by_issue.len() >= config.agent.max_concurrent_agents {
            return false;
        }
        let state = normalized(state);
        let limit = config.agent.max_concurrent_agents_by_state.get(&state);
        let same = |run: &&Run| normalized(&run.issue.state) == state;
        limit.is_none_or(|limit| self.by_issue.values().filter(same).count() < *limit)
    }

    /// Takes note of a host that could not be reached.
    pub fn note_host(&mut self, run: &Run, failure: Option<&Failure>) {
        let unreachable = failure.is_some_and(|it| it.code == HOST_UNAVAILABLE);
        if unreachable && run.stop.is_none() {
            self.unreachable.extend(run.host.clone());
        }
    }

    /// The host to work on: the one that the issue was on before if it has a place, else the one with the fewest
    /// agents, one that can be reached if possible. An issue stays with a host that cannot be reached if its agent has
    /// worked there, since it might still do so. An error if all are full.
    pub fn host(&self, config: &Config, record: Option<&Record>) -> Result<Option<String>, ()> {
        let worker = &config.worker;
        if worker.ssh_hosts.is_empty() {
            return Ok(None);
        }
        let mut load: BTreeMap<&str, usize> = BTreeMap::new();
        for run in self.by_issue.values() {
            let host = run.host.as_deref().unwrap_or_default();
            *load.entry(host).or_default() += 1;
        }
        let load = |host: &String| load.get(host.as_str()).copied().unwrap_or(0);
        let most = worker.max_concurrent_agents_per_host.unwrap_or(usize::MAX);
        let free = |host: &&String| load(host) < most;
        let dead = |host: &String| self.unreachable.contains(host);
        let before = record.and_then(|it| it.attempts.last()?.host.as_ref());
        let before = before.filter(|it| worker.ssh_hosts.contains(it) && free(it));
        let before = before.filter(|it| !dead(it) || record.is_some_and(|of| of.worked_on(it)));
        let hosts = worker.ssh_hosts.iter().filter(free);
        let host = before.or_else(|| hosts.min_by_key(|it| (dead(it), load(it))));
        host.map(|it| Some(it.clone())).ok_or(())
    }

    /// Whether another issue has this workspace.
    pub fn use_workspace(&self, key: &str, issue_id: &str) -> bool {
        let mut runs = self.by_issue.iter();
        runs.any(|(id, run)| id != issue_id && workspace::key(&run.identifier) == key)
    }

    /// Asks for the end of a worker; its place is free when it has ended.
    pub fn stop(&mut self, issue_id: &str, reason: StopReason, out: &mut Vec<Effect>) {
        let Some(run) = self.by_issue.get_mut(issue_id) else {
            return;
        };
        let first = run.stop.is_none();
        // An issue that is done while its run stalls is cleaned up all the same.
        if first || reason == StopReason::Terminal {
            run.stop = Some(reason);
        }
        if first {
            out.push(Effect::Stop {
                issue_id: issue_id.to_owned(),
            });
        }
    }

    /// Runs that were silent for too long are ended, and tried again.
    pub fn stop_stalled(&mut self, now: Millis, limit: Option<Duration>, out: &mut Vec<Effect>) {
        let Some(limit) = limit else {
            return;
        };
        let limit = Millis::try_from(limit.as_millis()).unwrap_or(Millis::MAX);
        let mut stalled = Vec::new();
        for (id, run) in self.by_issue.iter().filter(|it| it.1.stop.is_none()) {
            let silent = now.saturating_sub(run.heard_at.unwrap_or(run.started_at));
            if silent > limit {
                let entry = run
                    .entry(Level::Warn, "run_stalled")
                    .field("silent_ms", silent);
                out.push(Effect::Log(entry));
                stalled.push(id.clone());
            }
        }
        for id in stalled {
            self.stop(&id, StopReason::Stalled, out);
        }
    }

    /// What the tracker says of the issues that were asked for.
    pub fn reconcile(
        &mut self,
        config: &Config,
        ids: &[String],
        issues: Vec<Issue>,
        out: &mut Vec<Effect>,
    ) {
        let found = issues.into_iter().map(|it| (it.id.clone(), it));
        let mut found: BTreeMap<String, Issue> = found.collect();
        for id in ids {
            let Some(run) = self.by_issue.get_mut(id) else {
                continue;
            };
            let issue = found.remove(id);
            let state = issue.as_ref().map_or("not visible", |it| it.state.as_str());
            let reason = match &issue {
                Some(_) if config.is_terminal(state) => StopReason::Terminal,
                Some(it) if config.is_active(state) && routable(config, it).is_none() => {
                    run.issue = it.clone();
                    continue;
                }
                _ => StopReason::NotActive,
            };
            if run.stop.is_none() {
                let entry = run.entry(Level::Info, "run_canceled").field("state", state);
                out.push(Effect::Log(entry));
            }
            self.stop(id, reason, out);
        }
    }
}
