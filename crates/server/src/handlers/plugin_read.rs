//! `plugin/read`: no plugin can be used yet, which is what the feature means while it is off.

use quipu_rpc::ErrorObject;
use quipu_wire::PluginReadParams;
use quipu_wire::method::request::PluginRead;

use super::Handler;
use crate::{Cx, Reply};

impl Handler for PluginRead {
    async fn handle(cx: Cx, _params: PluginReadParams, reply: Reply<Self>) {
        let refused = match cx.config().await {
            Ok(_) => ErrorObject::invalid_request("plugins feature is disabled"),
            Err(error) => error,
        };
        reply.send(Err(refused)).await;
    }
}
