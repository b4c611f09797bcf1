//! The books: what is remembered of every issue, and what was spent on it, today and in all.

use std::collections::BTreeMap;

use serde_json::Value;

use super::message::{Effect, Reported};
use crate::config::{Budget, Price};
use crate::record::{Attempt, Day, Record, Records, Retry, Spend, Status, Tokens};
use crate::time::{self, Millis};
use crate::tracker::Issue;

/// What is remembered and spent.
#[derive(Debug)]
pub(super) struct Ledger {
    pub records: Records,
    pub day: Day,
    /// Since the service began.
    pub totals: Spend,
    /// How long runs that have ended took.
    pub ended_ms: Millis,
    pub rate_limits: Option<Value>,
}

impl Ledger {
    pub fn new(records: Records, day: Day) -> Ledger {
        Ledger {
            records,
            day,
            totals: Spend::default(),
            ended_ms: 0,
            rate_limits: None,
        }
    }

    /// Changes what is remembered of an issue, and stores it.
    pub fn remember(
        &mut self,
        issue_id: &str,
        change: impl FnOnce(&mut Record),
        out: &mut Vec<Effect>,
    ) {
        if let Some(record) = self.records.get_mut(issue_id) {
            change(record);
            out.push(Effect::Save(Box::new(record.clone())));
        }
    }

    /// Notes that the workspace of an issue was removed, if it was.
    pub fn cleaned(&mut self, issue_id: &str, removed: bool, out: &mut Vec<Effect>) {
        if removed {
            self.remember(issue_id, |record| record.removed = true, out);
        }
    }

    /// Changes what is remembered of the attempt that runs or ran last.
    pub fn remember_attempt(
        &mut self,
        issue_id: &str,
        change: impl FnOnce(&mut Attempt),
        out: &mut Vec<Effect>,
    ) {
        self.remember(
            issue_id,
            |it| it.attempts.last_mut().map_or((), change),
            out,
        );
    }

    /// Marks what was running when the service ended; the retry that the issue waits for.
    pub fn recover(&mut self, now: Millis, issue_id: &str) -> (bool, Option<Retry>) {
        let Some(record) = self.records.get_mut(issue_id) else {
            return (false, None);
        };
        let last = record.attempts.last_mut();
        let interrupted = last.filter(|it| it.status == Status::Running);
        let found = interrupted.is_some();
        if let Some(last) = interrupted {
            last.status = Status::Interrupted;
            last.ended_at = Some(now);
        }
        (found, record.retry.clone())
    }

    /// Begins an attempt. What the end of the service interrupted on the same host goes on: the same attempt, the
    /// same thread.
    pub fn begin(
        &mut self,
        now: Millis,
        issue: &Issue,
        attempt: Option<u32>,
        host: Option<String>,
        out: &mut Vec<Effect>,
    ) -> &Record {
        self.today(now).attempts += 1;
        out.push(Effect::SaveDay(self.day.clone()));
        let record = self.records.entry(issue.id.clone());
        let record = record.or_insert_with(|| Record::new(issue));
        record.identifier.clone_from(&issue.identifier);
        record.title.clone_from(&issue.title);
        record.url.clone_from(&issue.url);
        record.retry = None;
        record.removed = false;
        let interrupted = record.interrupted().filter(|it| it.host == host).cloned();
        let before = interrupted.as_ref();
        record.begin(Attempt {
            number: record.next_number(),
            attempt: attempt.or(before.and_then(|it| it.attempt)),
            started_at: now,
            ended_at: None,
            status: Status::Running,
            error: None,
            host,
            thread_id: before.and_then(|it| it.thread_id.clone()),
            turns: 0,
            spent: Spend::default(),
            totals: before.map_or_else(BTreeMap::new, |it| it.totals.clone()),
            patch: false,
            branch: None,
        });
        record
    }

    /// Counts what a thread used since it was last reported; what the attempt has used in all.
    pub fn spend(
        &mut self,
        now: Millis,
        issue_id: &str,
        reported: Reported,
        price: Price,
        out: &mut Vec<Effect>,
    ) -> Option<Tokens> {
        let record = self.records.get_mut(issue_id)?;
        let attempt = record.attempts.last_mut()?;
        let used = attempt.used(reported);
        let cost = used.cost(price);
        attempt.spent.add(used, cost);
        let in_all = attempt.spent.tokens;
        record.spent.add(used, cost);
        out.push(Effect::Save(Box::new(record.clone())));
        self.totals.add(used, cost);
        self.today(now).spent.add(used, cost);
        out.push(Effect::SaveDay(self.day.clone()));
        Some(in_all)
    }

    /// Which budget is used up, if one is.
    pub fn over_budget(&self, budget: &Budget, now: Millis, issue_id: &str) -> Option<String> {
        let nothing = Spend::default();
        let today = match self.day.date == time::day(now) {
            true => &self.day.spent,
            false => &nothing,
        };
        self.over_issue_budget(budget, issue_id)
            .or_else(|| exceeded(today, budget.tokens_per_day, "tokens_per_day"))
            .or_else(|| costs(today, budget.cost_per_day, "cost_per_day"))
    }

    /// Which budget of the issue itself is used up.
    pub fn over_issue_budget(&self, budget: &Budget, issue_id: &str) -> Option<String> {
        let spent = &self.records.get(issue_id)?.spent;
        exceeded(spent, budget.tokens_per_issue, "tokens_per_issue")
            .or_else(|| costs(spent, budget.cost_per_issue, "cost_per_issue"))
    }

    fn today(&mut self, now: Millis) -> &mut Day {
        if self.day.date != time::day(now) {
            self.day = Day::of(now);
        }
        &mut self.day
    }
}

fn exceeded(spent: &Spend, most: Option<u64>, which: &str) -> Option<String> {
    let most = most.filter(|most| spent.tokens.total >= *most)?;
    Some(format!("{which} {most}, used {}", spent.tokens.total))
}

fn costs(spent: &Spend, most: Option<f64>, which: &str) -> Option<String> {
    let most = most.filter(|most| spent.cost >= *most)?;
    Some(format!("{which} {most}, used {:.4}", spent.cost))
}
