//! `mock/experimentalMethod`: lets a client test the experimental gate.

use quipu_wire::method::request::MockExperimentalMethod;
use quipu_wire::{MockExperimentalMethodParams, MockExperimentalMethodResponse};

use super::Handler;
use crate::{Cx, Reply};

impl Handler for MockExperimentalMethod {
    async fn handle(_cx: Cx, params: MockExperimentalMethodParams, reply: Reply<Self>) {
        let echo = MockExperimentalMethodResponse {
            echoed: params.value,
        };
        reply.send(Ok(echo)).await;
    }
}
