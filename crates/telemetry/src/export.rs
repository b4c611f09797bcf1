//! Sending batches to a collector.

use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, Identity};

use crate::encode::{Field, Message};
use crate::record::{Attribute, attributes};

/// How long one batch may take.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A collector that speaks OTLP over HTTP.
#[derive(Clone)]
pub struct Collector {
    /// The whole address, as `http://host:4318/v1/logs`.
    pub endpoint: String,
    /// Headers sent to it, which may be secret.
    pub headers: Vec<(String, String)>,
    /// The form of the data.
    pub encoding: Encoding,
    /// Certificates.
    pub tls: Tls,
}

/// The form of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Protocol buffers.
    Binary,
    /// JSON.
    Json,
}

/// Certificates of a connection.
#[derive(Debug, Clone, Default)]
pub struct Tls {
    /// What the collector's certificate is checked against.
    pub ca_certificate: Option<PathBuf>,
    /// The certificate shown to it.
    pub client_certificate: Option<PathBuf>,
    /// The key of that.
    pub client_private_key: Option<PathBuf>,
}

/// The names by which OTLP calls the parts of one kind of data.
pub(crate) struct Shape {
    resource: &'static str,
    scope: &'static str,
    records: &'static str,
}

pub(crate) const LOGS: Shape = Shape {
    resource: "resourceLogs",
    scope: "scopeLogs",
    records: "logRecords",
};
pub(crate) const SPANS: Shape = Shape {
    resource: "resourceSpans",
    scope: "scopeSpans",
    records: "spans",
};
pub(crate) const METRICS: Shape = Shape {
    resource: "resourceMetrics",
    scope: "scopeMetrics",
    records: "metrics",
};

/// A connection to a collector for one kind of data.
pub(crate) struct Exporter {
    shape: Shape,
    endpoint: String,
    encoding: Encoding,
    client: reqwest::Client,
    resource: Vec<Attribute>,
}

impl Exporter {
    pub(crate) fn new(
        shape: Shape,
        collector: &Collector,
        resource: Vec<Attribute>,
    ) -> Result<Exporter, String> {
        reqwest::Url::parse(&collector.endpoint)
            .map_err(|error| format!("invalid endpoint `{}`: {error}", collector.endpoint))?;
        let client = client(collector)?;
        Ok(Exporter {
            shape,
            endpoint: collector.endpoint.clone(),
            encoding: collector.encoding,
            client,
            resource,
        })
    }

    /// Sends records; an error says why they are lost.
    pub(crate) async fn send(&self, records: Vec<Message>) -> Result<(), String> {
        let scope = Message::default().with(1, "name", Field::Text("quipu".to_owned()));
        let scoped = Message::default().with(1, "scope", Field::One(scope)).with(
            2,
            self.shape.records,
            Field::Many(records),
        );
        let resource = Message::default().with(1, "attributes", attributes(self.resource.clone()));
        let resourced = Message::default()
            .with(1, "resource", Field::One(resource))
            .with(2, self.shape.scope, Field::Many(vec![scoped]));
        let request = Message::default().with(1, self.shape.resource, Field::Many(vec![resourced]));
        let (kind, body) = match self.encoding {
            Encoding::Binary => ("application/x-protobuf", request.to_binary()),
            Encoding::Json => ("application/json", request.to_json().to_string().into()),
        };
        let request = self.client.post(&self.endpoint);
        let answer = request.header(CONTENT_TYPE, kind).body(body).send().await;
        let answer = answer.map_err(|error| error.without_url().to_string())?;
        let status = answer.status();
        if status.is_success() {
            Ok(())
        } else {
            Err(format!("the collector answered {status}"))
        }
    }
}

fn client(collector: &Collector) -> Result<reqwest::Client, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in &collector.headers {
        let invalid = || format!("invalid header `{name}`");
        let key: HeaderName = name.parse().map_err(|_| invalid())?;
        let mut value: HeaderValue = value.parse().map_err(|_| invalid())?;
        value.set_sensitive(true);
        headers.insert(key, value);
    }
    let mut builder = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(TIMEOUT)
        .default_headers(headers);
    let tls = &collector.tls;
    if let Some(path) = &tls.ca_certificate {
        let bundle = Certificate::from_pem_bundle(&read(path)?);
        for certificate in bundle.map_err(|error| unusable(path, &error))? {
            builder = builder.add_root_certificate(certificate);
        }
    }
    match (&tls.client_certificate, &tls.client_private_key) {
        (Some(certificate), Some(key)) => {
            let mut pem = read(certificate)?;
            pem.extend(read(key)?);
            let identity =
                Identity::from_pem(&pem).map_err(|error| unusable(certificate, &error))?;
            builder = builder.identity(identity);
        }
        (None, None) => {}
        _ => return Err("client-certificate and client-private-key belong together".to_owned()),
    }
    let failed = |error: reqwest::Error| format!("cannot set up HTTP: {error}");
    builder.build().map_err(failed)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn unusable(path: &Path, error: &reqwest::Error) -> String {
    format!("cannot use {}: {error}", path.display())
}
