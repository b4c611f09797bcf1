//! Servers that leave or fall silent at every step, limits that are reached, and callers that give up.

use std::future::IntoFuture as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use quipu_adapter::{
    Adapter, Budget, Login, Phase, Prompt, Section, Server, Session, Slice, Tool, ToolContext,
    ToolError,
};
use quipu_client::wire::{ThreadListParams, ThreadLoadedListParams, ThreadReadParams, TurnStatus};
use quipu_client::{Client, Options};
use quipu_testkit::wait::{found, until};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::peer::{self, STEPS, Then};
use crate::support::{Events, Lab, scripted, soon};

#[derive(Clone, Default, Serialize, Deserialize)]
struct Count(u32);

impl Slice for Count {
    const NAME: &'static str = "count";
    type Event = ();

    fn apply(&mut self, (): ()) {
        self.0 += 1;
    }
}

fn counting() -> Tool {
    Tool::new("act", "Counts.", async |(), context: ToolContext| {
        context.session().dispatch::<Count>(());
        Ok::<_, ToolError>("counted")
    })
}

fn prompt() -> Prompt<String> {
    Prompt::text("test")
        .section(Section::new("Task", "Act."))
        .tool(counting())
}

/// Whether the step comes after the tool's call has succeeded.
fn counted(step: &str) -> u32 {
    u32::from(step == "end")
}

#[tokio::test]
async fn a_server_may_leave_at_every_step() {
    for step in STEPS {
        let (adapter, _) = peer::adapter(step, Then::Leave);
        let session = Session::new();
        let adapter = adapter.login(Login::api_key("secret-key"));
        let error = soon(adapter.evaluate(&prompt(), &session))
            .await
            .unwrap_err();
        let phase = match step {
            "tool" | "end" => Phase::Response,
            _ => Phase::Request,
        };
        assert_eq!(error.phase(), phase, "{step}: {error}");
        assert_eq!(session.get::<Count>().0, counted(step), "{step}");
        assert!(!format!("{error} {error:?} {adapter:?}").contains("secret-key"));
    }
}

#[tokio::test]
async fn a_deadline_ends_every_step() {
    for step in STEPS {
        let (adapter, _) = peer::adapter(step, Then::Stall);
        let session = Session::new();
        let adapter = adapter.login(Login::api_key("secret-key"));
        let prompt = prompt();
        let evaluation = adapter
            .evaluate(&prompt, &session)
            .timeout(Duration::from_millis(50));
        let error = soon(evaluation).await.unwrap_err();
        assert_eq!(error.phase(), Phase::Deadline, "{step}: {error}");
        assert_eq!(session.get::<Count>().0, counted(step), "{step}");
    }
}

#[tokio::test]
async fn without_a_finished_message_its_pieces_count() {
    let (adapter, _) = peer::adapter("none", Then::Leave);
    let response = soon(adapter.evaluate(&prompt(), &Session::new()))
        .await
        .unwrap();
    assert_eq!(response.output, "half half ");
}

#[tokio::test]
async fn what_cannot_begin_starts_nothing() {
    let (adapter, connections) = peer::adapter("none", Then::Leave);
    let (prompt, session) = (prompt(), Session::new());
    let past = Instant::now();
    let error = soon(adapter.evaluate(&prompt, &session).deadline(past))
        .await
        .unwrap_err();
    assert_eq!(error.phase(), Phase::Request, "{error}");
    let budget = Budget::new().deadline(past);
    let error = soon(adapter.evaluate(&prompt, &session).budget(&budget))
        .await
        .unwrap_err();
    assert_eq!(error.phase(), Phase::Request, "{error}");
    let error = soon(
        adapter
            .evaluate(&prompt, &session)
            .budget(&Budget::new().tokens(0)),
    )
    .await
    .unwrap_err();
    assert_eq!(error.phase(), Phase::Budget, "{error}");
    let twice = self::prompt().tool(counting());
    let error = soon(adapter.evaluate(&twice, &session)).await.unwrap_err();
    assert!(error.message().contains("`act` is taken"), "{error}");
    let relative = adapter.clone().cwd("not/absolute");
    let error = soon(relative.evaluate(&prompt, &session))
        .await
        .unwrap_err();
    assert!(error.message().contains("not an absolute path"), "{error}");
    assert_eq!(connections.load(Ordering::Relaxed), 0);
    // The deadline of the evaluation goes before that of the budget.
    let evaluation = adapter.evaluate(&prompt, &session).budget(&budget);
    let later = past + Duration::from_secs(600);
    soon(evaluation.deadline(later)).await.unwrap();
    let budget = Budget::new().deadline(Instant::now() + Duration::from_millis(50));
    let (stalling, _) = peer::adapter("end", Then::Stall);
    let error = soon(stalling.evaluate(&prompt, &session).budget(&budget)).await;
    assert_eq!(error.unwrap_err().phase(), Phase::Deadline);
}

