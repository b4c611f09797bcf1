//! The service with workers over SSH.

use quipu_runner::orchestrator::Command;
use quipu_runner::service::Query;
use quipu_testkit::process_table;
use quipu_testkit::wait::until;

use super::{Machine, command};
use crate::service::support as service;
use crate::session::support::within;

#[tokio::test(flavor = "multi_thread")]
async fn the_service_works_on_other_machines_and_cleans_up_there() {
    let Some(machine) = Machine::start().await else {
        return;
    };
    let host = format!("127.0.0.1:{}", machine.port);
    let config = machine.directory.path().join("ssh_config");
    let front = format!(
        "hooks: {{ after_create: 'echo \"$RUNNER_ISSUE_IDENTIFIER $SSH_CONNECTION\" > ../hook' }}\n\
         worker: {{ ssh_hosts: [\"{host}\"], ssh_config: \"{}\" }}",
        config.display()
    );
    let work = format!("echo \"$SSH_CONNECTION\" > ../agent; {}", service::DONE);
    let lab = service::Lab::new(&work, &front);
    lab.issue("one");
    let running = lab.start().await;
    running.until_completed(1).await;
    let is_removed = || !lab.workspace("one").exists();
    until("the removal of the workspace", is_removed).await;
    running.stop().await;
    // Only what came over a connection knows it.
    let root = lab.path().join("workspaces");
    let hook = std::fs::read_to_string(root.join("hook")).unwrap();
    assert!(hook.starts_with("one 127.0.0.1 "), "{hook}");
    let agent = std::fs::read_to_string(root.join("agent")).unwrap();
    assert!(agent.starts_with("127.0.0.1 "), "{agent}");
    assert_eq!(lab.record("one")["attempts"][0]["host"], host);
}

