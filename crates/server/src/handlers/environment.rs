//! `environment/info` and `environment/status`: what is known of the machine on which commands run.

use quipu_wire::method::request::{EnvironmentInfo, EnvironmentStatus};
use quipu_wire::{
    EnvironmentInfoParams, EnvironmentInfoResponse, EnvironmentShellInfo, EnvironmentStatusKind,
    EnvironmentStatusParams, EnvironmentStatusResponse,
};

use super::Handler;
use crate::threads::LOCAL_ENVIRONMENT as LOCAL;
use crate::{Cx, Refusal};

fn unknown(id: &str) -> String {
    format!("unknown environment id `{id}`")
}

impl Handler for EnvironmentInfo {
    async fn run(cx: Cx, params: EnvironmentInfoParams) -> Result<Self::Result, Refusal> {
        if params.environment_id != LOCAL {
            return Err(Refusal::invalid_request(unknown(&params.environment_id)));
        }
        let cwd = reqwest::Url::from_file_path(cx.server.cwd());
        Ok(EnvironmentInfoResponse {
            shell: EnvironmentShellInfo {
                name: cx.server.shell_name(),
                path: cx.server.shell(),
            },
            cwd: cwd.ok().map(String::from),
        })
    }
}

impl Handler for EnvironmentStatus {
    async fn run(_cx: Cx, params: EnvironmentStatusParams) -> Result<Self::Result, Refusal> {
        let is_local = params.environment_id == LOCAL;
        Ok(EnvironmentStatusResponse {
            status: match is_local {
                true => EnvironmentStatusKind::Ready,
                false => EnvironmentStatusKind::Unknown,
            },
            error: (!is_local).then(|| unknown(&params.environment_id)),
        })
    }
}
