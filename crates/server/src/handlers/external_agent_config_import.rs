//! `externalAgentConfig/import`: takes over what another agent was set up with.

use quipu_extend::import;
use quipu_wire::method::event::ExternalAgentConfigImportCompleted;
use quipu_wire::method::request::ExternalAgentConfigImport;
use quipu_wire::{
    ExternalAgentConfigImportCompletedNotification, ExternalAgentConfigImportItemTypeSuccess,
    ExternalAgentConfigImportParams, ExternalAgentConfigImportResponse,
    ExternalAgentConfigImportTypeResult,
};
use uuid::Uuid;

use super::ReplyHandler;
use crate::blocking::blocking;
use crate::{Cx, Refusal, Reply};

impl ReplyHandler for ExternalAgentConfigImport {
    async fn handle(cx: Cx, params: ExternalAgentConfigImportParams, reply: Reply<Self>) {
        let imported = blocking(&cx.server, move |server| {
            import::import(&server.settings.config, &params.migration_items)
                .map_err(|error| Refusal::internal(error.to_string()))
        });
        let imported = match imported.await.and_then(|imported| imported) {
            Ok(imported) => imported,
            Err(refusal) => return reply.send(Err(refusal)).await,
        };
        let import_id = Uuid::new_v4().to_string();
        let response = ExternalAgentConfigImportResponse {
            import_id: import_id.clone(),
        };
        reply.send(Ok(response)).await;
        let completed = ExternalAgentConfigImportCompletedNotification {
            import_id,
            item_type_results: by_kind(imported),
        };
        let client = &cx.client;
        client
            .notify::<ExternalAgentConfigImportCompleted>(&completed)
            .await;
    }
}

fn by_kind(
    imported: Vec<ExternalAgentConfigImportItemTypeSuccess>,
) -> Vec<ExternalAgentConfigImportTypeResult> {
    let mut results: Vec<ExternalAgentConfigImportTypeResult> = Vec::new();
    for success in imported {
        let mut known = results.iter_mut();
        match known.find(|it| it.item_type == success.item_type) {
            Some(result) => result.successes.push(success),
            None => results.push(ExternalAgentConfigImportTypeResult {
                item_type: success.item_type,
                successes: vec![success],
                failures: Vec::new(),
            }),
        }
    }
    results
}
