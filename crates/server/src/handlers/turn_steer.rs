//! `turn/steer`: more input for the running turn.

use quipu_wire::TurnSteerParams;
use quipu_wire::method::request::TurnSteer;

use super::{ReplyHandler, turn_start};
use crate::threads::{self, Verb};
use crate::{Cx, Refusal, Reply};

impl ReplyHandler for TurnSteer {
    /// What cannot be stored is not taken; a record holds a little more than the input.
    const MAX_PARAMS_BYTES: usize = quipu_journal::MAX_RECORD - (64 << 10);

    async fn handle(cx: Cx, params: TurnSteerParams, reply: Reply<Self>) {
        let thread = match threads::loaded(&cx.server, &params.thread_id) {
            Ok(thread) => thread,
            Err(error) => return reply.send(Err(error)).await,
        };
        if params.expected_turn_id.is_empty() {
            return reply
                .send(Err(Refusal::invalid_request(
                    "expectedTurnId must not be empty",
                )))
                .await;
        }
        if let Some(error) = turn_start::too_long(&params.input) {
            return reply.send(Err(error)).await;
        }
        thread.send(Verb::Steer { params, reply }).await;
    }
}
