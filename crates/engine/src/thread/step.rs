//! What every input does in every state of a thread: [`idle`], [`running`] and [`ending`] are the tables.

use std::collections::VecDeque;

use super::{State, Thread};
use crate::effect::{Answer, Effect, Refusal, TurnEnd};
use crate::input::{Input, Obstacle, Resumed, UserMessage};
use crate::shared::Shared;
use crate::turn::{
    Ending, Next, Progress, Turn, accept_review, end_as_failed, hand_over, leave, resumed,
};

/// Requests that may wait for a turn to end.
const MAX_WAITING: usize = 64;

impl Thread {
    /// Takes one input and says what must happen.
    pub fn step(&mut self, input: Input) -> Vec<Effect> {
        self.accept(input);
        while !matches!(self.state, State::Ending(..)) {
            match self.waiting.pop_front() {
                Some(input) => self.accept(input),
                None => break,
            }
        }
        self.shared.out.take()
    }

    fn accept(&mut self, input: Input) {
        let Self {
            state,
            shared,
            waiting,
        } = self;
        let progress = match (state, input) {
            (_, Input::NotStored { error, rest }) => return end_as_failed(&error, rest, shared),
            (State::Closed, input) => return shared.out.refuse_input(input, Refusal::Closed),
            (_, Input::Close) => return self.close(),
            (State::Idle, Input::Resume(turn)) => return self.resume(turn),
            (State::Idle, input) => match idle(input, shared) {
                Some(turn) => return self.begin(turn),
                None => return,
            },
            (State::Running(turn), input) => running(turn, input, shared, waiting),
            (State::Ending(turn, end), input) => Ok(ending(turn, end, input, shared, waiting)),
        };
        self.advance(progress);
    }

    fn begin(&mut self, turn: Turn) {
        self.state = State::Running(Box::new(turn));
        self.advance(Ok(Next::Begin));
    }

    /// Goes on with a turn of another process.
    fn resume(&mut self, mut turn: Resumed) {
        let progress = match (turn.obstacle.take(), turn.is_answered) {
            (Some(Obstacle::Failure(error)), _) => Err(error),
            (Some(Obstacle::Interrupt(why)), _) => {
                self.shared.out.emit(Effect::Warn(why));
                Ok(Next::Stop(TurnEnd::Interrupted))
            }
            (None, true) => Ok(Next::Proceed),
            (None, false) => Ok(Next::Begin),
        };
        let turn = resumed(turn, &mut self.shared);
        self.state = State::Running(Box::new(turn));
        self.advance(progress);
    }

    /// Carries the turn on until it waits for something or has ended.
    fn advance(&mut self, progress: Progress) {
        let shared = &mut self.shared;
        let has_ended = match (&mut self.state, progress) {
            (State::Idle | State::Closed, _) | (_, Ok(Next::Wait)) => return,
            (State::Running(turn), Ok(Next::Begin)) => {
                let progress = turn.begin(shared);
                return self.advance(progress);
            }
            (State::Running(turn), Ok(Next::Proceed)) => {
                let progress = turn.proceed(shared);
                return self.advance(progress);
            }
            (State::Running(turn), Ok(Next::Conclude)) => turn.conclude(TurnEnd::Completed, shared),
            (State::Running(turn), Ok(Next::Stop(end))) => {
                let ending = turn.stop(end, shared);
                self.state.stop(ending);
                return self.advance(Ok(Next::Proceed));
            }
            (State::Running(turn), Err(error)) => {
                turn.notify_failure(&error, shared);
                return self.advance(Ok(Next::Stop(TurnEnd::Failed(error))));
            }
            (State::Running(turn), Ok(Next::Leave)) => {
                leave(turn, shared);
                self.state = State::Idle;
                return self.shut();
            }
            (State::Running(turn), Ok(Next::Abandon(end))) => turn.abandon(end, shared),
            (State::Ending(turn, ending), Ok(Next::Abandon(end))) => {
                let end = ending.end().clone().or(end);
                turn.abandon(end, shared)
            }
            // All that a turn can do now is to end.
            (State::Ending(turn, ending), _) if turn.has_stopped(ending) => {
                turn.conclude(ending.end().clone(), shared)
            }
            (State::Ending(..), _) => false,
        };
        if has_ended {
            self.state = State::Idle;
        }
    }

