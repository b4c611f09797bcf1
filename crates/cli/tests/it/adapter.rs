//! The adapter with the program as its server: whatever happens to an evaluation, no process is left.

use std::path::Path;
use std::time::{Duration, Instant};

use quipu_adapter::{
    Adapter, Case, Phase, Prompt, Section, Server, Session, Slice, Tool, ToolContext, ToolError,
};
use quipu_testkit::client::within;
use quipu_testkit::process_table::{appeared, gone, left, marker};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::QUIPU;

/// The program with a mark in its arguments, by which it is found.
fn server(home: &TempDir, mark: &str) -> Server {
    let config = "model_provider = \"offline\"\nsandbox_mode = \"danger-full-access\"\n";
    std::fs::write(home.path().join("config.toml"), config).unwrap();
    Server::spawn(QUIPU)
        .args(["app-server", "-c", &format!("model=\"{mark}\"")])
        .env("QUIPU_HOME", home.path())
        .env("HOME", home.path())
}

fn adapter(home: &TempDir, mark: &str) -> Adapter {
    Adapter::new(server(home, mark)).cwd(home.path())
}

fn scripted(steps: Value) -> Prompt<String> {
    Prompt::text("test").section(Section::new("Task", json!({ "script": steps }).to_string()))
}

/// A command of the agent that would outlive everything.
fn lasting(mark: &str) -> Value {
    json!({ "calls": [{ "name": "exec_command", "arguments": { "cmd": format!("sleep 600 # {mark}"), "yield_time_ms": 100 } }] })
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Count(u32);

impl Slice for Count {
    const NAME: &'static str = "count";
    type Event = ();

    fn apply(&mut self, (): ()) {
        self.0 += 1;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_evaluation_ends_its_server_and_what_that_started() {
    let (home, mark) = (TempDir::new().unwrap(), marker());
    let prompt = scripted(json!([lasting(&mark), { "text": "done" }]));
    let adapter = adapter(&home, &mark);
    let session = Session::new();
    let response = within("an answer", async {
        adapter.evaluate(&prompt, &session).await
    })
    .await;
    assert_eq!(response.unwrap().output, "done");
    gone(&mark, Instant::now()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_ends_the_server_too() {
    let (home, mark) = (TempDir::new().unwrap(), marker());
    let prompt = scripted(json!([lasting(&mark), { "text": "…", "stall": true }]));
    let adapter = adapter(&home, &mark);
    let session = Session::new();
    let evaluation = adapter
        .evaluate(&prompt, &session)
        .timeout(Duration::from_secs(3));
    let error = within("the deadline", async { evaluation.await })
        .await
        .unwrap_err();
    assert_eq!(error.phase(), Phase::Deadline, "{error}");
    gone(&mark, Instant::now()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_gives_up_ends_the_server() {
    let (home, mark) = (TempDir::new().unwrap(), marker());
    let prompt = scripted(json!([lasting(&mark), { "text": "…", "stall": true }]));
    let adapter = adapter(&home, &mark);
    let session = Session::new();
    let command = format!("sleep 600 # {mark}");
    tokio::select! {
        done = async { adapter.evaluate(&prompt, &session).await } => panic!("{done:?}"),
        () = appeared(&command) => {}
    }
    assert_eq!(left(&mark).await, [""; 0]);
}

/// The server is killed while a tool runs: the tool's work is undone, and the next evaluation has a new server.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_leaves_nothing_half_done() {
    let (home, mark) = (TempDir::new().unwrap(), marker());
    let victim = mark.clone();
    let kill = Tool::new(
        "kill",
        "Kills the server.",
        move |(), context: ToolContext| {
            let victim = victim.clone();
            async move {
                context.session().dispatch::<Count>(());
                kill(&victim);
                std::future::pending::<Result<(), ToolError>>().await
            }
        },
    );
    let prompt =
        scripted(json!([{ "calls": [{ "name": "kill", "arguments": {} }] }, { "text": "done" }]))
            .tool(kill);
    let adapter = Adapter::new(server(&home, &mark).pooled()).cwd(home.path());
    let session = Session::new();
    let error = within("an error", async {
        adapter.evaluate(&prompt, &session).await
    })
    .await
    .unwrap_err();
    assert_eq!(error.phase(), Phase::Response, "{error}");
    assert!(error.message().contains("signal: 9"), "{error}");
    assert_eq!(session.get::<Count>().0, 0);
    let next = within("an answer", async {
        adapter
            .evaluate(&scripted(json!([{ "text": "on" }])), &session)
            .await
    })
    .await;
    assert_eq!(next.unwrap().output, "on");
    adapter.close().await;
    gone(&mark, Instant::now()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_process_serves_a_dataset() {
    let (home, mark) = (TempDir::new().unwrap(), marker());
    let adapter = Adapter::new(server(&home, &mark).pooled())
        .cwd(home.path())
        .ephemeral();
    let cases: Vec<_> = (0..20).map(|at| Case::new(at.to_string(), at)).collect();
    let run = adapter
        .evaluate_all(&cases)
        .concurrency(10)
        .variant("echo", |at: &usize| {
            Ok(scripted(json!([{ "text": at.to_string() }])))
        })
        .score("right", |at: &usize, response| {
            f64::from(response.output == at.to_string())
        });
    let report = within("a report", async { run.await }).await;
    assert_eq!(report.variants[0].summary().scores[0].0, 1.0, "{report:?}");
    adapter.close().await;
    gone(&mark, Instant::now()).await;
}

/// The first program of the guide is the example, and does what the guide says with nothing but the program in
/// `PATH`.
#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "the program under test, killed on drop"
)]
async fn the_guide_runs_as_it_is_written() {
    let guide = include_str!("../../../../docs/adapter.md");
    let example = include_str!("../../examples/first_evaluation.rs");
    let (_, program) = example.split_once("\n\n").unwrap();
    assert!(guide.contains(&format!("```rust\n{program}```")));
    let home = TempDir::new().unwrap();
    let directory = Path::new(QUIPU).parent().unwrap();
    let program = directory.join("examples/first_evaluation");
    let run = tokio::process::Command::new(program)
        .env_clear()
        .env("PATH", directory)
        .env("HOME", home.path())
        .current_dir(home.path())
        .kill_on_drop(true)
        .output();
    let output = within("the end", run).await.unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        guide.contains(&format!("It prints `{}`.", said.trim_end())),
        "{said}"
    );
}

/// Kills the processes with a mark in their arguments.
fn kill(mark: &str) {
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let pid = entry
            .file_name()
            .to_str()
            .and_then(|it| it.parse().ok())
            .and_then(Pid::from_raw);
        if let (true, Some(pid)) = (String::from_utf8_lossy(&line).contains(mark), pid) {
            // It may be gone already.
            kill_process(pid, Signal::KILL).ok();
        }
    }
}
