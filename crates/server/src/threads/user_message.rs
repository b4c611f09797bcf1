//! Input of the user as the model reads it, and the room that it takes while it waits.

use quipu_engine::{MAX_RECORDED, Thread as Engine, ThreadId, UserMessage};
use quipu_prompt::skills::Skill;
use quipu_prompt::{input, skills};
use quipu_rpc::Share;
use quipu_wire::UserInput;

use super::sampling::Sampler;
use crate::{Refusal, Server};

impl Sampler {
    /// A message with what it names: images, skills, plugins and apps.
    pub(super) fn user_message(&self, thread: &ThreadId, content: Vec<UserInput>) -> UserMessage {
        let named = self.prompt().skills().named(&content, self.mcp());
        let is_image = |input: &UserInput| matches!(input, UserInput::LocalImage { .. });
        if named.is_empty() && !content.iter().any(is_image) {
            return self.read_message(thread, content, Vec::new());
        }
        // Files may be slow, so they are not read on the threads that serve others.
        tokio::task::block_in_place(|| self.read_message(thread, content, named))
    }

    fn read_message(
        &self,
        thread: &ThreadId,
        content: Vec<UserInput>,
        named: Vec<&Skill>,
    ) -> UserMessage {
        let message = input::user_message(&content);
        let bodies = named
            .into_iter()
            .filter_map(|skill| match skills::load(skill) {
                Ok(body) => Some(body),
                Err(warning) => {
                    tracing::warn!(%thread, warning, "failed to read a skill");
                    None
                }
            });
        let notes = self.prompt().skills().notes(&content, self.mcp());
        let history = message.into_iter().chain(bodies).chain(notes).collect();
        UserMessage {
            item_id: uuid::Uuid::new_v4().to_string().into(),
            content,
            history,
        }
    }
}

/// Refuses input that cannot be stored, for the images or skills that it names.
pub(super) fn check_size(message: &UserMessage) -> Result<(), Refusal> {
    let sizes = message.history.iter().map(|item| item.get().len());
    match sizes.max().filter(|size| *size > MAX_RECORDED) {
        Some(size) => Err(Refusal::InputTooLarge(size)),
        None => Ok(()),
    }
}

/// The share of a thread's input that waits for the model in what all threads may hold.
#[derive(Default)]
pub(super) struct PendingShare(Option<Share>);

impl PendingShare {
    /// Takes room for more input; refuses it if the turns of all threads hold too much.
    pub fn grow(
        &mut self,
        server: &Server,
        engine: &Engine,
        message: &UserMessage,
    ) -> Result<(), Refusal> {
        let bytes = engine.pending_bytes() + message.bytes();
        let has_room = match &mut self.0 {
            Some(share) => share.resize(bytes),
            none => {
                *none = server.budgets.pending.share(bytes);
                none.is_some()
            }
        };
        match has_room {
            true => Ok(()),
            false => Err(Refusal::Overloaded),
        }
    }

    /// Gives back the room that is no longer needed.
    pub fn shrink(&mut self, engine: &Engine) {
        let Some(share) = &mut self.0 else {
            return;
        };
        match engine.pending_bytes() {
            0 => self.0 = None,
            // It only gets smaller.
            bytes => drop(share.resize(bytes)),
        }
    }
}
