//! `externalAgentConfig/detect`: what can be taken over from another agent.

use std::path::PathBuf;

use quipu_extend::import;
use quipu_wire::method::request::ExternalAgentConfigDetect;
use quipu_wire::{ExternalAgentConfigDetectParams, ExternalAgentConfigDetectResponse};

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Refusal};

impl Handler for ExternalAgentConfigDetect {
    async fn run(cx: Cx, params: ExternalAgentConfigDetectParams) -> Result<Self::Result, Refusal> {
        let detected = blocking(&cx.server, move |server| {
            let cwds = params.cwds.iter().flatten();
            let cwds: Vec<PathBuf> = cwds.map(|cwd| server.cwd().join(cwd)).collect();
            import::detect(&server.settings.config, params.include_home, &cwds)
                .map_err(|error| Refusal::internal(error.to_string()))
        });
        let answer = detected.await.and_then(|detected| detected);
        answer.map(|items| ExternalAgentConfigDetectResponse { items })
    }
}
