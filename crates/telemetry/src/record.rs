//! What is reported, and how OTLP describes it.

use std::time::{SystemTime, UNIX_EPOCH};

use uuid::Uuid;

use crate::encode::{Field, Message};

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// A text.
    Text(String),
    /// A number.
    Int(i64),
    /// A flag.
    Bool(bool),
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Int(number)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Value {
        Value::Bool(flag)
    }
}

/// A name with a value.
pub type Attribute = (&'static str, Value);

/// Where in a trace something happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpanContext {
    trace: [u8; 16],
    span: [u8; 8],
}

impl SpanContext {
    /// The beginning of a new trace.
    #[must_use]
    pub fn root() -> SpanContext {
        SpanContext {
            trace: Uuid::new_v4().into_bytes(),
            span: span_id(),
        }
    }

    /// A part of this one.
    #[must_use]
    pub fn child(self) -> SpanContext {
        SpanContext {
            span: span_id(),
            ..self
        }
    }
}

fn span_id() -> [u8; 8] {
    let random = Uuid::new_v4().into_bytes();
    // The last eight bytes are random but for the two bits that mark the kind of id.
    [
        random[8], random[9], random[10], random[11], random[12], random[13], random[14],
        random[15],
    ]
}

/// Something that took a time.
#[derive(Debug, Clone)]
pub struct Span {
    /// What it was.
    pub name: &'static str,
    /// Where in the trace it is.
    pub context: SpanContext,
    /// What it is a part of.
    pub parent: Option<SpanContext>,
    /// When it began.
    pub began: SystemTime,
    /// What is known about it.
    pub attributes: Vec<Attribute>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
}

/// A record on its way to the collector.
#[derive(Debug)]
pub(crate) enum Record {
    Log {
        name: &'static str,
        at: SystemTime,
        context: Option<SpanContext>,
        attributes: Vec<Attribute>,
    },
    Span {
        span: Span,
        ended: SystemTime,
    },
    Count {
        name: &'static str,
        value: u64,
        attributes: Vec<Attribute>,
    },
    Duration {
        name: &'static str,
        millis: u64,
        attributes: Vec<Attribute>,
    },
}

const INFO: i32 = 9;
const FAILED: i32 = 2;
const INTERNAL: i32 = 1;

/// A log record.
pub(crate) fn log(
    name: &'static str,
    at: SystemTime,
    context: Option<SpanContext>,
    attributes: Vec<Attribute>,
) -> Message {
    let mut all: Vec<Attribute> = vec![("event.name", name.into())];
    all.extend(attributes);
    let record = Message::default()
        .with(1, "timeUnixNano", Field::Fixed(nanos(at)))
        .with(2, "severityNumber", Field::Enum(INFO))
        .with(3, "severityText", Field::Text("INFO".to_owned()))
        .with(6, "attributes", self::attributes(all))
        .with(11, "observedTimeUnixNano", Field::Fixed(nanos(at)))
        .with(12, "eventName", Field::Text(name.to_owned()));
    match context {
        Some(context) => record
            .with(9, "traceId", Field::Id(context.trace.to_vec()))
            .with(10, "spanId", Field::Id(context.span.to_vec())),
        None => record,
    }
}

/// A span.
pub(crate) fn span(span: Span, ended: SystemTime) -> Message {
    let mut message = Message::default()
        .with(1, "traceId", Field::Id(span.context.trace.to_vec()))
        .with(2, "spanId", Field::Id(span.context.span.to_vec()));
    if let Some(parent) = span.parent {
        message = message.with(4, "parentSpanId", Field::Id(parent.span.to_vec()));
    }
    message = message
        .with(5, "name", Field::Text(span.name.to_owned()))
        .with(6, "kind", Field::Enum(INTERNAL))
        .with(7, "startTimeUnixNano", Field::Fixed(nanos(span.began)))
        .with(8, "endTimeUnixNano", Field::Fixed(nanos(ended)))
        .with(9, "attributes", attributes(span.attributes));
    if let Some(why) = span.failure {
        let status = Message::default()
            .with(2, "message", Field::Text(why))
            .with(3, "code", Field::Enum(FAILED));
        message = message.with(15, "status", Field::One(status));
    }
    message
}

pub(crate) fn attributes(attributes: Vec<Attribute>) -> Field {
    let attributes = attributes.into_iter().map(|(name, value)| {
        let value = match value {
            Value::Text(text) => (1, "stringValue", Field::Text(text)),
            Value::Bool(flag) => (2, "boolValue", Field::Bool(flag)),
            Value::Int(number) => (3, "intValue", Field::Int(number)),
        };
        let value = Message::default().with(value.0, value.1, value.2);
        Message::default()
            .with(1, "key", Field::Text(name.to_owned()))
            .with(2, "value", Field::One(value))
    });
    Field::Many(attributes.collect())
}

pub(crate) fn nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
