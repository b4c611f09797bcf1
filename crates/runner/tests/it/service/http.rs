//! 13.7 and 17.6: the HTTP interface.

use std::net::SocketAddr;

use quipu_runner::service::Service;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::support::{ENDLESS, Lab, Running, within};

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

async fn raw(address: SocketAddr, bytes: &[u8]) -> Answer {
    let exchange = async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text
    };
    let text = within("an answer", exchange).await;
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    Answer {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        head: head.to_owned(),
        body: body.to_owned(),
    }
}

async fn ask(running: &Running, method: &str, path: &str) -> Answer {
    let address = running.address.unwrap();
    let request = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    raw(address, request.as_bytes()).await
}

/// A service with one issue whose text is hostile, at work.
async fn service() -> (Lab, Running) {
    let mut lab = Lab::new(ENDLESS, "");
    lab.options.port = Some(0);
    lab.write_issue(
        "A",
        "title: \"<script>alert(1)</script><img src=x onerror=alert(2)>\"\nstate: Todo",
    );
    let running = lab.start().await;
    running
        .until("it runs", |it| it["running"][0]["turn_count"] == 1)
        .await;
    (lab, running)
}

#[tokio::test]
async fn the_state_is_served_as_json() {
    let (_lab, running) = service().await;
    let state = ask(&running, "GET", "/api/v1/state").await;
    assert_eq!(state.status, 200);
    let state = state.json();
    assert_eq!(state["counts"]["running"], 1);
    let row = &state["running"][0];
    assert_eq!(row["issue_identifier"], "A");
    assert!(row["session_id"].as_str().unwrap().ends_with("-turn-1"));
    for member in [
        "issue_id",
        "issue_url",
        "state",
        "last_event",
        "last_message",
        "started_at",
        "last_event_at",
        "tokens",
    ] {
        assert!(row.get(member).is_some(), "{member}");
    }
    for member in ["generated_at", "retrying", "codex_totals", "rate_limits"] {
        assert!(state.get(member).is_some(), "{member}");
    }
    let issue = ask(&running, "GET", "/api/v1/A").await;
    assert_eq!(issue.json()["status"], "running");
    assert_eq!(issue.json()["recent_events"][0]["event"], "session_started");
    running.stop().await;
}

#[tokio::test]
async fn errors_have_an_envelope_and_methods_are_checked() {
    let (_lab, running) = service().await;
    for (method, path, status, code) in [
        ("GET", "/api/v1/none", 404, "issue_not_found"),
        ("GET", "/elsewhere", 404, "not_found"),
        ("POST", "/api/v1/state", 405, "method_not_allowed"),
        ("GET", "/api/v1/refresh", 405, "method_not_allowed"),
        ("DELETE", "/", 405, "method_not_allowed"),
        ("PUT", "/api/v1/A", 405, "method_not_allowed"),
        // Only the owner's socket takes orders.
        ("POST", "/api/v1/A/cancel", 403, "forbidden"),
    ] {
        let answer = ask(&running, method, path).await;
        assert_eq!(answer.status, status, "{method} {path}");
        assert_eq!(answer.json()["error"]["code"], code, "{method} {path}");
    }
    let queued = ask(&running, "POST", "/api/v1/refresh").await;
    assert_eq!(queued.status, 202);
    assert_eq!(
        queued.json()["operations"],
        serde_json::json!(["poll", "reconcile"])
    );
    running.stop().await;
}

