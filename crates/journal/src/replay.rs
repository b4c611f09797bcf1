//! Reads a whole rollout into what a program needs to go on with its thread: the turns clients
//! see, the history the model continues from, and the thread's last settings.
//!
//! Most lines are only looked at from the outside: items for the model are remembered by place,
//! and of settings and usage only the last line is read.

use std::io::{self, Read, Seek};
use std::ops::ControlFlow;
use std::path::Path;

use quipu_wire::{Turn, TurnStatus};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::chain::{self, Chain};
use crate::error::{Error, Result};
use crate::event::{Event, ThreadRolledBack, TokenCount, TokenUsageInfo};
use crate::history::{History, SpanReader};
use crate::items;
use crate::reader::{Fault, RawRecord, Span, Warnings, read_records, split};
use crate::record::TurnContext;
use crate::session::SessionMeta;
use crate::turns::TurnBuilder;

/// A thread, read back.
#[derive(Debug)]
pub struct Replay {
    /// Which thread it is.
    pub meta: SessionMeta,
    /// Its turns. One that was not ended is in progress; see [`Replay::settle`].
    pub turns: Vec<Turn>,
    /// What its model has seen.
    pub history: History,
    /// The settings of its last turn.
    pub context: Option<TurnContext>,
    /// Whether the model still has that turn's context before it: false after a compaction.
    pub context_is_current: bool,
    /// What it has cost.
    pub usage: Option<TokenUsageInfo>,
    /// The last thing that its model has seen is an answer of its own that is complete.
    pub is_answered: bool,
    /// Lines that were passed over.
    pub warnings: Warnings,
    /// The last turn is not known to have ended, since an old program stored it. It reads as completed.
    pub has_unended_turn: bool,
    /// Turns of a paginated rollout that a program stored which does not know that form.
    pub(crate) unpaged: Vec<String>,
}

impl Replay {
    /// Reads the rollout at `path`, which must be whole by itself; [`Store::replay`](crate::Store::replay)
    /// also finds the files that others begin with.
    pub fn open(path: &Path) -> Result<Self> {
        Self::of_chain(chain::complete(path, chain::open_file, |_| Ok(None))?, path)
    }

    /// Reads a rollout and what it begins with.
    pub(crate) fn of_chain(chain: Chain, path: &Path) -> Result<Self> {
        Self::without_last(0, chain, path)
    }

    /// Reads a rollout and what it begins with, as if its last turns had been taken back.
    pub(crate) fn without_last(turns: u32, chain: Chain, path: &Path) -> Result<Self> {
        let meta = chain.meta.clone();
        let own_start = chain.own_start();
        Self::read_as(meta, (own_start, turns), chain, path)
    }

    /// Reads an open rollout that is whole by itself; `path` only serves messages.
    pub fn read<R: Read + Seek>(source: R, path: &Path) -> Result<Self> {
        Self::read_as(None, (0, 0), source, path)
    }

    /// Reads a rollout whose own lines begin at `own_start`. The thread is `meta`, else what comes first. The last
    /// turns are left out, as many as `dropped`.
    fn read_as<R: Read + Seek>(
        meta: Option<SessionMeta>,
        (own_start, dropped): (u64, u32),
        mut source: R,
        path: &Path,
    ) -> Result<Self> {
        let unreadable = |source| Error::io("read", path, source);
        let mut warnings = Warnings::default();
        let mut replayer = Replayer {
            own_start,
            ..Replayer::default()
        };
        if let Some(meta) = meta {
            replayer.begin(meta);
        }
        read_records(&mut source, &mut warnings, |record, warnings| {
            if let Err(fault) = replayer.take(record) {
                warnings.add(record.span.offset, fault);
            }
            ControlFlow::Continue(())
        })
        .map_err(unreadable)?;
        replayer.take_back(dropped);
        replayer.finish(source, warnings).map_err(unreadable)?
    }

