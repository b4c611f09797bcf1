//! `turn/interrupt`: the running turn ends early.

use quipu_wire::TurnInterruptParams;
use quipu_wire::method::request::TurnInterrupt;

use super::ReplyHandler;
use crate::threads::{self, Verb};
use crate::{Cx, Reply};

impl ReplyHandler for TurnInterrupt {
    async fn handle(cx: Cx, params: TurnInterruptParams, reply: Reply<Self>) {
        threads::pass_on(&cx.server, &params.thread_id, reply, |reply| {
            let turn_id = params.turn_id.into();
            Verb::Interrupt { turn_id, reply }
        })
        .await;
    }
}
