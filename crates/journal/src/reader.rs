//! Reads a rollout line by line. Whatever is wrong with a line costs that line and leaves a
//! warning; the file is never refused for it.

use std::fmt;
use std::io::{self, Read};
use std::ops::ControlFlow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::lines::{Line, LineReader};

/// How many warnings one reading keeps; more are only counted.
const MAX_WARNINGS: usize = 50;

/// Why a line was passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It is longer than any record may be.
    TooLong,
    /// It is not text.
    NotUtf8,
    /// It is the last one and was not written to its end.
    Torn,
    /// It is not a record.
    Malformed(String),
    /// It is a record of a kind this version does not know.
    UnknownKind(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => f.write_str("longer than any record may be"),
            Self::NotUtf8 => f.write_str("not UTF-8"),
            Self::Torn => f.write_str("not written to its end"),
            Self::Malformed(why) => write!(f, "not a record: {why}"),
            Self::UnknownKind(kind) => write!(f, "of the unknown kind `{kind}`"),
        }
    }
}

/// A line that was passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Where the line begins, in bytes.
    pub offset: u64,
    /// What is wrong with it.
    pub fault: Fault,
}

/// The warnings of one reading: the first ones, and how many there were.
#[derive(Debug, Clone, Default)]
pub struct Warnings {
    /// The first ones.
    pub first: Vec<Warning>,
    /// How many there were.
    pub count: u64,
}

impl Warnings {
    pub(crate) fn add(&mut self, offset: u64, fault: Fault) {
        self.count += 1;
        if self.first.len() < MAX_WARNINGS {
            self.first.push(Warning { offset, fault });
        }
    }
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub offset: u64,
    pub len: usize,
}

/// A line taken apart, its payload not yet looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawRecord<'a> {
    pub span: Span,
    pub line: &'a str,
    pub kind: &'a str,
    /// The payload. Known to be JSON only once it was parsed; see [`RawRecord::parse`].
    pub payload: &'a str,
}

impl<'a> RawRecord<'a> {
    /// Reads the payload as a type.
    pub fn parse<T: Deserialize<'a>>(&self) -> serde_json::Result<T> {
        self.parse_with(|payload| serde_json::from_str(payload))
    }

    /// Reads the payload with `parse`; if that fails, once more after a strict look at the line.
    pub fn parse_with<T>(
        &self,
        parse: impl Fn(&'a str) -> serde_json::Result<T>,
    ) -> serde_json::Result<T> {
        parse(self.payload).or_else(|error| {
            let strict: Envelope<'a> = serde_json::from_str(self.line)?;
            if strict.payload.get() == self.payload {
                Err(error)
            } else {
                parse(strict.payload.get())
            }
        })
    }

    /// The `type` member of the payload.
    pub fn tag(&self) -> serde_json::Result<&'a str> {
        #[derive(Deserialize)]
        struct Tag<'a> {
            r#type: &'a str,
        }
        match quoted(self.payload, "{\"type\":\"") {
            Some((tag, _)) => Ok(tag),
            None => self.parse::<Tag<'a>>().map(|tag| tag.r#type),
        }
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    r#type: &'a str,
    #[serde(borrow)]
    payload: &'a RawValue,
}

/// Takes `prefix`, and then everything up to the next quote.
fn quoted<'a>(text: &'a str, prefix: &str) -> Option<(&'a str, &'a str)> {
    let text = text.strip_prefix(prefix)?;
    let end = memchr::memchr2(b'"', b'\\', text.as_bytes())?;
    (text.as_bytes()[end] == b'"').then(|| (&text[..end], &text[end + 1..]))
}

/// Passes over the number of a line of a paginated rollout.
fn after_ordinal(rest: &str) -> &str {
    let number = rest.strip_prefix(",\"ordinal\":");
    number.map_or(rest, |number| {
        number.trim_start_matches(|digit: char| digit.is_ascii_digit())
    })
}

/// Takes a line apart. Lines in the form both programs write are only looked at from the outside,
/// which is what makes long histories cheap to skip through; all others are parsed.
pub(crate) fn split(offset: u64, line: &str) -> serde_json::Result<RawRecord<'_>> {
    let span = Span {
        offset,
        len: line.len(),
    };
    let quick = quoted(line, "{\"timestamp\":\"").and_then(|(_, rest)| {
        let (kind, rest) = quoted(after_ordinal(rest), ",\"type\":\"")?;
        let payload = rest.strip_prefix(",\"payload\":")?.strip_suffix('}')?;
        Some(RawRecord {
            span,
            line,
            kind,
            payload,
        })
    });
    quick.map_or_else(
        || {
            let Envelope {
                r#type: kind,
                payload,
            } = serde_json::from_str(line)?;
            Ok(RawRecord {
                span,
                line,
                kind,
                payload: payload.get(),
            })
        },
        Ok,
    )
}

