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
        let mut read = read.await??;
        let config = &mut read.config;
        let words = &cx.client.words;
        config.approval_policy = config.approval_policy.take().map(|it| words.policy(it));
        let effort = &mut config.model_reasoning_effort;
        *effort = effort.map(|it| words.effort(it));
        Ok(read)
    }
}
