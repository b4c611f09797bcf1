//! `skills/config/write`: switches a skill on or off.

use std::path::PathBuf;

use quipu_config::settings::{SkillSelector, SkillSwitch};
use quipu_wire::method::request::SkillsConfigWrite;
use quipu_wire::{SkillsConfigWriteParams, SkillsConfigWriteResponse};

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Refusal};

impl Handler for SkillsConfigWrite {
    async fn run(cx: Cx, params: SkillsConfigWriteParams) -> Result<Self::Result, Refusal> {
        write(&cx, params).await
    }
}

async fn write(
    cx: &Cx,
    params: SkillsConfigWriteParams,
) -> Result<SkillsConfigWriteResponse, Refusal> {
    let selector = match (params.path, params.name) {
        (Some(path), None) => SkillSelector::Path(PathBuf::from(path.as_str())),
        (None, Some(name)) if !name.trim().is_empty() => {
            SkillSelector::Name(name.trim().to_owned())
        }
        _ => {
            let text = "skills/config/write requires exactly one of path or name";
            return Err(Refusal::invalid_params(text));
        }
    };
    let switch = SkillSwitch {
        selector,
        enabled: params.enabled,
    };
    let written = blocking(&cx.server, move |server| {
        server.settings.config.set_skill(&switch)
    });
    written
        .await?
        .map_err(|error| Refusal::internal(format!("failed to update skill settings: {error}")))?;
    Ok(SkillsConfigWriteResponse {
        effective_enabled: params.enabled,
    })
}
