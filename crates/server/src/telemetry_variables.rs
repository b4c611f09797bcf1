//! Collectors as the standard `OTEL_*` variables name them, for data that the settings say nothing about.

use std::path::PathBuf;

use quipu_config::Env;
use quipu_telemetry::{Attribute, Collector, Encoding, Tls};

/// A kind of data.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Signal {
    Logs,
    Traces,
    Metrics,
}

impl Signal {
    /// Its name in variables, and the end of its address.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Signal::Logs => ("LOGS", "v1/logs"),
            Signal::Traces => ("TRACES", "v1/traces"),
            Signal::Metrics => ("METRICS", "v1/metrics"),
        }
    }
}

/// The variables of a process.
pub(crate) struct Variables<'a>(pub &'a Env);

impl Variables<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        let value = self.0.get(name)?.trim();
        (!value.is_empty()).then_some(value)
    }

    /// A variable of one kind of data, or else of all of them.
    fn exporter(&self, signal: Signal, what: &str) -> Option<&str> {
        let (name, _) = signal.names();
        self.get(&format!("OTEL_EXPORTER_OTLP_{name}_{what}"))
            .or_else(|| self.get(&format!("OTEL_EXPORTER_OTLP_{what}")))
    }

    /// Where data of a kind goes, if an address is named. What cannot be done is logged, and the data is not sent.
    pub fn collector(&self, signal: Signal) -> Option<Collector> {
        let (name, path) = signal.names();
        let is_off = self
            .get("OTEL_SDK_DISABLED")
            .is_some_and(|it| it.eq_ignore_ascii_case("true"));
        let exporter = self.get(&format!("OTEL_{name}_EXPORTER"));
        if is_off || exporter == Some("none") {
            return None;
        }
        let own = self.get(&format!("OTEL_EXPORTER_OTLP_{name}_ENDPOINT"));
        let endpoint = own.map(str::to_owned).or_else(|| {
            let all = self.get("OTEL_EXPORTER_OTLP_ENDPOINT")?;
            Some(format!("{}/{path}", all.trim_end_matches('/')))
        })?;
        if let Some(exporter) = exporter.filter(|it| *it != "otlp") {
            tracing::error!(
                signal = name,
                exporter,
                "exporter not supported; use `otlp`"
            );
            return None;
        }
        let encoding = match self.exporter(signal, "PROTOCOL") {
            None | Some("http/protobuf") => Encoding::Binary,
            Some("http/json") => Encoding::Json,
            Some(protocol) => {
                tracing::error!(
                    signal = name,
                    protocol,
                    "protocol not supported; use `http/protobuf`, which collectors speak on port 4318"
                );
                return None;
            }
        };
        let file = |what| self.exporter(signal, what).map(PathBuf::from);
        let headers = self.exporter(signal, "HEADERS").unwrap_or_default();
        Some(Collector {
            endpoint,
            headers: pairs(headers).collect(),
            encoding,
            tls: Tls {
                ca_certificate: file("CERTIFICATE"),
                client_certificate: file("CLIENT_CERTIFICATE"),
                client_private_key: file("CLIENT_KEY"),
            },
        })
    }

    /// What is said of this process, in addition to what is known: names live as long as it does.
    pub fn resource(&self) -> Vec<Attribute> {
        let listed = self.get("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
        let named = self.get("OTEL_SERVICE_NAME");
        let named = named.map(|it| ("service.name".to_owned(), it.to_owned()));
        let listed = pairs(listed).filter(|(name, _)| name != "service.name" || named.is_none());
        let all: Vec<_> = listed.chain(named.clone()).collect();
        all.into_iter()
            .map(|(name, value)| (&*name.leak(), value.into()))
            .collect()
    }
}

/// `name=value` pairs with commas between them; values may have characters as `%20`.
fn pairs(text: &str) -> impl Iterator<Item = (String, String)> + '_ {
    let pairs = text.split(',').filter_map(|it| it.split_once('='));
    pairs
        .map(|(name, value)| (name.trim().to_owned(), decoded(value.trim())))
        .filter(|(name, _)| !name.is_empty())
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, others)) = rest.split_first() {
        let digits = others.get(..2).filter(|_| first == b'%');
        let digits = digits.and_then(|it| std::str::from_utf8(it).ok());
        match digits.and_then(|it| u8::from_str_radix(it, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &others[2..];
            }
            None => {
                bytes.push(first);
                rest = others;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_separated_by_commas() {
        let found: Vec<_> = pairs("a=1, b = two%20words,,=x,c,d=%zz%4").collect();
        let expected = [("a", "1"), ("b", "two words"), ("d", "%zz%4")];
        assert_eq!(
            found,
            expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }
}
