//! The models that clients can pick, as the settings and the provider have them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use quipu_config::Snapshot;
use quipu_model::catalogue::{self, ModelInfo, TruncationMode, Visibility};
use quipu_model::{BuiltIn, ModelError, ProviderConfig, RequestMeta};
use tokio::runtime::Handle;

use crate::Refusal;
use crate::Server;
use crate::models_cache::{self, CachedModels};
use crate::windows::{self, Windows};

/// The most models that an error lists.
const NAMED: usize = 10;

/// How long a list is good for.
const FRESH: Duration = Duration::from_secs(300);
/// How long a provider that did not answer is left alone.
const RESPITE: Duration = Duration::from_secs(30);

/// By which a limit in tokens becomes one in bytes.
const BYTES_PER_TOKEN: i64 = 4;

/// What the provider in use listed last, and the windows that providers were asked for.
#[derive(Default)]
pub(crate) struct RemoteModels {
    listed: Mutex<Option<Listed>>,
    pub windows: Windows,
}

struct Listed {
    provider: ProviderConfig,
    models: Remote,
    until: Instant,
}

/// All models for a provider: those of the user's own list if there is one, else the built-in ones and
/// what the provider lists itself.
pub(crate) async fn list(
    server: &Server,
    snapshot: &Snapshot,
    provider: &ProviderConfig,
) -> Vec<ModelInfo> {
    if let Some(own) = own(snapshot, provider) {
        return own;
    }
    let remote = if lists_models(server, provider) {
        remote(server, provider).await.unwrap_or_default()
    } else {
        Vec::new()
    };
    let mut models = catalogue::list(provider, remote);
    if models_cache::file(server, provider).is_some() {
        models.sort_by_key(|model| model.priority);
    }
    models
}

/// What is known about a model, with what the settings say and what is assumed of its window if nobody
/// knows. Nobody is asked now.
pub(crate) fn info(
    server: &Server,
    snapshot: &Snapshot,
    provider: &ProviderConfig,
    model: &str,
) -> Arc<ModelInfo> {
    let mut info = known(server, snapshot, provider, model);
    let settings = snapshot.model();
    info.context_window = settings
        .context_window
        .or(info.context_window)
        .or_else(|| server.remote_models.windows.of(provider, model))
        .or_else(|| Some(windows::assumed(provider)));
    info.auto_compact_token_limit = settings
        .auto_compact_token_limit
        .or(info.auto_compact_token_limit);
    info.supports_reasoning_summaries |= settings.supports_reasoning_summaries == Some(true);
    if let Some(tokens) = settings.tool_output_token_limit {
        let policy = &mut info.truncation_policy;
        let tokens = i64::try_from(tokens).unwrap_or(i64::MAX);
        policy.limit = match policy.mode {
            TruncationMode::Tokens => tokens,
            TruncationMode::Bytes => tokens.saturating_mul(BYTES_PER_TOKEN),
        };
    }
    Arc::new(info)
}

/// What is known about a model: by the user's own list, else by what the provider said when it was last
/// asked for a list, else built in.
pub(crate) fn known(
    server: &Server,
    snapshot: &Snapshot,
    provider: &ProviderConfig,
    model: &str,
) -> ModelInfo {
    match own(snapshot, provider) {
        Some(own) => provider.model(model, &own),
        None => {
            let models = &server.remote_models;
            if !models.has(provider)
                && let Some(file) = models_cache::file(server, provider)
                && let Some(cached) = CachedModels::read(&file)
            {
                // However old they are, and to be asked for again at the next occasion.
                models.set(provider, Ok(cached.models(provider)), Duration::ZERO);
            }
            models.last(provider, |listed| provider.model(model, listed))
        }
    }
}

/// The model that is used when nobody says which: the first of the user's own list, the provider's default,
/// else the only one that the provider lists.
pub(crate) fn default(
    server: &Server,
    snapshot: &Snapshot,
    provider: &ProviderConfig,
) -> Result<String, Refusal> {
    let own = own(snapshot, provider).unwrap_or_default();
    if let Some(first) = own.into_iter().find(|it| it.visibility == Visibility::List) {
        return Ok(first.slug);
    }
    let built_in = BuiltIn::named(&provider.id).and_then(|it| it.default_model);
    if let Some(model) = built_in {
        return Ok(model.to_owned());
    }
    if provider.requires_openai_auth {
        return Ok(catalogue::DEFAULT_MODEL.to_owned());
    }
    let listed =
        tokio::task::block_in_place(|| Handle::current().block_on(remote(server, provider)));
    only(provider, listed).map_err(Refusal::invalid_request)
}

/// The only model of a provider, or why there is none to take.
fn only(provider: &ProviderConfig, listed: Remote) -> Result<String, String> {
    let unset = format!(
        "no `model` is configured for the provider `{}`",
        provider.id
    );
    let models = listed.map_err(|error| {
        let error = error.to_string();
        let error = error.trim_end_matches('.');
        format!("{unset}, and its list of models cannot be read: {error}; set `model`")
    })?;
    let mut names = models.into_iter().map(|it| it.slug);
    match (names.next(), names.len()) {
        (None, _) => Err(format!("{unset}, and it lists no model; set `model`")),
        (Some(only), 0) => Ok(only),
        (Some(first), rest) => {
            let shown: Vec<String> = [first].into_iter().chain(names.take(NAMED - 1)).collect();
            let more = match (rest + 1).saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            Err(format!(
                "{unset}; set it to one of: {}{more}",
                shown.join(", ")
            ))
        }
    }
}

