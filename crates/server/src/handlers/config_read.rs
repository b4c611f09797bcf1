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
        config.service_tier = words.tier(config.service_tier);
        for profile in config.profiles.values_mut() {
            profile.approval_policy = profile.approval_policy.take().map(|it| words.policy(it));
            let effort = &mut profile.model_reasoning_effort;
            *effort = effort.map(|it| words.effort(it));
            profile.service_tier = words.tier(profile.service_tier);
        }
        Ok(read)
    }
}
