//! When a request is sent again, how often, and what is told about it.

use std::time::{Duration, Instant};

use quipu_model::{Client, Credentials, ModelEvent, WireApi};
use quipu_testkit::model::ModelServer;
use quipu_wire::CodexErrorInfo;
use serde_json::json;

use crate::support::{collect, done_items, failure, provider, request, short, step};

fn patient(server: &ModelServer, wire: WireApi, requests: u32, streams: u32) -> Client {
    let mut config = provider(server, wire);
    config.request_max_retries = Some(requests);
    config.stream_max_retries = Some(streams);
    Client::new(config, Credentials::None)
}

#[tokio::test]
async fn a_broken_stream_is_asked_for_again_and_its_items_count_anew() {
    let server = ModelServer::start().await.unwrap();
    server.queue(step(json!({"text": "half", "cut": true})));
    server.queue(step(json!({"text": "whole"})));
    let events = collect(patient(&server, WireApi::Responses, 0, 1).stream(request("hi"))).await;
    assert_eq!(
        short(&events),
        [
            "0 started Message",
            "0 text half",
            "Reconnecting... 1/1 (Transport error: network error: error decoding response body): stream disconnected before completion: Transport error: network error: error decoding response body",
            "1 started Message",
            "1 text whole",
            r#"1 done {"type":"message","role":"assistant","content":[{"type":"output_text","text":"whole"}]}"#,
            "completed resp_2 in 100 cached 10 out 20 reasoning 5 total 120",
        ]
    );
}

#[tokio::test]
async fn server_errors_are_retried_in_silence_then_aloud() {
    let server = ModelServer::start().await.unwrap();
    for _ in 0..3 {
        server.queue(step(json!({"fail": 503, "body": "busy"})));
    }
    let begun = Instant::now();
    let events = collect(patient(&server, WireApi::Responses, 1, 1).stream(request("hi"))).await;
    assert!(begun.elapsed() >= Duration::from_millis(3 * 180));
    assert_eq!(server.requests().len(), 4);
    let ModelEvent::Retrying(retrying) = &events[0] else {
        panic!("{events:?}")
    };
    assert_eq!((retrying.attempt, retrying.max), (1, 1));
    assert_eq!(
        retrying.info(),
        CodexErrorInfo::ResponseStreamDisconnected {
            http_status_code: Some(503)
        }
    );
    assert_eq!(done_items(&events)[0]["content"][0]["text"], "ok");
}

#[tokio::test]
async fn waits_that_the_provider_names_are_kept_and_long_ones_refused() {
    let server = ModelServer::start().await.unwrap();
    server.queue(step(json!({"fail": 429, "headers": {"retry-after": "1"}})));
    server.queue(step(
        json!({"error": {"code": "rate_limit_exceeded", "message": "Please try again in 300ms."}}),
    ));
    let begun = Instant::now();
    let events = collect(patient(&server, WireApi::Responses, 0, 5).stream(request("hi"))).await;
    assert!(begun.elapsed() >= Duration::from_millis(1300));
    let delays: Vec<Duration> = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::Retrying(retrying) => Some(retrying.delay),
            _ => None,
        })
        .collect();
    assert_eq!(delays, [Duration::from_secs(1), Duration::from_millis(300)]);

    for wire in [WireApi::Responses, WireApi::Chat] {
        server.queue(step(
            json!({"fail": 429, "headers": {"retry-after": "3600"}}),
        ));
        let events = collect(patient(&server, wire, 5, 5).stream(request("hi"))).await;
        let text = failure(&events).to_string();
        assert_eq!(
            text,
            "exceeded retry limit, last status: 429 Too Many Requests: scripted failure"
        );
    }
}

#[tokio::test]
async fn what_cannot_change_is_not_asked_again() {
    let server = ModelServer::start().await.unwrap();
    let hopeless = [
        (WireApi::Responses, json!({"fail": 400})),
        (WireApi::Responses, json!({"fail": 401})),
        (WireApi::Responses, json!({"fail": 403})),
        (WireApi::Responses, json!({"fail": 404})),
        (WireApi::Responses, json!({"fail": 429})),
        (
            WireApi::Responses,
            json!({"fail": 429, "body": {"error": {"type": "usage_limit_reached"}}}),
        ),
        (
            WireApi::Responses,
            json!({"error": {"code": "context_length_exceeded"}}),
        ),
        (WireApi::Chat, json!({"fail": 401})),
        (WireApi::Chat, json!({"fail": 404})),
        (WireApi::Chat, json!({"text": "a", "incomplete": "length"})),
        (WireApi::Anthropic, json!({"fail": 400})),
        (WireApi::Anthropic, json!({"incomplete": "refusal"})),
    ];
    for (count, (wire, served)) in hopeless.into_iter().enumerate() {
        server.queue(step(served));
        failure(&collect(patient(&server, wire, 3, 3).stream(request("hi"))).await);
        assert_eq!(server.requests().len(), count + 1);
    }
}

#[tokio::test]
async fn silence_is_given_up_and_tried_again() {
    let server = ModelServer::start().await.unwrap();
    let mut config = provider(&server, WireApi::Responses);
    config.stream_idle_timeout_ms = Some(100);
    config.stream_max_retries = Some(2);
    server.queue(step(json!({"text": "a", "stall": true})));
    server.queue(step(json!({"text": "a", "hang": 60_000})));
    let events = collect(Client::new(config, Credentials::None).stream(request("hi"))).await;
    let notices: Vec<String> = short(&events)
        .into_iter()
        .filter(|line| line.starts_with("Reconnecting"))
        .collect();
    let silence = "stream disconnected before completion: idle timeout waiting for SSE";
    assert_eq!(
        notices,
        [
            format!("Reconnecting... 1/2 (idle timeout waiting for SSE): {silence}"),
            format!("Reconnecting... 2/2 (idle timeout waiting for SSE): {silence}")
        ]
    );
    assert!(matches!(events.last(), Some(ModelEvent::Completed(_))));
}
