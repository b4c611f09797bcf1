//! What a collector gets to know of threads.

use quipu_testkit::collector::Collector;
use quipu_testkit::mcp::LOG_VARIABLE;
use serde_json::{Value, json};

use crate::mcp;
use crate::stage::{Stage, calls, run, text};

fn settings(collector: &Collector, more: &str) -> String {
    let exporter = |path: &str| {
        let endpoint = collector.url(path);
        format!("{{ otlp-http = {{ endpoint = \"{endpoint}\", protocol = \"json\" }} }}")
    };
    format!(
        "[otel]\nenvironment = \"test\"\nexporter = {}\ntrace_exporter = {}\nmetrics_exporter = {}\n{more}\n",
        exporter("/v1/logs"),
        exporter("/v1/traces"),
        exporter("/v1/metrics"),
    )
}

/// The records of a kind, with their attributes as an object.
fn records(collector: &Collector, path: &[&str; 3]) -> Vec<(Value, Value)> {
    let mut records = Vec::new();
    for posted in collector.posted() {
        let posted = posted.json();
        let batch = &posted[path[0]][0][path[1]][0][path[2]];
        for record in batch.as_array().into_iter().flatten() {
            let attributes = record["attributes"].as_array().into_iter().flatten();
            let about = attributes.map(|it| {
                let value = it["value"].as_object().unwrap().values().next().unwrap();
                (text(&it["key"]), value.clone())
            });
            records.push((record.clone(), about.collect()));
        }
    }
    records
}

fn events(collector: &Collector) -> Vec<(Value, Value)> {
    records(collector, &["resourceLogs", "scopeLogs", "logRecords"])
}

