//! A paginated rollout written again in the form that every program reads: without numbers, with the events
//! that store items, and with everything it begins with.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::time::SystemTime;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::chain::Chain;
use crate::error::Result;
use crate::event::{Event, TurnItem};
use crate::reader::{RawRecord, Warnings, read_records};
use crate::record::Record;
use crate::turns::TurnBuilder;

/// Writes the lines of `chain` that mean something to older programs.
pub(crate) fn write(chain: Chain, to: &mut dyn Write) -> io::Result<()> {
    let mut turns = TurnBuilder::default();
    let mut written = Ok(());
    read_records(chain, &mut Warnings::default(), |record, _| {
        written = line(record, &mut turns, to);
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    })?;
    written
}

fn line(record: RawRecord<'_>, turns: &mut TurnBuilder, to: &mut dyn Write) -> io::Result<()> {
    match record.kind {
        "response_item" | "turn_context" | "compacted" => copy(record, to),
        "event_msg" => event(record, turns, to),
        _ => Ok(()),
    }
}

fn event(record: RawRecord<'_>, turns: &mut TurnBuilder, to: &mut dyn Write) -> io::Result<()> {
    let Ok(tag) = record.tag() else {
        return Ok(());
    };
    let parsed = record.parse_with(|payload| Event::parse(tag, payload));
    let Ok(event) = parsed else {
        return copy(record, to);
    };
    if !turns.apply(record.span.offset, event.clone()) {
        return Ok(());
    }
    match event {
        Event::ItemCompleted(done) if !matches!(done.item, TurnItem::Plan(_)) => {
            let events = done.item.into_events(&done.turn_id);
            events.into_iter().try_for_each(|event| store(event, to))
        }
        Event::TaskComplete(complete) if complete.error.is_some() => {
            let mut complete = complete;
            if let Some(mut error) = complete.error.take() {
                error.turn_id = Some(complete.turn_id.clone());
                store(Event::Error(error), to)?;
            }
            store(Event::TaskComplete(complete), to)
        }
        _ => copy(record, to),
    }
}

/// Writes an event as of now.
fn store(event: Event, to: &mut dyn Write) -> io::Result<()> {
    let mut line = Vec::new();
    let encoded: Result<()> = Record::from(event).encode(SystemTime::now(), &mut line);
    encoded.map_err(io::Error::other)?;
    to.write_all(&line)
}

/// Writes a line without its number and notes.
fn copy(record: RawRecord<'_>, to: &mut dyn Write) -> io::Result<()> {
    #[derive(Deserialize)]
    struct Envelope<'a> {
        #[serde(borrow, default)]
        timestamp: Option<&'a RawValue>,
        #[serde(borrow)]
        payload: &'a RawValue,
    }
    let Ok(Envelope { timestamp, payload }) = serde_json::from_str(record.line) else {
        return Ok(());
    };
    let timestamp = timestamp.map_or("\"\"", RawValue::get);
    let (kind, payload) = (record.kind, payload.get());
    writeln!(
        to,
        "{{\"timestamp\":{timestamp},\"type\":\"{kind}\",\"payload\":{payload}}}"
    )
}
