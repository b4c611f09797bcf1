//! 17.4 Orchestrator dispatch, reconciliation and retry: single steps of the state machine.

use std::sync::Arc;

use quipu_runner::orchestrator::{
    Command, CommandError, Effect, Failure, Input, Orchestrator, Outcome, Verdict,
    sort_for_dispatch, state,
};
use quipu_runner::record::{Day, Records};
use quipu_runner::tracker::{Blocker, Issue, TrackerError, TrackerErrorKind};

use super::support::config;

pub const NOW: i64 = 1_800_000_000_000;

pub fn machine(front: &str) -> Orchestrator {
    Orchestrator::new(
        Arc::new(config(front).unwrap()),
        Records::new(),
        Day::of(NOW),
    )
}

pub fn issue(name: &str) -> Issue {
    Issue::new(name, name, "A title", "Todo")
}

pub fn poll(machine: &mut Orchestrator, now: i64, issues: &[Issue]) -> Vec<Effect> {
    machine.step(now, Input::Tick);
    machine.step(now, Input::Polled(Ok(issues.to_vec())))
}

fn dispatched(effects: &[Effect]) -> Vec<String> {
    let jobs = effects.iter().filter_map(|it| match it {
        Effect::Dispatch(job) => Some(job.issue.identifier.clone()),
        _ => None,
    });
    jobs.collect()
}

fn reconcile(machine: &mut Orchestrator, now: i64, issues: Vec<Issue>) -> Vec<Effect> {
    let effects = machine.step(now, Input::Tick);
    let ids = effects.iter().find_map(|it| match it {
        Effect::Refresh { ids } => Some(ids.clone()),
        _ => None,
    });
    let refreshed = Input::Refreshed {
        ids: ids.expect("running issues are refreshed"),
        result: Ok(issues),
    };
    machine.step(now, refreshed)
}

pub fn exit(
    machine: &mut Orchestrator,
    now: i64,
    id: &str,
    failure: Option<&'static str>,
) -> Vec<Effect> {
    let outcome = Outcome {
        failure: failure.map(|code| Failure::new(code, "it failed")),
        ..Outcome::default()
    };
    let issue_id = id.to_owned();
    machine.step(now, Input::Exited { issue_id, outcome })
}

/// The pause before the retry that these effects ask for, and its timer.
pub fn retry(effects: &[Effect]) -> (i64, u64) {
    let found = effects.iter().find_map(|it| match it {
        Effect::RetryTimer {
            after_ms,
            generation,
            ..
        } => Some((*after_ms, *generation)),
        _ => None,
    });
    found.expect("there is a retry")
}

fn has(effects: &[Effect], wanted: impl Fn(&Effect) -> bool) -> bool {
    effects.iter().any(wanted)
}

#[test]
fn dispatch_sort_order_is_priority_then_oldest_creation_time() {
    let with = |name: &str, priority, created_at| Issue {
        priority,
        created_at,
        ..issue(name)
    };
    let mut issues = [
        with("none", None, Some(1)),
        with("zero", Some(0), Some(0)),
        with("low", Some(4), Some(1)),
        with("b", Some(1), None),
        with("a", Some(1), None),
        with("young", Some(1), Some(20)),
        with("old", Some(1), Some(10)),
    ];
    sort_for_dispatch(&mut issues);
    let names: Vec<&str> = issues.iter().map(|it| it.identifier.as_str()).collect();
    assert_eq!(names, ["old", "young", "a", "b", "low", "zero", "none"]);
}

