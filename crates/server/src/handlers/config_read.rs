//! `config/read`: the settings in force, and where each came from.

use quipu_wire::ConfigReadParams;
use quipu_wire::method::request::ConfigRead;

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Refusal, cloud};

impl Handler for ConfigRead {
    async fn run(cx: Cx, params: ConfigReadParams) -> Result<Self::Result, Refusal> {
        cloud::ready(&cx.server).await;
        let read = blocking(&cx.server, move |server| {
            let read = server.settings.config.read(&params);
            read.map_err(|error| Refusal::internal(error.to_string()))
        });
        read.await?
    }
}
