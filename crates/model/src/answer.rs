//! The body of an answer without its connection: bytes in, events out.

use std::sync::Arc;

use quipu_sse::Parser;

use crate::decoder::{self, Context, Decode, Slots, Step};
use crate::error::ErrorKind;
use crate::event::ModelEvent;
use crate::provider::WireApi;
use crate::request::Request;

/// The largest event accepted: an image of several megabytes in base64 still fits.
const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// An answer as far as it was read.
pub(crate) struct Body {
    parser: Parser,
    pub(crate) decoder: Box<dyn Decode>,
    bytes: u64,
    pub(crate) events: u64,
    pub(crate) unreadable: u64,
}

impl Body {
    pub(crate) fn new(decoder: Box<dyn Decode>) -> Self {
        Self {
            parser: Parser::new(MAX_EVENT_BYTES),
            decoder,
            bytes: 0,
            events: 0,
            unreadable: 0,
        }
    }

    /// Reads bytes; says whether the answer is complete.
    pub(crate) fn read(
        &mut self,
        chunk: &[u8],
        limit: u64,
        out: &mut Vec<ModelEvent>,
    ) -> Result<Step, ErrorKind> {
        self.bytes += chunk.len() as u64;
        if self.bytes > limit {
            return Err(ErrorKind::TooLarge(format!(
                "the answer is larger than {limit} bytes"
            )));
        }
        self.parser
            .push(chunk)
            .map_err(|error| ErrorKind::TooLarge(format!("the provider {error}")))?;
        while let Some(data) = self.parser.next_event() {
            self.events += 1;
            match decoder::event(&mut *self.decoder, data, out)? {
                Step::More => {}
                Step::Done => return Ok(Step::Done),
                Step::Unreadable => self.unreadable += 1,
            }
        }
        Ok(Step::More)
    }

    /// The bytes are over; says whether the answer is complete.
    pub(crate) fn end(&mut self, out: &mut Vec<ModelEvent>) -> Result<Step, ErrorKind> {
        if let Some(data) = self.parser.finish() {
            self.events += 1;
            match decoder::event(&mut *self.decoder, data, out)? {
                Step::More => {}
                Step::Done => return Ok(Step::Done),
                Step::Unreadable => self.unreadable += 1,
            }
        }
        self.decoder.end(out)?;
        Ok(Step::Done)
    }
}

/// Reads a recorded answer to `request`, in the pieces in which it came. The events up to its end, or up
/// to what is wrong with it.
pub fn read_answer<'a>(
    wire: WireApi,
    request: Request,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<ModelEvent>, Result<(), ErrorKind>) {
    let context = Context {
        provider: "recorded".into(),
        request: Arc::new(request),
    };
    let mut body = Body::new((wire.format().decoder)(context, Slots::default()));
    let mut events = Vec::new();
    for chunk in chunks {
        match body.read(chunk, u64::MAX, &mut events) {
            Ok(Step::Done) => return (events, Ok(())),
            Ok(Step::More | Step::Unreadable) => {}
            Err(error) => return (events, Err(error)),
        }
    }
    let end = body.end(&mut events);
    (events, end.map(drop))
}
