//! The models that clients can pick, as the settings and the provider have them.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use quipu_config::Snapshot;
use quipu_model::catalogue::{self, ModelInfo};
use quipu_model::{ProviderConfig, RequestMeta, WireApi};

use crate::Server;

/// How long a list is good for.
const FRESH: Duration = Duration::from_secs(300);
/// How long a provider that did not answer is left alone.
const RESPITE: Duration = Duration::from_secs(30);

/// What the provider in use listed last.
#[derive(Default)]
pub(crate) struct RemoteModels(Mutex<Option<Listed>>);

struct Listed {
    provider: ProviderConfig,
    models: Vec<ModelInfo>,
    until: Instant,
}

/// All models for a provider: those of the user's own list if there is one, else the built-in ones and
/// what the provider lists itself.
pub(crate) async fn list(
    server: &Server,
    snapshot: &Snapshot,
    provider: &ProviderConfig,
) -> Vec<ModelInfo> {
    if let Some(catalog) = snapshot.catalog() {
        let entries = serde_json::json!({ "models": catalog.models }).to_string();
        match catalogue::parse_models(&entries, provider.wire_api) {
            Ok(models) => return models,
            Err(error) => {
                let path = catalog.path.display();
                tracing::error!(%path, %error, "the list of models cannot be used");
            }
        }
    }
    let remote = if lists_models(provider) {
        remote(server, provider).await
    } else {
        Vec::new()
    };
    catalogue::list(provider, remote)
}

/// Whether a provider's own list is worth asking for. OpenAI's has everything that was ever offered.
fn lists_models(provider: &ProviderConfig) -> bool {
    provider.id != "openai" && provider.wire_api != WireApi::Offline
}

async fn remote(server: &Server, provider: &ProviderConfig) -> Vec<ModelInfo> {
    if let Some(models) = server.remote_models.get(provider) {
        return models;
    }
    let meta = RequestMeta {
        originator: server.identity.originator().to_owned(),
        user_agent: server.identity.user_agent(server.settings.config.env()),
        ..RequestMeta::default()
    };
    let (models, lasts) = match server.model_client(provider).models(&meta).await {
        Ok(models) => (models, FRESH),
        Err(error) => {
            tracing::warn!(provider = provider.id, %error, "the provider did not list its models");
            (Vec::new(), RESPITE)
        }
    };
    server.remote_models.set(Listed {
        provider: provider.clone(),
        models: models.clone(),
        until: Instant::now() + lasts,
    });
    models
}

impl RemoteModels {
    fn get(&self, provider: &ProviderConfig) -> Option<Vec<ModelInfo>> {
        let listed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        listed
            .as_ref()
            .filter(|listed| listed.provider == *provider && Instant::now() < listed.until)
            .map(|listed| listed.models.clone())
    }

    fn set(&self, listed: Listed) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(listed);
    }
}
