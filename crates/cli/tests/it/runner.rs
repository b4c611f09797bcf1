//! `quipu runner` as a process, with real servers and the offline model: 17.7 of the Symphony specification, operators,
//! the demonstration, and a service that is killed at random moments.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use quipu_testkit::process::{Launch, ServerProcess, Signal};
use quipu_testkit::process_table;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;

const QUIPU: &str = env!("CARGO_BIN_EXE_quipu");

/// A directory with a workflow, issues and homes.
struct Place {
    directory: TempDir,
}

impl Place {
    fn new(front: &str) -> Place {
        let place = Place {
            directory: tempfile::tempdir().unwrap(),
        };
        for name in ["issues", "agent", "home"] {
            fs::create_dir(place.path(name)).unwrap();
        }
        fs::write(
            place.path("agent/config.toml"),
            "model_provider = \"offline\"\n",
        )
        .unwrap();
        let command = format!(
            "QUIPU_HOME={} exec {QUIPU} app-server",
            place.path("agent").display()
        );
        let text = format!(
            "---\npolling: {{ interval_ms: 100 }}\nworkspace: {{ root: work }}\n\
             codex: {{ command: {}, read_timeout_ms: 30000 }}\n{front}\n---\n{{{{ issue.description }}}}\n",
            json!(command)
        );
        fs::write(place.path("WORKFLOW.md"), text).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    /// An issue whose text is a script for the model.
    fn issue(&self, name: &str, steps: &Value) {
        let script = json!({ "script": steps });
        let text = format!("---\ntitle: Issue {name}\nstate: Todo\n---\n{script}\n");
        fs::write(self.path(&format!("issues/{name}.md")), text).unwrap();
    }

    fn state(&self, name: &str) -> String {
        let text = fs::read_to_string(self.path(&format!("issues/{name}.md"))).unwrap();
        let line = text.lines().find_map(|it| it.strip_prefix("state: "));
        line.unwrap().trim_matches('"').to_owned()
    }

    /// A file of the service, which has run once.
    fn file(&self, name: &str) -> PathBuf {
        let mut services = fs::read_dir(self.path("home/runner")).unwrap();
        services.next().unwrap().unwrap().path().join(name)
    }

    /// What the service has stored of an issue so far.
    fn stored(&self, name: &str) -> Value {
        let services = fs::read_dir(self.path("home/runner"));
        let mut services = services.into_iter().flatten().flatten();
        let text = services
            .find_map(|it| fs::read_to_string(it.path().join(format!("issues/{name}.json"))).ok());
        serde_json::from_str(&text.unwrap_or_default()).unwrap_or_default()
    }

    fn launch(&self, args: &[&str]) -> Launch {
        Launch::new(QUIPU)
            .args(["runner"].into_iter().chain(args.iter().copied()))
            .directory_at(&self.path(""))
            .env("QUIPU_HOME", self.path("home").to_str().unwrap())
    }

    fn serve(&self) -> ServerProcess {
        self.launch(&[]).start()
    }

    /// What a command says, once it has succeeded.
    async fn says(&self, args: &[&str]) -> String {
        let (success, out, err) = finish(self.launch(args)).await;
        assert!(success, "{args:?}: {out}{err}");
        out
    }
}

async fn finish(launch: Launch) -> (bool, String, String) {
    let mut process = launch.start();
    let mut out = String::new();
    let mut stdout = process.stdout.take().unwrap();
    stdout.read_to_string(&mut out).await.unwrap();
    let status = process.exit().await;
    (status.success(), out, process.stderr())
}

fn done() -> Value {
    let patch = "*** Begin Patch\n*** Add File: hello.txt\n+hello\n*** End Patch";
    json!([
        { "patch": patch },
        { "calls": [{ "name": "update_issue", "arguments": { "state": "Done" } }] },
        { "text": "done", "usage": { "input": 100, "output": 10 } },
    ])
}

/// Waits until something holds that no event tells of.
async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    let mut looks = tokio::time::interval(Duration::from_millis(20));
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(90), "never: {what}");
        looks.tick().await;
    }
}