async fn two_turns(more: &str) -> Collector {
    let collector = Collector::start(200).await.unwrap();
    let stage = Stage::with(&settings(&collector, more)).await;
    let (mut client, thread) = stage.thread().await;
    stage.play([
        calls("exec_command", json!({ "cmd": "exit 3 # hush" })),
        json!({ "text": "done", "usage": { "input": 100, "cached": 10, "output": 20, "reasoning": 5 } }),
        json!({ "fail": 400 }),
    ]);
    run(&mut client, &thread, "my words").await;
    run(&mut client, &thread, "again").await;
    stage.stop().await;
    collector
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_reported_from_its_prompt_to_its_end() {
    let collector = two_turns("").await;
    let events = events(&collector);
    let named = |name: &str| {
        let found = events
            .iter()
            .find(|(record, _)| record["eventName"] == name);
        found.unwrap_or_else(|| panic!("no {name}")).1.clone()
    };
    let start = named("codex.conversation_starts");
    assert_eq!(start["provider_name"], "scripted");
    assert_eq!(start["approval_policy"], "never");
    assert_eq!(start["sandbox_policy"], "danger-full-access");
    let prompt = named("codex.user_prompt");
    assert_eq!(
        (&prompt["prompt"], &prompt["prompt_length"]),
        (&json!("[REDACTED]"), &json!("8"))
    );
    assert_eq!(named("codex.api_request")["attempt"], "0");
    let result = named("codex.tool_result");
    assert_eq!(
        (&result["tool_name"], &result["success"]),
        (&json!("exec_command"), &json!(false))
    );
    let answered = events
        .iter()
        .filter(|(_, about)| about["event.kind"] == "response.completed");
    assert!(
        answered
            .clone()
            .any(|(_, about)| about["input_token_count"] == "100")
    );
    let failed = events
        .iter()
        .find(|(_, about)| about.get("error.message").is_some());
    assert_eq!(failed.unwrap().0["eventName"], "codex.api_request");
    for word in ["my words", "hush"] {
        let sent = collector.posted();
        let messages = sent
            .iter()
            .any(|it| String::from_utf8_lossy(&it.body).contains(word));
        assert!(!messages, "{word}");
    }
    let spans = records(&collector, &["resourceSpans", "scopeSpans", "spans"]);
    let span = |name: &str| {
        spans
            .iter()
            .find(|(span, _)| text(&span["name"]).starts_with(name))
            .unwrap_or_else(|| panic!("no {name}"))
    };
    let turn = &span("invoke_agent quipu").0;
    for part in ["chat ", "execute_tool exec_command"] {
        let part = &span(part).0;
        assert_eq!(part["traceId"], turn["traceId"]);
        assert_eq!(part["parentSpanId"], turn["spanId"]);
    }
    let answered = spans
        .iter()
        .find(|(_, about)| about["gen_ai.usage.input_tokens"] == "100");
    let (answered, about) = answered.expect("a span with tokens");
    assert_eq!(answered["kind"], 3);
    assert_eq!(about["gen_ai.operation.name"], "chat");
    assert_eq!(about["gen_ai.provider.name"], "scripted");
    let request = &span("turn/start").0;
    assert_eq!(turn["parentSpanId"], request["spanId"]);
    assert_eq!(request["traceId"], turn["traceId"]);
    let connection = &span("connection").0;
    assert_eq!(request["parentSpanId"], connection["spanId"]);
    let metrics = records(&collector, &["resourceMetrics", "scopeMetrics", "metrics"]);
    let names: Vec<&str> = metrics
        .iter()
        .filter_map(|(it, _)| it["name"].as_str())
        .collect();
    for name in [
        "codex.turns",
        "codex.tokens",
        "codex.tool_calls",
        "codex.api_request.duration_ms",
    ] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_are_sent_if_the_user_says_so() {
    let collector = two_turns("log_user_prompt = true").await;
    assert!(
        events(&collector)
            .iter()
            .any(|(_, about)| about["prompt"] == "my words")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_sent_is_refused_when_threads_start() {
    let grpc = "[otel]\nexporter = { otlp-grpc = { endpoint = \"http://localhost:4317\" } }\n";
    let stage = Stage::with(grpc).await;
    let mut client = stage.client().await;
    let refused = client.refused("thread/start", json!({})).await;
    assert!(
        refused.contains("`otel.exporter`: `otlp-grpc` is not supported"),
        "{refused}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_cannot_have_data_sent_to_it() {
    let collector = Collector::start(200).await.unwrap();
    let stage = Stage::with("").await;
    let project = stage.directory().join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    std::fs::create_dir_all(project.join(".codex")).unwrap();
    std::fs::write(project.join(".codex/config.toml"), settings(&collector, "")).unwrap();
    let trusted = format!("\n[projects.{:?}]\ntrust_level = \"trusted\"\n", project);
    let config = stage.home().join("config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text + &trusted).unwrap();
    let (mut client, thread) = stage.thread_with(json!({ "cwd": project })).await;
    run(&mut client, &thread, "hello").await;
    stage.stop().await;
    assert!(collector.posted().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_tools_is_told_of_the_trace() {
    let collector = Collector::start(200).await.unwrap();
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let more = format!("env = {{ {LOG_VARIABLE} = {log:?} }}");
    let settings = settings(&collector, "") + &mcp::server("s", "", &more);
    let stage = Stage::with(&settings).await;
    let (mut client, thread) = stage.thread().await;
    stage.play([calls("mcp__s__echo", json!({})), json!({ "text": "done" })]);
    run(&mut client, &thread, "go").await;
    stage.stop().await;
    let spans = records(&collector, &["resourceSpans", "scopeSpans", "spans"]);
    let call = spans
        .iter()
        .find(|(span, _)| span["name"] == "execute_tool mcp__s__echo");
    let (call, _) = call.expect("a span of the call");
    let (trace, span) = (text(&call["traceId"]), text(&call["spanId"]));
    let heard = std::fs::read_to_string(log).unwrap();
    let expected = format!(r#""traceparent":"00-{trace}-{span}-01""#);
    assert!(heard.contains(&expected), "{expected} is not in {heard}");
}
