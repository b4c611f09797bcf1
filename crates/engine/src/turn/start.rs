//! Where turns start, and where clients add input to them.

use quipu_wire as wire;
use quipu_wire::{Json, ServerNotification, TurnStartedNotification, TurnStatus};

use super::compaction::When;
use super::pending::PendingInput;
use super::{Next, Progress, Turn, TurnKind, Work};
use crate::effect::{Answer, Effect, Record, Refusal};
use crate::ids::{ReplyToken, TurnId};
use crate::input::{Context, ShellStart, Start, UserMessage};
use crate::shared::Shared;

impl Turn {
    /// A turn in which the model answers the user.
    pub fn regular(start: Start, shared: &mut Shared) -> Self {
        let Start {
            reply,
            turn_id,
            message,
        } = start;
        let mut turn = Self::start(TurnKind::Regular, in_progress(turn_id), Some(reply), shared);
        turn.pending.push_message(message);
        turn
    }

    /// A turn that the server starts by itself.
    pub fn continuing(turn_id: TurnId, note: Json, shared: &mut Shared) -> Self {
        let mut turn = Self::start(TurnKind::Regular, in_progress(turn_id), None, shared);
        turn.pending.push_note(note);
        turn
    }

    /// A turn that only compacts the history.
    pub fn compacting(turn_id: TurnId, shared: &mut Shared) -> Self {
        Self::start(TurnKind::Compact, in_progress(turn_id), None, shared)
    }

    /// A turn that runs a command of the user.
    pub fn shell(shell: ShellStart, shared: &mut Shared) -> Self {
        let turn = in_progress(shell.turn_id.clone());
        let mut turn = Self::start(TurnKind::Shell, turn, None, shared);
        turn.run_shell(shell, shared);
        turn
    }

    /// The one place where a turn starts. It is recorded, the request for it is answered, and clients are notified.
    pub(super) fn start(
        kind: TurnKind,
        answer: wire::Turn,
        reply: Option<ReplyToken>,
        shared: &mut Shared,
    ) -> Self {
        let turn_id = TurnId::from(answer.id.as_str());
        notify_started(kind, answer, reply, shared);
        let mut turn = Self::new(turn_id, kind);
        // What earlier turns left behind still reports under its id.
        for id in shared.background.ids() {
            turn.transcript.items().claim(id);
        }
        turn
    }

    /// The first step of the turn.
    pub fn begin(&mut self, shared: &mut Shared) -> Progress {
        match self.kind {
            TurnKind::Regular => self.compact_or_continue(shared),
            TurnKind::Review => self.begin_session(shared),
            TurnKind::Compact => self.compact(When::BeforeInput, shared),
            TurnKind::Shell => Ok(Next::Wait),
        }
    }

    /// `turn/start` while the turn runs: it takes the input if it can.
    pub fn add_input(&mut self, start: Start, shared: &mut Shared) -> Progress {
        let Start { reply, message, .. } = start;
        if let Some(refusal) = self.pending.refusal_of(&message, self.kind) {
            shared.out.refuse(reply, refusal);
            return Ok(Next::Wait);
        }
        self.pending.push_message(message);
        let turn = in_progress(self.id.clone());
        shared.out.answer(reply, Answer::Turn(turn));
        Ok(Next::Proceed)
    }

    /// `turn/steer`: the client names the turn it means.
    pub fn steer(
        &mut self,
        reply: ReplyToken,
        expected: TurnId,
        message: UserMessage,
        shared: &mut Shared,
    ) -> Progress {
        let refusal = match self.id == expected || message.content.is_empty() {
            true => self.pending.refusal_of(&message, self.kind),
            false => Some(Refusal::WrongTurn {
                expected: expected.clone(),
                actual: self.id.clone(),
            }),
        };
        if let Some(refusal) = refusal {
            shared.out.refuse(reply, refusal);
            return Ok(Next::Wait);
        }
        self.pending.push_message(message);
        shared.out.answer(reply, Answer::Steered(expected));
        Ok(Next::Proceed)
    }

    /// Runs a command of the user beside the work of the turn.
    pub fn run_shell(&mut self, shell: ShellStart, shared: &mut Shared) {
        let item_id = self.transcript.items().claim(&shell.item_id);
        self.tools.calls.add_shell(item_id.clone().into());
        shared.out.emit(Effect::RunShell {
            turn_id: self.id.clone(),
            item_id,
            command: shell.command,
        });
    }

    /// Asks for the context that comes before the input, unless the history must be compacted first.
    pub(super) fn compact_or_continue(&mut self, shared: &mut Shared) -> Progress {
        match shared.is_history_too_long() {
            true => self.compact(When::BeforeInput, shared),
            false => self.build_context(shared),
        }
    }

    pub(super) fn build_context(&mut self, shared: &mut Shared) -> Progress {
        self.work = Some(Work::Context);
        let turn_id = self.id.clone();
        shared.out.emit(Effect::BuildContext { turn_id });
        Ok(Next::Wait)
    }

    /// Takes the context, and begins with the input.
    pub fn context(&mut self, turn_id: &TurnId, context: Context, shared: &mut Shared) -> Progress {
        match self.work {
            Some(Work::Context) if self.id == *turn_id => self.work = None,
            // Of an earlier turn, or a second time.
            _ => return Ok(Next::Wait),
        }
        self.transcript.remember_all(context.history, shared);
        if let Some(record) = context.record {
            shared.out.record(Record::TurnContext(record));
        }
        self.begin_session(shared)
    }

    /// At the end of a turn, adds the pending input to the model's history.
    pub(super) fn take_pending(&mut self, shared: &mut Shared) {
        while let Some(pending) = self.pending.pop() {
            match pending {
                // Hooks have not seen it, and might have blocked it.
                PendingInput::Message(_) if shared.settings.hooks => {}
                PendingInput::Message(message) => self.transcript.show_message(message, shared),
                PendingInput::Note(note) => self.transcript.remember(note, shared),
            }
        }
    }
}

/// Records the start of a turn, answers the request for it, and notifies clients.
fn notify_started(
    kind: TurnKind,
    answer: wire::Turn,
    reply: Option<ReplyToken>,
    shared: &mut Shared,
) {
    let turn_id = TurnId::from(answer.id.as_str());
    shared.out.record(Record::TurnStarted {
        turn_id: turn_id.clone(),
        kind,
    });
    if let Some(reply) = reply {
        shared.out.answer(reply, Answer::Turn(answer));
    }
    shared.status.turn_started();
    shared.notify_status();
    let params = TurnStartedNotification {
        thread_id: shared.out.thread_id().clone().into(),
        turn: in_progress(turn_id),
    };
    shared.out.notify(ServerNotification::TurnStarted(params));
}

/// A turn that runs, as clients see it.
pub(super) fn in_progress(id: TurnId) -> wire::Turn {
    wire::Turn {
        id: id.into(),
        items: Vec::new(),
        items_view: None,
        status: TurnStatus::InProgress,
        error: None,
    }
}