#[test]
fn issues_that_are_not_dispatchable_are_not_eligible() {
    let mut machine = machine("");
    let blocked = Issue {
        dispatchable: false,
        ..issue("blocked")
    };
    assert_eq!(machine.verdict(NOW, &blocked), Verdict::NotDispatchable);
    let effects = poll(&mut machine, NOW, &[blocked, issue("free")]);
    assert_eq!(dispatched(&effects), ["free"]);
    assert_eq!(
        state(&machine, NOW)["waiting"][0]["issue_identifier"],
        "blocked"
    );
    let blocker = |name: &str, state: Option<&str>| Blocker {
        id: None,
        identifier: Some(name.to_owned()),
        state: state.map(str::to_owned),
    };
    let blocked_by = vec![
        blocker("done", Some("done")),
        blocker("open", Some("Todo")),
        blocker("gone", None),
    ];
    let blocked = Issue {
        dispatchable: false,
        blocked_by,
        ..issue("waits")
    };
    let why = machine.verdict(NOW, &blocked).to_string();
    assert_eq!(why, "blocked by open (Todo), gone (not found)");
}

#[test]
fn required_label_filtering_is_case_insensitive() {
    let machine = machine("tracker: { required_labels: [' Agent ', ready] }");
    let labelled = |labels: &[&str]| Issue {
        labels: labels.iter().map(|it| (*it).to_owned()).collect(),
        ..issue("A")
    };
    assert_eq!(
        machine.verdict(NOW, &labelled(&["AGENT", "Ready", "x"])),
        Verdict::Dispatch
    );
    let missing = Verdict::MissingLabel("ready".to_owned());
    assert_eq!(machine.verdict(NOW, &labelled(&["agent"])), missing);
    let blank = self::machine("tracker: { required_labels: [''] }");
    assert!(matches!(
        blank.verdict(NOW, &labelled(&["a"])),
        Verdict::MissingLabel(_)
    ));
}

#[test]
fn active_state_issue_refresh_updates_running_entry_state() {
    let mut machine = machine("");
    poll(&mut machine, NOW, &[issue("A")]);
    let moved = Issue {
        state: "In Progress".to_owned(),
        ..issue("A")
    };
    reconcile(&mut machine, NOW, vec![moved]);
    assert_eq!(state(&machine, NOW)["running"][0]["state"], "In Progress");
}

#[test]
fn non_active_state_stops_running_agent_without_workspace_cleanup() {
    for (state, cleans) in [("Human Review", false), ("Done", true)] {
        let mut machine = machine("");
        poll(&mut machine, NOW, &[issue("A")]);
        let moved = Issue {
            state: state.to_owned(),
            ..issue("A")
        };
        let effects = reconcile(&mut machine, NOW, vec![moved]);
        assert!(
            has(&effects, |it| matches!(it, Effect::Stop { .. })),
            "{state}"
        );
        let effects = exit(&mut machine, NOW, "A", Some("stopped"));
        let cleaned = has(&effects, |it| matches!(it, Effect::Clean { .. }));
        assert_eq!(cleaned, cleans, "{state}");
        assert!(!has(&effects, |it| matches!(it, Effect::RetryTimer { .. })));
        machine.step(
            NOW,
            Input::Cleaned {
                issue_id: "A".to_owned(),
                removed: true,
            },
        );
        assert!(!machine.is_claimed("A"), "{state}");
    }
}

#[test]
fn an_issue_that_is_no_longer_visible_or_routable_stops() {
    for refreshed in [
        vec![],
        vec![Issue {
            dispatchable: false,
            ..issue("A")
        }],
    ] {
        let mut machine = machine("");
        poll(&mut machine, NOW, &[issue("A")]);
        let effects = reconcile(&mut machine, NOW, refreshed);
        assert!(has(&effects, |it| matches!(it, Effect::Stop { .. })));
    }
}

#[test]
fn reconciliation_with_no_running_issues_is_a_no_op() {
    let mut machine = machine("");
    let effects = machine.step(NOW, Input::Tick);
    assert!(
        matches!(effects.as_slice(), [Effect::Poll { .. }]),
        "{effects:?}"
    );
}

#[test]
fn refresh_failure_keeps_workers_running() {
    let mut machine = machine("");
    poll(&mut machine, NOW, &[issue("A")]);
    machine.step(NOW, Input::Tick);
    let effects = machine.step(
        NOW,
        Input::Refreshed {
            ids: vec!["A".to_owned()],
            result: Err(TrackerError::new(TrackerErrorKind::Request, "down")),
        },
    );
    assert!(!has(&effects, |it| matches!(it, Effect::Stop { .. })));
    assert!(has(&effects, |it| matches!(it, Effect::Poll { .. })));
    assert_eq!(machine.running(), 1);
}

