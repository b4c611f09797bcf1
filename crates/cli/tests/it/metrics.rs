//! What is served at `/metrics`: read by a real Prometheus, and all that the dashboard shows.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::Path;

use quipu_testkit::conversation::Conversation;
use quipu_testkit::model::ModelServer;
use quipu_testkit::process::{Launch, ServerProcess};
use quipu_testkit::wait::found;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http::ask;
use crate::support::app_server;

const DASHBOARD: &str = include_str!("../../../../dist/grafana/quipu.json");

/// A server that has done a turn with a tool call, of a model with a price.
async fn worked_server() -> (ServerProcess, ModelServer, TempDir) {
    let model = ModelServer::start().await.unwrap();
    let home = tempfile::tempdir().unwrap();
    let config = format!(
        "model = \"own\"\nmodel_provider = \"own\"\n[model_providers.own]\nname = \"own\"\nbase_url = \"{}\"\n\
         wire_api = \"responses\"\nprices = {{ own = {{ input = 10.0, output = 100.0 }} }}\n",
        model.base_url()
    );
    std::fs::write(home.path().join("config.toml"), config).unwrap();
    let mut process = app_server(["--listen", "ws://localhost:0", "--metrics"])
        .env("QUIPU_HOME", home.path().to_str().unwrap())
        .start();
    let mut client = Conversation::start(process.websocket(&[]).await).await;
    let usage = json!({ "input": 1000, "output": 200 });
    let plan = json!({ "plan": [{ "step": "work", "status": "completed" }] }).to_string();
    let call = json!([{ "name": "update_plan", "arguments": plan }]);
    model.queue_json(json!({ "calls": call, "usage": usage }));
    model.queue_json(json!({ "text": "ok", "usage": usage }));
    let started = client.call("thread/start", json!({})).await;
    let input = json!([{ "type": "text", "text": "hello" }]);
    let params = json!({ "threadId": started["thread"]["id"], "input": input });
    client.call("turn/start", params).await;
    let ended = client.skip_to("turn/completed").await;
    assert_eq!(ended["params"]["turn"]["status"], "completed", "{ended}");
    client.leave().await;
    (process, model, home)
}

/// The names of what a text in Prometheus' format has.
fn served(text: &str) -> BTreeSet<&str> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split(['{', ' ']).next())
        .collect()
}

/// Every name of ours in the queries of the dashboard.
fn queried(dashboard: &Value) -> BTreeSet<String> {
    let mut texts = vec![
        dashboard["templating"]["list"][1]["query"]["query"]
            .as_str()
            .unwrap(),
    ];
    for panel in dashboard["panels"].as_array().unwrap() {
        let targets = panel["targets"].as_array().unwrap();
        texts.extend(targets.iter().map(|it| it["expr"].as_str().unwrap()));
    }
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let words = texts.iter().flat_map(|it| it.split(|it| !is_name(it)));
    let ours = words.filter(|it| it.starts_with("quipu_") || it.starts_with("codex_"));
    ours.map(str::to_owned).collect()
}

#[tokio::test]
async fn the_dashboard_names_only_what_is_served() {
    let (mut process, _model, _home) = worked_server().await;
    let text = ask(&process.url().await, "GET /metrics HTTP/1.1").await;
    let served = served(&text);
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let queried = queried(&dashboard);
    assert!(queried.len() > 10, "{queried:?}");
    for name in queried {
        assert!(served.contains(name.as_str()), "{name} is not in {text}");
    }
}

/// The answer of Prometheus to a query.
async fn query(url: &str, query: &str) -> Value {
    let answer = ask(
        url,
        &format!("GET /api/v1/query?query={query} HTTP/1.1\r\nconnection: close"),
    )
    .await;
    let body = answer.split("\r\n\r\n").nth(1).unwrap_or_default();
    let start = body.find('{').unwrap_or(body.len());
    let end = body.rfind('}').map_or(start, |it| it + 1);
    serde_json::from_str(&body[start..end]).unwrap_or_default()
}

#[tokio::test]
async fn a_prometheus_reads_it() {
    let program = Path::new("/usr/bin/prometheus");
    if !program.exists() {
        eprintln!("skipped: {} is not installed", program.display());
        return;
    }
    let (mut process, _model, _home) = worked_server().await;
    let target = process.url().await.replace("ws://", "");
    // Its port is chosen here, for it does not say which one it took.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let directory = tempfile::tempdir().unwrap();
    let config = format!(
        "scrape_configs:\n  - job_name: quipu\n    scrape_interval: 1s\n    scrape_timeout: 1s\n    static_configs:\n      \
         - targets: ['{target}']\n"
    );
    let file = directory.path().join("prometheus.yml");
    std::fs::write(&file, config).unwrap();
    let mut prometheus = Launch::new(program)
        .args([
            &*format!("--config.file={}", file.display()),
            &*format!(
                "--storage.tsdb.path={}",
                directory.path().join("data").display()
            ),
            &*format!("--web.listen-address={port}"),
        ])
        .start();
    prometheus
        .said("Server is ready to receive web requests")
        .await;
    let url = format!("ws://{port}");
    let scraped = async || {
        let answer = query(&url, "codex_turns_total").await;
        answer["data"]["result"].get(0).cloned()
    };
    let sample = found("a sample", scraped).await;
    assert_eq!(sample["metric"]["status"], "completed", "{sample}");
    assert_eq!(sample["value"][1], "1", "{sample}");
    let up = query(&url, "up").await;
    assert_eq!(up["data"]["result"][0]["value"][1], "1", "{up}");
    let cost = query(&url, "quipu_cost_micro_dollars_total").await;
    assert_eq!(cost["data"]["result"][0]["value"][1], "60000", "{cost}");
}
