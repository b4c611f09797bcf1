//! `request_permissions`: the agent asks for more than its sandbox allows.

use quipu_engine::Waiting;
use quipu_policy::permissions::{PermissionsVerdict, decide_permissions, grant_text, intersect};
use quipu_wire::{
    AbsolutePath, AdditionalFileSystemPermissions, AdditionalNetworkPermissions,
    GrantedPermissionProfile, PermissionGrantScope, PermissionsRequestApprovalParams,
    PermissionsRequestApprovalResponse, RequestPermissionProfile, ServerRequest,
};
use serde::Deserialize;

use crate::call::{Finished, Running};
use crate::toolbox::Toolbox;

#[derive(Deserialize)]
struct Arguments {
    reason: Option<String>,
    permissions: Wanted,
}

#[derive(Deserialize)]
struct Wanted {
    network: Option<AdditionalNetworkPermissions>,
    #[serde(alias = "fileSystem")]
    file_system: Option<Paths>,
}

#[derive(Deserialize)]
struct Paths {
    read: Option<Vec<String>>,
    write: Option<Vec<String>>,
}

pub(crate) async fn request_permissions(toolbox: &Toolbox, run: &Running) -> Finished {
    if !run.scope.features.request_permissions_tool {
        return "unsupported call: request_permissions".into();
    }
    let Arguments {
        reason,
        permissions,
    } = match run.arguments() {
        Ok(arguments) => arguments,
        Err(error) => return error.into(),
    };
    let wanted = RequestPermissionProfile {
        network: permissions.network,
        file_system: permissions
            .file_system
            .map(|paths| AdditionalFileSystemPermissions {
                read: absolute(run, paths.read),
                write: absolute(run, paths.write),
            }),
    };
    match decide_permissions(&wanted, &run.scope.approval_policy) {
        PermissionsVerdict::Ask => {}
        PermissionsVerdict::GrantNothing => return granted(&nothing(), PermissionGrantScope::Turn),
        PermissionsVerdict::Refuse(why) => return why.into(),
    }
    let request = ServerRequest::ItemPermissionsRequestApproval(PermissionsRequestApprovalParams {
        thread_id: run.scope.thread_id.clone(),
        turn_id: run.scope.turn_id.clone(),
        item_id: run.id().to_owned(),
        reason,
        permissions: wanted.clone(),
    });
    let answer = run.ask(request, Some(Waiting::Approval)).await;
    let response = match answer {
        Some(Ok(json)) => json.parse().unwrap_or_else(|_| refused()),
        Some(Err(())) | None => refused(),
    };
    let PermissionsRequestApprovalResponse { permissions, scope } = response;
    let permissions = intersect(&wanted, &permissions);
    toolbox.grants().add(&permissions, scope);
    granted(&permissions, scope)
}

fn absolute(run: &Running, paths: Option<Vec<String>>) -> Option<Vec<AbsolutePath>> {
    paths.map(|paths| {
        paths
            .iter()
            .filter_map(|path| AbsolutePath::new(run.scope.cwd.join(path)))
            .collect()
    })
}

fn nothing() -> GrantedPermissionProfile {
    GrantedPermissionProfile {
        network: None,
        file_system: None,
    }
}

fn refused() -> PermissionsRequestApprovalResponse {
    PermissionsRequestApprovalResponse {
        permissions: nothing(),
        scope: PermissionGrantScope::Turn,
    }
}

fn granted(permissions: &GrantedPermissionProfile, scope: PermissionGrantScope) -> Finished {
    grant_text(permissions, scope).into()
}
