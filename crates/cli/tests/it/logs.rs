//! Logs: on standard error, as chosen by the environment, and never in the way.

use quipu_rpc::websocket;
use quipu_testkit::client::PATIENCE;
use quipu_testkit::conversation::Conversation;
use quipu_testkit::process::Launch;
use quipu_testkit::raw::Raw;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use crate::http::{UPGRADE, ask};
use crate::support::{QUIPU, app_server, converse, scripted_home};

async fn stderr_after_noise(vars: &[(&str, &str)]) -> String {
    let launch = vars
        .iter()
        .fold(app_server([]), |it, (name, value)| it.env(name, value));
    let mut process = launch.start();
    let mut raw = Raw::new(process.stdio());
    raw.send(["noise", r#"{"method":"initialized"}"#]).await;
    assert_eq!(raw.next().await.unwrap()["error"]["code"], -32700);
    converse(&mut raw).await;
    raw.end().await;
    process.exit().await;
    process.stderr()
}

#[tokio::test]
async fn errors_are_logged_unless_reported_otherwise() {
    let text = stderr_after_noise(&[]).await;
    assert!(
        text.contains("ERROR") && text.contains("Failed to deserialize JSONRPCMessage"),
        "{text}"
    );
    assert!(!text.contains('\x1b'), "colours for nobody: {text}");
    assert_eq!(stderr_after_noise(&[("RUST_LOG", "off")]).await, "");
    let more = stderr_after_noise(&[("RUST_LOG", "debug")]).await;
    assert!(more.contains("DEBUG"), "{more}");
}

#[tokio::test]
async fn logs_can_be_json_lines() {
    let text = stderr_after_noise(&[("LOG_FORMAT", " JSON "), ("RUST_LOG", "debug")]).await;
    assert!(text.lines().count() > 1);
    for line in text.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        for member in ["timestamp", "level", "fields", "target"] {
            assert!(event.get(member).is_some(), "{member} is missing in {line}");
        }
    }
}

#[tokio::test]
async fn the_same_lines_go_to_a_file_if_the_settings_name_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let log_dir = format!("log_dir={:?}", directory.path().join("logs"));
    let mut process = app_server(["-c", &log_dir]).start();
    let mut raw = Raw::new(process.stdio());
    raw.send(["noise", r#"{"method":"initialized"}"#]).await;
    let refusal = raw.next().await.unwrap();
    assert_eq!(refusal["error"]["code"], -32700);
    converse(&mut raw).await;
    raw.end().await;
    process.exit().await;
    let kept = std::fs::read_to_string(directory.path().join("logs/quipu.log")).unwrap();
    assert!(kept.contains("ERROR"), "{kept}");
    assert_eq!(kept, process.stderr());
    // Whoever can write to the directory could put another file in its place.
    #[cfg(unix)]
    for path in ["logs", "logs/quipu.log"] {
        use std::os::unix::fs::PermissionsExt as _;
        let found = directory.path().join(path).metadata().unwrap();
        assert_eq!(found.permissions().mode() & 0o077, 0, "{path}");
    }
}

#[tokio::test]
async fn where_it_listens_is_said_in_the_format_of_the_log() {
    let socket = tempfile::tempdir().unwrap();
    let socket = format!("unix://{}", socket.path().join("s").display());
    for listen in ["ws://127.0.0.1:0", &socket] {
        let launch = app_server(["--listen", listen]).env("LOG_FORMAT", "json");
        let mut process = launch.env("RUST_LOG", "off").start();
        let line = process.said("listening").await;
        let event: Value = serde_json::from_str(&line).unwrap();
        let address = event["fields"]["address"].as_str().unwrap();
        assert_eq!(event["level"], "INFO", "{line}");
        assert!(
            address.starts_with(&listen[..6]) && !address.ends_with(":0"),
            "{line}"
        );
    }
    let mut process = app_server(["--listen", &socket]).start();
    let expected = format!("quipu app-server (unix socket)\n  listening on: {socket}\n");
    assert_eq!(process.said(&socket).await, expected);
}

/// Many clients give the server a pipe for its logs and never read it.
#[tokio::test]
async fn a_log_that_nobody_reads_does_not_stop_the_server() {
    const NOISE: usize = 20_000;
    let launch = app_server([]).env("RUST_LOG", "trace").stderr_unread();
    let mut process = launch.start();
    let mut stdin = process.stdin.take().unwrap();
    stdin
        .write_all("noise\n".repeat(NOISE).as_bytes())
        .await
        .unwrap();
    process.stdin = Some(stdin);
    let mut raw = Raw::new(process.stdio());
    for _ in 0..NOISE {
        assert_eq!(raw.next().await.unwrap()["error"]["code"], -32700);
    }
    converse(&mut raw).await;
    raw.end().await;
    assert_eq!(process.exit().await.code(), Some(0));
}

#[tokio::test]
async fn operators_see_who_comes_and_goes_and_who_is_turned_away() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("token");
    let token = "0123456789abcdef".repeat(4);
    std::fs::write(&file, &token).unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let args = [
        "--listen",
        "ws://127.0.0.1:0",
        "--ws-auth",
        "capability-token",
        "--ws-token-file",
    ];
    let launch = app_server(args.into_iter().chain([file.to_str().unwrap()]));
    let mut process = launch
        .env("RUST_LOG", "info")
        .env("LOG_FORMAT", "json")
        .start();
    let banner = process.said("listening").await;
    let banner: Value = serde_json::from_str(banner.lines().next().unwrap()).unwrap();
    let url = banner["fields"]["address"].as_str().unwrap();
    let wrong = "Authorization: Bearer 0123456789abcdefWRONG";
    ask(url, &format!("{UPGRADE}\r\n{wrong}")).await;
    process.said("authentication failed").await;
    let header = format!("Bearer {token}");
    let headers = [("authorization", header.as_str())];
    let connected = websocket::connect(url, &headers, 1 << 20, PATIENCE).await;
    let mut raw = Raw::new(connected.unwrap());
    converse(&mut raw).await;
    process.said("client initialized").await;
    // The client vanishes without a word, which is nobody's error.
    drop(raw);
    let log = process.said("client disconnected").await;
    assert!(!log.contains("0123456789abcdef"), "{log}");
    let events: Vec<Value> = log
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let event = |message: &str| {
        let found = events.iter().find(|it| it["fields"]["message"] == message);
        found.unwrap_or_else(|| panic!("{message} is not logged: {log}"))
    };
    let refused = event("authentication failed");
    assert_eq!(
        refused["fields"]["reason"],
        "invalid websocket bearer token"
    );
    assert_eq!(event("client initialized")["fields"]["name"], "test");
    for message in [
        "authentication failed",
        "client connected",
        "client disconnected",
    ] {
        let peer = event(message)["fields"]["peer"].as_str().unwrap();
        assert!(peer.starts_with("127.0.0.1:"), "{peer}");
    }
    assert!(events.iter().all(|it| it["level"] != "ERROR"), "{log}");
}

#[tokio::test]
async fn turns_are_logged_with_their_ends_and_costs() {
    let (home, model) = scripted_home().await;
    let file = home.path().join("config.toml");
    let config = std::fs::read_to_string(&file).unwrap();
    let prices = "prices = { scripted-model = { input = 10.0, output = 100.0 } }\n";
    std::fs::write(&file, config + prices).unwrap();
    let launch = app_server([]).env("QUIPU_HOME", home.path().to_str().unwrap());
    let mut process = launch
        .env("RUST_LOG", "info")
        .env("LOG_FORMAT", "json")
        .start();
    let mut client = Conversation::start(process.stdio()).await;
    let thread = client.call("thread/start", json!({})).await["thread"]["id"].clone();
    let usage = json!({ "input": 1000, "cached": 0, "output": 200 });
    let mut turns = Vec::new();
    for (step, end) in [
        (json!({ "text": "ok", "usage": usage }), "completed"),
        (json!({ "fail": 400, "body": "no" }), "failed"),
        (json!({ "deltas": ["begun"], "stall": true }), "interrupted"),
    ] {
        model.queue_json(step);
        let input = json!([{ "type": "text", "text": "hello" }]);
        let params = json!({ "threadId": thread, "input": input });
        let turn = client.call("turn/start", params).await["turn"]["id"].clone();
        if end == "interrupted" {
            client.skip_to("item/agentMessage/delta").await;
            let params = json!({ "threadId": thread, "turnId": turn });
            client.call("turn/interrupt", params).await;
        }
        let ended = client.skip_to("turn/completed").await;
        assert_eq!(ended["params"]["turn"]["status"], end);
        turns.push((turn, end));
    }
    let log = process.said("\"interrupted\"").await;
    let events: Vec<Value> = log
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    for (turn, end) in turns {
        let of = |message: &str| {
            let mut found = events
                .iter()
                .filter(|it| it["fields"]["message"] == message && it["fields"]["turn"] == turn);
            let event = found.next();
            assert!(found.next().is_none(), "twice: {log}");
            event.unwrap_or_else(|| panic!("{message} is not logged for {end}: {log}"))
        };
        assert_eq!(of("turn started")["fields"]["thread"], thread);
        let ended = of("turn ended");
        assert_eq!(ended["level"], "INFO");
        let fields = &ended["fields"];
        assert_eq!(fields["status"], end);
        assert!(fields["seconds"].as_f64().unwrap() >= 0.0);
        let (tokens, dollars) = match end {
            "completed" => (1200, 0.03),
            _ => (0, 0.0),
        };
        assert_eq!(fields["tokens"], tokens, "{ended}");
        let paid = fields["dollars"].as_f64().unwrap_or_default();
        assert!((paid - dollars).abs() < 1e-9, "{ended}");
        assert_eq!(fields["error"].is_string(), end == "failed", "{ended}");
    }
}

#[tokio::test]
async fn what_keeps_a_server_from_starting_is_a_json_line_too() {
    for (args, code, why) in [
        (&["app-server", "--no-such-flag"][..], 2, "--no-such-flag"),
        (&["app-server", "--console"], 1, "`--console` needs"),
        (&["app-server", "-c", "model=3"], 1, "expected a string"),
        (&["mcp-server", "--remote", "nonsense"], 1, "nonsense"),
    ] {
        let launch = Launch::new(QUIPU).args(args.iter().copied());
        let mut process = launch.env("LOG_FORMAT", "json").start();
        assert_eq!(process.exit().await.code(), Some(code), "{args:?}");
        let said = process.stderr();
        let lines: Vec<Value> = said
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{said}")))
            .collect();
        let [event] = lines.as_slice() else {
            panic!("{args:?}: {said}");
        };
        assert_eq!(event["level"], "ERROR");
        assert!(event["timestamp"].is_string(), "{said}");
        let message = event["fields"]["message"].as_str().unwrap();
        assert!(message.contains(why), "{message}");
    }
}
