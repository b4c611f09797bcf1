//! The plugins of the user's account: which the provider recommends, which the account has, and changes to
//! them. What is on this machine works without any of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use quipu_auth::BackendError;
use quipu_config::edit::WriteRequest;
use quipu_config::{Feature, LoadRequest, Snapshot};
use quipu_extend::plugins::{PluginId, RemotePlugin, Sync, has_curated};
use serde::Deserialize;
use tokio::sync::Mutex;

use super::changed;
use super::curated::Curated;
use crate::Server;
use crate::blocking::blocking;
use crate::chatgpt::Backend;

/// How long recommendations are good.
const FEATURED_FOR: Duration = Duration::from_secs(3 * 60 * 60);

/// Exists once the plugins of the account were taken over at a start.
const MARKER: &str = ".tmp/app-server-remote-plugin-sync-v1";

/// What is remembered of the account's plugins.
#[derive(Default)]
pub(crate) struct RemotePlugins {
    started: AtomicBool,
    /// The provider's marketplace.
    pub curated: Curated,
    featured: Mutex<Option<Featured>>,
    /// One comparison with the account at a time.
    syncing: Mutex<()>,
}

struct Featured {
    of: (String, Option<String>),
    at: Instant,
    ids: Vec<String>,
}

/// What to do with a plugin of the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutation {
    Enable,
    Uninstall,
}

/// Prepares in the background what `plugin/list` needs, and takes over the account's plugins once per home.
/// Without the provider's marketplace there is nothing to prepare.
pub(crate) fn start_up(server: &Arc<Server>) {
    if server.remote_plugins.started.swap(true, Ordering::Relaxed) {
        return;
    }
    let server = Arc::clone(server);
    tokio::spawn(async move {
        let load = |server: &Arc<Server>| {
            if !has_curated(server.home()) {
                return None;
            }
            let config = &server.settings.config;
            let settings = config.load(&LoadRequest::default()).ok()?;
            let on = settings.features().enabled(Feature::Plugins);
            on.then_some(settings)
        };
        let Ok(Some(settings)) = blocking(&server, load).await else {
            return;
        };
        featured(&server, &settings).await;
        if let Err(error) = first_sync(&server, &settings).await {
            tracing::warn!(error, "failed to take over the plugins of the account");
        }
    });
}

async fn first_sync(server: &Arc<Server>, settings: &Arc<Snapshot>) -> Result<(), String> {
    let marker = server.home().join(MARKER);
    if marker.exists() || Backend::new(server, settings).await.login().is_err() {
        return Ok(());
    }
    sync(server, settings, true).await?;
    let written = blocking(server, move |_| std::fs::write(marker, "ok\n")).await;
    match written {
        Ok(Err(error)) => Err(error.to_string()),
        _ => Ok(()),
    }
}

/// The ids of the plugins that the provider recommends; none if that cannot be found out.
pub(crate) async fn featured(server: &Server, settings: &Snapshot) -> Vec<String> {
    let backend = Backend::new(server, settings).await;
    let mut kept = server.remote_plugins.featured.lock().await;
    let of = backend.key();
    if let Some(known) = kept.as_ref().filter(|it| it.of == of)
        && known.at.elapsed() < FEATURED_FOR
    {
        return known.ids.clone();
    }
    let url = backend.url("plugins/featured?platform=codex");
    let ids = match backend.get(server, url.clone()).await {
        Ok(text) => serde_json::from_str::<Vec<String>>(&text).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    match ids {
        Ok(ids) => {
            let at = Instant::now();
            kept.insert(Featured { of, at, ids }).ids.clone()
        }
        Err(error) => {
            tracing::warn!(url, error, "failed to read recommended plugins");
            Vec::new()
        }
    }
}

/// Makes the plugins of the provider's marketplace those of the account. If `additive`, none is removed.
pub(crate) async fn sync(
    server: &Arc<Server>,
    settings: &Arc<Snapshot>,
    additive: bool,
) -> Result<(), String> {
    let _alone = server.remote_plugins.syncing.lock().await;
    let backend = Backend::new(server, settings).await;
    let login = backend.login().map(|_| ());
    login.map_err(|why| why.explain("to sync remote plugins"))?;
    let url = backend.url("plugins/list");
    let text = backend.get(server, url.clone()).await;
    let text = text.map_err(|error| match error {
        BackendError::Unreachable(why) => {
            format!("failed to send remote plugin sync request to {url}: {why}")
        }
        error @ BackendError::Status { .. } => {
            format!("remote plugin sync request to {url} failed with status {error}")
        }
    })?;
    let remote: Vec<RemotePlugin> = serde_json::from_str(&text).map_err(|error| {
        format!("failed to parse remote plugin sync response from {url}: {error}")
    })?;
    let settings = Arc::clone(settings);
    let applied = blocking(server, move |server| {
        let plan = Sync::plan(&settings, &remote, additive).map_err(|error| error.to_string())?;
        apply(server, &settings, &plan)
    });
    let has_changed = applied.await.map_err(|error| error.to_string())??;
    if has_changed {
        changed(server).await;
    }
    Ok(())
}

/// Whether anything changed.
fn apply(server: &Server, settings: &Snapshot, plan: &Sync) -> Result<bool, String> {
    if plan.is_empty() {
        return Ok(false);
    }
    plan.install(settings).map_err(|error| error.to_string())?;
    let request = WriteRequest {
        edits: plan.edits(),
        ..WriteRequest::default()
    };
    if !request.edits.is_empty() {
        let written = server.settings.config.write(&request);
        written.map_err(|error| error.to_string())?;
    }
    plan.remove(settings).map_err(|error| error.to_string())?;
    Ok(true)
}

/// Changes a plugin of the account, before anything is changed here.
pub(crate) async fn mutate(
    server: &Server,
    settings: &Snapshot,
    id: &PluginId,
    mutation: Mutation,
) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Answer {
        id: String,
        enabled: bool,
    }
    let backend = Backend::new(server, settings).await;
    let login = backend.login().map(|_| ());
    login.map_err(|why| why.explain("for remote plugin mutation"))?;
    let (verb, expected) = match mutation {
        Mutation::Enable => ("enable", true),
        Mutation::Uninstall => ("uninstall", false),
    };
    let url = backend.url(&format!("plugins/{id}/{verb}"));
    let text = backend.post(server, url.clone(), None).await;
    let text = text.map_err(|error| match error {
        BackendError::Unreachable(why) => {
            format!("failed to send remote plugin mutation request to {url}: {why}")
        }
        BackendError::Status { status, body } => {
            format!("remote plugin mutation failed with status {status} from {url}: {body}")
        }
    })?;
    let answer: Answer = serde_json::from_str(&text).map_err(|error| {
        format!("failed to parse remote plugin mutation response from {url}: {error}")
    })?;
    if answer.id != id.to_string() {
        return Err(format!(
            "remote plugin mutation returned unexpected plugin id: expected `{id}`, got `{}`",
            answer.id
        ));
    }
    if answer.enabled != expected {
        return Err(format!(
            "remote plugin mutation returned unexpected enabled state for `{id}`: expected {expected}, got {}",
            answer.enabled
        ));
    }
    Ok(())
}
