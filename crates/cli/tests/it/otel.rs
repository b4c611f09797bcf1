//! Telemetry as the standard variables ask for it, with the trace of a client going through to the model and to tools.

use quipu_testkit::client::within;
use quipu_testkit::collector::Collector;
use quipu_testkit::conversation::Conversation;
use quipu_testkit::model::ModelServer;
use quipu_testkit::process::Signal;
use quipu_testkit::raw::Raw;
use serde_json::{Value, json};

use crate::store_nodes::{Nodes, id, turn};
use crate::store_takeover::{Node, secret};
use crate::support::{app_server, initialize};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const SPAN: &str = "b7ad6b7169203331";

/// All spans so far.
fn spans(collector: &Collector) -> Vec<Value> {
    let posted = collector.posted();
    let traces = posted.iter().filter(|it| it.path == "/v1/traces");
    let spans = traces.flat_map(|it| {
        let batch = it.json();
        let spans = &batch["resourceSpans"][0]["scopeSpans"][0]["spans"];
        spans.as_array().cloned().unwrap_or_default()
    });
    spans.collect()
}

#[tokio::test]
async fn the_trace_of_a_client_goes_on_to_the_model() {
    let collector = Collector::start(200).await.unwrap();
    let model = ModelServer::start().await.unwrap();
    model.queue_json(json!({ "text": "ok" }));
    let launch = app_server([])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url("/"))
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
        .env("OTEL_EXPORTER_OTLP_HEADERS", "x-key=two%20words")
        .env("OTEL_METRICS_EXPORTER", "none")
        .env("OTEL_SERVICE_NAME", "agents")
        .env("OTEL_RESOURCE_ATTRIBUTES", "team=blue");
    let home = launch.directory().join("quipu");
    std::fs::create_dir(&home).unwrap();
    let config = format!(
        "model = \"own\"\nmodel_provider = \"own\"\n[model_providers.own]\nname = \"own\"\nbase_url = \"{}\"\n\
         wire_api = \"responses\"\n",
        model.base_url()
    );
    std::fs::write(home.join("config.toml"), config).unwrap();
    let mut process = launch.start();
    let mut raw = Raw::new(process.stdio());
    raw.call(&initialize(1)).await;
    let start = json!({ "id": 2, "method": "thread/start", "params": {} });
    let mut started = raw.call(&start).await;
    while started["id"] != 2 {
        started = raw.next().await.expect("an answer");
    }
    let input = json!([{ "type": "text", "text": "hello" }]);
    let params = json!({ "threadId": started["result"]["thread"]["id"], "input": input });
    let trace = json!({ "traceparent": format!("00-{TRACE}-{SPAN}-01") });
    let turn = json!({ "id": 3, "method": "turn/start", "params": params, "trace": trace });
    raw.send([turn.to_string()]).await;
    let ended = async {
        loop {
            let message = raw.next().await.expect("the end of the turn");
            if message["method"] == "turn/completed" {
                return;
            }
        }
    };
    within("the end of the turn", ended).await;
    raw.end().await;
    process.exit().await;

    let spans = spans(&collector);
    let named = |name: &str| {
        let found = spans.iter().find(|it| it["name"] == name);
        found.unwrap_or_else(|| panic!("no {name} in {spans:?}"))
    };
    let request = named("turn/start");
    let (turn, chat) = (named("invoke_agent quipu"), named("chat own"));
    assert_eq!(
        (&request["traceId"], &request["parentSpanId"]),
        (&json!(TRACE), &json!(SPAN))
    );
    assert_eq!(turn["parentSpanId"], request["spanId"]);
    assert_eq!(chat["parentSpanId"], turn["spanId"]);
    assert_eq!(chat["traceId"], TRACE);
    named("connection");
    let asked = &model.requests()[0];
    let sent = format!("00-{TRACE}-{}-01", chat["spanId"].as_str().unwrap());
    assert_eq!(asked.headers.get("traceparent"), Some(&sent));

    let posted = collector.posted();
    assert!(
        posted
            .iter()
            .all(|it| it.header("x-key") == Some("two words"))
    );
    assert!(posted.iter().any(|it| it.path == "/v1/logs"));
    assert!(posted.iter().all(|it| it.path != "/v1/metrics"));
    let resource = posted[0].json().to_string();
    for part in [
        r#"{"key":"service.name","value":{"stringValue":"agents"}}"#,
        r#"{"key":"team","value":{"stringValue":"blue"}}"#,
    ] {
        assert!(resource.contains(part), "{part} is not in {resource}");
    }
}

