//! `mock/experimentalMethod`: lets a client test the experimental gate.

use quipu_wire::method::request::MockExperimentalMethod;
use quipu_wire::{MockExperimentalMethodParams, MockExperimentalMethodResponse};

use super::Handler;
use crate::{Cx, Refusal};

impl Handler for MockExperimentalMethod {
    async fn run(_cx: Cx, params: MockExperimentalMethodParams) -> Result<Self::Result, Refusal> {
        let echo = MockExperimentalMethodResponse {
            echoed: params.value,
        };
        Ok(echo)
    }
}