    fn close(&mut self) {
        self.advance(Ok(Next::Abandon(TurnEnd::Interrupted)));
        self.shut();
    }

    /// Unloads a thread in which no turn runs.
    fn shut(&mut self) {
        for input in std::mem::take(&mut self.waiting) {
            match input {
                // It was accepted, so it starts and ends.
                Input::Review(review) => {
                    let turn = Turn::review(review, &mut self.shared);
                    self.state = State::Running(Box::new(turn));
                    self.advance(Ok(Next::Abandon(TurnEnd::Interrupted)));
                }
                input => self.shared.out.refuse_input(input, Refusal::Closed),
            }
        }
        self.state = State::Closed;
        let shared = &mut self.shared;
        shared.background.end(&mut shared.out);
        // A thread in which nothing happened leaves nothing behind.
        if !shared.out.is_empty() {
            shared.out.emit(Effect::Sync);
        }
        shared.status.closed();
        shared.notify_status();
    }
}

impl State {
    /// Lets the running turn come to its end.
    fn stop(&mut self, ending: Ending) {
        *self = match std::mem::replace(self, Self::Idle) {
            Self::Running(turn) => Self::Ending(turn, ending),
            state => state,
        };
    }
}

/// What an input does while no turn runs. Returns the turn that it starts.
fn idle(input: Input, shared: &mut Shared) -> Option<Turn> {
    match input {
        Input::Start(start) if start.message.content.is_empty() => {
            shared.out.refuse(start.reply, Refusal::EmptyInput);
        }
        Input::Start(start) => return Some(Turn::regular(start, shared)),
        Input::Continue { turn_id, note } => return Some(Turn::continuing(turn_id, note, shared)),
        Input::Compact { turn_id } => return Some(Turn::compacting(turn_id, shared)),
        Input::Review(review) => return Some(Turn::review(review, shared)),
        Input::Shell(shell) => return Some(Turn::shell(shell, shared)),
        Input::Steer { reply, message, .. } => shared.out.refuse(reply, no_turn(&message)),
        Input::Interrupt { reply: Some(reply) } => shared.out.answer(reply, Answer::Done),
        Input::Tool { call_id, event } => {
            let notes = shared.background.report(&call_id, event, &mut shared.out);
            notes.into_iter().for_each(|note| shared.remember(note));
        }
        Input::Note(note) => shared.remember(note),
        // No turn runs that could end or be handed over.
        Input::Interrupt { reply: None } | Input::Fault { .. } | Input::HandOver { .. } => {}
        // These report on what was cancelled with its turn.
        Input::Context { .. }
        | Input::Model { .. }
        | Input::Answered { .. }
        | Input::Compacted { .. }
        | Input::ReviewRendered { .. }
        | Input::GraceOver { .. } => {}
        Input::Hooks { run, report } => shared.out.refuse_hooks(run, report),
        // See `accept`.
        Input::Resume(_) | Input::NotStored { .. } | Input::Close => {}
    }
    None
}