/// Hands every line that can be taken apart to `each`, until that says stop.
pub(crate) fn read_records<R: Read>(
    source: R,
    warnings: &mut Warnings,
    mut each: impl FnMut(RawRecord<'_>, &mut Warnings) -> ControlFlow<()>,
) -> io::Result<()> {
    let mut lines = LineReader::new(source);
    while let Some((offset, line)) = lines.next_line()? {
        let (bytes, torn) = match line {
            Line::Whole(bytes) => (bytes, false),
            Line::Unterminated(bytes) => (bytes, true),
            Line::TooLong(_) => {
                warnings.add(offset, Fault::TooLong);
                continue;
            }
        };
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        let found = str::from_utf8(bytes)
            .map_err(|_| Fault::NotUtf8)
            .and_then(|text| {
                split(offset, text).map_err(|error| Fault::Malformed(error.to_string()))
            });
        match found {
            Ok(record) => {
                // The quick look does not read to the end of a line, so a cut one is checked here.
                if torn && record.parse::<IgnoredAny>().is_err() {
                    warnings.add(offset, Fault::Torn);
                } else if each(record, warnings).is_break() {
                    break;
                }
            }
            Err(_) if torn => warnings.add(offset, Fault::Torn),
            Err(fault) => warnings.add(offset, fault),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(file: &[u8]) -> (Vec<String>, Vec<Fault>) {
        let (mut kinds, mut warnings) = (Vec::new(), Warnings::default());
        read_records(file, &mut warnings, |record, _| {
            kinds.push(format!("{}:{}", record.kind, record.tag().unwrap_or("?")));
            ControlFlow::Continue(())
        })
        .unwrap();
        (
            kinds,
            warnings
                .first
                .into_iter()
                .map(|warning| warning.fault)
                .collect(),
        )
    }

    const LINE: &[u8] =
        b"{\"timestamp\":\"t\",\"type\":\"event_msg\",\"payload\":{\"type\":\"x\",\"a\":1}}\n";

    #[test]
    fn a_bad_line_costs_itself() {
        let bad: [&[u8]; 5] = [
            b"\0\0\0\n",
            b"\xff\xfe{}\n",
            b"{\"type\":\"event_msg\"}\n",
            b"[]\n",
            b"{\n",
        ];
        for bad in bad {
            let (kinds, faults) = kinds(&[LINE, bad, b"\n \n", LINE].concat());
            assert_eq!(kinds, ["event_msg:x", "event_msg:x"]);
            assert_eq!(faults.len(), 1, "{bad:?}");
        }
    }

    #[test]
    fn a_torn_tail_is_a_torn_record_and_a_missing_newline_is_not() {
        for cut in 1..LINE.len() - 1 {
            assert_eq!(
                kinds(&[LINE, &LINE[..cut]].concat()),
                (vec!["event_msg:x".into()], vec![Fault::Torn]),
                "{cut}"
            );
        }
        assert_eq!(
            kinds(&LINE[..LINE.len() - 1]),
            (vec!["event_msg:x".into()], vec![])
        );
    }

    #[test]
    fn other_spellings_of_a_record_are_read() {
        for line in [
            r#"{"payload":{"a":"}","type":"x"},"type":"event_msg","timestamp":"t"}"#,
            r#"{ "timestamp": "t", "type": "event_msg", "payload": { "type": "x" } }"#,
            r#"{"timestamp":"t","type":"event_msg","payload":{"type":"x"},"more":{}}"#,
            r#"{"type":"event_msg","payload":{"type":"x"}}"#,
            r#"{"timestamp":"t","ordinal":7,"type":"event_msg","payload":{"type":"x"}}"#,
            r#"{"timestamp":"t","ordinal":7,"type":"event_msg","payload":{"type":"x"},"metadata":{}}"#,
        ] {
            let (kinds, faults) = kinds(line.as_bytes());
            assert_eq!(
                (kinds.as_slice(), faults.as_slice()),
                (&["event_msg:x".to_owned()][..], &[][..]),
                "{line}"
            );
        }
    }

    #[test]
    fn warnings_are_counted_beyond_those_kept() {
        let mut warnings = Warnings::default();
        read_records(&b"x\n".repeat(500)[..], &mut warnings, |_, _| {
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!((warnings.first.len(), warnings.count), (MAX_WARNINGS, 500));
    }
}
