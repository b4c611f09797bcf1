//! 17.6 Observability: tokens, cost, budgets, and what is found again of every run.

use std::fs;

use quipu_runner::orchestrator::Command;
use quipu_runner::service::Query;
use serde_json::Value;

use super::support::{DONE, ENDLESS, Lab, ended_well};

#[tokio::test]
async fn token_aggregation_is_correct_across_repeated_updates() {
    let work = "if [ $turn = 1 ]; then tokens 10 5; tokens 10 5; tokens 30 6; else tokens 50 10; state Review; fi; finish completed";
    let lab = Lab::new(
        work,
        "budget: { price_per_million: { input: 1000000, output: 2000000 } }",
    );
    lab.issue("A").issue("B");
    let running = lab.start().await;
    let state = running.until_completed(2).await;
    running.stop().await;
    let totals = &state["codex_totals"];
    assert_eq!(
        (&totals["input_tokens"], &totals["output_tokens"]),
        (&100.into(), &20.into())
    );
    assert_eq!(totals["total_tokens"], 120);
    assert_eq!(totals["cost"], 140.0);
    assert!(totals["seconds_running"].as_f64().unwrap() > 0.0);
    assert_eq!(state["today"]["total_tokens"], 120);
    let record = lab.record("A");
    assert_eq!(record["spent"]["tokens"]["total"], 60);
    assert_eq!(record["attempts"][0]["turns"], 2);
}

#[tokio::test]
async fn tokens_of_the_agents_of_a_turn_are_counted_thread_by_thread() {
    let work = "tokens 100 0; thread=agent tokens 40 0; tokens 110 0; thread=agent tokens 50 0; state Review; finish completed";
    let lab = Lab::new(work, "");
    lab.issue("A");
    let running = lab.start().await;
    let state = running.until_completed(1).await;
    running.stop().await;
    assert_eq!(state["codex_totals"]["total_tokens"], 160);
}

#[tokio::test]
async fn logs_that_cannot_be_written_cost_their_lines_and_nothing_else() {
    let lab = Lab::new(DONE, "");
    lab.issue("A");
    let logs = lab.options.places.root.join("logs");
    fs::create_dir_all(&logs).unwrap();
    fs::write(logs.join("A"), "in the way").unwrap();
    let running = lab.start().await;
    running.until_completed(1).await;
    running.stop().await;
    assert!(ended_well(&lab.record("A")["attempts"][0]));
    assert_eq!(fs::read_to_string(logs.join("A")).unwrap(), "in the way");
}

#[tokio::test]
async fn continuation_turns_go_on_in_the_same_thread_with_guidance_only() {
    let lab = Lab::new("[ $turn = 3 ] && state Review; finish completed", "");
    lab.issue("A");
    let running = lab.start().await;
    running.until_completed(1).await;
    running.stop().await;
    let prompts = lab.prompts("A");
    assert_eq!(prompts.len(), 3);
    assert_eq!(prompts[0], "Do A: A");
    assert!(prompts[1].contains("turn 2 of 20") && !prompts[1].contains("Do A"));
    let starts = lab
        .trace("A")
        .iter()
        .filter(|it| it["method"] == "thread/start")
        .count();
    assert_eq!(starts, 1);
}

#[tokio::test]
async fn everything_that_a_run_did_is_found_again() {
    let lab = Lab::new(DONE, "");
    lab.issue("A");
    let running = lab.start().await;
    running.until_completed(1).await;
    let details = running.details("A").await.unwrap();
    assert!(running.details("unknown").await.is_none());
    running.stop().await;
    let attempt = &details["tracked"]["attempts"][0];
    assert!(ended_well(attempt), "{attempt:#}");
    assert!(
        attempt["thread_id"]
            .as_str()
            .unwrap()
            .starts_with("thread-")
    );
    let log = fs::read_to_string(attempt["log"].as_str().unwrap()).unwrap();
    let lines: Vec<Value> = log
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    assert!(lines.iter().any(|it| it["event"] == "session_started"));
    assert!(lines.iter().any(|it| it["method"] == "turn/completed"));
}

#[tokio::test]
async fn a_used_up_budget_stops_dispatch() {
    let lab = Lab::new(
        DONE,
        "agent: { max_concurrent_agents: 1 }\nbudget: { tokens_per_day: 15 }",
    );
    lab.issue("A").issue("B");
    let running = lab.start().await;
    // A waits too until its end is read from the tracker.
    running
        .until("only B waits", |it| {
            let waiting = &it["waiting"][0];
            let reason = waiting["reason"].as_str();
            waiting["issue_identifier"] == "B"
                && reason.is_some_and(|it| it.contains("tokens_per_day"))
        })
        .await;
    running.stop().await;
    // The day is remembered over a restart.
    let running = lab.start().await;
    running
        .until("B waits", |it| it["counts"]["waiting"] == 1)
        .await;
    running.stop().await;
    assert!(lab.trace("B").is_empty());
}

