//! Servers that misbehave: the turn fails with a message that tells who did what, or goes on
//! unharmed, and the next turn works.

use std::time::Duration;

use quipu_model::{Client, Credentials, ModelEvent, ProviderConfig, WireApi};
use quipu_testkit::model::ModelServer;
use quipu_wire::CodexErrorInfo;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::support::{WIRES, client, collect, done_items, failure, provider, request, step};

/// A fault in every format; what the failure says of the provider; then a turn that works.
async fn check(served: Value, details: &str) {
    for wire in WIRES {
        let server = ModelServer::start().await.unwrap();
        let mut config = provider(&server, wire);
        config.max_response_bytes = Some(1024 * 1024);
        let model = Client::new(config.clone(), Credentials::None);
        if served["stall"] == true {
            config.stream_idle_timeout_ms = Some(200);
        }
        server.queue(step(served.clone()));
        let hurt = Client::new(config, Credentials::None);
        let events = collect(hurt.stream(request("hi"))).await;
        let error = failure(&events);
        let received = format!("provider `mock` {details}");
        assert_eq!(error.details(), Some(received), "{wire:?}: {error}");
        let events = collect(model.stream(request("hi"))).await;
        assert_eq!(
            done_items(&events)[0]["content"][0]["text"],
            "ok",
            "{wire:?}"
        );
    }
}

#[tokio::test]
async fn html_instead_of_a_stream() {
    let page =
        json!({"raw": "<!DOCTYPE html><h1>Login</h1>", "headers": {"content-type": "text/html"}});
    check(page, "answered with `text/html` instead of an event stream").await;
}

#[tokio::test]
async fn an_address_that_serves_pages_is_named_as_the_cause() {
    for wire in WIRES {
        let server = ModelServer::start().await.unwrap();
        let page = json!({"raw": "<h1>Login</h1>", "headers": {"content-type": "text/html"}});
        server.queue(step(page));
        let events = collect(client(&server, wire).stream(request("hi"))).await;
        assert_eq!(
            failure(&events).to_string(),
            "stream disconnected before completion: the server answered with `text/html` instead of an event \
             stream; check the provider's `base_url`",
            "{wire:?}"
        );
    }
}

#[tokio::test]
async fn an_empty_stream() {
    check(json!({"raw": ""}), "sent no event").await;
}

#[tokio::test]
async fn garbage() {
    check(
        json!({"raw": "data: {not json\n\ndata: 1\n\n\u{0}\u{1}\n\n"}),
        "sent 2 events that cannot be read",
    )
    .await;
}

#[tokio::test]
async fn never_ending_deltas() {
    let endless = json!({"deltas": 1_000_000_000_000_000u64, "size": 100});
    check(
        endless,
        "was cut off: the answer is larger than 1048576 bytes",
    )
    .await;
}

#[tokio::test]
async fn a_stream_that_falls_silent() {
    check(
        json!({"text": "a", "stall": true}),
        "sent nothing for 200ms",
    )
    .await;
}

