//! The console: its page, its one-time codes, and who may use them. What the page does is tested in a browser.

use quipu_testkit::process::{Launch, ServerProcess};
use serde_json::Value;
use tempfile::TempDir;

use crate::http::{ask, upgrade};
use crate::support::{QUIPU, app_server};

/// `quipu console` on a home that outlives it.
fn console(home: &TempDir) -> ServerProcess {
    Launch::new(QUIPU)
        .args(["console", "--no-open"])
        .env("QUIPU_HOME", home.path().to_str().unwrap())
        .start()
}

/// The address and the code that a process prints.
async fn printed(process: &mut ServerProcess) -> (String, String) {
    let text = process.said("\n").await;
    let text = match text.contains("#code=") {
        true => text,
        false => process.said("#code=").await,
    };
    let page = text.split("console: http://").nth(1).unwrap();
    let (address, code) = page.split_once("/#code=").unwrap();
    let code = code.lines().next().unwrap();
    (format!("ws://{address}"), code.to_owned())
}

fn body(answer: &str) -> Value {
    serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap()
}

async fn redeemed(url: &str, code: &str) -> Option<String> {
    let head = format!("POST /console/session HTTP/1.1\r\nx-quipu-code: {code}");
    let answer = ask(url, &head).await;
    body(&answer)["token"].as_str().map(str::to_owned)
}

#[tokio::test]
async fn a_code_admits_one_browser_once() {
    let home = tempfile::tempdir().unwrap();
    let mut process = console(&home);
    let (url, code) = printed(&mut process).await;
    assert_eq!(redeemed(&url, "0123").await, None);
    let token = redeemed(&url, &code).await.unwrap();
    assert_eq!(redeemed(&url, &code).await, None);

    let address = url.strip_prefix("ws://").unwrap();
    let page = format!("\r\nOrigin: http://{address}");
    let offered = format!("{page}\r\nSec-WebSocket-Protocol: quipu, quipu.bearer.{token}");
    for (headers, status) in [
        (offered.clone(), "101"),
        (page.clone(), "401"),
        (offered.replace(&token, "0123"), "401"),
        (offered.replace(address, "evil.example"), "403"),
    ] {
        let answer = upgrade(&url, &headers).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{headers}: {answer}"
        );
    }
}

#[tokio::test]
async fn a_second_console_joins_the_first_and_a_later_one_takes_its_place() {
    let home = tempfile::tempdir().unwrap();
    let mut first = console(&home);
    let (url, code) = printed(&mut first).await;
    let token = redeemed(&url, &code).await.unwrap();
    let mut second = console(&home);
    let (joined, other) = printed(&mut second).await;
    assert!(second.exit().await.success());
    assert_eq!(joined, url);
    assert_eq!(redeemed(&url, &other).await.as_ref(), Some(&token));
    // Pages that are open find a console that was started again: port and token are the same.
    first.signal(rustix::process::Signal::KILL);
    first.exit().await;
    let mut third = console(&home);
    let (again, code) = printed(&mut third).await;
    assert_eq!(again, url);
    assert_eq!(redeemed(&again, &code).await, Some(token));
}

#[tokio::test]
async fn the_page_may_load_nothing_and_run_nothing_else() {
    let mut process = app_server(["--listen", "ws://127.0.0.1:0", "--console"]).start();
    let url = process.url().await;
    for path in ["/", "/console.js", "/console.css", "/icon.svg"] {
        let answer = ask(&url, &format!("GET {path} HTTP/1.1")).await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK"), "{path}: {head}");
        assert!(!body.is_empty(), "{path}");
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "trusted-types 'none'",
            "frame-ancestors 'none'",
            "nosniff",
            "no-referrer",
        ] {
            assert!(head.contains(part), "{path}: {head}");
        }
        assert!(!head.contains("unsafe"), "{path}: {head}");
    }
    for (head, status) in [
        ("GET /console.map HTTP/1.1", "400"),
        ("POST / HTTP/1.1", "405"),
        ("GET /console/settings HTTP/1.1", "200"),
        ("GET /console/runners HTTP/1.1", "200"),
        ("POST /console/session HTTP/1.1", "403"),
        ("POST /console/code HTTP/1.1", "404"),
        ("GET /console/session HTTP/1.1", "405"),
        ("POST /console/runners/nobody/refresh HTTP/1.1", "404"),
        ("GET / HTTP/1.1\r\nOrigin: http://evil.example", "403"),
        ("GET /readyz HTTP/1.1", "200"),
    ] {
        let answer = ask(&url, head).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{head}: {answer}"
        );
    }
}

#[tokio::test]
async fn data_beside_the_protocol_needs_the_token() {
    let home = tempfile::tempdir().unwrap();
    let mut process = console(&home);
    let (url, _) = printed(&mut process).await;
    for path in [
        "GET /console/runners",
        "POST /console/code",
        "POST /console/runners/a/refresh",
    ] {
        let answer = ask(&url, &format!("{path} HTTP/1.1\r\nAuthorization: Bearer x")).await;
        assert!(answer.starts_with("HTTP/1.1 401"), "{path}: {answer}");
    }
}

#[tokio::test]
async fn mistakes_are_named() {
    for (args, message) in [
        (
            &["app-server", "--console"][..],
            "`--console` needs `--listen ws://IP:PORT`",
        ),
        (
            &["console", "--remote", "nonsense"],
            "`nonsense` is not `ws://HOST:PORT` or `wss://HOST:PORT`",
        ),
        (
            &["console", "--remote", "unix:///run/quipu.sock"],
            "a browser cannot open `unix:///run/quipu.sock`",
        ),
        (
            &["console", "--remote", "ws://127.0.0.1:1"],
            "cannot reach 127.0.0.1:1",
        ),
    ] {
        let mut process = Launch::new(QUIPU).args(args.iter().copied()).start();
        assert!(!process.exit().await.success());
        assert!(process.stderr().contains(message), "{}", process.stderr());
    }
    let mut plain = app_server(["--listen", "ws://127.0.0.1:0"]).start();
    let url = plain.url().await;
    let mut process = Launch::new(QUIPU)
        .args(["console", "--no-open", "--remote", &url])
        .start();
    assert!(!process.exit().await.success());
    assert!(
        process.stderr().contains("has no console"),
        "{}",
        process.stderr()
    );
}
