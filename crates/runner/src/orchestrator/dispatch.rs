//! Which issues are worked on now, and in which order.

use std::fmt;
use std::sync::Arc;

use super::message::{Effect, Entry, Job, Level, Resume};
use super::run::Run;
use super::{Cycle, Idle, Orchestrator};
use crate::config::Config;
use crate::time::Millis;
use crate::tracker::{Issue, TrackerError};
use crate::workspace;

/// Whether an issue is dispatched, and if not, why.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    Dispatch,
    /// A member that every issue has is empty.
    Malformed(&'static str),
    NotActive,
    /// By the tracker's own rules: it is assigned to somebody else, say.
    NotDispatchable,
    /// By these issues, with their states.
    Blocked(String),
    MissingLabel(String),
    Claimed,
    SameWorkspace,
    Held(String),
    OverBudget(String),
    NoSlots,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Dispatch => f.write_str("ready"),
            Verdict::Malformed(member) => write!(f, "its {member} is empty"),
            Verdict::NotActive => f.write_str("its state is not active"),
            Verdict::NotDispatchable => f.write_str("not dispatchable by the tracker's rules"),
            Verdict::Blocked(by) => write!(f, "blocked by {by}"),
            Verdict::MissingLabel(label) => write!(f, "it does not have the label `{label}`"),
            Verdict::Claimed => f.write_str("running or waiting for a retry"),
            Verdict::SameWorkspace => f.write_str("another issue has the same identifier"),
            Verdict::Held(why) => write!(f, "held: {why}"),
            Verdict::OverBudget(which) => write!(f, "over budget: {which}"),
            Verdict::NoSlots => f.write_str("no available orchestrator slots"),
        }
    }
}

/// Urgent ones first, then old ones, then by name.
pub fn sort_for_dispatch(issues: &mut [Issue]) {
    issues.sort_by(|a, b| {
        let rank = |it: &Issue| it.priority.filter(|it| (1..=4).contains(it)).unwrap_or(5);
        let age = |it: &Issue| it.created_at.unwrap_or(Millis::MAX);
        rank(a)
            .cmp(&rank(b))
            .then_with(|| age(a).cmp(&age(b)))
            .then_with(|| a.identifier.cmp(&b.identifier))
    });
}

/// Why an issue is not for this service, by its labels and the tracker's rules.
pub(super) fn routable(config: &Config, issue: &Issue) -> Option<Verdict> {
    if !issue.dispatchable {
        return Some(blocked(config, issue));
    }
    let labels = crate::tracker::labels(&issue.labels);
    let required = &config.tracker.required_labels;
    let missing = required.iter().find(|it| !labels.contains(it));
    missing.map(|label| Verdict::MissingLabel(label.clone()))
}

/// Why an issue is not dispatchable, as far as that is known.
fn blocked(config: &Config, issue: &Issue) -> Verdict {
    let open = issue.blocked_by.iter().filter_map(|it| {
        let state = it.state.as_deref();
        if state.is_some_and(|it| config.is_terminal(it)) {
            return None;
        }
        let name = it.identifier.as_ref().or(it.id.as_ref())?;
        Some(format!("{name} ({})", state.unwrap_or("not found")))
    });
    let open: Vec<String> = open.collect();
    match open.is_empty() {
        true => Verdict::NotDispatchable,
        false => Verdict::Blocked(open.join(", ")),
    }
}

impl Orchestrator {
    /// What a poll found.
    pub(super) fn polled(
        &mut self,
        now: Millis,
        result: Result<Vec<Issue>, TrackerError>,
        out: &mut Vec<Effect>,
    ) {
        if self.cycle != Cycle::Polling {
            return;
        }
        match result {
            Err(error) => self.health.failed(now, "poll", &error, out),
            Ok(mut issues) => {
                self.health.last_error = None;
                sort_for_dispatch(&mut issues);
                self.dispatch_all(now, issues, out);
            }
        }
        self.end_cycle(now, out);
    }