#[tokio::test]
async fn a_stream_that_breaks_off() {
    for wire in WIRES {
        let server = ModelServer::start().await.unwrap();
        server.queue(step(json!({"text": "a", "cut": true})));
        let events = collect(client(&server, wire).stream(request("hi"))).await;
        let details = failure(&events).details().unwrap();
        assert!(
            details.starts_with("provider `mock` broke the connection: "),
            "{details}"
        );
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_are_replaced() {
    for wire in WIRES {
        let server = ModelServer::start().await.unwrap();
        server.queue(step(json!({"deltas": ["a", "b"], "bad_utf8": true})));
        let events = collect(client(&server, wire).stream(request("hi"))).await;
        let deltas: String = events
            .iter()
            .filter_map(|event| match event {
                ModelEvent::TextDelta { delta, .. } => Some(delta.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(deltas, "\u{fffd}ab", "{wire:?}");
        assert!(
            matches!(events.last(), Some(ModelEvent::Completed(_))),
            "{wire:?}"
        );
    }
}

#[tokio::test]
async fn ten_megabytes_in_one_event_pass_and_twenty_do_not() {
    for wire in WIRES {
        let server = ModelServer::start().await.unwrap();
        let model = client(&server, wire);
        server.queue(step(json!({"deltas": 1, "size": 10 * 1024 * 1024})));
        let events = collect(model.stream(request("hi"))).await;
        let text = done_items(&events)[0]["content"][0]["text"]
            .as_str()
            .unwrap()
            .len();
        assert_eq!(text, 10 * 1024 * 1024, "{wire:?}");
        server.queue(step(json!({"deltas": 1, "size": 20 * 1024 * 1024})));
        let events = collect(model.stream(request("hi"))).await;
        assert_eq!(
            failure(&events).to_string(),
            "stream disconnected before completion: the provider sent an event larger than 16 MiB"
        );
    }
}

#[tokio::test]
async fn a_slow_drip_of_single_bytes_is_read() {
    for wire in WIRES {
        let server = ModelServer::start().await.unwrap();
        server.queue(step(json!({"deltas": ["ä€😀", "b"], "drip": 1})));
        let events = collect(client(&server, wire).stream(request("hi"))).await;
        assert_eq!(
            done_items(&events)[0]["content"][0]["text"],
            "ä€😀b",
            "{wire:?}"
        );
    }
}

#[tokio::test]
async fn a_server_that_is_not_there() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let failed = CodexErrorInfo::HttpConnectionFailed {
        http_status_code: None,
    };
    let cases = [
        (WireApi::Responses, "responses", failed.clone()),
        (WireApi::Chat, "chat/completions", failed.clone()),
        (WireApi::Anthropic, "messages", failed),
    ];
    for (wire_api, path, info) in cases {
        let config = ProviderConfig {
            id: "gone".into(),
            base_url: Some(url.clone()),
            wire_api,
            query_params: crate::support::headers(&[("key", "sk-secret")]),
            ..ProviderConfig::default()
        };
        let events = collect(Client::new(config, Credentials::None).stream(request("hi"))).await;
        assert_eq!(events.len(), 1, "a server of this machine was tried again");
        let error = failure(&events);
        let origin = url.trim_end_matches("/v1");
        let message = format!(
            "stream disconnected before completion: error sending request for url ({url}/{path}): \
             connection refused by {origin}; start the server, or correct its address"
        );
        assert_eq!(error.to_string(), message);
        assert_eq!(error.info(), info);
        let details = error.details().unwrap();
        assert!(
            details.starts_with("provider `gone` could not be reached: Connection refused"),
            "{details}"
        );
    }
}

#[tokio::test]
async fn what_waiting_cannot_heal_fails_at_once_and_by_name() {
    let plain = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let tls = format!("https://{}/v1", plain.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut connection, _) = plain.accept().await.unwrap();
        connection
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .await
            .unwrap();
        connection
    });
    let secure = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let no_tls = format!("http://{}/v1", secure.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = secure.accept().await {
            let mut received = Vec::new();
            connection.read_buf(&mut received).await.unwrap();
            // A handshake is answered with an alert, anything else with the end of the connection.
            if received.first() == Some(&0x16) {
                let alert = [0x15, 3, 3, 0, 2, 2, 40];
                connection.write_all(&alert).await.unwrap();
            }
            connection.shutdown().await.ok();
            connection.read_to_end(&mut received).await.ok();
        }
    });
    let host = "http://no-such-host.invalid/v1".to_owned();
    for (base_url, reason) in [
        (host, "unknown host `no-such-host.invalid`"),
        (
            no_tls,
            " closed the connection; it speaks TLS; use an address that begins with https://",
        ),
        (
            tls,
            " does not speak TLS; use an address that begins with http://",
        ),
    ] {
        let config = ProviderConfig {
            id: "away".into(),
            base_url: Some(base_url),
            ..ProviderConfig::default()
        };
        let events = collect(Client::new(config, Credentials::None).stream(request("hi"))).await;
        let error = failure(&events).to_string();
        assert!(error.contains(reason), "{error}");
        assert_eq!(events.len(), 1, "{events:?}");
    }
    drop(server.await);
}

#[tokio::test]
async fn a_provider_without_an_address_is_never_asked() {
    let config = ProviderConfig {
        id: "own".into(),
        ..ProviderConfig::default()
    };
    let events = collect(Client::new(config, Credentials::None).stream(request("hi"))).await;
    let error = failure(&events).to_string();
    assert!(
        error.starts_with("model_providers.own.base_url is not set"),
        "{error}"
    );
}

#[tokio::test]
async fn settings_that_cannot_work_are_named() {
    for (config, message) in [
        (
            ProviderConfig {
                base_url: Some("not a url".into()),
                ..Default::default()
            },
            "the address `not a url/responses` cannot be used; correct the provider's `base_url`, which \
             begins with http:// or https://",
        ),
        (
            ProviderConfig {
                base_url: Some("http://127.0.0.1:1".into()),
                http_headers: crate::support::headers(&[("bad name", "x")]),
                ..Default::default()
            },
            "the header `bad name` cannot be sent",
        ),
    ] {
        let events = collect(Client::new(config, Credentials::None).stream(request("hi"))).await;
        assert_eq!(failure(&events).to_string(), message);
    }
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let server = ModelServer::start().await.unwrap();
    server.queue(step(json!({"text": "a", "stall": true})));
    let mut stream = client(&server, WireApi::Responses).stream(request("hi"));
    while let Some(event) = stream.next().await {
        if matches!(event, ModelEvent::TextDelta { .. }) {
            break;
        }
    }
    drop(stream);
    tokio::time::timeout(Duration::from_secs(5), server.abandoned(1))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_cancelled_wait_loses_no_event() {
    let server = ModelServer::start().await.unwrap();
    let pieces: Vec<String> = (0..20).map(|n| format!("{n} ")).collect();
    server.queue(step(json!({"deltas": pieces, "every": 2})));
    let mut stream = client(&server, WireApi::Responses).stream(request("hi"));
    let mut text = String::new();
    loop {
        // Half of these waits are given up before anything comes.
        match tokio::time::timeout(Duration::from_millis(1), stream.next()).await {
            Ok(Some(ModelEvent::TextDelta { delta, .. })) => text.push_str(&delta),
            Ok(Some(ModelEvent::Completed(_))) => break,
            Ok(None) => panic!("the stream ended early"),
            Ok(Some(_)) | Err(_) => {}
        }
    }
    assert_eq!(text, pieces.concat());
}