    /// The turn that was not ended, because its process died.
    pub fn open_turn(&self) -> Option<&str> {
        let open = |turn: &&Turn| turn.status == TurnStatus::InProgress;
        self.turns
            .iter()
            .rev()
            .find(open)
            .map(|turn| turn.id.as_str())
    }

    /// Marks turns that nobody works on any more as interrupted.
    pub fn settle(&mut self) {
        for turn in &mut self.turns {
            if turn.status == TurnStatus::InProgress {
                turn.status = TurnStatus::Interrupted;
            }
        }
    }
}

/// Events and other lines that programs may store and that mean nothing for turns or history.
const WITHOUT_MEANING: [&str; 5] = [
    "guardian_assessment",
    "undo_completed",
    "thread_settings_applied",
    "world_state",
    "token_usage_record",
];

/// The state before a turn, to go back to.
struct Mark {
    pieces: usize,
    /// The history that the turn's first compaction replaced.
    replaced: Option<History>,
    context: Option<Span>,
    context_is_current: bool,
}

/// The fold over the lines of a rollout.
#[derive(Default)]
struct Replayer {
    records: u64,
    /// Where the lines of the rollout itself begin.
    own_start: u64,
    meta: Option<SessionMeta>,
    turns: TurnBuilder,
    history: History,
    /// One for each turn.
    marks: Vec<Mark>,
    context: Option<Span>,
    context_is_current: bool,
    usage: Option<Span>,
    /// Whether the last item for the model is a message in the user's name.
    after_user_item: bool,
    /// Whether it is a message of the model, and whether the answer that it is part of is complete.
    after_message: bool,
    is_answered: bool,
}

type Taken = std::result::Result<(), Fault>;

fn malformed(error: serde_json::Error) -> Fault {
    Fault::Malformed(error.to_string())
}

impl Replayer {
    fn begin(&mut self, meta: SessionMeta) {
        self.turns.thread = meta.id;
        self.meta = Some(meta);
    }

    fn take(&mut self, record: RawRecord<'_>) -> Taken {
        self.records += 1;
        match record.kind {
            "session_meta" if self.meta.is_some() => {}
            "session_meta" => {
                self.begin(record.parse().map_err(malformed)?);
            }
            "response_item" => self.response_item(record),
            "turn_context" => {
                self.context = Some(record.span);
                self.context_is_current = true;
            }
            "compacted" => self.compacted(record)?,
            "event_msg" => self.event(record)?,
            known if WITHOUT_MEANING.contains(&known) => {}
            unknown => return Err(Fault::UnknownKind(unknown.to_owned())),
        }
        Ok(())
    }