#[tokio::test]
async fn a_silent_server_has_its_time_to_start() {
    let (adapter, _) = peer::adapter("initialize", Then::Stall);
    let adapter = adapter.startup_timeout(Duration::from_millis(20));
    let error = soon(adapter.evaluate(&prompt(), &Session::new()))
        .await
        .unwrap_err();
    assert_eq!(error.phase(), Phase::Request);
    assert!(error.message().contains("handshake"), "{error}");
}

/// Time passes only when nobody has anything to do.
#[tokio::test(start_paused = true)]
async fn a_pooled_server_that_does_not_answer_is_replaced() {
    let (adapter, is_silent, connections) = peer::falling_silent();
    let session = Session::new();
    for _ in 0..2 {
        soon(adapter.evaluate(&prompt(), &session)).await.unwrap();
    }
    assert_eq!(connections.load(Ordering::Relaxed), 1);
    is_silent.store(true, Ordering::Relaxed);
    soon(adapter.evaluate(&prompt(), &session)).await.unwrap();
    assert_eq!(connections.load(Ordering::Relaxed), 2);
    soon(adapter.evaluate(&prompt(), &session)).await.unwrap();
    assert_eq!(connections.load(Ordering::Relaxed), 2);
}

/// Nor is one kept whose silence is longer than every evaluation waits.
#[tokio::test(start_paused = true)]
async fn deadlines_do_not_hide_a_server_that_does_not_answer() {
    let (adapter, is_silent, connections) = peer::falling_silent();
    let (prompt, session) = (prompt(), Session::new());
    soon(adapter.evaluate(&prompt, &session)).await.unwrap();
    is_silent.store(true, Ordering::Relaxed);
    let late = adapter
        .evaluate(&prompt, &session)
        .timeout(Duration::from_secs(1));
    let error = soon(late).await.unwrap_err();
    assert_eq!(error.phase(), Phase::Deadline, "{error}");
    soon(adapter.evaluate(&prompt, &session)).await.unwrap();
    assert_eq!(connections.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_missing_program_is_named() {
    let adapter = Adapter::new(Server::spawn("/nowhere/quipu"));
    let error = soon(adapter.evaluate(&prompt(), &Session::new()))
        .await
        .unwrap_err();
    assert_eq!(error.phase(), Phase::Request);
    assert!(
        error.message().contains("cannot start `/nowhere/quipu`"),
        "{error}"
    );
    assert!(error.message().contains("`Server::spawn`"), "{error}");
}

#[tokio::test]
async fn a_program_that_fails_is_quoted() {
    let adapter =
        Adapter::new(Server::spawn("/bin/sh").args(["-c", "echo out of order >&2; exit 3"]));
    let error = soon(adapter.evaluate(&prompt(), &Session::new()))
        .await
        .unwrap_err();
    assert_eq!(error.phase(), Phase::Request);
    assert_eq!(error.stderr(), Some("out of order\n"), "{error:?}");
}

/// The test runs itself once more, to read what its own process writes to standard error.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "this test, once more")]
async fn standard_error_is_shown_only_if_asked_for() {
    const VARIABLE: &str = "QUIPU_ADAPTER_TEST_STDERR";
    let server = Server::spawn("/bin/sh").args(["-c", "echo out of order >&2; exit 3"]);
    let server = match std::env::var(VARIABLE).as_deref() {
        Err(_) => {
            for (choice, shown) in [("shown", true), ("kept", false)] {
                let mut again = tokio::process::Command::new(std::env::current_exe().unwrap());
                again
                    .args(["--exact", "--nocapture"])
                    .arg("faults::standard_error_is_shown_only_if_asked_for")
                    .env(VARIABLE, choice)
                    .kill_on_drop(true);
                let output = soon(again.output()).await.unwrap();
                let text = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{text}");
                assert_eq!(text.contains("out of order"), shown, "{text}");
            }
            return;
        }
        Ok("shown") => server.show_stderr(),
        Ok(_) => server,
    };
    let adapter = Adapter::new(server);
    let failed = soon(adapter.evaluate(&prompt(), &Session::new())).await;
    assert_eq!(failed.unwrap_err().stderr(), Some("out of order\n"));
}

/// A tool that says when it runs, and never ends.
fn hanging() -> (Tool, Arc<Notify>) {
    let runs = Arc::new(Notify::new());
    let messages = Arc::clone(&runs);
    let tool = Tool::new("act", "Hangs.", move |(), context: ToolContext| {
        let messages = Arc::clone(&messages);
        async move {
            context.session().dispatch::<Count>(());
            messages.notify_one();
            std::future::pending::<Result<(), ToolError>>().await
        }
    });
    (tool, runs)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_gives_up_leaves_nothing_running() {
    let lab = Lab::new();
    let (adapter, events) =
        Events::of(Adapter::new(lab.connecting().pooled()).cwd(lab.directory.path()));
    let (tool, runs) = hanging();
    let session = Session::new();
    let prompt =
        scripted(json!([{ "calls": [{ "name": "act", "arguments": {} }] }, { "text": "done" }]))
            .tool(tool);
    tokio::select! {
        done = async { adapter.evaluate(&prompt, &session).await } => panic!("{done:?}"),
        () = runs.notified() => {}
    }
    // The same server goes on for others.
    let response =
        soon(adapter.evaluate(&scripted(json!([{ "text": "next" }])), &Session::new())).await;
    assert_eq!(response.unwrap().output, "next");
    assert_eq!(session.get::<Count>().0, 0);
    until("the event", || !events.tools().is_empty()).await;
    assert_eq!(
        events
            .summary()
            .iter()
            .filter(|it| *it == "act failed")
            .count(),
        1
    );
    adapter.close().await;
}

/// Whenever a caller gives up, the server that goes on for others ends the turn and forgets the thread.
#[tokio::test(flavor = "multi_thread")]
async fn a_pooled_server_forgets_the_threads_of_callers_that_gave_up() {
    let lab = Lab::new();
    let (server, connections) = (Arc::clone(&lab.server), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&connections);
    let connecting = Server::options(move || {
        count.fetch_add(1, Ordering::Relaxed);
        Options::connection(server.connect_in_process())
    });
    let adapter = Adapter::new(connecting.pooled()).cwd(lab.directory.path());
    let (tool, runs) = hanging();
    let calls = json!([{ "calls": [{ "name": "act", "arguments": {} }] }, { "text": "done" }]);
    let prompt = scripted(calls).tool(tool);
    let session = Session::new();
    for _ in 0..200 {
        tokio::select! {
            done = adapter.evaluate(&prompt, &session).into_future() => panic!("{done:?}"),
            () = runs.notified() => {}
        }
    }
    assert_eq!(connections.load(Ordering::Relaxed), 1);
    let observer = Client::connect(Options::connection(lab.server.connect_in_process()));
    let observer = soon(observer).await.unwrap();
    let all_are_left = async || {
        let loaded = observer.thread_loaded_list(ThreadLoadedListParams::default());
        soon(loaded).await.unwrap().data.is_empty().then_some(())
    };
    found("the end of all threads", all_are_left).await;
    let listed = observer.thread_list(ThreadListParams::default());
    let listed = soon(listed).await.unwrap().data;
    assert!(!listed.is_empty());
    for thread in listed {
        let params = ThreadReadParams {
            thread_id: thread.id,
            include_turns: true,
        };
        let read = soon(observer.thread_read(params)).await.unwrap().thread;
        let statuses: Vec<_> = read.turns.iter().map(|it| it.status).collect();
        assert_eq!(statuses, [TurnStatus::Interrupted]);
    }
    // Also while the thread or the turn is only asked for.
    for round in 0..40 {
        let limit = Duration::from_micros(100 * round);
        let evaluation = adapter.evaluate(&prompt, &session).into_future();
        drop(timeout(limit, evaluation).await);
    }
    found("the end of all threads", all_are_left).await;
    assert_eq!(session.get::<Count>().0, 0);
    adapter.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hung_tool_is_ended_by_the_deadline() {
    let lab = Lab::new();
    let (tool, runs) = hanging();
    let session = Session::new();
    let prompt =
        scripted(json!([{ "calls": [{ "name": "act", "arguments": {} }] }, { "text": "done" }]))
            .tool(tool);
    let adapter = lab.adapter();
    let error = soon(
        adapter
            .evaluate(&prompt, &session)
            .timeout(Duration::from_millis(700)),
    )
    .await
    .unwrap_err();
    assert_eq!(error.phase(), Phase::Deadline, "{error}");
    soon(runs.notified()).await;
    assert_eq!(session.get::<Count>().0, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panicking_tool_is_a_failure_like_any_other() {
    let lab = Lab::new();
    let (adapter, events) = Events::of(lab.adapter());
    let panics = Tool::new(
        "act",
        "Panics.",
        async |(), _: ToolContext| -> Result<(), ToolError> { panic!("oh no") },
    );
    let prompt =
        scripted(json!([{ "calls": [{ "name": "act", "arguments": {} }] }, { "text": "done" }]))
            .tool(panics);
    assert_eq!(
        soon(adapter.evaluate(&prompt, &Session::new()))
            .await
            .unwrap()
            .output,
        "done"
    );
    assert_eq!(events.tools()[0].result, "The tool `act` failed: oh no");
}

#[tokio::test(flavor = "multi_thread")]
async fn subscribers_that_fail_change_nothing() {
    let lab = Lab::new();
    let adapter = lab
        .adapter()
        .on_event(|_| Err("no".into()))
        .on_event(|_| panic!("never"));
    let (adapter, events) = Events::of(adapter);
    let prompt = scripted(json!([{ "text": "done" }]));
    assert_eq!(
        soon(adapter.evaluate(&prompt, &Session::new()))
            .await
            .unwrap()
            .output,
        "done"
    );
    assert_eq!(events.summary(), ["rendered", "executed"]);
}
