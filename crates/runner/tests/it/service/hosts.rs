//! Appendix A: which machine an issue is worked on.

use quipu_runner::orchestrator::{AgentEvent, Effect, Input, Orchestrator, Verdict};

use super::machine::{NOW, exit, issue, machine, poll, retry};

const TWO: &str = "worker: { ssh_hosts: [a, b], max_concurrent_agents_per_host: 2 }";

/// What is dispatched, and where.
fn placed(effects: &[Effect]) -> Vec<(&str, &str)> {
    let jobs = effects.iter().filter_map(|it| match it {
        Effect::Dispatch(job) => Some((job.issue.identifier.as_str(), job.host.as_deref()?)),
        _ => None,
    });
    jobs.collect()
}

/// Lets an issue fail, and its retry begin.
fn fail(machine: &mut Orchestrator, name: &str, code: &'static str) -> Vec<Effect> {
    let (_, generation) = retry(&exit(machine, NOW, name, Some(code)));
    let issue_id = name.to_owned();
    let due = Input::RetryDue {
        issue_id: issue_id.clone(),
        generation,
    };
    machine.step(NOW, due);
    let result = Ok(vec![issue(name)]);
    machine.step(NOW, Input::RetryAsked { issue_id, result })
}

/// A poll while these run.
fn poll_beside(machine: &mut Orchestrator, running: &[&str], new: &[&str]) -> Vec<Effect> {
    machine.step(NOW, Input::Tick);
    let refreshed = Input::Refreshed {
        ids: running.iter().map(|it| (*it).to_owned()).collect(),
        result: Ok(running.iter().map(|it| issue(it)).collect()),
    };
    machine.step(NOW, refreshed);
    let found = new.iter().map(|it| issue(it)).collect();
    machine.step(NOW, Input::Polled(Ok(found)))
}

fn begin_turn(machine: &mut Orchestrator, name: &str) {
    let event = AgentEvent {
        turn_started: true,
        ..AgentEvent::default()
    };
    let issue_id = name.to_owned();
    let event = Box::new(event);
    machine.step(NOW, Input::Agent { issue_id, event });
}

#[test]
fn hosts_share_the_work_and_issues_wait_when_all_are_full() {
    let mut machine = machine(TWO);
    let issues = ["A", "B", "C", "D", "E"].map(issue);
    let effects = poll(&mut machine, NOW, &issues);
    let expected = [("A", "a"), ("B", "b"), ("C", "a"), ("D", "b")];
    assert_eq!(placed(&effects), expected);
    assert_eq!(machine.verdict(NOW, &issues[4]), Verdict::NoSlots);
}

#[test]
fn a_retry_stays_on_its_host() {
    let mut machine = machine(TWO);
    poll(&mut machine, NOW, &["A", "B"].map(issue));
    let effects = fail(&mut machine, "B", "turn_failed");
    assert_eq!(placed(&effects), [("B", "b")]);
}

#[test]
fn a_host_that_cannot_be_reached_loses_its_work_to_others() {
    let mut machine = machine(TWO);
    poll(&mut machine, NOW, &[issue("A")]);
    let effects = fail(&mut machine, "A", "host_unavailable");
    assert_eq!(placed(&effects), [("A", "b")]);
    // `a` has no agents, and gets none as long as there is another.
    let effects = poll_beside(&mut machine, &["A"], &["C", "D"]);
    assert_eq!(placed(&effects), [("C", "b"), ("D", "a")]);
    begin_turn(&mut machine, "D");
    let effects = poll_beside(&mut machine, &["A", "C", "D"], &["E"]);
    assert_eq!(placed(&effects), [("E", "a")], "it is there again");
}

#[test]
fn an_issue_stays_with_the_host_where_its_agent_may_still_work() {
    let mut machine = machine(TWO);
    poll(&mut machine, NOW, &[issue("A")]);
    begin_turn(&mut machine, "A");
    let effects = fail(&mut machine, "A", "port_exit");
    assert_eq!(placed(&effects), [("A", "a")]);
    let effects = fail(&mut machine, "A", "host_unavailable");
    assert_eq!(placed(&effects), [("A", "a")]);
}
