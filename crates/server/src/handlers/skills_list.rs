//! `skills/list`: the skills that count in some directories.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use quipu_config::LoadRequest;
use quipu_wire::method::request::SkillsList;
use quipu_wire::{SkillErrorInfo, SkillsListEntry, SkillsListParams, SkillsListResponse};

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Refusal, Server};

impl Handler for SkillsList {
    async fn run(cx: Cx, params: SkillsListParams) -> Result<Self::Result, Refusal> {
        cx.config().await?;
        let data = blocking(&cx.server, move |server| list(server, params)).await??;
        Ok(SkillsListResponse { data })
    }
}

fn list(server: &Server, params: SkillsListParams) -> Result<Vec<SkillsListEntry>, Refusal> {
    let mut cwds = params.cwds;
    if cwds.is_empty() {
        cwds.push(server.cwd().to_string_lossy().into_owned());
    }
    let mut extra: HashMap<String, Vec<PathBuf>> = HashMap::new();
    for roots in params.per_cwd_extra_user_roots.into_iter().flatten() {
        if !cwds.contains(&roots.cwd) {
            continue;
        }
        for root in roots.extra_user_roots {
            if !Path::new(&root).is_absolute() {
                let text = format!(
                    "skills/list perCwdExtraUserRoots extraUserRoots paths must be absolute: {root}"
                );
                return Err(Refusal::invalid_request(text));
            }
            let known = extra.entry(roots.cwd.clone()).or_default();
            known.push(PathBuf::from(root));
        }
    }
    let entry = |cwd: String| {
        let extra = extra.get(&cwd).cloned().unwrap_or_default();
        entry(server, cwd, extra, params.force_reload)
    };
    Ok(cwds.into_iter().map(entry).collect())
}

fn entry(server: &Server, cwd: String, extra: Vec<PathBuf>, again: bool) -> SkillsListEntry {
    let config = &server.settings.config;
    let request = LoadRequest {
        cwd: Some(Path::new(&cwd)),
        ..LoadRequest::default()
    };
    match config.load(&request) {
        Ok(snapshot) => {
            let skills = server.skills.find(config, &snapshot, extra, again);
            let found = skills.found.iter();
            SkillsListEntry {
                cwd,
                skills: found.map(|skill| skill.metadata.clone()).collect(),
                errors: skills.errors.clone(),
            }
        }
        Err(error) => SkillsListEntry {
            skills: Vec::new(),
            errors: vec![SkillErrorInfo {
                path: cwd.clone(),
                message: error.to_string(),
            }],
            cwd,
        },
    }
}