#[tokio::test]
async fn errors_on_missing_workflows_and_bad_ones_are_clean() {
    let place = Place::new("");
    for args in [&["missing.md"][..], &["--dry-run", "missing.md"]] {
        let (success, out, err) = finish(place.launch(args)).await;
        assert!(!success && out.is_empty());
        assert!(
            err.contains("missing_workflow_file") && err.contains("missing.md"),
            "{err}"
        );
    }
    fs::write(
        place.path("WORKFLOW.md"),
        "---\nagent: { max_turns: 0 }\n---\n",
    )
    .unwrap();
    let (success, _, err) = finish(place.launch(&[])).await;
    assert!(
        !success && err.contains("`agent.max_turns` must be a positive integer"),
        "{err}"
    );
    fs::remove_file(place.path("WORKFLOW.md")).unwrap();
    let (success, _, err) = finish(place.launch(&[])).await;
    assert!(!success && err.contains("WORKFLOW.md"), "{err}");
    for args in [&["status"][..], &["show", "A"], &["retry", "A"]] {
        let (success, out, err) = finish(place.launch(args)).await;
        assert!(
            !success && out.is_empty() && err.contains("there is no "),
            "{args:?}: {out}{err}"
        );
    }
}

#[tokio::test]
async fn a_port_that_is_taken_is_an_error() {
    let place = Place::new("");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (success, _, err) = finish(place.launch(&["--port", &port])).await;
    assert!(!success && err.contains(&port), "{err}");
}

#[tokio::test]
async fn the_default_workflow_runs_to_its_end_and_exits_with_success() {
    let place = Place::new("");
    place.issue("A", &done());
    let mut service = place.serve();
    until("A is done", || place.state("A") == "Done").await;
    until("its workspace is removed", || {
        !place.path("work/A").exists()
    })
    .await;
    let status = place.says(&["status"]).await;
    assert!(status.starts_with("0 running"), "{status}");
    service.signal(Signal::TERM);
    assert!(service.exit().await.success(), "{}", service.stderr());
    let log = service.stderr();
    for field in [
        "dispatched",
        "session_started",
        "run_ended",
        "issue_identifier=\"A\"",
        "session_id=",
        "outcome=",
    ] {
        assert!(log.contains(field), "{field}: {log}");
    }
    // Without the service, what is stored is shown.
    let shown = place.says(&["show", "A", "--json"]).await;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let attempt = &shown["tracked"]["attempts"][0];
    // The agent moves its issue before its turn ends, so the service may be quicker to end it.
    let status = attempt["status"].as_str().unwrap();
    assert!(
        ["succeeded", "canceled_by_reconciliation"].contains(&status),
        "{attempt:#}"
    );
    let patch = fs::read_to_string(attempt["patch"].as_str().unwrap()).unwrap();
    assert!(patch.contains("+hello"), "{patch}");
    assert!(Path::new(attempt["log"].as_str().unwrap()).exists());
    assert!(attempt["thread_id"].is_string());
}

#[tokio::test]
async fn a_dry_run_shows_prompts_and_changes_nothing() {
    let place = Place::new("agent: { max_concurrent_agents: 1 }");
    place.issue("A", &json!([{ "text": "x" }]));
    place.issue("B", &done());
    let out = place.says(&["--dry-run", "WORKFLOW.md"]).await;
    assert!(
        out.contains(
            "A: dispatched (Issue A), with this prompt:\n    {\"script\":[{\"text\":\"x\"}]}"
        ),
        "{out}"
    );
    assert!(
        out.contains("B: not dispatched, no available orchestrator slots"),
        "{out}"
    );
    assert!(!place.path("work").exists() && place.state("B") == "Todo");
}