    fn dispatch_all(&mut self, now: Millis, issues: Vec<Issue>, out: &mut Vec<Effect>) {
        self.idle.clear();
        self.listed = issues.iter().map(|it| it.id.clone()).collect();
        for issue in issues {
            match self.verdict(now, &issue) {
                Verdict::Dispatch => self.dispatch(now, issue, None, out),
                Verdict::Claimed => {}
                why => self.idle.push(Idle {
                    issue_id: issue.id,
                    identifier: issue.identifier,
                    title: issue.title,
                    state: issue.state,
                    url: issue.url,
                    why,
                }),
            }
        }
    }

    /// Whether an issue of a poll would be dispatched.
    #[must_use]
    pub fn verdict(&self, now: Millis, issue: &Issue) -> Verdict {
        match self.eligible(now, issue) {
            Verdict::Dispatch if self.is_claimed(&issue.id) => Verdict::Claimed,
            Verdict::Dispatch if self.workspace_is_taken(issue) => Verdict::SameWorkspace,
            Verdict::Dispatch if !self.has_place(issue) => Verdict::NoSlots,
            verdict => verdict,
        }
    }

    /// Whether an issue may be worked on, regardless of who works on it now and whether there is a place.
    pub(super) fn eligible(&self, now: Millis, issue: &Issue) -> Verdict {
        if let Some(member) = issue.missing() {
            return Verdict::Malformed(member);
        }
        if !self.config.is_active(&issue.state) {
            return Verdict::NotActive;
        }
        if let Some(why) = routable(&self.config, issue) {
            return why;
        }
        let record = self.ledger.records.get(&issue.id);
        if let Some(why) = record.and_then(|it| it.held.clone()) {
            return Verdict::Held(why);
        }
        match self.ledger.over_budget(&self.config.budget, now, &issue.id) {
            Some(which) => Verdict::OverBudget(which),
            None => Verdict::Dispatch,
        }
    }

    pub(super) fn has_place(&self, issue: &Issue) -> bool {
        let slot = self.runs.has_slot(&self.config, &issue.state);
        !self.stopping && slot && self.host(issue).is_ok()
    }

    fn host(&self, issue: &Issue) -> Result<Option<String>, ()> {
        let record = self.ledger.records.get(&issue.id);
        self.runs.host(&self.config, record)
    }

    /// Whether another issue that is claimed has the same workspace, which a tracker with two issues of one name
    /// causes.
    pub(super) fn workspace_is_taken(&self, issue: &Issue) -> bool {
        let key = workspace::key(&issue.identifier);
        let runs = self.runs.use_workspace(&key, &issue.id);
        runs || self.retries.use_workspace(&key, &issue.id)
    }

    /// Starts a worker. The caller has checked that it may.
    pub(super) fn dispatch(
        &mut self,
        now: Millis,
        issue: Issue,
        attempt: Option<u32>,
        out: &mut Vec<Effect>,
    ) {
        let host = self.host(&issue).unwrap_or_default();
        let record = self.ledger.begin(now, &issue, attempt, host.clone(), out);
        let begun = record.attempts.last();
        let attempt = begun.and_then(|it| it.attempt);
        let thread = begun.and_then(|it| it.thread_id.clone());
        let job = Job {
            attempt,
            resume: thread.map(|thread_id| Resume { thread_id }),
            host: host.clone(),
            record: record.clone(),
            config: Arc::clone(&self.config),
            issue: issue.clone(),
        };
        let entry = Entry::of_record(Level::Info, "dispatched", record)
            .field("attempt", attempt.unwrap_or(0))
            .field("run", job.number())
            .field("resumed", job.resume.is_some());
        out.push(Effect::Log(entry));
        self.retries.by_issue.remove(&issue.id);
        let run = Run::new(issue, attempt, host, now);
        self.runs.by_issue.insert(run.issue.id.clone(), run);
        out.push(Effect::Dispatch(Box::new(job)));
    }
}
