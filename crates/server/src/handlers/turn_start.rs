//! `turn/start`: input for a thread.

use quipu_wire::method::request::TurnStart;
use quipu_wire::{TurnStartParams, UserInput};

use super::ReplyHandler;
use crate::threads::{self, Verb};
use crate::{Cx, Refusal, Reply};
use quipu_prompt::input;

impl ReplyHandler for TurnStart {
    /// What cannot be stored is not taken; a record holds a little more than the input.
    const MAX_PARAMS_BYTES: usize = quipu_journal::MAX_RECORD - (64 << 10);

    async fn handle(cx: Cx, params: TurnStartParams, reply: Reply<Self>) {
        if let Err(error) = cx.server.takes_turns() {
            return reply.send(Err(error)).await;
        }
        if let Some(error) = too_long(&params.input) {
            return reply.send(Err(error)).await;
        }
        let thread_id = params.thread_id.clone();
        threads::pass_on(&cx.server, &thread_id, reply, |reply| {
            let words = &cx.client.words;
            words.note(params.approval_policy.as_ref(), params.effort);
            words.note_tier(params.service_tier);
            words.note_mode(params.collaboration_mode.as_ref());
            Verb::StartTurn {
                params: Box::new(params),
                client_name: cx.client.introduction().map(|it| it.name.clone()),
                reply,
            }
        })
        .await;
    }
}

/// Why an input is refused for its length, if it is.
pub(super) fn too_long(inputs: &[UserInput]) -> Option<Refusal> {
    let actual = input::too_long(inputs)?;
    let max = input::MAX_TEXT_CHARS;
    Some(Refusal::InputTooLong { actual, max })
}
