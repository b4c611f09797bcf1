//! The context windows of models that no list knows: asked of the provider when a turn needs one, and
//! assumed to be small when the provider does not say.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use quipu_config::Snapshot;
use quipu_model::catalogue::{DEFAULT_CONTEXT_WINDOW, ModelInfo};
use quipu_model::{ErrorKind, ProviderConfig};
use quipu_wire::ConfigWarningNotification;
use tokio::time::timeout;

use crate::{Server, models};

/// How long a turn waits for the provider's answers.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long a provider that named no window is left alone.
const RESPITE: Duration = Duration::from_secs(300);
/// Answers that are kept.
const KEPT: usize = 64;
/// What is assumed of a model whose provider does not say: few hosted models read less.
const SMALL: i64 = 32_768;

/// What providers said when they were asked, the last answers only.
#[derive(Default)]
pub(crate) struct Windows(Mutex<Vec<Answer>>);

struct Answer {
    provider: ProviderConfig,
    model: String,
    /// The window, or when to ask again.
    window: Result<i64, Instant>,
}

/// Whether neither the settings nor a list know the window of a model.
pub(crate) fn is_unknown(
    server: &Server,
    snapshot: &Snapshot,
    provider: &ProviderConfig,
    model: &str,
) -> bool {
    snapshot.model().context_window.is_none()
        && !provider.wire_api.is_offline()
        && models::known(server, snapshot, provider, model)
            .context_window
            .is_none()
}

/// Asks the provider for such a window, unless it was asked before. Gives a warning if it does not say.
pub(crate) async fn learn(
    server: &Server,
    provider: &ProviderConfig,
    model: &str,
) -> Option<ConfigWarningNotification> {
    let windows = &server.remote_models.windows;
    if windows.is_due(provider, model) {
        let asked = timeout(PATIENCE, ask(server, provider, model)).await;
        let window = match asked {
            // The turn says it.
            Ok(Err(ErrorKind::Unreachable(_))) => return None,
            Ok(Ok(window)) => window,
            Ok(Err(_)) | Err(_) => None,
        };
        let again = Instant::now() + RESPITE;
        windows.keep(provider, model, window.ok_or(again));
    }
    match windows.of(provider, model) {
        Some(_) => None,
        None => Some(warning(provider, model)),
    }
}

/// What is assumed when nobody knows. Models of OpenAI have the window that all clients assume.
pub(crate) fn assumed(provider: &ProviderConfig) -> i64 {
    match provider.requires_openai_auth {
        true => DEFAULT_CONTEXT_WINDOW,
        false => SMALL,
    }
}

/// The list of models first, since most servers say it there; then what single servers have.
async fn ask(
    server: &Server,
    provider: &ProviderConfig,
    model: &str,
) -> Result<Option<i64>, ErrorKind> {
    if !models::lists_models(server, provider) {
        return Ok(None);
    }
    let listed = match models::remote(server, provider).await {
        Err(error) if matches!(error.kind, ErrorKind::Unreachable(_)) => return Err(error.kind),
        Err(_) => None,
        Ok(models) => ModelInfo::among(model, &models).and_then(|it| it.context_window),
    };
    if listed.is_some() {
        return Ok(listed);
    }
    let client = server.model_client(provider);
    Ok(client.window(model, &models::meta(server)).await)
}

fn warning(provider: &ProviderConfig, model: &str) -> ConfigWarningNotification {
    let name = provider.display_name();
    let tokens = assumed(provider);
    ConfigWarningNotification {
        summary: format!(
            "{name} does not say how many tokens the model `{model}` can read, so {tokens} are assumed; \
             set `model_context_window` to the real number"
        ),
        details: None,
        path: None,
        range: None,
    }
}

impl Windows {
    /// The window that the provider named.
    pub fn of(&self, provider: &ProviderConfig, model: &str) -> Option<i64> {
        self.find(provider, model)?.ok()
    }

    fn is_due(&self, provider: &ProviderConfig, model: &str) -> bool {
        match self.find(provider, model) {
            Some(Ok(_)) => false,
            Some(Err(again)) => again <= Instant::now(),
            None => true,
        }
    }

    fn find(&self, provider: &ProviderConfig, model: &str) -> Option<Result<i64, Instant>> {
        let answers = self.0.lock();
        let mut answers = answers.iter();
        let found = answers.find(|it| it.model == model && it.provider == *provider);
        found.map(|it| it.window)
    }

    fn keep(&self, provider: &ProviderConfig, model: &str, window: Result<i64, Instant>) {
        let mut answers = self.0.lock();
        answers.retain(|it| it.model != model || it.provider != *provider);
        if answers.len() >= KEPT {
            answers.remove(0);
        }
        answers.push(Answer {
            provider: provider.clone(),
            model: model.to_owned(),
            window,
        });
    }
}