/// The front matter that makes a service work on these hosts.
fn workers(machine: &Machine, hosts: &[&str]) -> String {
    let config = machine.directory.path().join("ssh_config");
    format!(
        "agent: {{ max_retry_backoff_ms: 50 }}\nworker: {{ ssh_hosts: {hosts:?}, ssh_config: \"{}\" }}",
        config.display()
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_whose_host_cannot_be_reached_goes_to_another() {
    let Some(machine) = Machine::start().await else {
        return;
    };
    let host = format!("127.0.0.1:{}", machine.port);
    let front = workers(&machine, &["127.0.0.1:1", &host]);
    let lab = service::Lab::new(service::DONE, &front);
    lab.issue("one");
    let running = lab.start().await;
    running.until_completed(1).await;
    running.stop().await;
    let attempts = &lab.record("one")["attempts"];
    assert_eq!(attempts[0]["host"], "127.0.0.1:1");
    let error = attempts[0]["error"].as_str().unwrap();
    assert!(error.starts_with("host_unavailable"), "{error}");
    assert_eq!(attempts[1]["host"], host);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_attempt_left_on_the_host_is_ended_before_the_next_one() {
    let Some(machine) = Machine::start().await else {
        return;
    };
    let host = format!("127.0.0.1:{}", machine.port);
    let front = workers(&machine, &[&host]).replace("max_retry_backoff_ms: 50", "max_turns: 1");
    // The first attempt fails; the second one is done if nothing is left.
    let work = "if [ -e ../../planted ]; then grep -qs . /proc/$(cat ../../planted)/environ && touch ../../met; state Done; finish completed; else echo \"$QUIPU_RUNNER_RUN\" > ../../mark; finish failed; fi";
    let lab = service::Lab::new(work, &front);
    lab.issue("one");
    let running = lab.start().await;
    running
        .until("the first attempt has failed", |it| {
            service::failed_with(it, "turn_failed")
        })
        .await;
    // No attempt begins until it is asked for.
    let ask = async |command| {
        let asked = running.handle.ask(|answer| Query::Command(command, answer));
        asked.await.unwrap().unwrap();
    };
    let identifier = "one".to_owned();
    ask(Command::Cancel { identifier }).await;
    running
        .until("nothing runs", |it| it["counts"]["running"] == 0)
        .await;
    // As if the host had not noticed yet that the connection of the first attempt ended.
    let mark = std::fs::read_to_string(lab.path().join("mark")).unwrap();
    let (of_issue, _) = mark.rsplit_once('-').unwrap();
    let details = running.details("one").await.unwrap();
    let attempts = details["tracked"]["attempts"].as_array().unwrap();
    let number = &attempts.last().unwrap()["number"];
    let mut left = command("sleep")
        .arg(process_table::marker())
        .env("QUIPU_RUNNER_RUN", format!("{of_issue}-{number}"))
        .spawn()
        .unwrap();
    let pid = left.id().unwrap();
    std::fs::write(lab.path().join("planted"), pid.to_string()).unwrap();
    let identifier = "one".to_owned();
    ask(Command::Retry { identifier }).await;
    running.until_completed(1).await;
    running.stop().await;
    assert!(!within("its end", left.wait()).await.unwrap().success());
    assert!(
        !lab.path().join("met").exists(),
        "it lived beside the agent"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn startup_cleans_up_on_the_host_once() {
    let Some(machine) = Machine::start().await else {
        return;
    };
    let host = format!("127.0.0.1:{}", machine.port);
    let front = workers(&machine, &[&host]);
    let front = format!("hooks: {{ before_remove: 'echo x >> ../removed' }}\n{front}");
    let lab = service::Lab::new("state Review; finish completed", &front);
    lab.issue("one");
    let running = lab.start().await;
    running.until_completed(1).await;
    running.stop().await;
    assert!(lab.workspace("one").exists());
    lab.set_state("one", "Done");
    lab.start().await.stop().await;
    assert!(!lab.workspace("one").exists());
    let removed = lab.path().join("workspaces/removed");
    assert_eq!(std::fs::read_to_string(removed).unwrap(), "x\n");
    let connections = machine.connections();
    assert!(connections > 0);
    lab.start().await.stop().await;
    assert_eq!(machine.connections(), connections, "it is known to be gone");
}

/// A program of the host that stops for good when it is first used on the workspace of `one`, before or after it has
/// done its work.
fn stop_once(machine: &Machine, program: &str, after: bool) -> std::path::PathBuf {
    let bin = machine.directory.path().join("bin");
    let stopped = machine.directory.path().join("stopped");
    let wait = format!(
        "case \"$*\" in *one*) if mkdir -- {0} 2>/dev/null; then while [ -e {0} ]; do sleep 0.05; done; fi;; esac",
        stopped.display()
    );
    let script = match after {
        true => format!("/usr/bin/{program} \"$@\" || exit; PATH=/usr/bin:/bin; {wait}"),
        false => format!("PATH=/usr/bin:/bin; {wait}; exec {program} \"$@\""),
    };
    std::fs::create_dir(&bin).unwrap();
    std::fs::write(bin.join(program), format!("#!/bin/sh\n{script}\n")).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(bin.join(program), executable).unwrap();
    stopped
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_whose_making_was_cut_short_is_made_again_with_its_hook() {
    for after in [true, false] {
        let Some(machine) = Machine::start().await else {
            return;
        };
        let stopped = stop_once(&machine, "mkdir", after);
        let host = format!("127.0.0.1:{}", machine.port);
        let front = workers(&machine, &[&host]);
        let front = format!("hooks: {{ after_create: 'echo made > hook' }}\n{front}");
        let work = "cp hook ../../seen; state Done; finish completed";
        let lab = service::Lab::new(work, &front);
        lab.issue("one");
        let running = lab.start().await;
        until("the host has stopped", || stopped.exists()).await;
        assert_eq!(lab.workspace("one").exists(), after);
        // Nothing of what the service knows then is about the workspace.
        running.stop().await;
        let running = lab.start().await;
        running.until_completed(1).await;
        running.stop().await;
        let seen = std::fs::read_to_string(lab.path().join("seen"));
        assert_eq!(seen.unwrap(), "made\n", "after: {after}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_that_goes_on_without_its_connection_ends_before_the_next_attempt() {
    let Some(machine) = Machine::start().await else {
        return;
    };
    let mark = process_table::marker();
    let host = format!("127.0.0.1:{}", machine.port);
    let front = workers(&machine, &[&host]);
    let hook = format!("if mkdir ../../first; then sleep {mark}; fi");
    let front = format!("hooks: {{ after_create: '{hook}', timeout_ms: 600000 }}\n{front}");
    let lab = service::Lab::new(service::DONE, &front);
    lab.issue("one");
    let running = lab.start().await;
    until("the hook runs", || lab.path().join("first").exists()).await;
    super::cut(machine.port);
    running.until_completed(1).await;
    running.stop().await;
    let left = process_table::left(&mark).await;
    assert!(left.is_empty(), "{left:?}");
}
