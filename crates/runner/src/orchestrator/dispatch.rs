//! Which issues are worked on now, and in which order.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::message::{Effect, Entry, Job, Level, Resume};
use super::run::Run;
use super::{Cycle, Idle, Orchestrator};
use crate::config::Config;
use crate::record::{Attempt, Day, Record, Spend, Status, Tokens};
use crate::time::{self, Millis};
use crate::tracker::{Issue, TrackerError, normalized};

/// Whether an issue is dispatched, and if not, why.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    Dispatch,
    /// A member that every issue has is empty.
    Malformed(&'static str),
    NotActive,
    /// By the tracker's own rules: it is blocked, or assigned to somebody else.
    NotDispatchable,
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
            Verdict::NotDispatchable => f.write_str("blocked by the tracker's rules"),
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
            Err(error) => self.tracker_failed("poll", &error, out),
            Ok(mut issues) => {
                self.last_error = None;
                sort_for_dispatch(&mut issues);
                self.dispatch_all(now, issues, out);
            }
        }
        self.end_cycle(now, out);
    }

    fn dispatch_all(&mut self, now: Millis, issues: Vec<Issue>, out: &mut Vec<Effect>) {
        self.idle.clear();
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

    /// Whether an issue of a poll is dispatched.
    #[must_use]
    pub fn verdict(&self, now: Millis, issue: &Issue) -> Verdict {
        match self.eligible(now, issue) {
            Verdict::Dispatch if self.is_claimed(&issue.id) => Verdict::Claimed,
            Verdict::Dispatch if self.workspace_is_taken(&issue.id, &issue.identifier) => {
                Verdict::SameWorkspace
            }
            Verdict::Dispatch if !self.has_slot(&issue.state) || self.host(issue).is_err() => {
                Verdict::NoSlots
            }
            verdict => verdict,
        }
    }

    /// The same without claims and places.
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
        let held = self.records.get(&issue.id).and_then(|it| it.held.clone());
        if let Some(why) = held {
            return Verdict::Held(why);
        }
        match self.over_budget(now, &issue.id) {
            Some(which) => Verdict::OverBudget(which),
            None => Verdict::Dispatch,
        }
    }

    /// Which budget is used up, if one is.
    pub(super) fn over_budget(&self, now: Millis, issue_id: &str) -> Option<String> {
        let nothing = Spend::default();
        let today = match self.day.date == time::day(now) {
            true => &self.day.spent,
            false => &nothing,
        };
        over_issue_budget(&self.config, self.records.get(issue_id))
            .or_else(|| exceeded(today, self.config.budget.tokens_per_day, "tokens_per_day"))
            .or_else(|| costs(today, self.config.budget.cost_per_day, "cost_per_day"))
    }

    pub(super) fn has_slot(&self, state: &str) -> bool {
        if self.stopping || self.runs.len() >= self.config.agent.max_concurrent_agents {
            return false;
        }
        let state = normalized(state);
        let limit = self.config.agent.max_concurrent_agents_by_state.get(&state);
        let same = |run: &&Run| normalized(&run.issue.state) == state;
        limit.is_none_or(|limit| self.runs.values().filter(same).count() < *limit)
    }

    /// The host to work on: the one that the issue was on before if it has a place, else the one with the fewest
    /// agents. An error if all are full.
    pub(super) fn host(&self, issue: &Issue) -> Result<Option<String>, ()> {
        let worker = &self.config.worker;
        if worker.ssh_hosts.is_empty() {
            return Ok(None);
        }
        let mut load: BTreeMap<&str, usize> = BTreeMap::new();
        for run in self.runs.values() {
            *load
                .entry(run.host.as_deref().unwrap_or_default())
                .or_default() += 1;
        }
        let load = |host: &String| load.get(host.as_str()).copied().unwrap_or(0);
        let most = worker.max_concurrent_agents_per_host.unwrap_or(usize::MAX);
        let free = |host: &&String| load(host) < most;
        let record = self.records.get(&issue.id);
        let before = record.and_then(|it| it.attempts.last()?.host.as_ref());
        let before = before.filter(|it| worker.ssh_hosts.contains(it) && free(it));
        let hosts = worker.ssh_hosts.iter().filter(free);
        let host = before.or_else(|| hosts.min_by_key(|it| load(it)));
        host.map(|it| Some(it.clone())).ok_or(())
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
        let record = self.records.entry(issue.id.clone());
        let record = record.or_insert_with(|| Record::new(&issue));
        record.identifier.clone_from(&issue.identifier);
        record.title.clone_from(&issue.title);
        record.url.clone_from(&issue.url);
        record.retry = None;
        // What the end of the service interrupted goes on: the same attempt, the same thread.
        let interrupted = record.interrupted().filter(|it| it.host == host).cloned();
        let attempt = attempt.or_else(|| interrupted.as_ref().and_then(|it| it.attempt));
        let thread = interrupted.as_ref().and_then(|it| it.thread_id.clone());
        record.begin(Attempt {
            number: record.next_number(),
            attempt,
            started_at: now,
            ended_at: None,
            status: Status::Running,
            error: None,
            host: host.clone(),
            thread_id: thread.clone(),
            turns: 0,
            spent: Spend::default(),
            reported: interrupted.map_or(Tokens::default(), |it| it.reported),
            patch: false,
            branch: None,
        });
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
        self.count_attempt(now, out);
        self.retries.remove(&issue.id);
        self.runs
            .insert(issue.id.clone(), Run::new(issue, attempt, host, now));
        out.push(Effect::Dispatch(Box::new(job)));
    }

    fn count_attempt(&mut self, now: Millis, out: &mut Vec<Effect>) {
        self.today(now).attempts += 1;
        out.push(Effect::SaveDay(self.day.clone()));
    }

    /// What the present day has cost.
    pub(super) fn today(&mut self, now: Millis) -> &mut Day {
        if self.day.date != time::day(now) {
            self.day = Day::of(now);
        }
        &mut self.day
    }
}

/// Why an issue is not for this service, by its labels and the tracker's rules.
pub(super) fn routable(config: &Config, issue: &Issue) -> Option<Verdict> {
    if !issue.dispatchable {
        return Some(Verdict::NotDispatchable);
    }
    let labels = crate::tracker::labels(&issue.labels);
    let required = &config.tracker.required_labels;
    let missing = required.iter().find(|it| !labels.contains(it));
    missing.map(|label| Verdict::MissingLabel(label.clone()))
}

/// Which budget of the issue itself is used up.
pub(super) fn over_issue_budget(config: &Config, record: Option<&Record>) -> Option<String> {
    let spent = &record?.spent;
    let budget = &config.budget;
    exceeded(spent, budget.tokens_per_issue, "tokens_per_issue")
        .or_else(|| costs(spent, budget.cost_per_issue, "cost_per_issue"))
}

fn exceeded(spent: &Spend, most: Option<u64>, which: &str) -> Option<String> {
    let most = most.filter(|most| spent.tokens.total >= *most)?;
    Some(format!("{which} {most}, used {}", spent.tokens.total))
}

fn costs(spent: &Spend, most: Option<f64>, which: &str) -> Option<String> {
    let most = most.filter(|most| spent.cost >= *most)?;
    Some(format!("{which} {most}, used {:.4}", spent.cost))
}
