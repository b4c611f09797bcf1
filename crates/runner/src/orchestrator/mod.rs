//! Who decides: a pure state machine. What happened goes in, what is to be done comes out; there is no clock, file,
//! process or network in here, so a bug report can be a list of inputs.

mod command;
mod dispatch;
mod health;
mod ledger;
mod message;
mod preview;
mod retry;
mod run;
mod runs;
mod snapshot;
mod work;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::config::Config;
use crate::record::{Day, Records};
use crate::time::Millis;

pub use command::{Command, CommandError, Done};
pub use dispatch::{Verdict, sort_for_dispatch};
pub use message::{
    AgentEvent, Effect, Entry, Failure, Input, Job, Level, Outcome, Reported, Resume,
};
pub use preview::preview;
pub use snapshot::{issue_details, state, tracked};

use health::Health;
use ledger::Ledger;
use message::StopReason;
use retry::Retries;
use runs::Runs;

/// The state of the service. Every change happens in [`Orchestrator::step`] and [`Orchestrator::command`].
#[derive(Debug)]
pub struct Orchestrator {
    config: Arc<Config>,
    /// Why nothing is dispatched: the workflow was changed and cannot be used.
    invalid: Option<String>,
    runs: Runs,
    retries: Retries,
    /// Issues whose workspaces are being removed.
    cleaning: BTreeSet<String>,
    ledger: Ledger,
    /// The ids of the issues that the last poll found.
    listed: BTreeSet<String>,
    /// What it did not dispatch, with the reason.
    idle: Vec<Idle>,
    /// Issues whose agents came to an end without a failure.
    completed: BTreeSet<String>,
    cycle: Cycle,
    /// A poll was asked for while one was under way.
    again: bool,
    last_poll: Option<Millis>,
    health: Health,
    stopping: bool,
}

/// An issue that waits, and for what.
#[derive(Clone, Debug)]
pub struct Idle {
    pub issue_id: String,
    pub identifier: String,
    pub title: String,
    pub state: String,
    pub url: Option<String>,
    pub why: Verdict,
}

/// What a poll waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cycle {
    Idle,
    Reconciling,
    Polling,
}

/// Polls that a freed place causes are at least so far apart.
const SOONEST_POLL: Millis = 1_000;

impl Orchestrator {
    /// A service that begins or begins again, with what it remembers.
    #[must_use]
    pub fn new(config: Arc<Config>, records: Records, day: Day) -> Orchestrator {
        Orchestrator {
            config,
            invalid: None,
            runs: Runs::default(),
            retries: Retries::default(),
            cleaning: BTreeSet::new(),
            ledger: Ledger::new(records, day),
            listed: BTreeSet::new(),
            idle: Vec::new(),
            completed: BTreeSet::new(),
            cycle: Cycle::Idle,
            again: false,
            last_poll: None,
            health: Health::default(),
            stopping: false,
        }
    }

    /// The configuration in force.
    #[must_use]
    pub fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// What is remembered of the issues.
    #[must_use]
    pub fn records(&self) -> &Records {
        &self.ledger.records
    }

    /// Whether an issue is running, waits for a retry, or is being cleaned up.
    #[must_use]
    pub fn is_claimed(&self, issue_id: &str) -> bool {
        self.runs.by_issue.contains_key(issue_id)
            || self.retries.by_issue.contains_key(issue_id)
            || self.cleaning.contains(issue_id)
    }

    /// How many agents run.
    #[must_use]
    pub fn running(&self) -> usize {
        self.runs.by_issue.len()
    }

    /// One step: what happened, at which time, and what is to be done now.
    pub fn step(&mut self, now: Millis, input: Input) -> Vec<Effect> {
        let mut effects = Vec::new();
        let out = &mut effects;
        match input {
            Input::Started => self.started(now, out),
            Input::Tick => self.tick(now, out),
            Input::Reloaded(loaded) => self.reloaded(now, loaded, out),
            Input::Refreshed { ids, result } => self.refreshed(now, &ids, result, out),
            Input::Polled(result) => self.polled(now, result, out),
            Input::RetryDue {
                issue_id,
                generation,
            } if !self.stopping => self.retries.due(&issue_id, generation, out),
            Input::RetryDue { .. } => {}
            Input::RetryAsked { issue_id, result } => self.retry_asked(now, &issue_id, result, out),
            Input::Agent { issue_id, event } => self.heard(now, &issue_id, *event, out),
            Input::Exited { issue_id, outcome } => self.exited(now, &issue_id, outcome, out),
            Input::Cleaned { issue_id, removed } => {
                self.cleaning.remove(&issue_id);
                self.ledger.cleaned(&issue_id, removed, out);
            }
            Input::Stop => self.stop_all(out),
        }
        if self.stopping && self.runs.by_issue.is_empty() && self.cleaning.is_empty() {
            effects.push(Effect::Finished);
        }
        effects
    }

