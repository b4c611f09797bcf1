//! `externalAgentConfig/import`: takes over what another agent was set up with.

use quipu_extend::import;
use quipu_wire::method::request::ExternalAgentConfigImport;
use quipu_wire::{ExternalAgentConfigImportParams, ExternalAgentConfigImportResponse};

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Refusal};

impl Handler for ExternalAgentConfigImport {
    async fn run(cx: Cx, params: ExternalAgentConfigImportParams) -> Result<Self::Result, Refusal> {
        let imported = blocking(&cx.server, move |server| {
            import::import(&server.settings.config, &params.migration_items)
                .map_err(|error| Refusal::internal(error.to_string()))
        });
        let answer = imported.await.and_then(|imported| imported);
        answer.map(|()| ExternalAgentConfigImportResponse {})
    }
}
