//! Ends runs that stalled, and runs whose issues are no longer to be worked on.

use std::collections::BTreeMap;

use super::dispatch::routable;
use super::message::{Effect, Entry, Level, StopReason};
use super::{Cycle, Orchestrator};
use crate::time::Millis;
use crate::tracker::{Issue, TrackerError};

impl Orchestrator {
    /// Runs that were silent for too long are ended, and tried again.
    pub(super) fn stop_stalled(&mut self, now: Millis, out: &mut Vec<Effect>) {
        let Some(limit) = self.config.codex.stall_timeout else {
            return;
        };
        let limit = Millis::try_from(limit.as_millis()).unwrap_or(Millis::MAX);
        let silent = |at: Millis| now.saturating_sub(at);
        let stalled: Vec<(String, Millis)> = self
            .runs
            .iter()
            .filter(|(_, run)| run.stop.is_none())
            .map(|(id, run)| (id.clone(), silent(run.heard_at.unwrap_or(run.started_at))))
            .filter(|(_, silent)| *silent > limit)
            .collect();
        for (id, silent) in stalled {
            if let Some(run) = self.runs.get(&id) {
                let entry = Entry::of_issue(Level::Warn, "run_stalled", &id, &run.identifier)
                    .session(run.session_id.as_deref())
                    .field("silent_ms", silent)
                    .field("outcome", "retrying");
                out.push(Effect::Log(entry));
            }
            self.stop(&id, StopReason::Stalled, out);
        }
    }

    /// What the tracker says of the issues that are worked on.
    pub(super) fn refreshed(
        &mut self,
        now: Millis,
        ids: &[String],
        result: Result<Vec<Issue>, TrackerError>,
        out: &mut Vec<Effect>,
    ) {
        if self.cycle != Cycle::Reconciling {
            return;
        }
        match result {
            Err(error) => self.tracker_failed("reconcile", &error, out),
            Ok(issues) => self.reconcile(ids, issues, out),
        }
        if self.stopping {
            self.cycle = Cycle::Idle;
        } else {
            self.look_for_work(now, out);
        }
    }

    fn reconcile(&mut self, ids: &[String], issues: Vec<Issue>, out: &mut Vec<Effect>) {
        let mut found: BTreeMap<String, Issue> =
            issues.into_iter().map(|it| (it.id.clone(), it)).collect();
        for id in ids {
            let Some(run) = self.runs.get_mut(id) else {
                continue;
            };
            let issue = found.remove(id);
            let state = issue.as_ref().map_or("", |it| it.state.as_str());
            let reason = match &issue {
                Some(_) if self.config.is_terminal(state) => Some(StopReason::Terminal),
                Some(it)
                    if self.config.is_active(state) && routable(&self.config, it).is_none() =>
                {
                    None
                }
                _ => Some(StopReason::NotActive),
            };
            match (reason, issue) {
                (None, Some(issue)) => run.issue = issue,
                (Some(reason), issue) => {
                    let state = issue.map_or_else(|| "not visible".to_owned(), |it| it.state);
                    let entry = Entry::of_issue(Level::Info, "run_canceled", id, &run.identifier)
                        .session(run.session_id.as_deref())
                        .field("state", state);
                    out.push(Effect::Log(entry));
                    self.stop(id, reason, out);
                }
                (None, None) => {}
            }
        }
    }
}
