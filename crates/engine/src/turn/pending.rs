//! What waits for the next request to the model.

use std::collections::VecDeque;

use quipu_wire::Json;

use super::TurnKind;
use crate::effect::Refusal;
use crate::input::UserMessage;

/// Messages of the user that may wait for the next request to the model.
pub const MAX_PENDING: usize = 1000;
/// Their size in the model's history, in bytes.
pub const MAX_PENDING_BYTES: usize = 64 * 1024 * 1024;

/// Input and notes, in the order in which they came.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pending(VecDeque<PendingInput>);

/// One of them.
#[derive(Debug, Clone, PartialEq)]
pub enum PendingInput {
    Message(UserMessage),
    /// A message for the model that clients do not see.
    Note(Json),
}

impl Pending {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn push_message(&mut self, message: UserMessage) {
        self.0.push_back(PendingInput::Message(message));
    }

    pub fn push_note(&mut self, note: Json) {
        self.0.push_back(PendingInput::Note(note));
    }

    pub fn pop(&mut self) -> Option<PendingInput> {
        self.0.pop_front()
    }

    /// The next message, unless a note comes first.
    pub fn pop_message(&mut self) -> Option<PendingInput> {
        let is_message = matches!(self.0.front(), Some(PendingInput::Message(_)));
        is_message.then(|| self.0.pop_front())?
    }

    /// Whether the user waits for an answer.
    pub fn has_message(&self) -> bool {
        let mut pending = self.0.iter();
        pending.any(|pending| matches!(pending, PendingInput::Message(_)))
    }

    /// The size in the model's history.
    pub fn bytes(&self) -> usize {
        let sizes = self.0.iter().map(|pending| match pending {
            PendingInput::Message(message) => message.bytes(),
            PendingInput::Note(note) => note.get().len(),
        });
        sizes.sum()
    }

    /// Why a turn of this kind cannot take more input, if it cannot.
    pub fn refusal_of(&self, message: &UserMessage, kind: TurnKind) -> Option<Refusal> {
        match kind.refuses_input() {
            _ if message.content.is_empty() => Some(Refusal::EmptyInput),
            Some(kind) => Some(Refusal::NotSteerable(kind)),
            None => (!self.has_room_for(message)).then_some(Refusal::TooMuchPending),
        }
    }

    /// Whether more input may wait.
    fn has_room_for(&self, message: &UserMessage) -> bool {
        self.0.len() < MAX_PENDING && self.bytes() + message.bytes() <= MAX_PENDING_BYTES
    }
}
