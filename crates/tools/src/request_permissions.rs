//! `request_permissions`: the agent asks for more than its sandbox allows.

use futures_util::future::BoxFuture;
use quipu_engine::Waiting;
use quipu_policy::permissions::{PermissionsVerdict, decide_permissions, grant_text, intersect};
use quipu_wire::{
    AdditionalPermissionProfile, GrantedPermissionProfile, PermissionGrantScope,
    PermissionsRequestApprovalParams, PermissionsRequestApprovalResponse, RequestPermissionProfile,
    ServerRequest,
};
use serde::Deserialize;

use crate::approval::now_ms;
use crate::call::{Finished, Running};
use crate::schema::describe;
use crate::scope::Scope;
use crate::spec::Spec;
use crate::tool::Tool;
use crate::wanted::{OnlyWanted, Wanted};

#[derive(Deserialize)]
struct Arguments {
    reason: Option<String>,
    permissions: OnlyWanted,
}

describe!(Arguments {
    required { permissions }
    optional { reason: "Why they are needed, for the user." }
});

pub(crate) struct RequestPermissions;

impl Tool for RequestPermissions {
    fn name(&self) -> &'static str {
        "request_permissions"
    }

    fn spec(&self, scope: &Scope) -> Option<Spec> {
        let description = "Asks the user for permissions that later commands of this turn need.";
        let offered = scope.features.request_permissions_tool;
        offered.then(|| Spec::function::<Arguments>(self.name(), description))
    }

    fn run<'a>(&'a self, run: &'a Running) -> BoxFuture<'a, Finished> {
        Box::pin(request_permissions(run))
    }
}

async fn request_permissions(run: &Running) -> Finished {
    let Arguments {
        reason,
        permissions,
    } = match run.arguments() {
        Ok(arguments) => arguments,
        Err(error) => return error.into(),
    };
    let AdditionalPermissionProfile {
        network,
        file_system,
    } = Wanted::from(permissions).in_directory(&run.scope.cwd, &run.scope);
    let wanted = RequestPermissionProfile {
        network,
        file_system,
    };
    match decide_permissions(&wanted, &run.scope.approval_policy) {
        PermissionsVerdict::Ask => {}
        PermissionsVerdict::GrantNothing => return granted(&nothing(), PermissionGrantScope::Turn),
        PermissionsVerdict::Refuse(why) => return why.into(),
    }
    let request = ServerRequest::ItemPermissionsRequestApproval(PermissionsRequestApprovalParams {
        thread_id: run.scope.thread_id.to_string(),
        turn_id: run.scope.turn_id.to_string(),
        item_id: run.id().to_string(),
        started_at_ms: now_ms(),
        cwd: run.scope.cwd.to_string_lossy().into_owned(),
        reason,
        permissions: wanted.clone(),
    });
    let answer = run.ask(request, Some(Waiting::Approval)).await;
    let response = match answer {
        Some(Ok(json)) => json.parse().unwrap_or_else(|_| refused()),
        Some(Err(())) | None => refused(),
    };
    let PermissionsRequestApprovalResponse {
        permissions,
        scope,
        strict_auto_review,
    } = response;
    let entries = permissions.file_system.as_ref();
    let has_entries = entries.is_some_and(|it| it.entries.is_some());
    if strict_auto_review || has_entries {
        tracing::warn!(
            thread = %run.scope.thread_id,
            strict_auto_review,
            has_entries,
            "permissions not granted: the answer limits them in a way that is not supported"
        );
        return granted(&nothing(), PermissionGrantScope::Turn);
    }
    let permissions = intersect(&wanted, &permissions);
    let granted_now = permissions.clone();
    run.agree(move |it| it.grants_mut().add(&granted_now, scope))
        .await;
    granted(&permissions, scope)
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
        strict_auto_review: false,
    }
}

fn granted(permissions: &GrantedPermissionProfile, scope: PermissionGrantScope) -> Finished {
    grant_text(permissions, scope).into()
}
