//! `configRequirements/read`: what the administrator demands.

use quipu_rpc::ErrorObject;
use quipu_wire::ConfigRequirementsReadResponse;
use quipu_wire::method::NoParams;
use quipu_wire::method::request::ConfigRequirementsRead;

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Reply};

impl Handler for ConfigRequirementsRead {
    async fn handle(cx: Cx, _params: NoParams, reply: Reply<Self>) {
        let read = blocking(&cx.server, |server| {
            let limits = server.settings.config.read_limits().map_err(|error| {
                ErrorObject::internal(format!("failed to read configuration layers: {error}"))
            })?;
            Ok(ConfigRequirementsReadResponse {
                requirements: limits.to_wire(),
            })
        });
        let answer = read.await.and_then(|read| read);
        reply.send(answer).await;
    }
}
