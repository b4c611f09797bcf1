//! Telemetry sent to a collector over real HTTP.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::time::{Duration, Instant, SystemTime};

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as AnyValue;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use prost::Message as _;
use quipu_telemetry::{
    Collector as Target, Encoding, Kind, Options, Span, SpanContext, Telemetry, Tls, Unit,
};
use quipu_testkit::collector::Collector;
use serde_json::{Value, json};
use tokio::net::TcpListener;

const LIMIT: Duration = Duration::from_secs(5);

fn target(endpoint: String, encoding: Encoding) -> Option<Target> {
    Some(Target {
        endpoint,
        headers: vec![("x-key".to_owned(), "secret".to_owned())],
        encoding,
        tls: Tls::default(),
    })
}

fn started(collector: &Collector, encoding: Encoding) -> Telemetry {
    let options = Options {
        resource: vec![("service.name", "quipu".into())],
        logs: target(collector.url("/v1/logs"), encoding),
        traces: target(collector.url("/v1/traces"), encoding),
        metrics: target(collector.url("/v1/metrics"), encoding),
        scraped: false,
    };
    Telemetry::start(&options).unwrap()
}

fn report(telemetry: &Telemetry) {
    let turn = SpanContext::root();
    telemetry.event(
        "codex.user_prompt",
        Some(turn),
        vec![("prompt_length", 3.into()), ("ok", true.into())],
    );
    telemetry.span(Span {
        name: "turn".into(),
        kind: Kind::Client,
        context: turn.child(),
        parent: Some(turn),
        began: SystemTime::now(),
        attributes: vec![("status", "completed".into())],
        failure: Some("broken".to_owned()),
    });
    telemetry.add("codex.turns", 2, Vec::new());
    telemetry.add("codex.turns", 1, Vec::new());
    telemetry.took(
        "codex.turn.duration_ms",
        Duration::from_millis(60),
        Vec::new(),
    );
    telemetry.record(
        "gen_ai.client.operation.duration",
        Unit::Seconds,
        60,
        Vec::new(),
    );
}