    /// What was running when the service ended is marked so; retries that waited go on waiting.
    fn started(&mut self, now: Millis, out: &mut Vec<Effect>) {
        let ids: Vec<String> = self.ledger.records.keys().cloned().collect();
        for id in ids {
            let (interrupted, retry) = self.ledger.recover(now, &id);
            let Some(record) = self.ledger.records.get(&id) else {
                continue;
            };
            if interrupted {
                let entry = Entry::of_record(Level::Warn, "run_interrupted", record)
                    .field("outcome", "the service ended; the thread is resumed");
                out.push(Effect::Log(entry));
                out.push(Effect::Save(Box::new(record.clone())));
            }
            if let Some(retry) = retry {
                let (identifier, url) = (record.identifier.clone(), record.url.clone());
                let (names, ledger) = ((identifier.as_str(), url), &mut self.ledger);
                self.retries.wait(now, &id, names, retry, ledger, out);
            }
        }
        out.push(Effect::Tick { after_ms: 0 });
    }

    /// Reconcile first, then look for new work.
    fn tick(&mut self, now: Millis, out: &mut Vec<Effect>) {
        if self.stopping {
            return;
        }
        if self.cycle != Cycle::Idle {
            self.again = true;
            return;
        }
        self.again = false;
        self.runs
            .stop_stalled(now, self.config.codex.stall_timeout, out);
        let ids = self.runs.ids();
        if let Some(quiet) = self.health.quiet(now) {
            let after_ms = self.interval().min(quiet);
            out.push(Effect::Tick { after_ms });
        } else if ids.is_empty() {
            self.look_for_work(now, out);
        } else {
            self.cycle = Cycle::Reconciling;
            out.push(Effect::Refresh { ids });
        }
    }

    fn look_for_work(&mut self, now: Millis, out: &mut Vec<Effect>) {
        if let Some(error) = &self.invalid {
            let entry = Entry::new(Level::Error, "dispatch_skipped").field("reason", error);
            out.push(Effect::Log(entry));
            self.end_cycle(now, out);
            return;
        }
        self.cycle = Cycle::Polling;
        out.push(Effect::Poll {
            states: self.config.tracker.active_states.clone(),
        });
    }

    fn end_cycle(&mut self, now: Millis, out: &mut Vec<Effect>) {
        self.cycle = Cycle::Idle;
        self.last_poll = Some(now);
        let after_ms = match std::mem::take(&mut self.again) {
            true => 0,
            false => self.interval(),
        };
        out.push(Effect::Tick { after_ms });
    }

    fn interval(&self) -> Millis {
        Millis::try_from(self.config.poll_interval.as_millis()).unwrap_or(Millis::MAX)
    }

    /// A place is free again: issues that waited for one need not wait for the next poll.
    fn place_is_free(&self, now: Millis, out: &mut Vec<Effect>) {
        let waited = self.idle.iter().any(|it| it.why == Verdict::NoSlots);
        if waited && self.cycle == Cycle::Idle && !self.stopping {
            let since = now - self.last_poll.unwrap_or(now);
            let after_ms = (SOONEST_POLL - since).max(0);
            if after_ms < self.interval() {
                out.push(Effect::Tick { after_ms });
            }
        }
    }

    /// A new configuration, or why the last one stays in force and nothing more is dispatched.
    fn reloaded(
        &mut self,
        now: Millis,
        loaded: Result<Arc<Config>, String>,
        out: &mut Vec<Effect>,
    ) {
        match loaded {
            Ok(config) => {
                self.config = config;
                self.invalid = None;
                out.push(Effect::Log(Entry::new(Level::Info, "workflow_reloaded")));
                if self.cycle == Cycle::Idle && self.last_poll.is_some() {
                    self.tick(now, out);
                }
            }
            Err(error) => {
                let entry = Entry::new(Level::Error, "workflow_invalid")
                    .field("outcome", "the last good configuration stays in force")
                    .field("error", &error);
                out.push(Effect::Log(entry));
                self.invalid = Some(error);
            }
        }
    }

    fn stop_all(&mut self, out: &mut Vec<Effect>) {
        self.stopping = true;
        for id in self.runs.ids() {
            self.runs.stop(&id, StopReason::Shutdown, out);
        }
    }

    /// Removes the workspace of an issue; it cannot be dispatched meanwhile.
    fn clean(&mut self, issue_id: &str, identifier: &str, out: &mut Vec<Effect>) {
        self.cleaning.insert(issue_id.to_owned());
        out.push(Effect::Clean {
            issue_id: issue_id.to_owned(),
            identifier: identifier.to_owned(),
        });
    }
}
