//! `turn/steer`: more input for the running turn.

use quipu_engine::Input;
use quipu_wire::TurnSteerParams;
use quipu_wire::method::request;

use super::actor::Actor;
use super::replies::Pending;
use super::turn_start::too_long;
use crate::{Refusal, Reply};

impl Actor {
    pub async fn steer(&mut self, params: TurnSteerParams, reply: Reply<request::TurnSteer>) {
        self.reports.prompt(&self.session, &params.input);
        super::skills::renew_for(self, &params.input);
        let message = self.user_message(params.input);
        if let Some(error) = too_long(&message) {
            return reply.send(Err(error)).await;
        }
        if !self.takes_pending(&message) {
            return reply.send(Err(Refusal::Overloaded)).await;
        }
        let reply = self.replies.add(Pending::Steer(reply));
        self.step(Input::Steer {
            reply,
            expected: params.expected_turn_id.into(),
            message,
        })
        .await;
    }
}