#[tokio::test]
async fn a_protocol_that_is_not_spoken_is_refused_in_the_log() {
    let collector = Collector::start(200).await.unwrap();
    let mut process = app_server([])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url("/"))
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
        .start();
    let mut client = Conversation::start(process.stdio()).await;
    client.call("thread/start", json!({})).await;
    let said = process.said("protocol not supported").await;
    assert!(said.contains("use `http/protobuf`"), "{said}");
    client.leave().await;
    process.exit().await;
    assert!(collector.posted().is_empty());
}

/// The answer to a request, after whatever else comes.
async fn answer(raw: &mut Raw, request: &Value) -> Value {
    raw.send([request.to_string()]).await;
    let answered = async {
        loop {
            let message = raw.next().await.expect("an answer");
            if message["id"] == request["id"] && message["method"].is_null() {
                return message["result"].clone();
            }
        }
    };
    within("an answer", answered).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_trace_of_a_request_goes_on_to_the_node_that_runs_its_thread() {
    let Some(mut nodes) = Nodes::new().await else {
        return;
    };
    let collector = Collector::start(200).await.unwrap();
    let url = collector.url("/v1/traces");
    let otel = format!(
        "[otel]\ntrace_exporter = {{ otlp-http = {{ endpoint = \"{url}\", protocol = \"json\" }} }}\n"
    );
    let mut first = Node::start_with(&mut nodes, 40, &secret(), &otel).await;
    let mut second = Node::start_with(&mut nodes, 41, &secret(), &otel).await;
    let mut owner = Conversation::start(first.connection().await).await;
    let thread = owner.call("thread/start", json!({})).await;
    let thread = id(&thread["thread"]);
    // A thread is stored, and so owned by its node, with its first turn.
    nodes.play("stored");
    owner
        .call("turn/start", turn(&thread, "hello", "key"))
        .await;
    owner.skip_to("turn/completed").await;
    let mut other = Raw::new(second.connection().await);
    other.call(&initialize(1)).await;
    // Settings are read with the first thread.
    let start = json!({ "id": 2, "method": "thread/start", "params": {} });
    answer(&mut other, &start).await;
    let params = json!({ "threadId": thread, "name": "named" });
    let trace = json!({ "traceparent": format!("00-{TRACE}-{SPAN}-01") });
    let traced = json!({ "id": 3, "method": "thread/name/set", "params": params, "trace": trace });
    assert_eq!(answer(&mut other, &traced).await, json!({}));
    let params = json!({ "threadId": thread });
    let plain = json!({ "id": 4, "method": "thread/read", "params": params });
    assert_eq!(answer(&mut other, &plain).await["thread"]["name"], "named");
    other.end().await;
    owner.leave().await;
    for mut node in [second, first] {
        node.process.signal(Signal::TERM);
        node.process.exit().await;
    }
    let spans = spans(&collector);
    let named = |name: &str| {
        spans
            .iter()
            .filter(|it| it["name"] == name)
            .collect::<Vec<_>>()
    };
    let renamed = named("thread/name/set");
    assert_eq!(renamed.len(), 1, "{spans:?}");
    assert_eq!(renamed[0]["traceId"], TRACE);
    assert_eq!(renamed[0]["parentSpanId"], SPAN);
    // A request without a trace is part of the connection of its client, wherever it is answered.
    let read = named("thread/read");
    assert_eq!(read.len(), 1, "{spans:?}");
    let connections = named("connection");
    let parent = connections
        .iter()
        .find(|it| it["spanId"] == read[0]["parentSpanId"]);
    assert!(parent.is_some(), "{spans:?}");
    let started = named("thread/start");
    let is_beside = |it: &&&Value| it["parentSpanId"] == read[0]["parentSpanId"];
    assert_eq!(started.iter().filter(is_beside).count(), 0, "{spans:?}");
}