#[tokio::test]
async fn a_dry_run_says_what_it_cannot_read_and_what_a_service_left() {
    let place = Place::new("");
    // Another workflow beside the default one.
    let other = "---\n---\n{{ issue.title }}{% if attempt %}, attempt {{ attempt }}{% endif %}";
    fs::write(place.path("other.md"), other).unwrap();
    fs::write(place.path("issues/bad.md"), "---\nstate: [\n---\n").unwrap();
    let title = "---\ntitle: \"A \\e[31mred\\e[0m one\"\n---\n";
    fs::write(place.path("issues/A.md"), title).unwrap();
    let (success, out, err) = finish(place.launch(&["--dry-run", "other.md"])).await;
    assert!(success && err.contains("bad.md"), "{out}{err}");
    assert_eq!(
        out,
        "A: dispatched (A  [31mred [0m one), with this prompt:\n    A  [31mred [0m one\n"
    );

    // An agent that fails, and one that a killed service leaves in the middle.
    let refusal = json!({ "error": { "message": "as scripted" } });
    place.issue("A", &json!([{ "fail": 400, "body": refusal }]));
    place.issue("B", &json!([{ "deltas": 100_000, "every": 50 }]));
    fs::remove_file(place.path("issues/bad.md")).unwrap();
    let mut service = place.serve();
    until("A waits for its retry", || {
        place.stored("A")["retry"].is_object()
    })
    .await;
    until("B has begun", || {
        place.stored("B")["attempts"][0]["turns"] == 1
    })
    .await;
    service.signal(Signal::KILL);
    service.exit().await;
    for (due, said) in [
        (
            "2999-01-01T00:00:00Z",
            "A: not dispatched, tried again at 2999-01-01T00:00:00",
        ),
        ("2000-01-01T00:00:00Z", "A: dispatched (Issue A), with"),
    ] {
        let mut record = place.stored("A");
        record["retry"]["due_at"] = json!(due);
        fs::write(place.file("issues/A.json"), record.to_string()).unwrap();
        let out = place.says(&["--dry-run"]).await;
        assert!(out.contains(said), "{out}");
        assert!(
            out.contains("B: dispatched (Issue B) in the thread "),
            "{out}"
        );
        assert!(out.contains("was restarted while you worked"), "{out}");
    }
}

#[tokio::test]
async fn a_killed_service_goes_on_in_the_same_thread_also_without_its_log() {
    let place = Place::new("");
    place.issue("A", &json!([{ "deltas": 100_000, "every": 50 }]));
    let mut service = place.serve();
    service.said("session_started").await;
    until("the thread is stored", || {
        place.stored("A")["attempts"][0]["turns"] == 1
    })
    .await;
    service.signal(Signal::KILL);
    service.exit().await;
    let log = place.file("quipu.log");
    fs::remove_file(&log).unwrap();
    fs::create_dir(&log).unwrap();
    let mut service = place.serve();
    service.said("session_started").await;
    let live = place.says(&["show", "A", "--json"]).await;
    service.signal(Signal::TERM);
    assert!(service.exit().await.success(), "{}", service.stderr());
    let live: Value = serde_json::from_str(&live).unwrap();
    let attempts = &live["tracked"]["attempts"];
    assert_eq!(attempts[0]["status"], "interrupted");
    assert_eq!(attempts[0]["thread_id"], attempts[1]["thread_id"]);
    assert!(log.is_dir());
}

#[tokio::test]
async fn operators_cancel_retry_and_look() {
    let place = Place::new("");
    place.issue("A", &json!([{ "deltas": 100_000, "every": 50 }]));
    let blocked = "---\nblocked_by: [A, other]\n---\n";
    fs::write(place.path("issues/B.md"), blocked).unwrap();
    let mut service = place.serve();
    service.said("session_started").await;
    let waits = "B: waiting: blocked by A (Todo), other (not found)\n";
    assert_eq!(place.says(&["retry", "B"]).await, waits);
    let live = place.says(&["status", "--json"]).await;
    let live: Value = serde_json::from_str(&live).unwrap();
    assert_eq!(live["running"][0]["issue_identifier"], "A");
    assert_eq!(place.says(&["cancel", "A"]).await, "A: stopping\n");
    service.said("run_ended").await;
    place.issue("A", &done());
    assert_eq!(place.says(&["retry", "A"]).await, "A: queued\n");
    until("A is done", || place.state("A") == "Done").await;
    let (success, _, err) = finish(place.launch(&["cancel", "unknown"])).await;
    assert!(
        !success && err.contains("knows no issue `unknown`"),
        "{err}"
    );
    service.signal(Signal::TERM);
    assert!(service.exit().await.success());
    let (success, _, err) = finish(place.launch(&["retry", "A"])).await;
    assert!(!success && err.contains("no service is running"), "{err}");
}

