//! Telemetry as the settings describe it. They are read once, when the first thread is loaded.

use std::time::Duration;

use quipu_config::Loader;
use quipu_config::settings::{Exporter, OtlpProtocol};
use quipu_telemetry::{Collector, Encoding, Options, Telemetry, Tls};

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
    let options = Options {
        resource: vec![
            ("service.name", "quipu".into()),
            ("service.version", env!("CARGO_PKG_VERSION").into()),
            ("env", settings.environment.into()),
        ],
        logs: collector(settings.logs),
        traces: collector(settings.traces),
        metrics: collector(settings.metrics),
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
