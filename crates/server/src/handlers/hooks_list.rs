//! `hooks/list`: the hooks that are in force in some directories, or in a thread.

use std::path::Path;

use quipu_config::{Feature, LoadRequest, SYSTEM_DIRECTORY};
use quipu_hooks::{Handler as Hook, Hooks};
use quipu_wire::method::request::HooksList;
use quipu_wire::{HookErrorInfo, HookSource, HooksListEntry, HooksListParams, HooksListResponse};

use super::Handler;
use crate::blocking::blocking;
use crate::config_directories::config_directories;
use crate::{Cx, Refusal, Server, threads};

impl Handler for HooksList {
    async fn run(cx: Cx, params: HooksListParams) -> Result<Self::Result, Refusal> {
        let mut cwds = params.cwds;
        if let Some(id) = &params.thread_id {
            let thread = threads::loaded(&cx.server, id)?;
            let snapshot = thread.snapshot().await.ok_or(Refusal::ThreadUnloading)?;
            cwds = vec![snapshot.cwd.to_string_lossy().into_owned()];
        } else if cwds.is_empty() {
            cwds.push(cx.server.cwd().to_string_lossy().into_owned());
        }
        let listing = move |server: &std::sync::Arc<Server>| {
            let entries = cwds.into_iter().map(|cwd| entry(server, cwd));
            entries.collect()
        };
        let data = blocking(&cx.server, listing).await?;
        Ok(HooksListResponse { data })
    }
}

fn entry(server: &Server, cwd: String) -> HooksListEntry {
    let request = LoadRequest {
        cwd: Some(Path::new(&cwd)),
        ..LoadRequest::default()
    };
    let snapshot = match server.settings.config.load(&request) {
        Ok(snapshot) => snapshot,
        Err(error) => {
            let errors = vec![HookErrorInfo {
                path: cwd.clone(),
                message: error.to_string(),
            }];
            return HooksListEntry {
                cwd,
                hooks: Vec::new(),
                warnings: Vec::new(),
                errors,
            };
        }
    };
    if !snapshot.features().enabled(Feature::CodexHooks) {
        return HooksListEntry {
            cwd,
            hooks: Vec::new(),
            warnings: Vec::new(),
            errors: Vec::new(),
        };
    }
    let (hooks, problems) = Hooks::load(&config_directories(server, &snapshot));
    let problem = |problem: quipu_hooks::Problem| HookErrorInfo {
        path: problem.path.to_string_lossy().into_owned(),
        message: problem.what,
    };
    HooksListEntry {
        cwd,
        hooks: hooks
            .all()
            .map(|it| it.metadata(source(server, it)))
            .collect(),
        warnings: Vec::new(),
        errors: problems.into_iter().map(problem).collect(),
    }
}

fn source(server: &Server, hook: &Hook) -> HookSource {
    match hook.source().parent() {
        Some(directory) if directory == server.home() => HookSource::User,
        Some(directory) if directory == Path::new(SYSTEM_DIRECTORY) => HookSource::System,
        _ => HookSource::Project,
    }
}