#[tokio::test]
async fn json_has_the_shape_that_collectors_read() {
    let collector = Collector::start(200).await.unwrap();
    let telemetry = started(&collector, Encoding::Json);
    report(&telemetry);
    telemetry.flush(LIMIT).await;
    let posted = collector.posted();
    let one = |path: &str| {
        let posted = posted.iter().find(|it| it.path == path).unwrap();
        assert_eq!(posted.header("content-type"), Some("application/json"));
        assert_eq!(posted.header("x-key"), Some("secret"));
        posted.json()
    };
    let logs = &one("/v1/logs")["resourceLogs"][0];
    let service = json!({ "key": "service.name", "value": { "stringValue": "quipu" } });
    assert_eq!(logs["resource"]["attributes"], json!([service]));
    let log = &logs["scopeLogs"][0]["logRecords"][0];
    assert_eq!(log["eventName"], "codex.user_prompt");
    assert_eq!(
        log["attributes"],
        json!([
            { "key": "event.name", "value": { "stringValue": "codex.user_prompt" } },
            { "key": "prompt_length", "value": { "intValue": "3" } },
            { "key": "ok", "value": { "boolValue": true } },
        ])
    );
    let span = &one("/v1/traces")["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    assert_eq!(span["traceId"], log["traceId"]);
    assert_eq!(span["parentSpanId"], log["spanId"]);
    assert_eq!(span["status"], json!({ "message": "broken", "code": 2 }));
    let nanos = |value: &Value| value.as_str().unwrap().parse::<u64>().unwrap();
    assert!(nanos(&span["endTimeUnixNano"]) >= nanos(&span["startTimeUnixNano"]));
    let metrics = &one("/v1/metrics")["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
    assert_eq!(metrics[0]["sum"]["dataPoints"][0]["asInt"], "3");
    assert_eq!(metrics[1]["histogram"]["dataPoints"][0]["count"], "1");
    assert_eq!(telemetry.dropped(), 0);
}

/// Decoded with the official protocol buffers.
#[tokio::test]
async fn the_binary_form_holds_the_same() {
    let collector = Collector::start(200).await.unwrap();
    let telemetry = started(&collector, Encoding::Binary);
    report(&telemetry);
    telemetry.flush(LIMIT).await;
    let posted = collector.posted();
    let body = |path: &str| {
        let posted = posted.iter().find(|it| it.path == path).unwrap();
        let form = posted.header("content-type");
        assert_eq!(form, Some("application/x-protobuf"));
        posted.body.as_slice()
    };

    let logs = ExportLogsServiceRequest::decode(body("/v1/logs")).unwrap();
    let resource = logs.resource_logs[0].resource.as_ref().unwrap();
    assert_eq!(shown(&resource.attributes), ["service.name: quipu"]);
    let log = &logs.resource_logs[0].scope_logs[0].log_records[0];
    assert_eq!(log.event_name, "codex.user_prompt");
    assert_eq!(
        shown(&log.attributes),
        [
            "event.name: codex.user_prompt",
            "prompt_length: 3",
            "ok: true"
        ]
    );

    let traces = ExportTraceServiceRequest::decode(body("/v1/traces")).unwrap();
    let span = &traces.resource_spans[0].scope_spans[0].spans[0];
    assert_eq!(
        (span.name.as_str(), span.kind()),
        ("turn", SpanKind::Client)
    );
    assert_eq!(span.trace_id, log.trace_id);
    assert_eq!(span.parent_span_id, log.span_id);
    assert!(span.end_time_unix_nano >= span.start_time_unix_nano);
    let status = span.status.as_ref().unwrap();
    assert_eq!(
        (status.code(), status.message.as_str()),
        (StatusCode::Error, "broken")
    );

    let metrics = ExportMetricsServiceRequest::decode(body("/v1/metrics")).unwrap();
    let metrics = &metrics.resource_metrics[0].scope_metrics[0].metrics;
    let Some(Data::Sum(sum)) = &metrics[0].data else {
        panic!("{:?}", metrics[0])
    };
    assert!(sum.is_monotonic);
    assert_eq!(sum.data_points[0].value, Some(Number::AsInt(3)));
    let Some(Data::Histogram(times)) = &metrics[1].data else {
        panic!("{:?}", metrics[1])
    };
    let times = &times.data_points[0];
    assert_eq!((times.count, times.sum), (1, Some(60.0)));
    assert_eq!(times.bucket_counts.len(), times.explicit_bounds.len() + 1);
    assert_eq!(metrics[2].unit, "s");
    let Some(Data::Histogram(seconds)) = &metrics[2].data else {
        panic!("{:?}", metrics[2])
    };
    assert_eq!(seconds.data_points[0].sum, Some(0.06));
    assert_eq!(seconds.data_points[0].explicit_bounds[0], 0.01);
}

fn shown(attributes: &[KeyValue]) -> Vec<String> {
    let value = |it: &KeyValue| match it.value.as_ref().and_then(|it| it.value.as_ref()) {
        Some(AnyValue::StringValue(text)) => text.clone(),
        Some(AnyValue::IntValue(number)) => number.to_string(),
        Some(AnyValue::BoolValue(flag)) => flag.to_string(),
        other => panic!("{other:?}"),
    };
    let all = attributes.iter();
    all.map(|it| format!("{}: {}", it.key, value(it))).collect()
}

#[tokio::test]
async fn records_go_out_without_being_asked_for() {
    let collector = Collector::start(200).await.unwrap();
    let telemetry = started(&collector, Encoding::Json);
    telemetry.event("one", None, Vec::new());
    collector.received(1).await;
    assert_eq!(collector.posted()[0].path, "/v1/logs");
}

#[tokio::test]
async fn what_the_collector_refuses_is_counted() {
    let collector = Collector::start(503).await.unwrap();
    let telemetry = started(&collector, Encoding::Json);
    telemetry.event("one", None, Vec::new());
    telemetry.flush(LIMIT).await;
    assert_eq!(telemetry.dropped(), 1);
}

/// A listener that takes connections and never answers.
#[tokio::test]
async fn a_collector_that_hangs_costs_records_and_no_time() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}/v1/logs", listener.local_addr().unwrap());
    let options = Options {
        resource: Vec::new(),
        logs: target(endpoint, Encoding::Json),
        traces: None,
        metrics: None,
        scraped: false,
    };
    let telemetry = Telemetry::start(&options).unwrap();
    let began = Instant::now();
    for _ in 0..10_000 {
        telemetry.event("many", None, Vec::new());
    }
    assert!(telemetry.dropped() >= 7_000, "{}", telemetry.dropped());
    telemetry.flush(Duration::from_millis(100)).await;
    assert!(began.elapsed() < Duration::from_secs(4));
}

#[tokio::test]
async fn mistakes_in_the_settings_are_named() {
    let refused = |endpoint: &str, tls: Tls| {
        let collector = Target {
            tls,
            ..target(endpoint.to_owned(), Encoding::Json).unwrap()
        };
        let options = Options {
            resource: Vec::new(),
            logs: Some(collector),
            traces: None,
            metrics: None,
            scraped: false,
        };
        Telemetry::start(&options).err().unwrap()
    };
    assert!(refused("nowhere", Tls::default()).contains("invalid endpoint `nowhere`"));
    let tls = Tls {
        ca_certificate: Some("/no/such.pem".into()),
        ..Tls::default()
    };
    assert!(refused("https://x", tls).contains("cannot read /no/such.pem"));
    let tls = Tls {
        client_certificate: Some("/no/such.pem".into()),
        ..Tls::default()
    };
    assert!(refused("https://x", tls).contains("belong together"));
}