#[tokio::test]
async fn a_run_that_uses_up_its_issues_budget_is_ended() {
    let lab = Lab::new("tokens 100 1", "budget: { tokens_per_issue: 100 }");
    lab.issue("A");
    let running = lab.start().await;
    let state = running
        .until("it waits", |it| it["counts"]["waiting"] == 1)
        .await;
    assert!(
        state["waiting"][0]["reason"]
            .as_str()
            .unwrap()
            .contains("tokens_per_issue")
    );
    running.stop().await;
    assert_eq!(lab.record("A")["attempts"][0]["status"], "over_budget");
}

#[tokio::test]
async fn a_cancelled_issue_is_held_over_a_restart_until_it_is_retried() {
    let lab = Lab::new(ENDLESS, "");
    lab.issue("A");
    let running = lab.start().await;
    running
        .until("it runs", |it| it["running"][0]["turn_count"] == 1)
        .await;
    let command = |command| move |answer| Query::Command(command, answer);
    let cancel = Command::Cancel {
        identifier: "A".to_owned(),
    };
    let done = running.handle.ask(command(cancel)).await.unwrap();
    assert_eq!(done.unwrap().outcome, "stopping");
    running
        .until("it is held", |it| {
            it["waiting"][0]["reason"]
                .as_str()
                .is_some_and(|it| it.contains("held"))
        })
        .await;
    running.stop().await;
    let running = lab.start().await;
    running
        .until("it is held", |it| it["counts"]["waiting"] == 1)
        .await;
    let retry = Command::Retry {
        identifier: "A".to_owned(),
    };
    running.handle.ask(command(retry)).await.unwrap().unwrap();
    running
        .until("it runs again", |it| it["running"][0]["turn_count"] == 1)
        .await;
    running.stop().await;
    assert_eq!(
        lab.record("A")["attempts"][0]["status"],
        "canceled_by_operator"
    );
}

#[tokio::test]
async fn a_run_goes_on_in_its_thread_after_a_restart_of_the_service() {
    let lab = Lab::new("[ -e ../../go ] && { state Done; finish completed; }", "");
    lab.issue("A");
    let running = lab.start().await;
    let state = running
        .until("it runs", |it| it["running"][0]["turn_count"] == 1)
        .await;
    running.stop().await;
    assert_eq!(lab.record("A")["attempts"][0]["status"], "interrupted");
    fs::write(lab.path().join("go"), "").unwrap();
    let running = lab.start().await;
    running.until_completed(1).await;
    running.stop().await;
    let trace = lab.trace("A");
    let resumed = trace
        .iter()
        .find(|it| it["method"] == "thread/resume")
        .expect("a resume");
    let thread = resumed["params"]["threadId"].as_str().unwrap();
    assert!(
        state["running"][0]["session_id"]
            .as_str()
            .unwrap()
            .starts_with(thread)
    );
    assert!(lab.prompts("A")[1].contains("restarted"));
}

#[tokio::test]
async fn a_thread_that_is_gone_is_begun_anew_with_the_whole_prompt() {
    let lab = Lab::new("[ -e ../../go ] && { state Done; finish completed; }", "");
    lab.issue("A");
    let running = lab.start().await;
    running
        .until("it runs", |it| it["running"][0]["turn_count"] == 1)
        .await;
    running.stop().await;
    for name in ["go", "forgotten"] {
        fs::write(lab.path().join(name), "").unwrap();
    }
    let running = lab.start().await;
    running.until_completed(1).await;
    running.stop().await;
    assert_eq!(lab.prompts("A"), ["Do A: A", "Do A: A"]);
    let attempts = &lab.record("A")["attempts"];
    assert_ne!(attempts[0]["thread_id"], attempts[1]["thread_id"]);
}

#[tokio::test]
async fn retries_that_wait_are_remembered_over_a_restart() {
    let lab = Lab::new("finish failed '{\"message\":\"no\"}'", "");
    lab.issue("A");
    let running = lab.start().await;
    let before = running
        .until("it waits", |it| it["counts"]["retrying"] == 1)
        .await;
    running.stop().await;
    let running = lab.start().await;
    let after = running
        .until("it waits", |it| it["counts"]["retrying"] == 1)
        .await;
    running.stop().await;
    assert_eq!(
        before["retrying"][0]["due_at"],
        after["retrying"][0]["due_at"]
    );
    assert_eq!(after["retrying"][0]["attempt"], 1);
    assert_eq!(lab.prompts("A").len(), 1);
}
