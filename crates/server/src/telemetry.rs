//! Telemetry as the settings describe it. They are read once, when the first thread is loaded.

use std::time::{Duration, SystemTime};

use quipu_config::Loader;
use quipu_config::settings::{Exporter, OtlpProtocol};
use quipu_telemetry::{
    Attribute, Collector, Encoding, Kind, Options, Span, SpanContext, Telemetry, Tls,
};

use crate::telemetry_variables::{Signal, Variables};

/// How long the last records may take to be sent.
pub(crate) const FLUSH: Duration = Duration::from_secs(2);

/// Where threads report what happens in them.
#[derive(Default)]
pub(crate) struct Reporting {
    pub telemetry: Telemetry,
    /// The user's words may be sent.
    pub prompts: bool,
}

/// Starts what the settings ask for. Settings that cannot be used are no reason to work without saying why.
pub(crate) fn start(config: &Loader, scraped: bool) -> Reporting {
    let Ok(snapshot) = config.load_or_defaults() else {
        return Reporting::default();
    };
    let settings = snapshot.telemetry();
    let variables = Variables(config.env());
    let mut resource: Vec<Attribute> = vec![
        ("service.name", "quipu".into()),
        ("service.version", env!("CARGO_PKG_VERSION").into()),
        ("env", settings.environment.into()),
    ];
    let more = variables.resource();
    resource.retain(|(name, _)| more.iter().all(|(it, _)| it != name));
    resource.extend(more);
    let collector = |exporter: Exporter, signal| match exporter {
        Exporter::None => variables.collector(signal),
        exporter => collector(exporter),
    };
    let options = Options {
        resource,
        logs: collector(settings.logs, Signal::Logs),
        traces: collector(settings.traces, Signal::Traces),
        metrics: collector(settings.metrics, Signal::Metrics),
        scraped,
    };
    let telemetry = Telemetry::start(&options).unwrap_or_else(|error| {
        tracing::error!(%error, "failed to set up telemetry");
        Telemetry::default()
    });
    Reporting {
        telemetry,
        prompts: settings.log_user_prompt,
    }
}

fn collector(exporter: Exporter) -> Option<Collector> {
    let Exporter::OtlpHttp {
        endpoint,
        headers,
        protocol,
        tls,
    } = exporter
    else {
        return None;
    };
    let headers = headers.iter();
    let tls = tls.unwrap_or_default();
    Some(Collector {
        endpoint,
        headers: headers
            .map(|(name, value)| (name.clone(), value.reveal().to_owned()))
            .collect(),
        encoding: match protocol {
            OtlpProtocol::Binary => Encoding::Binary,
            OtlpProtocol::Json => Encoding::Json,
        },
        tls: Tls {
            ca_certificate: tls.ca_certificate,
            client_certificate: tls.client_certificate,
            client_private_key: tls.client_private_key,
        },
    })
}

/// A request of a client, from its arrival until it is answered. Reported when it is dropped.
pub(crate) struct RequestSpan {
    telemetry: Telemetry,
    method: &'static str,
    context: SpanContext,
    /// The span of the client, or of its connection.
    parent: SpanContext,
    began: SystemTime,
    pub failure: Option<String>,
}

impl RequestSpan {
    /// Begins, if anything is reported; `trace` is the `traceparent` that came with the request.
    pub fn begin(
        telemetry: &Telemetry,
        method: &'static str,
        trace: Option<&str>,
        connection: SpanContext,
    ) -> Option<RequestSpan> {
        let parent = trace.and_then(SpanContext::from_traceparent);
        let parent = parent.unwrap_or(connection);
        telemetry.is_on().then(|| RequestSpan {
            telemetry: telemetry.clone(),
            method,
            context: parent.child(),
            parent,
            began: SystemTime::now(),
            failure: None,
        })
    }

    pub fn context(&self) -> SpanContext {
        self.context
    }
}

impl Drop for RequestSpan {
    fn drop(&mut self) {
        self.telemetry.span(Span {
            name: self.method.into(),
            kind: Kind::Server,
            context: self.context,
            parent: Some(self.parent),
            began: self.began,
            attributes: vec![
                ("rpc.system", "jsonrpc".into()),
                ("rpc.method", self.method.into()),
            ],
            failure: self.failure.take(),
        });
    }
}

/// A connection, which the requests of its client are part of.
pub(crate) struct ConnectionSpan {
    pub context: SpanContext,
    began: SystemTime,
}

impl ConnectionSpan {
    pub fn begin() -> ConnectionSpan {
        ConnectionSpan {
            context: SpanContext::root(),
            began: SystemTime::now(),
        }
    }

    pub fn end(&self, telemetry: &Telemetry, peer: String) {
        telemetry.span(Span {
            name: "connection".into(),
            kind: Kind::Server,
            context: self.context,
            parent: None,
            began: self.began,
            attributes: vec![("network.peer.address", peer.into())],
            failure: None,
        });
    }
}
