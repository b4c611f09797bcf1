//! Evaluations that are recorded and replayed, and runs over datasets.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use quipu_adapter::{
    Adapter, Budget, Case, Phase, Price, Prices, Progress, Prompt, Recording, Report, Resources,
    Score, Section, Session, Shared, Tool, ToolContext, ToolError, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{Events, Lab, script, soon};

#[derive(Deserialize, JsonSchema)]
struct Add {
    amount: i64,
}

type Total = Shared<i64>;

fn adding() -> Tool {
    Tool::new("add", "Adds.", async |params: Add, context: ToolContext| {
        let total = context.resource::<Total>()?.with(|total| {
            *total += params.amount;
            *total
        });
        match total {
            ..0 => Err(ToolError::new("the total must not be negative")),
            total => Ok(total.to_string()),
        }
    })
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Sum {
    sum: i64,
}

fn prompt() -> Prompt<Sum> {
    let call = |amount: i64| json!({ "name": "add", "arguments": { "amount": amount } });
    let command = json!({ "name": "exec_command", "arguments": { "cmd": "echo native" } });
    let steps = json!([{ "calls": [call(2)] }, { "calls": [call(-9)] }, { "calls": [command] }, { "calls": [call(3)] }, { "text": "{\"sum\":5}" }]);
    Prompt::new("sum").section(script(steps)).tool(adding())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_calls_the_tools_again() {
    let lab = Lab::new();
    let resources = || Resources::new().with(Total::default());
    let recorded = soon(
        lab.adapter()
            .evaluate(&prompt(), &Session::new())
            .resources(&resources()),
    )
    .await
    .unwrap();
    let file = lab.directory.path().join("sum.json");
    recorded.recording.save(&file).unwrap();
    let recording = Recording::load(&file).unwrap();
    assert_eq!(recording, recorded.recording);
    drop(lab);

    let (again, events) = (resources(), Events::default());
    let kept = events.clone();
    let (prompt, session) = (prompt(), Session::new());
    let replay = recording
        .replay(&prompt, &session)
        .resources(&again)
        .on_event(move |event| {
            kept.push(event);
            Ok(())
        });
    let response = soon(replay).await.unwrap();
    assert_eq!(response.output, Sum { sum: 5 });
    assert_eq!(
        (response.usage, response.model),
        (recorded.usage, recorded.model)
    );
    assert_eq!(again.get::<Total>().unwrap().get(), 5);
    assert_eq!(
        events.summary(),
        [
            "rendered",
            "add",
            "add failed",
            "command",
            "add",
            "executed"
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_finds_what_has_changed() {
    let lab = Lab::new();
    let resources = Resources::new().with(Total::default());
    let recording = soon(
        lab.adapter()
            .evaluate(&prompt(), &Session::new())
            .resources(&resources),
    )
    .await
    .unwrap()
    .recording;
    // The total is 5 already, so the tool gives something else.
    let error = soon(
        recording
            .replay(&prompt(), &Session::new())
            .resources(&resources),
    )
    .await
    .unwrap_err();
    assert_eq!(error.phase(), Phase::Tool);
    assert!(error.message().contains("recorded: 2\nnow: 7"), "{error}");
    let longer = prompt().section(Section::new("More", "words"));
    let error = soon(recording.replay(&longer, &Session::new()))
        .await
        .unwrap_err();
    assert_eq!(error.phase(), Phase::Request);
    assert!(
        error.message().contains("Line 4, recorded: (nothing)"),
        "{error}"
    );
    let more_tools = prompt().tool(Tool::new("x", "", async |(), _: ToolContext| {
        Ok::<_, ToolError>("")
    }));
    assert!(
        soon(recording.replay(&more_tools, &Session::new()))
            .await
            .is_err()
    );
}

/// What a tool shows is compared too.
#[tokio::test(flavor = "multi_thread")]
async fn a_replay_finds_another_image() {
    let lab = Lab::new();
    let drawing = |image: &'static str| {
        Tool::new("draw", "Draws.", move |(), _: ToolContext| {
            std::future::ready(Ok::<_, ToolError>(ToolOutput::from("here").image(image)))
        })
    };
    let prompt = |image: &'static str| {
        let steps = json!([{ "calls": [{ "name": "draw", "arguments": {} }] }, { "text": "done" }]);
        let prompt = Prompt::text("test").section(script(steps));
        prompt.tool(drawing(image))
    };
    let (one, other) = ("data:image/png;base64,QQ==", "data:image/png;base64,Qg==");
    let recorded = soon(lab.adapter().evaluate(&prompt(one), &Session::new())).await;
    let recording = recorded.unwrap().recording;
    let replayed = soon(recording.replay(&prompt(one), &Session::new())).await;
    assert_eq!(replayed.unwrap().output, "done");
    let error = soon(recording.replay(&prompt(other), &Session::new())).await;
    let error = error.unwrap_err();
    assert_eq!(error.phase(), Phase::Tool, "{error}");
    assert!(
        error.message().contains("[image image/png;base64, sha256 "),
        "{error}"
    );
}

#[test]
fn a_recording_that_cannot_be_read_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cut.json");
    std::fs::write(&path, "{\"prompt\": \"test\", \"rendered\"").unwrap();
    for path in [path, directory.path().join("missing.json")] {
        let error = Recording::load(&path).unwrap_err().to_string();
        assert!(error.starts_with(path.to_str().unwrap()), "{error}");
    }
}

/// Evaluations at once, each of which waits for the others.
#[tokio::test(flavor = "multi_thread")]
async fn a_pool_evaluates_at_once_on_one_connection() {
    let lab = Lab::new();
    let connections = std::sync::Arc::new(AtomicUsize::new(0));
    let (counted, server) = (connections.clone(), lab.server.clone());
    let server = quipu_adapter::Server::with(move |bridge| {
        counted.fetch_add(1, Ordering::Relaxed);
        let connection = server.connect_in_process();
        quipu_client::Client::connect(quipu_client::Options::connection(connection).handler(bridge))
    });
    let adapter = Adapter::new(server.pooled()).cwd(lab.directory.path());
    let barrier = std::sync::Arc::new(tokio::sync::Barrier::new(8));
    let meet = Tool::new(
        "meet",
        "Waits for the others.",
        move |(), _: ToolContext| {
            let barrier = barrier.clone();
            async move {
                barrier.wait().await;
                Ok::<_, ToolError>("met")
            }
        },
    );
    let prompts: Vec<_> = (0..8)
        .map(|at| {
            let steps = json!([{ "calls": [{ "name": "meet", "arguments": {} }] }, { "text": format!("answer {at}") }]);
            Prompt::text("test").section(script(steps)).tool(meet.clone())
        })
        .collect();
    let sessions: Vec<_> = prompts.iter().map(|_| Session::new()).collect();
    let all = prompts
        .iter()
        .zip(&sessions)
        .map(|(prompt, session)| adapter.evaluate(prompt, session).into_future());
    let all = soon(futures_util::future::join_all(all)).await;
    for (at, response) in all.into_iter().enumerate() {
        assert_eq!(response.unwrap().output, format!("answer {at}"));
    }
    assert_eq!(connections.load(Ordering::Relaxed), 1);
    adapter.close().await;
    let next = soon(adapter.evaluate(
        &Prompt::text("test").section(script(json!([{ "text": "on" }]))),
        &Session::new(),
    ))
    .await;
    assert_eq!(next.unwrap().output, "on");
    assert_eq!(connections.load(Ordering::Relaxed), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn variants_are_compared_over_a_dataset() {
    let lab = Lab::new();
    let adapter = Adapter::new(lab.connecting().pooled()).cwd(lab.directory.path());
    let case = |name: &str, answer: &str, expected: &str| {
        Case::new(name, json!({ "answer": answer, "expected": expected }))
    };
    let cases = [
        case("one", "Lima", "Lima"),
        case("two", "Quito", "Lima"),
        case("three", "Cusco", "Cusco"),
    ];
    let steps = Mutex::new(Vec::new());
    let right = |input: &Value| {
        let steps = json!({ "script": [{ "text": input["answer"] }] }).to_string();
        Ok(Prompt::text("capital").section(Section::new("Task", steps)))
    };
    let broken = |input: &Value| {
        Ok(Prompt::text("capital").section(Section::template("Task", "{{missing}}", input)?))
    };
    let report = adapter
        .evaluate_all(&cases)
        .variant("right", right)
        .variant("broken", broken)
        .score("exact", |input: &Value, response| {
            Score::Exact.of(&response.text, &input["expected"])
        })
        .concurrency(2)
        .on_progress(|progress: Progress| {
            steps.lock().unwrap().push((progress.done, progress.failed))
        });
    let report = soon(report).await;
    let scores: Vec<_> = report.variants[0]
        .cases
        .iter()
        .map(|it| it.scores[0])
        .collect();
    assert_eq!(scores, [1.0, 0.0, 1.0]);
    let broken = report.variants[1].summary();
    assert_eq!((broken.failed, broken.scores[0].0), (3, 0.0));
    let failure = report.variants[1].cases[0].failure.clone().unwrap();
    assert_eq!(failure.phase, "request");
    let steps = steps.into_inner().unwrap();
    assert_eq!(steps.last(), Some(&(6, 3)));
    assert_eq!(steps.len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_ends_a_run() {
    let lab = Lab::new();
    let adapter = Adapter::new(lab.connecting().pooled()).cwd(lab.directory.path());
    let cases: Vec<_> = (0..6).map(|at| Case::new(at.to_string(), ())).collect();
    let budget = Budget::new().tokens(250);
    let usage = json!({ "input": 90, "output": 10 });
    let run = adapter
        .evaluate_all(&cases)
        .concurrency(1)
        .budget(&budget)
        .variant("v", |(): &()| {
            Ok(Prompt::text("test").section(script(json!([{ "text": "done", "usage": usage }]))))
        });
    let report = soon(run).await;
    let failed: Vec<_> = report.variants[0]
        .cases
        .iter()
        .map(|it| it.failure.is_some())
        .collect();
    assert_eq!(failed[..2], [false, false]);
    assert_eq!(failed[3..], [true, true, true]);
}

/// A run that is stopped reports what was done. The second case never ends by itself.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_stopped_reports_what_was_done() {
    let lab = Lab::new();
    let adapter = Adapter::new(lab.connecting().pooled()).cwd(lab.directory.path());
    let cases = [false, true, false].map(|stalls| Case::new(stalls.to_string(), stalls));
    let stop = tokio::sync::Notify::new();
    let run = adapter
        .evaluate_all(&cases)
        .concurrency(1)
        .variant("v", |stalls: &bool| {
            Ok(Prompt::text("test").section(script(json!([{ "text": "done", "stall": stalls }]))))
        })
        .score("odd", |_, _| f64::NAN)
        .on_progress(|_| stop.notify_one())
        .stop_when(stop.notified());
    let report = soon(run).await;
    assert_eq!((report.variants[0].cases.len(), report.missing), (1, 2));
    // A score that is not a number is ignored.
    assert_eq!(report.variants[0].cases[0].scores, [0.0]);
    let json = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
    let page = report.to_markdown();
    assert!(page.contains("2 evaluations are missing"), "{page}");
    adapter.close().await;
}

/// What failed evaluations cost is in the report.
#[tokio::test(flavor = "multi_thread")]
async fn failures_cost_what_they_cost() {
    let lab = Lab::new();
    let amount = |text: &str| text.parse().unwrap();
    let price = Price {
        input: amount("1.00"),
        cached_input: None,
        output: amount("10.00"),
    };
    let adapter = Adapter::new(lab.connecting().pooled())
        .cwd(lab.directory.path())
        .prices(Prices::new().with("offline", price));
    let cases = [Case::new("one", ())];
    let run = adapter.evaluate_all(&cases).variant("v", |(): &()| {
        let usage = json!({ "input": 90, "output": 10 });
        let steps =
            json!([{ "text": "not a number", "usage": usage }, { "text": "no", "usage": usage }]);
        Ok(Prompt::<u32>::new("test").section(script(steps)))
    });
    let summary = soon(run).await.variants[0].summary();
    assert_eq!(summary.failed, 1);
    // 90 × 1 + 10 × 10 in millionths, for each request.
    let cost = summary.cost.unwrap().millionths();
    assert!(cost >= 190 && cost % 190 == 0, "{cost}");
    adapter.close().await;
}
