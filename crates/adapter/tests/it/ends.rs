//! How evaluations end: nothing is half done then, and the server keeps nothing that nobody needs.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use quipu_adapter::{
    Adapter, Phase, Prompt, Resource, ResourceError, Resources, Section, Session, Shared, Tool,
    ToolContext, ToolError,
};
use quipu_client::wire::ThreadLoadedListParams;
use quipu_client::{Client, Options};
use serde_json::json;
use tokio::sync::Notify;

use crate::peer::{self, Then};
use crate::support::{Events, Lab, scripted, soon};

fn prompt() -> Prompt<String> {
    Prompt::text("test").section(Section::new("Task", "Act."))
}

/// A number that takes its time to be restored.
#[derive(Default)]
struct Slow(Shared<u32>);

impl Resource for Slow {
    type Snapshot = u32;

    fn snapshot(&self) -> Result<u32, ResourceError> {
        Ok(self.0.get())
    }

    fn restore(&self, snapshot: u32) -> Result<(), ResourceError> {
        std::thread::park_timeout(Duration::from_millis(200));
        self.0.with(|it| *it = snapshot);
        Ok(())
    }
}

/// The server leaves in the middle of a tool. Who looks at the resources when the evaluation has returned finds
/// them as they were.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_tool_is_undone_before_its_evaluation_returns() {
    let runs = Arc::new(Notify::new());
    let messages = Arc::clone(&runs);
    let hanging = Tool::new("act", "Hangs.", move |(), context: ToolContext| {
        let messages = Arc::clone(&messages);
        async move {
            context.resource::<Slow>()?.0.with(|it| *it += 1);
            messages.notify_one();
            std::future::pending::<Result<(), ToolError>>().await
        }
    });
    let (adapter, events) = Events::of(peer::leaving(runs));
    let resources = Resources::new().with(Slow::default());
    let (prompt, session) = (prompt().tool(hanging), Session::new());
    let evaluation = adapter.evaluate(&prompt, &session).resources(&resources);
    let error = soon(evaluation).await.unwrap_err();
    assert_eq!(error.phase(), Phase::Response, "{error}");
    assert_eq!(resources.get::<Slow>().unwrap().0.get(), 0);
    assert_eq!(events.summary(), ["rendered", "act failed"]);
}

/// Time passes only when nobody has anything to do.
#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_obey_is_not_waited_for_nor_used_again() {
    let (server, connections) = peer::server("tool", Then::Ignore);
    let adapter = Adapter::new(server.pooled());
    let (prompt, session) = (prompt(), Session::new());
    for round in 1..=2 {
        let late = adapter
            .evaluate(&prompt, &session)
            .timeout(Duration::from_secs(1));
        let error = soon(late).await.unwrap_err();
        assert_eq!(error.phase(), Phase::Deadline, "{error}");
        assert_eq!(connections.load(Ordering::Relaxed), round);
    }
}

/// A pooled server is asked to forget the threads of evaluations that are over; how they ended does not matter.
#[tokio::test(flavor = "multi_thread")]
async fn a_pooled_server_does_not_keep_threads() {
    let lab = Lab::new();
    let adapter = Adapter::new(lab.connecting().pooled()).cwd(lab.directory.path());
    let failing = json!([{ "fail": 400, "body": "no" }]);
    for (steps, is_ok) in [(json!([{ "text": "done" }]), true), (failing, false)] {
        let done = soon(adapter.evaluate(&scripted(steps), &Session::new())).await;
        assert_eq!(done.is_ok(), is_ok, "{done:?}");
    }
    let options = Options::connection(lab.server.connect_in_process());
    let watcher = Client::connect(options).await.unwrap();
    let forgotten = async {
        while !watcher
            .thread_loaded_list(ThreadLoadedListParams::default())
            .await
            .unwrap()
            .data
            .is_empty()
        {
            tokio::task::yield_now().await;
        }
    };
    soon(forgotten).await;
    watcher.disconnect().await;
    adapter.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_turn_has_its_cause() {
    let lab = Lab::new();
    let steps = json!([{ "fail": 400, "body": { "error": { "message": "as scripted" } } }]);
    let error = soon(lab.adapter().evaluate(&scripted(steps), &Session::new())).await;
    let error = error.unwrap_err();
    assert_eq!(error.phase(), Phase::Request, "{error}");
    assert_eq!(serde_json::to_value(error.cause()).unwrap(), "badRequest");
    assert!(error.message().contains("as scripted"), "{error}");
}
