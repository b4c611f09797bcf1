//! `configRequirements/read`: what the administrator demands.

use quipu_wire::ConfigRequirementsReadResponse;
use quipu_wire::method::NoParams;
use quipu_wire::method::request::ConfigRequirementsRead;

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Refusal, cloud};

impl Handler for ConfigRequirementsRead {
    async fn run(cx: Cx, _params: NoParams) -> Result<Self::Result, Refusal> {
        cloud::ready(&cx.server).await;
        let read = blocking(&cx.server, |server| {
            let limits = server.settings.config.read_limits().map_err(|error| {
                Refusal::internal(format!("failed to read configuration layers: {error}"))
            })?;
            Ok(ConfigRequirementsReadResponse {
                requirements: limits.to_wire(),
            })
        });
        read.await?
    }
}
