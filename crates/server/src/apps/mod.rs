//! Apps: what the user has connected and could connect, and the server whose tools they are.

mod rules;
mod sources;

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use quipu_auth::{Login, service_url};
use quipu_config::{Feature, Snapshot};
use quipu_extend::apps::{Known, merge, summary, unknown};
use quipu_mcp::TokenSource;
use quipu_wire::method::event;
use quipu_wire::{AppInfo, AppListUpdatedNotification, AppSummary};

use crate::chatgpt::is_logged_in;
use crate::{Server, accounts};

pub(crate) use rules::AppRules;
pub(crate) use sources::{Kept, LoadError, Loaded};

/// The server whose tools are those of connected apps.
pub(crate) const SERVER: &str = "codex_apps";

/// Whether threads with these settings have apps.
pub(crate) fn are_on(server: &Server, settings: &Snapshot) -> bool {
    settings.features().enabled(Feature::Apps) && is_logged_in(server)
}

/// The address of the server with the tools of apps.
pub(crate) fn server_url(settings: &Snapshot) -> String {
    service_url(&settings.account().chatgpt_base_url, "apps")
}

/// Supplies the login in use to the server with the tools of apps.
pub(crate) struct AppsLogin(pub std::sync::Weak<Server>);

impl TokenSource for AppsLogin {
    fn headers(&self) -> BoxFuture<'_, Vec<(&'static str, String)>> {
        Box::pin(async {
            let Some(server) = self.0.upgrade() else {
                return Vec::new();
            };
            let login = server.accounts.fresh(&accounts::agent(&server)).await;
            let Some(Login::ChatGpt(login) | Login::External(login)) = login else {
                return Vec::new();
            };
            let account = login.account_id.map(|id| ("chatgpt-account-id", id));
            let bearer = ("authorization", format!("Bearer {}", login.access_token));
            std::iter::once(bearer).chain(account).collect()
        })
    }
}

/// The plugins that bring an app, by the app's id.
pub(crate) fn plugin_apps(
    server: &Server,
    settings: &Arc<Snapshot>,
) -> BTreeMap<String, Vec<String>> {
    let mut apps: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for plugin in server.plugins(settings) {
        for id in plugin.contents.apps {
            let plugins = apps.entry(id).or_default();
            plugins.push(plugin.display_name.clone());
        }
    }
    apps
}

/// The list of apps, merged as its parts arrive. All clients are notified of a list that has something to
/// show, and of the complete one.
pub(crate) async fn list(
    server: &Arc<Server>,
    settings: &Arc<Snapshot>,
    refetch: bool,
) -> Result<Vec<AppInfo>, LoadError> {
    let plugins = plugin_apps(server, settings);
    let switches = settings.apps();
    let merged = |part: &Loaded| {
        let known = Known {
            directory: part.directory.as_deref(),
            connected: part.connected.as_deref(),
            plugins: plugins
                .iter()
                .map(|(id, it)| (id.as_str(), it.clone()))
                .collect(),
        };
        merge(&known, &switches)
    };
    let mut sent: Option<Vec<AppInfo>> = None;
    let mut loading = sources::Loading::begin(server, settings, refetch).await;
    loop {
        let is_complete = loading.next().await?;
        let apps = merged(loading.loaded());
        let has_something = is_complete || apps.iter().any(|app| app.is_accessible);
        if has_something && sent.as_ref() != Some(&apps) {
            let params = AppListUpdatedNotification { data: apps };
            server.hub.broadcast::<event::AppListUpdated>(&params).await;
            sent = Some(params.data);
        }
        if is_complete {
            return Ok(sent.unwrap_or_default());
        }
    }
}

/// What clients see of the apps of a plugin. What cannot be found out about them is left out.
pub(crate) async fn summaries(
    server: &Arc<Server>,
    settings: &Arc<Snapshot>,
    ids: &[String],
    refetch: bool,
) -> Vec<AppSummary> {
    let mut known = BTreeMap::new();
    if !ids.is_empty() && are_on(server, settings) {
        let mut loading = sources::Loading::begin(server, settings, refetch).await;
        let complete = loading.complete().await;
        if let Err(error) = complete {
            tracing::warn!(%error, "failed to read the apps of a plugin");
        }
        let part = loading.loaded();
        let all = Known {
            directory: part.directory.as_deref(),
            connected: part.connected.as_deref(),
            plugins: ids.iter().map(|id| (id.as_str(), Vec::new())).collect(),
        };
        let apps = merge(&all, &settings.apps()).into_iter();
        known.extend(apps.map(|app| (app.id.clone(), app)));
    }
    let summary = |id: &String| summary(&known.remove(id).unwrap_or_else(|| unknown(id)));
    ids.iter().map(summary).collect()
}

/// Reads the list again and notifies clients, since apps were switched on.
pub(crate) fn refresh(server: &Arc<Server>, settings: Arc<Snapshot>) {
    if !are_on(server, &settings) {
        return;
    }
    let server = Arc::clone(server);
    tokio::spawn(async move {
        if let Err(error) = list(&server, &settings, true).await {
            tracing::warn!(%error, "failed to read the list of apps");
        }
    });
}