#[test]
fn a_tracker_that_asks_to_be_left_alone_is() {
    let asks = |effects: &[Effect]| {
        has(effects, |it| {
            matches!(it, Effect::Poll { .. } | Effect::Refresh { .. })
        })
    };
    let limited = || {
        Err(TrackerError {
            retry_after_ms: Some(100_000),
            ..TrackerError::new(TrackerErrorKind::RateLimited, "too many requests")
        })
    };
    let mut machine = machine("codex: { stall_timeout_ms: 50000 }");
    poll(&mut machine, NOW, &[issue("A")]);
    machine.step(NOW, Input::Tick);
    let ids = vec!["A".to_owned()];
    let result = limited();
    let effects = machine.step(NOW, Input::Refreshed { ids, result });
    assert!(!asks(&effects), "{effects:?}");
    assert!(has(&effects, |it| matches!(
        it,
        Effect::Tick { after_ms: 30_000 }
    )));
    // What needs no tracker goes on meanwhile.
    let effects = machine.step(NOW + 60_000, Input::Tick);
    assert!(!asks(&effects), "{effects:?}");
    assert!(has(&effects, |it| matches!(it, Effect::Stop { .. })));
    let effects = machine.step(NOW + 90_000, Input::Tick);
    assert!(has(&effects, |it| matches!(
        it,
        Effect::Tick { after_ms: 10_000 }
    )));
    assert!(asks(&machine.step(NOW + 100_000, Input::Tick)));

    // An operator may know better.
    let mut machine = self::machine("");
    machine.step(NOW, Input::Tick);
    machine.step(NOW, Input::Polled(limited()));
    assert!(!asks(&machine.step(NOW + 30_000, Input::Tick)));
    assert!(asks(&machine.command(NOW + 30_000, &Command::Refresh).1));
}

#[test]
fn normal_worker_exit_schedules_a_short_continuation_retry() {
    let mut machine = machine("");
    poll(&mut machine, NOW, &[issue("A")]);
    let effects = exit(&mut machine, NOW, "A", None);
    assert_eq!(retry(&effects).0, 1_000);
    assert_eq!(state(&machine, NOW)["retrying"][0]["attempt"], 1);
}

#[test]
fn abnormal_worker_exit_backs_off_up_to_the_cap() {
    let mut machine = machine("agent: { max_retry_backoff_ms: 60000 }");
    poll(&mut machine, NOW, &[issue("A")]);
    for (attempt, pause) in [
        (1, 10_000),
        (2, 20_000),
        (3, 40_000),
        (4, 60_000),
        (5, 60_000),
    ] {
        let effects = exit(&mut machine, NOW, "A", Some("turn_failed"));
        let (after, generation) = retry(&effects);
        assert_eq!(after, pause, "attempt {attempt}");
        let row = &state(&machine, NOW)["retrying"][0];
        assert_eq!(row["attempt"], attempt);
        assert_eq!(row["issue_identifier"], "A");
        assert!(row["error"].as_str().unwrap().contains("turn_failed"));
        let issue_id = "A".to_owned();
        machine.step(
            NOW,
            Input::RetryDue {
                issue_id: issue_id.clone(),
                generation,
            },
        );
        let result = Ok(vec![issue("A")]);
        let effects = machine.step(NOW, Input::RetryAsked { issue_id, result });
        let attempts = effects.iter().find_map(|it| match it {
            Effect::Dispatch(job) => Some(job.attempt),
            _ => None,
        });
        assert_eq!(attempts, Some(Some(attempt)));
    }
}

