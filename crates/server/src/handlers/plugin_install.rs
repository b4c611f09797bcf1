//! `plugin/install`: puts a plugin of a local marketplace into the home directory and switches it on, for the
//! day that plugins are used.

use quipu_config::edit::{Edit, WriteRequest};
use quipu_extend::plugins::{self, PluginError};
use quipu_wire::method::request::PluginInstall;
use quipu_wire::{PluginInstallParams, PluginInstallResponse};

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Refusal, Server};

/// Why nothing happens at a marketplace on the network.
pub(super) const NO_LOGIN: &str = "chatgpt authentication required for remote plugin mutation";

impl Handler for PluginInstall {
    async fn run(cx: Cx, params: PluginInstallParams) -> Result<Self::Result, Refusal> {
        let installed = blocking(&cx.server, move |server| install(server, &params)).await;
        installed.and_then(|answer| answer)
    }
}

fn install(
    server: &Server,
    params: &PluginInstallParams,
) -> Result<PluginInstallResponse, Refusal> {
    let home = server.home();
    let mut remote = false;
    let installed = plugins::install(
        home,
        params.marketplace_path.as_path(),
        &params.plugin_name,
        || {
            remote = params.force_remote_sync;
            match remote {
                true => Err(PluginError::Refused(NO_LOGIN.to_owned())),
                false => Ok(()),
            }
        },
    );
    let installed = installed.map_err(|error| match error {
        _ if remote => Refusal::internal(format!("failed to enable remote plugin: {error}")),
        error => refusal(&error, "install"),
    })?;
    let request = WriteRequest {
        edits: vec![Edit::set(
            &["plugins", &installed.id.to_string(), "enabled"],
            true,
        )],
        ..WriteRequest::default()
    };
    server.settings.config.write(&request).map_err(|error| {
        Refusal::internal(format!(
            "failed to persist installed plugin config: {error}"
        ))
    })?;
    Ok(PluginInstallResponse {
        auth_policy: installed.login,
        apps_needing_auth: Vec::new(),
    })
}

/// What a client is told about a plugin that could not be installed or removed.
pub(super) fn refusal(error: &PluginError, what: &str) -> Refusal {
    match error {
        PluginError::Io(error) => Refusal::internal(format!("failed to {what} plugin: {error}")),
        error => Refusal::invalid_request(error.to_string()),
    }
}
