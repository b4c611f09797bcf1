//! How turns begin, and what clients add to them.

use quipu_wire::{
    ItemCompletedNotification, ItemStartedNotification, ServerNotification, ThreadItem, Turn,
    TurnStartedNotification, TurnStatus,
};

use crate::effect::{Answer, Effect, Purpose, Record, Refusal};
use crate::input::{Context, ShellStart, Start, UserMessage};
use crate::thread::Thread;
use crate::turn::{ActiveTurn, Sampling, Stopping, TurnKind};

impl Thread {
    pub(crate) fn start(&mut self, start: Start) {
        let Start {
            reply,
            turn_id,
            message,
        } = start;
        if self.status.closed {
            return self.answer(reply, Answer::Refused(Refusal::Closed));
        }
        if message.content.is_empty() {
            return self.answer(reply, Answer::Refused(Refusal::EmptyInput));
        }
        match &mut self.active {
            None => {
                self.answer(reply, Answer::Turn(running(&turn_id)));
                self.begin(turn_id, TurnKind::Regular);
                self.queue(message);
                self.compact_or_continue();
            }
            Some(turn) if turn.stopping != Stopping::No => {
                // The turn is as good as over; the input begins the next one.
                self.postpone(crate::Input::Start(Start {
                    reply,
                    turn_id,
                    message,
                }));
            }
            Some(turn) => match turn.kind.refuses_input() {
                Some(kind) => self.answer(reply, Answer::Refused(Refusal::NotSteerable(kind))),
                None => {
                    let id = turn.id.clone();
                    self.queue(message);
                    self.answer(reply, Answer::Turn(running(&id)));
                    self.proceed();
                }
            },
        }
    }

    pub(crate) fn steer(&mut self, reply: u64, expected: &str, message: UserMessage) {
        let refusal = match &self.active {
            _ if message.content.is_empty() => Some(Refusal::EmptyInput),
            None => Some(Refusal::NoActiveTurn),
            Some(turn) if turn.stopping != Stopping::No => Some(Refusal::NoActiveTurn),
            Some(turn) if turn.id != expected => Some(Refusal::WrongTurn {
                expected: expected.to_owned(),
                actual: turn.id.clone(),
            }),
            Some(turn) => turn.kind.refuses_input().map(Refusal::NotSteerable),
        };
        if let Some(refusal) = refusal {
            return self.answer(reply, Answer::Refused(refusal));
        }
        self.queue(message);
        self.answer(reply, Answer::Steered(expected.to_owned()));
        self.proceed();
    }

    pub(crate) fn shell(&mut self, shell: ShellStart) {
        let ShellStart {
            turn_id,
            item_id,
            command,
        } = shell;
        if self.status.closed {
            return;
        }
        match &self.active {
            Some(turn) if turn.stopping != Stopping::No => {
                return self.postpone(crate::Input::Shell(ShellStart {
                    turn_id,
                    item_id,
                    command,
                }));
            }
            Some(_) => {}
            None => self.begin(turn_id, TurnKind::Shell),
        }
        let Some(turn) = &mut self.active else { return };
        turn.shells.push(item_id.clone());
        let turn_id = turn.id.clone();
        self.emit(Effect::RunShell {
            turn_id,
            item_id,
            command,
        });
    }

    /// Makes a turn the running one.
    pub(crate) fn begin(&mut self, turn_id: String, kind: TurnKind) {
        self.record(Record::TurnStarted {
            turn_id: turn_id.clone(),
            kind,
        });
        self.status.running = true;
        self.status.failed = false;
        self.tell_status();
        let params = TurnStartedNotification {
            thread_id: self.id.clone(),
            turn: running(&turn_id),
        };
        self.notify(ServerNotification::TurnStarted(params));
        self.active = Some(ActiveTurn::new(turn_id, kind));
    }

    fn queue(&mut self, message: UserMessage) {
        if let Some(turn) = &mut self.active {
            turn.pending.push_back(message);
        }
    }

    /// Keeps an input until the running turn has made room. Only one waits: a later task replaces an
    /// earlier one, and input that is replaced is refused.
    pub(crate) fn postpone(&mut self, input: crate::Input) {
        let replaced = self.next.replace(Box::new(input));
        if let Some(crate::Input::Start(start)) = replaced.map(|input| *input) {
            self.answer(start.reply, Answer::Refused(Refusal::NoActiveTurn));
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
        turn.awaiting = true;
        let turn_id = turn.id.clone();
        self.emit(Effect::BuildContext { turn_id });
    }

    pub(crate) fn context(&mut self, turn_id: &str, context: Context) {
        let Some(turn) = self
            .active
            .as_mut()
            .filter(|turn| turn.id == turn_id && turn.awaiting)
        else {
            return;
        };
        turn.awaiting = false;
        if turn.stopping != Stopping::No {
            return self.proceed();
        }
        for item in context.history {
            self.remember(item);
        }
        if let Some(record) = context.record {
            self.record(Record::TurnContext(record));
        }
        self.take_pending();
        self.sample(Purpose::Turn);
    }

    /// Shows the waiting input and gives it to the model.
    pub(crate) fn take_pending(&mut self) {
        while let Some(message) = self
            .active
            .as_mut()
            .and_then(|turn| turn.pending.pop_front())
        {
            self.show_message(message);
        }
        let notes = self
            .active
            .as_mut()
            .map(|turn| std::mem::take(&mut turn.notes));
        for note in notes.unwrap_or_default() {
            self.remember(note);
        }
    }

    pub(crate) fn show_message(&mut self, message: UserMessage) {
        let UserMessage {
            item_id,
            content,
            history,
        } = message;
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

    /// Asks the model with the history as it is.
    pub(crate) fn sample(&mut self, purpose: Purpose) {
        self.samples += 1;
        let sample = self.samples;
        let Some(turn) = &mut self.active else { return };
        turn.sampling = Some(Sampling {
            sample,
            summary: None,
        });
        let turn_id = turn.id.clone();
        self.emit(Effect::Sample {
            sample,
            turn_id,
            purpose,
        });
    }

    pub(crate) fn answer(&mut self, reply: u64, answer: Answer) {
        self.emit(Effect::Answer { reply, answer });
    }

    /// Tells that an item began. Whoever calls has opened it, or completes it at once.
    pub(crate) fn show_started(&mut self, item: ThreadItem) {
        let (thread_id, turn_id) = self.ids();
        let params = ItemStartedNotification {
            item,
            thread_id,
            turn_id,
        };
        self.notify(ServerNotification::ItemStarted(params));
    }

    /// Tells that an item ended. Whoever calls has recorded it.
    pub(crate) fn show_completed(&mut self, item: ThreadItem) {
        let (thread_id, turn_id) = self.ids();
        let params = ItemCompletedNotification {
            item,
            thread_id,
            turn_id,
        };
        self.notify(ServerNotification::ItemCompleted(params));
    }

    /// The ids of the thread and of its running turn.
    pub(crate) fn ids(&self) -> (String, String) {
        (
            self.id.clone(),
            self.active_turn().unwrap_or_default().to_owned(),
        )
    }
}

fn running(turn_id: &str) -> Turn {
    Turn {
        id: turn_id.to_owned(),
        items: Vec::new(),
        status: TurnStatus::InProgress,
        error: None,
    }
}
