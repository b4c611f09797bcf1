//! What is sent to collectors and to the makers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use super::providers::Secret;
use crate::Table;
use crate::layer::{self, Stack};
use crate::load::LoadError;
use crate::snapshot::Snapshot;

/// What is sent, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Telemetry {
    /// The user's words stand in logs.
    pub log_user_prompt: bool,
    /// Name of this installation in the data.
    pub environment: String,
    /// Where logs go.
    pub logs: Exporter,
    /// Where traces go.
    pub traces: Exporter,
    /// Where metrics go.
    pub metrics: Exporter,
    /// Feedback is accepted.
    pub feedback: bool,
    /// Where feedback is sent besides being kept.
    pub feedback_endpoint: Option<String>,
}

/// A collector.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exporter {
    /// Nothing is sent.
    #[default]
    None,
    /// A service of the makers of the official program; nothing is sent there.
    Statsig,
    /// A collector that speaks OTLP over HTTP.
    OtlpHttp {
        /// Its address.
        endpoint: String,
        /// Headers sent to it.
        #[serde(default)]
        headers: BTreeMap<String, Secret>,
        /// Form of the data.
        protocol: OtlpProtocol,
        /// Certificates.
        tls: Option<Tls>,
    },
    /// A collector that speaks OTLP over gRPC, which is refused.
    #[serde(deserialize_with = "ignore")]
    OtlpGrpc,
}

/// The settings of what is refused do not matter.
fn ignore<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    serde::de::IgnoredAny::deserialize(deserializer).map(drop)
}

/// Form of data sent over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OtlpProtocol {
    /// Protocol buffers.
    Binary,
    /// JSON.
    Json,
}

/// Certificates.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Tls {
    /// What the collector's certificate is checked against.
    pub ca_certificate: Option<PathBuf>,
    /// The certificate shown to it.
    pub client_certificate: Option<PathBuf>,
    /// The key of that.
    pub client_private_key: Option<PathBuf>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OtelToml {
    log_user_prompt: bool,
    environment: Option<String>,
    exporter: Exporter,
    trace_exporter: Exporter,
    metrics_exporter: Exporter,
}

impl Snapshot {
    /// What is sent, and where.
    pub fn telemetry(&self) -> Telemetry {
        let view = self.view();
        let otel = otel(self.stack());
        let feedback = view.raw("feedback").and_then(|it| it.get("enabled"));
        Telemetry {
            log_user_prompt: otel.log_user_prompt,
            environment: otel.environment.unwrap_or_else(|| "dev".to_owned()),
            logs: otel.exporter,
            traces: otel.trace_exporter,
            metrics: otel.metrics_exporter,
            feedback: feedback.and_then(Value::as_bool).unwrap_or(true),
            feedback_endpoint: self.feedback_endpoint(),
        }
    }

    /// Whether data can be sent as the settings say. Threads are not started otherwise.
    pub fn check_telemetry(&self) -> Result<(), LoadError> {
        let otel = otel(self.stack());
        for (key, exporter) in [
            ("exporter", otel.exporter),
            ("trace_exporter", otel.trace_exporter),
            ("metrics_exporter", otel.metrics_exporter),
        ] {
            if exporter == Exporter::OtlpGrpc {
                return Err(LoadError::Invalid(format!(
                    "`otel.{key}`: `otlp-grpc` is not supported; use `otlp-http`, which collectors speak too"
                )));
            }
        }
        Ok(())
    }

    fn feedback_endpoint(&self) -> Option<String> {
        let mut set = self
            .stack()
            .own()
            .filter_map(|it| it.config.get("feedback")?.get("endpoint")?.as_str());
        set.next_back().map(str::to_owned)
    }
}

/// A project must not have anything sent to its own address, so its files do not count.
fn otel(stack: &Stack) -> OtelToml {
    let mut merged = Table::new();
    for layer in stack.own() {
        if let Some(Value::Object(otel)) = layer.config.get("otel") {
            layer::merge(&mut merged, otel);
        }
    }
    serde_json::from_value(Value::Object(merged)).unwrap_or_default()
}