#[tokio::test]
async fn the_workflow_says_how_much_is_logged_while_the_service_runs() {
    let place = Place::new("observability: { log_level: error }");
    place.issue("A", &done());
    let mut service = place.serve();
    until("A is done", || place.state("A") == "Done").await;
    let path = place.path("WORKFLOW.md");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("log_level: error", "log_level: info")).unwrap();
    service.said("workflow_reloaded").await;
    place.issue("B", &done());
    service.said("run_ended").await;
    let log = fs::read_to_string(place.file("quipu.log")).unwrap();
    let dispatched = |name: &str| {
        let mut lines = log.lines().filter(|it| it.contains("dispatched"));
        lines.any(|it| it.contains(&format!("issue_identifier={name:?}")))
    };
    assert!(dispatched("B") && !dispatched("A"), "{log}");
    service.signal(Signal::TERM);
    assert!(service.exit().await.success());
}

#[tokio::test]
async fn the_demo_shows_all_and_ends_by_itself() {
    let launch = Launch::new(QUIPU).args(["runner", "--demo"]);
    let begun = Instant::now();
    let (success, out, err) = finish(launch).await;
    assert!(success, "{out}{err}");
    assert!(begun.elapsed() < Duration::from_secs(60));
    for said in [
        "dashboard: http://127.0.0.1:",
        "greet: an agent works on it",
        "count: failed, tried again soon",
        "count: an agent works on it, attempt 1",
        "sign: waits, blocked",
        "sign: an agent works on it",
        "count: 2 attempts",
        "+Hello, world!",
    ] {
        assert!(out.contains(said), "{said}: {out}");
    }
}

/// How often the service is killed: a few times, or very often.
fn rounds() -> u32 {
    match std::env::var_os("QUIPU_SOAK") {
        Some(_) => 200,
        None => 6,
    }
}

#[tokio::test]
async fn a_service_that_is_killed_loses_nothing_and_works_on_nothing_twice() {
    let place =
        Place::new("agent: { max_turns: 1, max_concurrent_agents: 3, max_retry_backoff_ms: 200 }");
    let twice = place.path("issues/twice");
    // A worker holds a lock of its workspace, which the kernel releases with the process.
    let work = |name: &str| {
        let cmd = format!(
            "flock -n -E 9 lock sleep 0.3; if [ $? = 9 ]; then echo {name} >> twice; fi; cp twice {} 2>/dev/null; true",
            twice.display()
        );
        json!([
            { "calls": [{ "name": "exec_command", "arguments": { "cmd": cmd, "login": false } }] },
            { "calls": [{ "name": "update_issue", "arguments": { "state": "Done" } }] },
            { "text": "done" },
        ])
    };
    let rounds = rounds();
    let mut kept = Vec::new();
    for round in 0..rounds {
        // An issue for every second round, so that there is always some work and it comes to an end.
        if round % 2 == 0 {
            let name = format!("I-{round}");
            place.issue(&name, &work(&name));
            kept.push(name);
        }
        let mut service = place.serve();
        // From just after the start to the middle of the work.
        let moment = Duration::from_millis(u64::from(round * 397 % 1_500));
        let ended = tokio::time::timeout(moment, service.exit()).await;
        assert!(ended.is_err(), "it ended by itself: {}", service.stderr());
        service.signal(Signal::KILL);
        service.exit().await;
        let twice = fs::read_dir(place.path("work"))
            .into_iter()
            .flatten()
            .flatten();
        for workspace in twice {
            let violation = fs::read_to_string(workspace.path().join("twice"));
            assert!(violation.is_err(), "worked on twice: {violation:?}");
        }
    }
    let mut service = place.serve();
    for name in &kept {
        until("every issue is done", || place.state(name) == "Done").await;
    }
    // Everything may have been done before it was ready to be stopped.
    service.said("started").await;
    service.signal(Signal::TERM);
    assert!(service.exit().await.success(), "{}", service.stderr());
    assert!(!twice.exists(), "an issue was worked on twice");
    let left = process_table::left(place.path("").to_str().unwrap()).await;
    assert!(left.is_empty(), "left behind: {left:?}");
}
