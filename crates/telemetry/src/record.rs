//! What is reported, and how OTLP describes it.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use uuid::Uuid;

use crate::encode::{Field, Message};
use crate::metrics::Unit;

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

    /// Where in the trace of another program something happens, from its `traceparent` (W3C Trace Context).
    #[must_use]
    pub fn from_traceparent(text: &str) -> Option<SpanContext> {
        let mut parts = text.trim().split('-');
        let (version, trace, span) = (parts.next()?, parts.next()?, parts.next()?);
        parts.next().filter(|flags| flags.len() == 2)?;
        // Later versions may add parts; the first one may not.
        if version.len() != 2 || version == "ff" || (version == "00" && parts.next().is_some()) {
            return None;
        }
        Some(SpanContext {
            trace: id(trace)?,
            span: id(span)?,
        })
    }

    /// The same for another program to go on with.
    #[must_use]
    pub fn traceparent(&self) -> String {
        let mut text = "00-".to_owned();
        let bytes = |text: &mut String, bytes: &[u8]| {
            for byte in bytes {
                // Writing to a string cannot fail.
                write!(text, "{byte:02x}").ok();
            }
        };
        bytes(&mut text, &self.trace);
        text.push('-');
        bytes(&mut text, &self.span);
        text + "-01"
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

/// An id in hexadecimal, which is not zero.
fn id<const LENGTH: usize>(text: &str) -> Option<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    let is_hex = |it: u8| it.is_ascii_digit() || (b'a'..=b'f').contains(&it);
    if text.len() != 2 * LENGTH || !text.bytes().all(is_hex) {
        return None;
    }
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        let digits = std::str::from_utf8(digits).ok()?;
        *byte = u8::from_str_radix(digits, 16).ok()?;
    }
    (bytes != [0; LENGTH]).then_some(bytes)
}

fn span_id() -> [u8; 8] {
    let random = Uuid::new_v4().into_bytes();
    // The last eight bytes are random but for the two bits that mark the kind of id.
    [
        random[8], random[9], random[10], random[11], random[12], random[13], random[14],
        random[15],
    ]
}

/// Whose work a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// This program's own.
    Internal,
    /// An answer to another program.
    Server,
    /// A request to another program.
    Client,
}

impl Kind {
    fn number(self) -> i32 {
        match self {
            Kind::Internal => 1,
            Kind::Server => 2,
            Kind::Client => 3,
        }
    }
}

/// Something that took a time.
#[derive(Debug, Clone)]
pub struct Span {
    /// What it was.
    pub name: Cow<'static, str>,
    /// Whose work it is.
    pub kind: Kind,
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
    Value {
        name: &'static str,
        unit: Unit,
        value: u64,
        attributes: Vec<Attribute>,
    },
}

const INFO: i32 = 9;
const FAILED: i32 = 2;

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
        .with(5, "name", Field::Text(span.name.into_owned()))
        .with(6, "kind", Field::Enum(span.kind.number()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trace_contexts_of_others_are_read_and_written() {
        let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let context = SpanContext::from_traceparent(text).unwrap();
        assert_eq!(context.traceparent(), text);
        assert!(context.child().traceparent().starts_with(&text[..36]));
        for bad in [
            "",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ] {
            assert!(SpanContext::from_traceparent(bad).is_none(), "{bad}");
        }
    }
}
