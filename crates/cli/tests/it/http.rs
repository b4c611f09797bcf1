//! The HTTP side of the websocket listener: probes, refusals, and what precedes an upgrade.

use quipu_testkit::client::within;
use quipu_testkit::conversation::Conversation;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::support::{app_server, websocket_server};

/// The whole answer to a request head without its last blank line.
pub async fn ask(url: &str, head: &str) -> String {
    let address = url.strip_prefix("ws://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let text = format!("{head}\r\nhost: {address}\r\n\r\n");
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = String::new();
    within("an answer", stream.read_to_string(&mut answer))
        .await
        .unwrap();
    answer
}

pub const UPGRADE: &str = "GET / HTTP/1.1\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\
     sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==";

/// The status line and headers of the answer to an upgrade, which stays open.
pub async fn upgrade(url: &str, headers: &str) -> String {
    let address = url.strip_prefix("ws://").unwrap();
    let stream = TcpStream::connect(address).await.unwrap();
    let mut stream = BufReader::new(stream);
    let text = format!("{UPGRADE}\r\nhost: {address}{headers}\r\n\r\n");
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = String::new();
    while !answer.ends_with("\r\n\r\n") {
        let line = within("a header", stream.read_line(&mut answer));
        assert_ne!(line.await.unwrap(), 0, "{answer}");
    }
    answer
}

#[tokio::test]
async fn requests_other_than_upgrades_are_answered() {
    let mut process = websocket_server();
    let url = process.url().await;
    let origin = "\r\nOrigin: http://localhost";
    for (head, status, part) in [
        ("GET /readyz HTTP/1.1", "200 OK", "content-length: 0"),
        ("GET /healthz HTTP/1.1", "200 OK", "content-length: 0"),
        ("HEAD /readyz HTTP/1.1", "200 OK", ""),
        ("GET /healthz?x=1 HTTP/1.1", "200 OK", ""),
        (
            "POST /readyz HTTP/1.1",
            "405 Method Not Allowed",
            "allow: GET,HEAD",
        ),
        (
            "GET / HTTP/1.1",
            "400 Bad Request",
            "Connection header did not include 'upgrade'",
        ),
        ("nonsense", "400 Bad Request", ""),
        (
            &format!("GET /healthz HTTP/1.1{origin}"),
            "403 Forbidden",
            "content-length: 0",
        ),
        (
            &format!("{UPGRADE}{origin}"),
            "403 Forbidden",
            "content-length: 0",
        ),
        (
            &format!("GET /x HTTP/1.1\r\nx: {}", "y".repeat(20_000)),
            "431 ",
            "",
        ),
    ] {
        let answer = ask(&url, head).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{head}: {answer}"
        );
        assert!(answer.contains(part), "{head}: {answer}");
    }
}

#[tokio::test]
async fn metrics_are_served_to_those_who_may_connect() {
    let mut plain = websocket_server();
    let url = plain.url().await;
    let answer = ask(&url, "GET /metrics HTTP/1.1").await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");

    let launch = app_server(["--listen", "ws://127.0.0.1:0", "--metrics"]);
    let mut process = launch.start();
    let url = process.url().await;
    let mut client = Conversation::start(process.websocket(&[]).await).await;
    let started = client.call("thread/start", json!({})).await;
    let input = json!([{ "type": "text", "text": "hello" }]);
    let params = json!({ "threadId": started["thread"]["id"], "input": input });
    client.call("turn/start", params).await;
    client.skip_to("turn/completed").await;
    let answer = ask(&url, "GET /metrics HTTP/1.1").await;
    for line in [
        "content-type: text/plain; version=0.0.4",
        "codex_turns_total{status=\"completed\"} 1",
        "quipu_threads_loaded 1",
        "# TYPE codex_turn_duration_seconds histogram",
        "quipu_build_info{version=",
    ] {
        assert!(answer.contains(line), "{line} is not in {answer}");
    }
}

/// The value of a gauge.
async fn gauge(url: &str, name: &str) -> usize {
    let answer = ask(url, "GET /metrics HTTP/1.1").await;
    let line = answer
        .lines()
        .find_map(|it| it.strip_prefix(name)?.strip_prefix(' '));
    let value = line.unwrap_or_else(|| panic!("{name} is not in {answer}"));
    value.trim().parse().unwrap()
}

/// Waits until a gauge has this value: what an answer frees is free soon after it.
async fn becomes(url: &str, name: &str, value: usize) {
    let reached = async { while gauge(url, name).await != value {} };
    within(name, reached).await;
}

#[tokio::test]
async fn what_is_under_way_shows_in_the_metrics() {
    let launch = app_server(["--listen", "ws://127.0.0.1:0", "--metrics"]);
    let mut process = launch.start();
    let url = process.url().await;
    let mut client = Conversation::start(process.websocket(&[]).await).await;
    becomes(&url, "quipu_requests_pending", 0).await;
    let before = gauge(&url, "quipu_processes").await;
    let command = json!(["sh", "-c", "echo begun; exec sleep 1000"]);
    let params = json!({ "command": command, "processId": "p", "streamStdoutStderr": true });
    let running = client.ask("command/exec", params).await;
    client.skip_to("command/exec/outputDelta").await;
    becomes(&url, "quipu_requests_pending", 1).await;
    assert!(gauge(&url, "quipu_processes").await > before);
    client
        .call("command/exec/terminate", json!({ "processId": "p" }))
        .await;
    client.answered(running).await.unwrap();
    becomes(&url, "quipu_requests_pending", 0).await;
    becomes(&url, "quipu_messages_queued", 0).await;
}