/// The list that the user wrote, if there is one.
fn own(snapshot: &Snapshot, provider: &ProviderConfig) -> Option<Vec<ModelInfo>> {
    let catalog = snapshot.catalog()?;
    let entries = serde_json::json!({ "models": catalog.models }).to_string();
    match catalogue::parse_models(&entries, provider.wire_api) {
        Ok(models) => Some(models),
        Err(error) => {
            let path = catalog.path.display();
            tracing::error!(%path, %error, "invalid model catalog");
            None
        }
    }
}

/// Whether a provider's own list is worth asking for. OpenAI's for keys has everything that was ever offered, the
/// one for accounts what they can use.
pub(crate) fn lists_models(server: &Server, provider: &ProviderConfig) -> bool {
    let is_worth_it = || provider.id != "openai" || models_cache::file(server, provider).is_some();
    !provider.wire_api.is_offline() && is_worth_it()
}

/// The models that a provider lists, or why there is no list.
pub(crate) type Remote = Result<Vec<ModelInfo>, ModelError>;

/// What the provider lists, asked for at most once in a while.
pub(crate) async fn remote(server: &Server, provider: &ProviderConfig) -> Remote {
    if let Some(models) = server.remote_models.get(provider) {
        return models;
    }
    let file = models_cache::file(server, provider);
    let cached = file.as_deref().and_then(CachedModels::read);
    if let Some(cached) = cached.filter(CachedModels::is_fresh) {
        let models = cached.models(provider);
        server
            .remote_models
            .set(provider, Ok(models.clone()), FRESH);
        return Ok(models);
    }
    fetch(server, provider, file).await
}

/// Asks the provider for its list, and keeps it.
async fn fetch(server: &Server, provider: &ProviderConfig, file: Option<PathBuf>) -> Remote {
    let client = server.model_client(provider);
    let (models, lasts) = match client.models(&meta(server)).await {
        Ok(list) => {
            if let Some(file) = file {
                CachedModels::new(&list).write(&file);
            }
            (Ok(list.models), FRESH)
        }
        Err(error) => {
            tracing::warn!(provider = provider.id, %error, "failed to list models of provider");
            (Err(error), RESPITE)
        }
    };
    server.remote_models.set(provider, models.clone(), lasts);
    models
}

/// Learns in the background what an account can use now, unless that is known.
pub(crate) fn refresh(server: &Arc<Server>, provider: &ProviderConfig) {
    if models_cache::file(server, provider).is_some() {
        let (server, provider) = (Arc::clone(server), provider.clone());
        tokio::spawn(async move { drop(remote(&server, &provider).await) });
    }
}

/// A provider said with an answer which list of models is current: another one is asked for in the background.
pub(crate) fn current_list(server: &Arc<Server>, provider: &ProviderConfig, etag: String) {
    let Some(file) = models_cache::file(server, provider) else {
        return;
    };
    let (server, provider) = (Arc::clone(server), provider.clone());
    tokio::spawn(async move {
        let read = file.clone();
        let known = tokio::task::spawn_blocking(move || {
            CachedModels::read(&read).is_some_and(|mut cached| cached.confirm(&etag, &read))
        });
        if !known.await.unwrap_or(false) {
            drop(fetch(&server, &provider, Some(file)).await);
        }
    });
}

/// How this program presents itself outside turns.
pub(crate) fn meta(server: &Server) -> RequestMeta {
    RequestMeta {
        originator: server.identity.originator().to_owned(),
        user_agent: server.identity.user_agent(server.settings.config.env()),
        ..RequestMeta::default()
    }
}

impl RemoteModels {
    fn get(&self, provider: &ProviderConfig) -> Option<Remote> {
        let listed = self.listed.lock();
        listed
            .as_ref()
            .filter(|listed| listed.provider == *provider && Instant::now() < listed.until)
            .map(|listed| listed.models.clone())
    }

    /// What the provider listed last, however long ago.
    fn last<T>(&self, provider: &ProviderConfig, look: impl FnOnce(&[ModelInfo]) -> T) -> T {
        let listed = self.listed.lock();
        let listed = listed
            .as_ref()
            .filter(|listed| listed.provider == *provider);
        let models = listed.and_then(|listed| listed.models.as_deref().ok());
        look(models.unwrap_or_default())
    }

    fn set(&self, provider: &ProviderConfig, models: Remote, lasts: Duration) {
        let listed = Listed {
            provider: provider.clone(),
            models,
            until: Instant::now() + lasts,
        };
        *self.listed.lock() = Some(listed);
    }

    fn has(&self, provider: &ProviderConfig) -> bool {
        let listed = self.listed.lock();
        listed.as_ref().is_some_and(|it| it.provider == *provider)
    }
}
