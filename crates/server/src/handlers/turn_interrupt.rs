//! `turn/interrupt`: the running turn ends early.

use quipu_wire::TurnInterruptParams;
use quipu_wire::method::request::TurnInterrupt;

use super::ReplyHandler;
use crate::threads::{self, Verb};
use crate::{Cx, Reply};

impl ReplyHandler for TurnInterrupt {
    async fn handle(cx: Cx, params: TurnInterruptParams, reply: Reply<Self>) {
        match threads::loaded(&cx.server, &params.thread_id) {
            Ok(thread) => {
                let turn_id = params.turn_id;
                thread
                    .send(Verb::Interrupt {
                        turn_id: turn_id.into(),
                        reply,
                    })
                    .await;
            }
            Err(error) => reply.send(Err(error)).await,
        }
    }
}