    fn response_item(&mut self, record: RawRecord<'_>) {
        self.history.item(record.span);
        let holds = |text: &[u8]| memchr::memmem::find(record.payload.as_bytes(), text).is_some();
        self.after_user_item = holds(br#""role":"user""#);
        self.after_message = holds(br#""role":"assistant""#);
        self.is_answered = false;
        if self.after_user_item
            && holds(b"<hook_prompt ")
            && let Some(item) = items::hook_prompt(record.span.offset, record.payload)
        {
            self.turns.add(record.span.offset, item);
            self.follow_turns(false);
        }
    }

    fn compacted(&mut self, record: RawRecord<'_>) -> Taken {
        #[derive(Deserialize)]
        struct Shape {
            replacement_history: Option<IgnoredAny>,
        }
        let whole = record
            .parse::<Shape>()
            .map_err(malformed)?
            .replacement_history
            .is_some();
        self.turns.compacted(record.span.offset);
        self.follow_turns(false);
        let replaced = self.history.compacted(record.span, whole);
        if let Some(mark) = self.marks.last_mut() {
            mark.replaced = mark.replaced.take().or(replaced);
        }
        self.context_is_current = false;
        Ok(())
    }

    fn event(&mut self, record: RawRecord<'_>) -> Taken {
        let tag = record.tag().map_err(malformed)?;
        if tag == "token_count" {
            self.is_answered = self.after_message;
            if has_usage(record).map_err(malformed)? {
                self.usage = Some(record.span);
            }
            return Ok(());
        }
        if !Event::knows(tag) {
            let known = WITHOUT_MEANING.contains(&tag);
            return if known {
                Ok(())
            } else {
                Err(Fault::UnknownKind(tag.to_owned()))
            };
        }
        let event = record
            .parse_with(|payload| Event::parse(tag, payload))
            .map_err(malformed)?;
        let by_user = matches!(event, Event::UserMessage(_)) && self.after_user_item;
        self.turns.apply(record.span.offset, event);
        self.follow_turns(by_user);
        Ok(())
    }

    /// Drops the last turns.
    fn take_back(&mut self, turns: u32) {
        if turns > 0 {
            let event = Event::ThreadRolledBack(ThreadRolledBack { num_turns: turns });
            self.turns.apply(u64::MAX, event);
            self.follow_turns(false);
        }
    }

    /// Sets a mark for a turn that was opened, and goes back when turns were taken back. A turn
    /// opened by a user's message begins with the item for the model that was stored before it.
    fn follow_turns(&mut self, opened_by_user: bool) {
        if self.turns.len() > self.marks.len() {
            self.marks.push(Mark {
                pieces: self.history.len() - usize::from(opened_by_user),
                replaced: None,
                context: self.context,
                context_is_current: self.context_is_current,
            });
        }
        for mark in self.marks.drain(self.turns.len()..).rev() {
            self.history = mark.replaced.unwrap_or(std::mem::take(&mut self.history));
            self.history.truncate(mark.pieces);
            self.context = mark.context;
            self.context_is_current = mark.context_is_current;
        }
    }

    fn finish<R: Read + Seek>(self, source: R, warnings: Warnings) -> io::Result<Result<Replay>> {
        let Some(meta) = self.meta else {
            let nothing = self.records == 0 && warnings.count == 0;
            return Ok(Err(if nothing {
                Error::Empty
            } else {
                Error::NoSessionMeta
            }));
        };
        let mut source = SpanReader::new(source);
        let mut warnings = warnings;
        let context = read_one(&mut source, self.context, &mut warnings)?;
        let count: Option<TokenCount> = read_one(&mut source, self.usage, &mut warnings)?;
        let unpaged = match meta.is_paginated() {
            true => self.turns.unpaged(self.own_start),
            false => Vec::new(),
        };
        Ok(Ok(Replay {
            meta,
            unpaged,
            has_unended_turn: self.turns.has_unended(),
            turns: self.turns.finish(),
            history: self.history,
            context_is_current: self.context_is_current && context.is_some(),
            context,
            is_answered: self.is_answered,
            usage: count.and_then(|count| count.info),
            warnings,
        }))
    }
}

/// Whether a `token_count` tells usage, and not only rate limits.
fn has_usage(record: RawRecord<'_>) -> serde_json::Result<bool> {
    match record
        .payload
        .strip_prefix(r#"{"type":"token_count","info":"#)
    {
        Some(info) => Ok(info.starts_with('{')),
        None => record
            .parse::<TokenCount>()
            .map(|count| count.info.is_some()),
    }
}

/// Goes back to one line and reads its payload.
fn read_one<R: Read + Seek, T: for<'a> Deserialize<'a>>(
    source: &mut SpanReader<R>,
    span: Option<Span>,
    warnings: &mut Warnings,
) -> io::Result<Option<T>> {
    let Some(span) = span else { return Ok(None) };
    let line = String::from_utf8_lossy(source.read(span)?);
    let parsed =
        split(span.offset, &line).and_then(|record| record.parse_with(serde_json::from_str));
    Ok(parsed
        .map_err(|error| warnings.add(span.offset, malformed(error)))
        .ok())
}
