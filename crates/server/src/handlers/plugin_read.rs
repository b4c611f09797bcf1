//! `plugin/read`: no plugin can be used yet, which is what the feature means while it is off.

use quipu_wire::PluginReadParams;
use quipu_wire::method::request::PluginRead;

use super::Handler;
use crate::{Cx, Refusal};

impl Handler for PluginRead {
    async fn run(cx: Cx, _params: PluginReadParams) -> Result<Self::Result, Refusal> {
        let refused = match cx.config().await {
            Ok(_) => Refusal::invalid_request("plugins feature is disabled"),
            Err(error) => error,
        };
        Err(refused)
    }
}