#[test]
fn an_old_retry_timer_counts_no_more() {
    let mut machine = machine("");
    poll(&mut machine, NOW, &[issue("A")]);
    let (_, first) = retry(&exit(&mut machine, NOW, "A", Some("turn_failed")));
    let identifier = "A".to_owned();
    let (done, _) = machine.command(NOW, &Command::Retry { identifier });
    assert_eq!(done.unwrap().outcome, "queued");
    let issue_id = "A".to_owned();
    let effects = machine.step(
        NOW,
        Input::RetryDue {
            issue_id,
            generation: first,
        },
    );
    assert!(effects.is_empty(), "{effects:?}");
}

#[test]
fn stall_detection_kills_stalled_sessions_and_schedules_retry() {
    let mut machine = machine("codex: { stall_timeout_ms: 1000 }");
    poll(&mut machine, NOW, &[issue("A")]);
    let effects = machine.step(NOW + 1_000, Input::Tick);
    assert!(!has(&effects, |it| matches!(it, Effect::Stop { .. })));
    machine.step(
        NOW + 1_000,
        Input::Refreshed {
            ids: vec![],
            result: Ok(vec![]),
        },
    );
    machine.step(NOW + 1_000, Input::Polled(Ok(vec![])));
    let effects = machine.step(NOW + 1_001, Input::Tick);
    assert!(has(&effects, |it| matches!(it, Effect::Stop { .. })));
    let effects = exit(&mut machine, NOW + 1_001, "A", Some("stopped"));
    assert_eq!(retry(&effects).0, 10_000);
    let record = machine.records().values().next().unwrap();
    let status = serde_json::to_value(record.attempts[0].status).unwrap();
    assert_eq!(status, "stalled");

    let mut busy = self::machine("codex: { stall_timeout_ms: 1000 }");
    poll(&mut busy, NOW, &[issue("A")]);
    let heard = Input::Agent {
        issue_id: "A".to_owned(),
        event: Box::default(),
    };
    busy.step(NOW + 900, heard);
    let effects = busy.step(NOW + 1_900, Input::Tick);
    assert!(!has(&effects, |it| matches!(it, Effect::Stop { .. })));

    let mut never = self::machine("codex: { stall_timeout_ms: 0 }");
    poll(&mut never, NOW, &[issue("A")]);
    let effects = never.step(NOW + 100_000_000, Input::Tick);
    assert!(!has(&effects, |it| matches!(it, Effect::Stop { .. })));
}

#[test]
fn slot_exhaustion_requeues_retries_with_explicit_error_reason() {
    let mut machine = machine("agent: { max_concurrent_agents: 1 }");
    poll(&mut machine, NOW, &[issue("A")]);
    let (_, generation) = retry(&exit(&mut machine, NOW, "A", None));
    poll(&mut machine, NOW, &[issue("B")]);
    let issue_id = "A".to_owned();
    machine.step(
        NOW,
        Input::RetryDue {
            issue_id: issue_id.clone(),
            generation,
        },
    );
    let result = Ok(vec![issue("A")]);
    machine.step(NOW, Input::RetryAsked { issue_id, result });
    let row = &state(&machine, NOW)["retrying"][0];
    assert_eq!(row["error"], "no available orchestrator slots");
    assert_eq!(row["attempt"], 2);
}

#[test]
fn global_and_per_state_concurrency_hold() {
    let front =
        "agent: { max_concurrent_agents: 3, max_concurrent_agents_by_state: { ' TODO ': 2 } }";
    let mut machine = machine(front);
    let started = |name: &str| Issue {
        state: "In Progress".to_owned(),
        ..issue(name)
    };
    let issues = [
        issue("A"),
        issue("B"),
        issue("C"),
        started("D"),
        started("E"),
    ];
    let effects = poll(&mut machine, NOW, &issues);
    assert_eq!(dispatched(&effects), ["A", "B", "D"]);
}

#[test]
fn two_issues_of_one_name_do_not_share_a_workspace() {
    let mut machine = machine("");
    let twin = Issue {
        id: "other".to_owned(),
        ..issue("A")
    };
    let effects = poll(&mut machine, NOW, &[issue("A"), twin]);
    assert_eq!(dispatched(&effects), ["A"]);
}

