//! Telemetry for the owner's collector: log events, spans and metrics, sent by OTLP over HTTP.
//!
//! A caller that reports something never waits: records go into a bounded queue, a task sends them in batches, and what
//! does not fit is dropped and counted. The usual crates (opentelemetry with its OTLP exporter) would bring a second
//! HTTP stack, a protobuf compiler's output and some forty crates; what is used of the format is written by hand here.

mod encode;
mod export;
mod metrics;
mod queue;
mod record;

pub use export::{Collector, Encoding, Tls};
pub use metrics::Unit;
pub use queue::{Options, Telemetry};
pub use record::{Attribute, Kind, Span, SpanContext, Value};