#[tokio::test]
async fn a_service_that_does_not_answer_or_is_gone_is_reported() {
    let mut lab = Lab::new(ENDLESS, "");
    lab.options.port = Some(0);
    // It listens before it runs.
    let service = Service::start(lab.options.clone()).await.unwrap();
    let address = service.address().unwrap();
    let request = format!("GET /api/v1/state HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let answer = raw(address, request.as_bytes()).await;
    assert_eq!(answer.status, 504);
    assert_eq!(answer.json()["error"]["code"], "timeout");
    within("the end", service.run(std::future::ready(()))).await;
    let answer = raw(address, request.as_bytes()).await;
    assert_eq!(answer.status, 503);
    assert_eq!(answer.json()["error"]["code"], "unavailable");
}

#[tokio::test]
async fn issues_that_wait_can_be_looked_at_whatever_they_are_called() {
    let mut lab = Lab::new(ENDLESS, "");
    lab.options.port = Some(0);
    for name in ["state", "refresh", "a b?é"] {
        lab.write_issue(name, "blocked_by: [other]");
    }
    let running = lab.start().await;
    running
        .until("they wait", |it| it["counts"]["waiting"] == 3)
        .await;
    for (path, name) in [
        ("/api/v1/state/show", "state"),
        ("/api/v1/refresh/show", "refresh"),
        ("/api/v1/a%20b%3f%C3%A9", "a b?é"),
    ] {
        let answer = ask(&running, "GET", path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        let issue = answer.json();
        assert_eq!(issue["issue_identifier"], name);
        assert_eq!(issue["status"], "waiting");
        assert_eq!(issue["reason"], "blocked by other (not found)");
    }
    let head = ask(&running, "HEAD", "/").await;
    assert_eq!((head.status, &*head.body), (200, ""));
    running.stop().await;
}

#[tokio::test]
async fn hostile_issue_text_cannot_run_on_the_dashboard() {
    let (_lab, running) = service().await;
    let page = ask(&running, "GET", "/").await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    for forbidden in ["<script", "<img", "http://", "https://", "src=", "url("] {
        let visible = page.body.replace("src=x", "");
        assert!(!visible.contains(forbidden), "{forbidden}");
    }
    let policy = page
        .head
        .lines()
        .find_map(|it| it.strip_prefix("Content-Security-Policy: "));
    let policy = policy.unwrap();
    assert!(
        policy.starts_with("default-src 'none'; style-src 'sha256-"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe") && !policy.contains("script-src"));
    running.stop().await;
}

#[tokio::test]
async fn the_dashboard_is_as_fresh_as_the_workflow_says() {
    for (setting, expected) in [
        ("", Some("\"3\"")),
        ("observability: { refresh_ms: 1001 }", Some("\"2\"")),
        ("observability: { refresh_ms: 0 }", None),
    ] {
        let mut lab = Lab::new(ENDLESS, setting);
        lab.options.port = Some(0);
        let running = lab.start().await;
        let page = ask(&running, "GET", "/").await.body;
        let refresh = page.split_once("http-equiv=\"refresh\" content=");
        let refresh = refresh.map(|(_, rest)| rest.split('>').next().unwrap());
        assert_eq!(refresh, expected, "{setting}");
        running.stop().await;
    }
}

#[tokio::test]
async fn pages_of_others_cannot_ask() {
    let (_lab, running) = service().await;
    let address = running.address.unwrap();
    assert!(address.ip().is_loopback());
    for head in [
        "Host: evil.example".to_owned(),
        format!("Host: evil.example:{}", address.port()),
        format!("Host: {address}\r\nOrigin: http://evil.example"),
        format!("Host: {address}\r\nOrigin: null"),
        String::new(),
    ] {
        let request = format!("POST /api/v1/refresh HTTP/1.1\r\n{head}\r\n\r\n")
            .replace("\r\n\r\n\r\n", "\r\n\r\n");
        assert_eq!(raw(address, request.as_bytes()).await.status, 403, "{head}");
    }
    running.stop().await;
}

#[tokio::test]
async fn malformed_requests_hurt_nobody() {
    let (_lab, running) = service().await;
    let address = running.address.unwrap();
    assert_eq!(raw(address, b"hello\r\n\r\n").await.status, 400);
    assert_eq!(
        raw(address, b"GET / HTTP/1.1\r\nno colon\r\n\r\n")
            .await
            .status,
        400
    );
    assert_eq!(raw(address, b"GET /%zz HTTP/1.1\r\n\r\n").await.status, 400);
    let huge = format!("GET / HTTP/1.1\r\nContent-Length: 99999999999\r\nHost: {address}\r\n\r\n");
    assert_eq!(raw(address, huge.as_bytes()).await.status, 431);
    // Connections that say nothing hold a place each, and others are served all the same.
    let silent = futures_util::future::join_all((0..20).map(|_| TcpStream::connect(address))).await;
    assert_eq!(ask(&running, "GET", "/api/v1/state").await.status, 200);
    drop(silent);
    running.stop().await;
}
