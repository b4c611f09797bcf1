//! What the model has seen of a thread, as places in its rollout. The places are small, so an idle
//! thread can keep them and drop the items, and compaction and rollback only move places about.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use quipu_wire::Json;
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::reader::{Fault, Span, Warnings, split};
use crate::record::Compacted;

/// How messages begin that the program, not the user, put into the user's mouth.
const INJECTED: [&str; 8] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<hook_prompt",
    "<user_action>",
];

/// A line that contributes to the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// A `response_item`.
    Item(Span),
    /// A `compacted` line that holds the whole new history.
    Replacement(Span),
    /// A `compacted` line of an old file: what the user said before it stays, with its summary.
    Summary(Span),
}

/// The history a model continues from, as of one reading of the rollout. What is appended later is
/// not in it; a thread that comes back from rest is read again.
#[derive(Debug, Clone, Default)]
pub struct History {
    pieces: Vec<Piece>,
}

/// The items of a history, in order.
#[derive(Debug, Default)]
pub struct LoadedHistory {
    /// The items, exactly as they are sent.
    pub items: Vec<Json>,
    /// Lines that turned out to be unreadable.
    pub warnings: Warnings,
}

impl History {
    /// Reads the items back from the rollout they were found in, which must be whole by itself.
    pub fn load(&self, path: &Path) -> Result<LoadedHistory> {
        let read = quipu_disk::open(path).and_then(|file| self.read(file));
        read.map_err(|source| Error::io("read", path, source))
    }

    /// Reads the items back from an open rollout.
    pub fn read<R: Read + Seek>(&self, source: R) -> io::Result<LoadedHistory> {
        let mut source = SpanReader::new(source);
        let mut loaded = LoadedHistory::default();
        for piece in &self.pieces {
            let (Piece::Item(span) | Piece::Replacement(span) | Piece::Summary(span)) = *piece;
            let line = source.read(span)?;
            if let Err(fault) = piece.unfold(line, &mut loaded.items) {
                loaded.warnings.add(span.offset, fault);
            }
        }
        Ok(loaded)
    }

    /// How many lines contribute.
    pub(crate) fn len(&self) -> usize {
        self.pieces.len()
    }

    pub(crate) fn item(&mut self, span: Span) {
        self.pieces.push(Piece::Item(span));
    }

    /// Takes a compaction; the history it replaced is returned, if it was replaced.
    pub(crate) fn compacted(&mut self, span: Span, whole: bool) -> Option<History> {
        if whole {
            let pieces = vec![Piece::Replacement(span)];
            return Some(std::mem::replace(self, Self { pieces }));
        }
        self.pieces.push(Piece::Summary(span));
        None
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.pieces.truncate(len);
    }
}

impl Piece {
    /// Adds what the line contributes to `items`.
    fn unfold(&self, line: &[u8], items: &mut Vec<Json>) -> std::result::Result<(), Fault> {
        let malformed = |error: serde_json::Error| Fault::Malformed(error.to_string());
        let line = str::from_utf8(line).map_err(|_| Fault::NotUtf8)?;
        let record = split(0, line).map_err(malformed)?;
        if let Self::Item(_) = self {
            items.push(as_sent(record.parse().map_err(malformed)?));
            return Ok(());
        }
        let Compacted {
            message,
            replacement_history,
        } = record.parse().map_err(malformed)?;
        match replacement_history {
            Some(history) => items.extend(history.into_iter().map(as_sent)),
            None => {
                let said: Vec<_> = items.iter().filter_map(said_by_user).collect();
                *items = said.into_iter().chain([message]).map(user_item).collect();
            }
        }
        Ok(())
    }
}

/// Marks the items of newer programs, which keep notes in them that no model is meant to see.
const NOTES: &str = "internal_chat_message_metadata_passthrough";

/// An item without the notes that a newer program added to it, and without the id that goes with them.
fn as_sent(item: Json) -> Json {
    if memchr::memmem::find(item.get().as_bytes(), NOTES.as_bytes()).is_none() {
        return item;
    }
    let mut value = item.to_value();
    let Some(members) = value.as_object_mut() else {
        return item;
    };
    if members.remove(NOTES).is_none() {
        return item;
    }
    members.remove("id");
    Json::from(value)
}

/// What the user said first.
pub fn first_words(items: &[Json]) -> Option<String> {
    items.iter().find_map(said_by_user)
}

/// The text of an item that the user wrote.
pub fn said_by_user(item: &Json) -> Option<String> {
    #[derive(Deserialize)]
    struct Message {
        role: String,
        content: Vec<Part>,
    }
    #[derive(Deserialize)]
    struct Part {
        #[serde(default)]
        text: String,
    }
    let message: Message = item.parse().ok()?;
    let is_mark = |text: &str| text == "</image>" || text.starts_with("<image");
    let texts = message.content.into_iter().map(|part| part.text);
    let text: String = texts.filter(|text| !is_mark(text)).collect();
    let injected = INJECTED
        .iter()
        .any(|start| text.trim_start().starts_with(start));
    (message.role == "user" && !injected && !text.is_empty()).then_some(text)
}

fn user_item(text: String) -> Json {
    serde_json::json!({
        "type": "message",
        "role": "user",
        "content": [{ "type": "input_text", "text": text }],
    })
    .into()
}

/// Reads single lines of a file, cheaply when they follow each other closely.
pub(crate) struct SpanReader<R> {
    source: BufReader<R>,
    /// Where the source stands; unknown at first.
    position: Option<u64>,
    line: Vec<u8>,
}

impl<R: Read + Seek> SpanReader<R> {
    pub fn new(source: R) -> Self {
        let source = BufReader::with_capacity(64 << 10, source);
        Self {
            source,
            position: None,
            line: Vec::new(),
        }
    }

    /// The bytes of the line; fewer if the file was cut since.
    pub fn read(&mut self, span: Span) -> io::Result<&[u8]> {
        let ahead = self
            .position
            .and_then(|position| span.offset.checked_sub(position));
        match ahead.and_then(|ahead| i64::try_from(ahead).ok()) {
            Some(ahead) => self.source.seek_relative(ahead)?,
            None => {
                self.source.seek(SeekFrom::Start(span.offset))?;
            }
        }
        self.line.clear();
        let count = self
            .source
            .by_ref()
            .take(span.len as u64)
            .read_to_end(&mut self.line)?;
        self.position = Some(span.offset + count as u64);
        Ok(&self.line)
    }
}
