//! `experimentalFeature/enablement/set`: switches features until the server ends.

use quipu_rpc::ErrorObject;
use quipu_wire::method::request::ExperimentalFeatureEnablementSet;
use quipu_wire::{
    ExperimentalFeatureEnablementSetParams, ExperimentalFeatureEnablementSetResponse,
};

use super::Handler;
use crate::{Cx, Reply};

impl Handler for ExperimentalFeatureEnablementSet {
    async fn handle(cx: Cx, params: ExperimentalFeatureEnablementSetParams, reply: Reply<Self>) {
        let enablement = params.enablement;
        let set = cx.server.settings.config.set_enablement(&enablement);
        let answer = set
            .map(|()| ExperimentalFeatureEnablementSetResponse { enablement })
            .map_err(|error| ErrorObject::invalid_request(error.to_string()));
        reply.send(answer).await;
    }
}
