//! How turns begin, and what clients add to them.

use quipu_wire::{ServerNotification, ThreadItem, Turn, TurnStartedNotification, TurnStatus};

use crate::effect::{Answer, Effect, Record, Refusal};
use crate::input::{Context, ShellStart, Start, UserMessage};
use crate::thread::Thread;
use crate::turn::{ActiveTurn, Pending, TurnKind, Work};

impl Thread {
    /// A client gives input: a running turn takes it if it can, else a turn begins.
    pub(crate) fn start(&mut self, start: Start) {
        let Start {
            reply,
            turn_id,
            message,
        } = start;
        if message.content.is_empty() {
            return self.answer(reply, Answer::Refused(Refusal::EmptyInput));
        }
        let Some(turn) = &self.active else {
            self.begin(TurnKind::Regular, running(turn_id), Some(reply));
            self.queue(Pending::Message(message));
            return self.compact_or_continue();
        };
        if let Some(kind) = turn.kind.refuses_input() {
            return self.answer(reply, Answer::Refused(Refusal::NotSteerable(kind)));
        }
        if !turn.has_room_for(&message) {
            return self.answer(reply, Answer::Refused(Refusal::TooMuchPending));
        }
        let turn = running(turn.id.clone());
        self.queue(Pending::Message(message));
        self.answer(reply, Answer::Turn(turn));
        self.proceed();
    }

    pub(crate) fn steer(&mut self, reply: u64, expected: String, message: UserMessage) {
        let running = self.active.as_ref().filter(|turn| turn.ending.is_none());
        let refusal = match running {
            _ if message.content.is_empty() => Some(Refusal::EmptyInput),
            None => Some(Refusal::NoActiveTurn),
            Some(turn) if turn.id != expected => Some(Refusal::WrongTurn {
                expected: expected.clone(),
                actual: turn.id.clone(),
            }),
            Some(turn) => match turn.kind.refuses_input() {
                Some(kind) => Some(Refusal::NotSteerable(kind)),
                None => (!turn.has_room_for(&message)).then_some(Refusal::TooMuchPending),
            },
        };
        if let Some(refusal) = refusal {
            return self.answer(reply, Answer::Refused(refusal));
        }
        self.queue(Pending::Message(message));
        self.answer(reply, Answer::Steered(expected));
        self.proceed();
    }

    /// The user runs a command: beside the running turn, or in a turn of its own.
    pub(crate) fn shell(&mut self, shell: ShellStart) {
        let ShellStart {
            turn_id,
            item_id,
            command,
        } = shell;
        if self.active.is_none() {
            self.begin(TurnKind::Shell, running(turn_id), None);
        }
        let Some(turn) = &mut self.active else { return };
        let item_id = turn.items.claim(&item_id);
        turn.shells.push(item_id.clone());
        let turn_id = turn.id.clone();
        self.emit(Effect::RunShell {
            turn_id,
            item_id,
            command,
        });
    }

    /// Makes a turn the running one, and answers who asked for it.
    pub(crate) fn begin(&mut self, kind: TurnKind, turn: Turn, reply: Option<u64>) {
        let turn_id = turn.id.clone();
        self.record(Record::TurnStarted {
            turn_id: turn_id.clone(),
            kind,
        });
        if let Some(reply) = reply {
            self.answer(reply, Answer::Turn(turn));
        }
        self.status.running = true;
        self.status.failed = false;
        self.tell_status();
        let params = TurnStartedNotification {
            thread_id: self.id.clone(),
            turn: running(turn_id.clone()),
        };
        self.notify(ServerNotification::TurnStarted(params));
        let mut turn = ActiveTurn::new(turn_id, kind);
        // What earlier turns left behind still reports under its id.
        for id in self.background.ids().chain(&self.abandoned) {
            turn.items.claim(id);
        }
        self.active = Some(turn);
    }

    pub(crate) fn queue(&mut self, pending: Pending) {
        if let Some(turn) = &mut self.active {
            turn.pending.push_back(pending);
        }
    }

    /// Asks for what must come before the input, unless the history must shrink first.
    pub(crate) fn compact_or_continue(&mut self) {
        if self.is_too_long() {
            return self.begin_summary(false);
        }
        self.build_context();
    }

    pub(crate) fn build_context(&mut self) {
        let Some(turn) = &mut self.active else { return };
        turn.work = Some(Work::Context);
        let turn_id = turn.id.clone();
        self.emit(Effect::BuildContext { turn_id });
    }

    pub(crate) fn context(&mut self, turn_id: &str, context: Context) {
        let is_awaited =
            |turn: &&mut ActiveTurn| turn.id == turn_id && matches!(turn.work, Some(Work::Context));
        let Some(turn) = self.active.as_mut().filter(is_awaited) else {
            return;
        };
        turn.work = None;
        for item in context.history {
            self.remember(item);
        }
        if let Some(record) = context.record {
            self.record(Record::TurnContext(record));
        }
        self.begin_session();
    }

    /// At the end of a turn, gives the waiting input to the model's history.
    pub(crate) fn take_pending(&mut self) {
        while let Some(pending) = self.next_pending() {
            match pending {
                // Hooks have not seen it, and might have been against it.
                Pending::Message(_) if self.hooks => {}
                Pending::Message(message) => self.show_message(message),
                Pending::Note(note) => self.remember(note),
            }
        }
    }

    pub(crate) fn next_pending(&mut self) -> Option<Pending> {
        self.active.as_mut()?.pending.pop_front()
    }

    pub(crate) fn show_message(&mut self, message: UserMessage) {
        let UserMessage {
            item_id,
            content,
            history,
        } = message;
        let Some(turn) = &mut self.active else { return };
        let item_id = turn.items.claim(&item_id);
        let mut history = history.into_iter();
        if let Some(item) = history.next() {
            self.remember(item);
        }
        self.record(Record::UserMessage {
            item_id: item_id.clone(),
            content: content.clone(),
        });
        let item = ThreadItem::UserMessage {
            id: item_id,
            content,
        };
        self.show_started(item.clone());
        self.show_completed(item);
        history.for_each(|item| self.remember(item));
    }
}

/// A turn under way, as clients see it.
pub(crate) fn running(id: String) -> Turn {
    Turn {
        id,
        items: Vec::new(),
        status: TurnStatus::InProgress,
        error: None,
    }
}
