//! `thread/rollback`: the last turns are taken back.

use quipu_wire::ThreadRollbackParams;
use quipu_wire::method::request::ThreadRollback;

use super::ReplyHandler;
use crate::threads::{self, Verb};
use crate::{Cx, Refusal, Reply};

impl ReplyHandler for ThreadRollback {
    async fn handle(cx: Cx, params: ThreadRollbackParams, reply: Reply<Self>) {
        if params.num_turns == 0 {
            return reply
                .send(Err(Refusal::invalid_request("numTurns must be >= 1")))
                .await;
        }
        let turns = params.num_turns;
        threads::pass_on(&cx.server, &params.thread_id, reply, |reply| {
            Verb::Rollback { turns, reply }
        })
        .await;
    }
}
