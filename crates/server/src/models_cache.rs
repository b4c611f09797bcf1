//! `models_cache.json`: the models that a ChatGPT login was last offered. Other programs of the same home read and
//! write it, too.

use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use quipu_auth::Login;
use quipu_disk::Target;
use quipu_model::catalogue::{ModelInfo, parse_models};
use quipu_model::{CLIENT_VERSION, ModelList, ProviderConfig};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Server;

/// How long a list is good for.
const FRESH: TimeDelta = TimeDelta::seconds(300);
/// A list that is confirmed this often needs no new date in the file.
const CONFIRMED: TimeDelta = TimeDelta::seconds(60);
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The content of the file.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct CachedModels {
    /// When, in the form of RFC 3339.
    fetched_at: String,
    etag: Option<String>,
    client_version: Option<String>,
    models: Vec<Value>,
}

/// The file, if lists of this provider are kept in it: they depend on the account that is logged in.
pub(crate) fn file(server: &Server, provider: &ProviderConfig) -> Option<PathBuf> {
    let login = server.accounts.current()?;
    let is_account = matches!(login, Login::ChatGpt(_) | Login::External(_));
    (provider.requires_openai_auth && is_account).then(|| server.home().join("models_cache.json"))
}

fn now() -> String {
    Utc::now().to_rfc3339_opts(SecondsFormat::Nanos, true)
}

impl CachedModels {
    /// What the file has; nothing if it is absent, invalid or of another version.
    pub fn read(file: &Path) -> Option<Self> {
        let text = quipu_disk::read_text(file, MAX_BYTES).ok()?;
        let cached = serde_json::from_str::<Self>(&text);
        let cached = cached
            .inspect_err(|error| tracing::warn!(%error, "invalid models_cache.json"))
            .ok()?;
        (cached.client_version.as_deref() == Some(CLIENT_VERSION)).then_some(cached)
    }

    /// A list that just came.
    pub fn new(list: &ModelList) -> Self {
        Self {
            fetched_at: now(),
            etag: list.etag.clone(),
            client_version: Some(CLIENT_VERSION.to_owned()),
            models: list.entries.clone(),
        }
    }

    pub fn is_fresh(&self) -> bool {
        self.is_younger(FRESH)
    }

    /// Whether it came less than so long ago; one that comes from the future did.
    fn is_younger(&self, age: TimeDelta) -> bool {
        let fetched_at = DateTime::parse_from_rfc3339(&self.fetched_at);
        fetched_at.is_ok_and(|fetched_at| Utc::now() - fetched_at.to_utc() <= age)
    }

    /// The models as this program knows them.
    pub fn models(&self, provider: &ProviderConfig) -> Vec<ModelInfo> {
        let list = serde_json::json!({ "models": self.models }).to_string();
        parse_models(&list, provider.wire_api).unwrap_or_default()
    }

    /// The provider says which list is current: `false` if it is another one. The same one is good for longer.
    pub fn confirm(&mut self, etag: &str, file: &Path) -> bool {
        if self.etag.as_deref() != Some(etag) {
            return false;
        }
        if !self.is_younger(CONFIRMED) {
            self.fetched_at = now();
            self.write(file);
        }
        true
    }

    /// Writes the file. It is a cache, so a failure is only logged.
    pub fn write(&self, file: &Path) {
        let written = serde_json::to_vec_pretty(self)
            .map_err(std::io::Error::other)
            .and_then(|content| Target::lock(file)?.replace(&content));
        if let Err(error) = written {
            tracing::warn!(%error, "failed to write models_cache.json");
        }
    }
}
