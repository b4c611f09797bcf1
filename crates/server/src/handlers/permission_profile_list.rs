//! `permissionProfile/list`: the permission profiles to choose from.

use std::path::Path;

use quipu_config::LoadRequest;
use quipu_wire::method::request::PermissionProfileList;
use quipu_wire::{
    PermissionProfileListParams, PermissionProfileListResponse, PermissionProfileSummary,
};

use super::Handler;
use crate::blocking::blocking;
use crate::paging::page;
use crate::{Cx, Refusal, Server};

impl Handler for PermissionProfileList {
    async fn run(cx: Cx, params: PermissionProfileListParams) -> Result<Self::Result, Refusal> {
        let cwd = params.cwd;
        let profiles = blocking(&cx.server, move |server| profiles(server, cwd.as_deref()));
        let profiles = profiles.await??;
        let page = page(profiles, params.cursor.as_deref(), params.limit, "profiles")?;
        Ok(PermissionProfileListResponse {
            data: page.data,
            next_cursor: page.next_cursor,
        })
    }
}

fn profiles(server: &Server, cwd: Option<&str>) -> Result<Vec<PermissionProfileSummary>, Refusal> {
    let request = LoadRequest {
        cwd: cwd.map(Path::new),
        ..LoadRequest::default()
    };
    let snapshot = server.settings.config.load(&request);
    let snapshot = snapshot
        .map_err(|error| Refusal::internal(format!("failed to load configuration: {error}")))?;
    let profiles = snapshot.permission_profiles().into_iter();
    let summary = |profile: quipu_config::PermissionProfile| PermissionProfileSummary {
        allowed: profile
            .policy
            .is_some_and(|policy| snapshot.requirements().allow_policy(&policy).is_ok()),
        id: profile.name,
        description: profile.description,
    };
    Ok(profiles.map(summary).collect())
}