/// What an input does while a turn runs.
fn running(
    turn: &mut Turn,
    input: Input,
    shared: &mut Shared,
    waiting: &mut VecDeque<Input>,
) -> Progress {
    match input {
        Input::Start(start) => return turn.add_input(start, shared),
        Input::Steer {
            reply,
            expected,
            message,
        } => return turn.steer(reply, expected, message, shared),
        Input::Interrupt { reply } => {
            turn.add_interrupt(reply);
            return Ok(Next::Stop(TurnEnd::Interrupted));
        }
        // It takes the place of the turn, and what else waits came after it.
        input @ (Input::Compact { .. } | Input::Review(_)) => {
            waiting.push_front(accepted(input, shared));
            return Ok(Next::Stop(TurnEnd::Replaced));
        }
        Input::Shell(shell) => turn.run_shell(shell, shared),
        Input::Context { turn_id, context } => return turn.context(&turn_id, context, shared),
        Input::Model { sample, event } => return turn.model(sample, event, shared),
        Input::Tool { call_id, event } => return Ok(turn.tool(call_id, event, false, shared)),
        Input::Hooks { run, report } => return turn.hooks(run, report, shared),
        Input::Answered { question } => shared.answered(question),
        Input::Compacted { turn_id, compacted } => {
            return turn.compacted(&turn_id, compacted, shared);
        }
        Input::ReviewRendered { turn_id, outcome } => {
            return Ok(turn.review_rendered(&turn_id, outcome, shared));
        }
        Input::Note(note) => turn.add_note(note),
        Input::Fault { error } => {
            turn.notify_failure(&error, shared);
            return Ok(Next::Abandon(TurnEnd::Failed(error)));
        }
        Input::HandOver { now } => return Ok(hand_over(turn, now, shared)),
        // It is started when no other turn runs.
        Input::Continue { .. } | Input::Resume(_) => {}
        // Of an earlier turn: this one has cancelled nothing.
        Input::GraceOver { .. } => {}
        // These do the same in every state, see `accept`.
        Input::NotStored { .. } | Input::Close => {}
    }
    Ok(Next::Wait)
}

/// What an input does while a turn is ending. What clients ask for is done after it, as if it had ended at once.
fn ending(
    turn: &mut Turn,
    ending: &Ending,
    input: Input,
    shared: &mut Shared,
    waiting: &mut VecDeque<Input>,
) -> Next {
    match input {
        // It is meant for the turn itself, unless something waits that the client may mean.
        Input::Interrupt { reply } if waiting.is_empty() => turn.add_interrupt(reply),
        input @ (Input::Start(_)
        | Input::Interrupt { .. }
        | Input::Compact { .. }
        | Input::Review(_)
        | Input::Shell(_)) => match waiting.len() < MAX_WAITING {
            true => waiting.push_back(accepted(input, shared)),
            false => shared.out.refuse_input(input, Refusal::NoActiveTurn),
        },
        Input::Steer { reply, message, .. } => shared.out.refuse(reply, no_turn(&message)),
        Input::Tool { call_id, event } => return turn.tool(call_id, event, true, shared),
        Input::Answered { question } => shared.answered(question),
        Input::ReviewRendered { turn_id, outcome } => {
            return turn.review_rendered(&turn_id, outcome, shared);
        }
        Input::Note(note) => turn.add_note(note),
        Input::GraceOver { turn_id } => return turn.grace_over(&turn_id, ending, shared),
        Input::Fault { error } => {
            turn.notify_failure(&error, shared);
            return Next::Abandon(TurnEnd::Failed(error));
        }
        // It is started when no other turn runs.
        Input::Continue { .. } | Input::Resume(_) => {}
        // It ends here, and soon.
        Input::HandOver { .. } => {}
        // These report on what was cancelled when the turn was stopped.
        Input::Context { .. } | Input::Model { .. } | Input::Compacted { .. } => {}
        Input::Hooks { run, report } => shared.out.refuse_hooks(run, report),
        // These do the same in every state, see `accept`.
        Input::NotStored { .. } | Input::Close => {}
    }
    Next::Wait
}

/// A request that waits for a turn to end. A review is answered before its turn starts.
fn accepted(mut input: Input, shared: &mut Shared) -> Input {
    if let Input::Review(review) = &mut input {
        accept_review(review, &mut shared.out);
    }
    input
}

/// Why a message cannot be added to a turn if none runs.
fn no_turn(message: &UserMessage) -> Refusal {
    match message.content.is_empty() {
        true => Refusal::EmptyInput,
        false => Refusal::NoActiveTurn,
    }
}
