//! `externalAgentConfig/import`: takes over what another agent was set up with.

use quipu_extend::import;
use quipu_rpc::ErrorObject;
use quipu_wire::method::request::ExternalAgentConfigImport;
use quipu_wire::{ExternalAgentConfigImportParams, ExternalAgentConfigImportResponse};

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Reply};

impl Handler for ExternalAgentConfigImport {
    async fn handle(cx: Cx, params: ExternalAgentConfigImportParams, reply: Reply<Self>) {
        let imported = blocking(&cx.server, move |server| {
            import::import(&server.settings.config, &params.migration_items)
                .map_err(|error| ErrorObject::internal(error.to_string()))
        });
        let answer = imported.await.and_then(|imported| imported);
        reply
            .send(answer.map(|()| ExternalAgentConfigImportResponse {}))
            .await;
    }
}
