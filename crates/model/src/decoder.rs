//! What the decoders of the three formats share: the outcome of one event, and the slots of items.

use std::sync::Arc;

use crate::error::ErrorKind;
use crate::event::{ModelEvent, OutputItem};
use crate::history::HistoryItem;
use crate::item::Item;
use crate::provider::WireApi;
use crate::request::Request;
use crate::{anthropic, chat, responses};

/// What an event did to the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// There is more to come.
    More,
    /// The answer is complete; nothing after it counts.
    Done,
    /// The event could not be read and was skipped.
    Unreadable,
}

/// What a decoder must know about the request it decodes the answer of.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) provider: Arc<str>,
    pub(crate) request: Arc<Request>,
}

impl Context {
    /// Whether a call id was used before in this thread.
    pub(crate) fn knows_call(&self, call_id: &str) -> bool {
        self.request
            .input
            .iter()
            .map(HistoryItem::call_id)
            .any(|known| known == Some(call_id))
    }
}

/// Hands out slots and writes the events that carry items.
#[derive(Debug, Default)]
pub(crate) struct Slots(pub(crate) u32);

impl Slots {
    pub(crate) fn take(&mut self) -> u32 {
        let slot = self.0;
        self.0 += 1;
        slot
    }

    pub(crate) fn start(&mut self, item: &Item, out: &mut Vec<ModelEvent>) -> u32 {
        let slot = self.take();
        out.push(ModelEvent::ItemStarted {
            slot,
            item: Box::new(OutputItem::new(item)),
        });
        slot
    }

    /// An item that comes all at once.
    pub(crate) fn whole(&mut self, item: &Item, out: &mut Vec<ModelEvent>) {
        let slot = self.take();
        done(slot, item, out);
    }
}

pub(crate) fn done(slot: u32, item: &Item, out: &mut Vec<ModelEvent>) {
    out.push(ModelEvent::ItemDone {
        slot,
        item: Box::new(OutputItem::new(item)),
    });
}

/// The decoder of one stream.
#[derive(Debug)]
pub(crate) enum Decoder {
    Responses(Box<responses::decode::Decoder>),
    Chat(Box<chat::decode::Decoder>),
    Anthropic(Box<anthropic::decode::Decoder>),
}

impl Decoder {
    pub(crate) fn new(wire: WireApi, context: Context, slots: Slots) -> Self {
        match wire {
            WireApi::Responses | WireApi::Offline => {
                Self::Responses(Box::new(responses::decode::Decoder::new(context, slots)))
            }
            WireApi::Chat => Self::Chat(Box::new(chat::decode::Decoder::new(context, slots))),
            WireApi::Anthropic => {
                Self::Anthropic(Box::new(anthropic::decode::Decoder::new(context, slots)))
            }
        }
    }

    /// Reads the data of one event. Bytes that are no UTF-8 are replaced, not fatal.
    pub(crate) fn event(
        &mut self,
        data: &[u8],
        out: &mut Vec<ModelEvent>,
    ) -> Result<Step, ErrorKind> {
        match std::str::from_utf8(data) {
            Ok(text) => self.text_event(text, out),
            Err(_) => {
                tracing::warn!("an event of a model stream was not UTF-8");
                self.text_event(&String::from_utf8_lossy(data), out)
            }
        }
    }

    fn text_event(&mut self, data: &str, out: &mut Vec<ModelEvent>) -> Result<Step, ErrorKind> {
        match self {
            Self::Responses(decoder) => decoder.event(data, out),
            Self::Chat(decoder) => decoder.event(data, out),
            Self::Anthropic(decoder) => decoder.event(data, out),
        }
    }

    /// The stream ended. Formats without a final event may be complete by now.
    pub(crate) fn end(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ErrorKind> {
        match self {
            Self::Responses(_) | Self::Anthropic(_) => Err(closed_early()),
            Self::Chat(decoder) => decoder.end(out),
        }
    }

    /// The slots, to go on counting in the next attempt.
    pub(crate) fn slots(&self) -> Slots {
        let next = match self {
            Self::Responses(decoder) => decoder.slots.0,
            Self::Chat(decoder) => decoder.slots.0,
            Self::Anthropic(decoder) => decoder.slots.0,
        };
        Slots(next)
    }
}

pub(crate) fn closed_early() -> ErrorKind {
    ErrorKind::stream("stream closed before response.completed")
}

/// The answer ended for a reason that is not its natural end.
pub(crate) fn incomplete(reason: &str) -> String {
    format!("Incomplete response returned, reason: {reason}")
}
