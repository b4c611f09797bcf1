//! Keys never appear in an error, a log line or a debug form, even when the provider repeats them.

use std::io;
use std::sync::{Arc, Mutex};

use quipu_model::{Client, Credentials, ProviderConfig, Secret};
use quipu_testkit::model::ModelServer;
use serde_json::json;
use tracing::instrument::WithSubscriber;

use crate::support::{WIRES, collect, headers, provider, request, step};

const KEY: &str = "sk-very-secret-key";
const HEADER: &str = "header-secret-value";
const PARAM: &str = "param-secret-value";

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn nothing_shows_a_key() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let shown = attempts().with_subscriber(subscriber).await;
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(!logged.is_empty(), "the log was looked at");
    for secret in [KEY, HEADER, PARAM] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
        assert!(!logged.contains(secret), "{secret} in {logged}");
    }
}

/// Everything that can be seen of requests that fail in many ways.
async fn attempts() -> String {
    let echo = format!("your key {KEY} and {HEADER} and {PARAM} are bad");
    let served = [
        json!({"fail": 400, "body": echo}),
        json!({"fail": 401, "body": {"error": {"message": echo}}}),
        json!({"fail": 429, "body": echo}),
        json!({"fail": 503, "body": echo}),
        json!({"error": {"code": "x", "message": echo}}),
        json!({"error": {"code": "invalid_prompt", "message": echo, "type": "invalid_request_error"}}),
        json!({"raw": echo, "headers": {"content-type": "text/html"}}),
        json!({"text": "fine"}),
    ];
    let mut shown = String::new();
    for wire in WIRES {
        let server = ModelServer::start().await.unwrap();
        let config = ProviderConfig {
            http_headers: headers(&[("x-extra", HEADER)]),
            query_params: headers(&[("key", PARAM)]),
            ..provider(&server, wire)
        };
        let model = Client::new(config, Credentials::ApiKey(Secret::new(KEY)));
        for step_served in &served {
            server.queue(step(step_served.clone()));
            let turn = request("hi");
            shown.push_str(&format!("{model:?} {turn:?}"));
            for event in collect(model.stream(turn)).await {
                shown.push_str(&format!("{event:?}"));
                if let quipu_model::ModelEvent::Failed(error) = event {
                    shown.push_str(&format!("{error} {:?}", error.details()));
                }
            }
        }
        assert_eq!(server.requests().len(), served.len());
    }
    shown
}