#[test]
fn a_broken_workflow_stops_dispatch_and_not_reconciliation() {
    let mut machine = machine("");
    poll(&mut machine, NOW, &[issue("A")]);
    machine.step(NOW, Input::Reloaded(Err("line 3".to_owned())));
    let effects = reconcile(&mut machine, NOW, vec![]);
    assert!(has(&effects, |it| matches!(it, Effect::Stop { .. })));
    assert!(!has(&effects, |it| matches!(it, Effect::Poll { .. })));
    assert!(
        state(&machine, NOW)["config_error"]
            .as_str()
            .unwrap()
            .contains("line 3")
    );
}

#[test]
fn operators_cancel_and_retry() {
    let mut machine = machine("");
    poll(&mut machine, NOW, &[issue("A")]);
    let named = |identifier: &str| Command::Cancel {
        identifier: identifier.to_owned(),
    };
    let (unknown, _) = machine.command(NOW, &named("B"));
    assert_eq!(unknown, Err(CommandError::UnknownIssue("B".to_owned())));
    let (done, effects) = machine.command(NOW, &named("A"));
    assert_eq!(done.unwrap().outcome, "stopping");
    assert!(has(&effects, |it| matches!(it, Effect::Stop { .. })));
    exit(&mut machine, NOW, "A", Some("stopped"));
    assert!(!machine.is_claimed("A"));
    assert!(matches!(
        machine.verdict(NOW, &issue("A")),
        Verdict::Held(_)
    ));
    let identifier = "A".to_owned();
    let (done, effects) = machine.command(NOW, &Command::Retry { identifier });
    assert_eq!(done.unwrap().outcome, "queued");
    assert!(has(&effects, |it| matches!(it, Effect::Poll { .. })));
    let effects = machine.step(NOW, Input::Polled(Ok(vec![issue("A")])));
    assert_eq!(dispatched(&effects), ["A"]);
}

#[test]
fn a_retry_says_what_the_issue_still_waits_for() {
    let mut machine = machine("agent: { max_concurrent_agents: 1 }");
    let waits = Issue {
        dispatchable: false,
        blocked_by: vec![Blocker {
            identifier: Some("A".to_owned()),
            state: Some("Todo".to_owned()),
            ..Blocker::default()
        }],
        ..issue("waits")
    };
    let named = |identifier: &str| identifier.to_owned();
    let retry = |machine: &mut Orchestrator, name: &str| {
        let identifier = named(name);
        let (done, _) = machine.command(NOW, &Command::Retry { identifier });
        let done = done.unwrap();
        (done.outcome, done.reason.unwrap_or_default())
    };
    let found = [issue("A"), issue("B"), waits.clone()];
    poll(&mut machine, NOW, &found);
    let blocked = ("waiting", named("blocked by A (Todo)"));
    assert_eq!(retry(&mut machine, "waits"), blocked);
    // Cancelling it does not hide that, nor does a retry that is due.
    let identifier = named("waits");
    let (done, _) = machine.command(NOW, &Command::Cancel { identifier });
    assert_eq!(done.unwrap().outcome, "held");
    assert_eq!(retry(&mut machine, "waits"), blocked);
    let full = ("waiting", named("no available orchestrator slots"));
    assert_eq!(retry(&mut machine, "B"), full);
    exit(&mut machine, NOW, "A", Some("port_exit"));
    assert_eq!(retry(&mut machine, "A"), ("queued", String::new()));
    // It was moved to another state.
    let (ids, result) = (vec![named("A")], Ok(Vec::new()));
    machine.step(NOW, Input::Refreshed { ids, result });
    machine.step(NOW, Input::Polled(Ok(vec![waits])));
    let gone = "the last poll did not find it in an active state";
    assert_eq!(retry(&mut machine, "A"), ("waiting", named(gone)));
    machine.step(NOW, Input::Reloaded(Err("broken".to_owned())));
    let broken = ("waiting", named("the workflow cannot be used: broken"));
    assert_eq!(retry(&mut machine, "waits"), broken);
}
