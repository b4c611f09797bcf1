//! Model providers of the user's own, and the rules about their names.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::env::Env;
use crate::load::LoadError;
use crate::snapshot::{Snapshot, View};

/// Ids of providers that need no table.
pub const BUILT_IN_PROVIDERS: &[&str] = &[
    "openai",
    "anthropic",
    "openrouter",
    "ollama",
    "lmstudio",
    "llamacpp",
    "offline",
];

/// A text that must not be shown. `Debug` hides it.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// The text.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// What a provider's API speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WireApi {
    /// The Responses API.
    #[default]
    Responses,
    /// Chat Completions.
    Chat,
    /// Anthropic Messages.
    Anthropic,
}

/// A provider from `[model_providers.<id>]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ModelProvider {
    /// Name to show.
    pub name: String,
    /// Address of the API.
    pub base_url: Option<String>,
    /// Variable that holds the key.
    pub env_key: Option<String>,
    /// What to tell users who have not set it.
    pub env_key_instructions: Option<String>,
    /// The key itself.
    pub experimental_bearer_token: Option<Secret>,
    /// A program that prints the key.
    pub auth: Option<ProviderAuth>,
    /// What the API speaks.
    #[serde(default)]
    pub wire_api: WireApi,
    /// Added to every address.
    #[serde(default)]
    pub query_params: BTreeMap<String, String>,
    /// Headers sent with every request; they may hold keys.
    #[serde(default)]
    pub http_headers: BTreeMap<String, Secret>,
    /// Headers by the name of the variable that holds the value.
    #[serde(default)]
    pub env_http_headers: BTreeMap<String, String>,
    /// How often a failed request is tried again.
    #[serde(default = "four")]
    pub request_max_retries: u64,
    /// How often a broken stream is tried again.
    #[serde(default = "five")]
    pub stream_max_retries: u64,
    /// How long a stream may be silent.
    #[serde(default = "five_minutes")]
    pub stream_idle_timeout_ms: u64,
    /// How long a websocket may take to open.
    #[serde(default = "fifteen_seconds")]
    pub websocket_connect_timeout_ms: u64,
    /// Uses the account of this program.
    #[serde(default)]
    pub requires_openai_auth: bool,
    /// Speaks websockets too.
    #[serde(default)]
    pub supports_websockets: bool,
}

/// A program that prints a key.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ProviderAuth {
    /// The program.
    pub command: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// How long it may take, in milliseconds.
    #[serde(default = "five_seconds")]
    pub timeout_ms: u64,
    /// How long a key is used, in milliseconds.
    #[serde(default = "five_minutes")]
    pub refresh_interval_ms: u64,
    /// Directory it starts in; the server's when absent.
    pub cwd: Option<PathBuf>,
}

impl ProviderAuth {
    /// How long it may take.
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }

    /// How long a key is used.
    pub fn refresh_interval(&self) -> Duration {
        Duration::from_millis(self.refresh_interval_ms)
    }
}

fn four() -> u64 {
    4
}

fn five() -> u64 {
    5
}

fn five_seconds() -> u64 {
    5_000
}

fn fifteen_seconds() -> u64 {
    15_000
}

fn five_minutes() -> u64 {
    300_000
}

/// More retries than this are not made.
const MAX_RETRIES: u64 = 100;

impl Snapshot {
    /// Providers from the files, by id.
    pub fn providers(&self) -> BTreeMap<String, ModelProvider> {
        let mut providers: BTreeMap<String, ModelProvider> = self.view().table("model_providers");
        for provider in providers.values_mut() {
            provider.request_max_retries = provider.request_max_retries.min(MAX_RETRIES);
            provider.stream_max_retries = provider.stream_max_retries.min(MAX_RETRIES);
        }
        providers
    }
}

/// Whether the provider in force exists.
pub(crate) fn check(view: &View<'_>) -> Result<(), LoadError> {
    let Some(id) = view.raw("model_provider").and_then(Value::as_str) else {
        return Ok(());
    };
    let listed = view
        .merged
        .get("model_providers")
        .is_some_and(|providers| providers.get(id).is_some());
    if listed || BUILT_IN_PROVIDERS.contains(&id) {
        return Ok(());
    }
    if id == "ollama-chat" {
        return Err(LoadError::Senseless(
            "`ollama-chat` is no longer supported.\nHow to fix: replace `ollama-chat` with `ollama` in \
             `model_provider`, `oss_provider`, or `--local-provider`.\n\
             More info: https://github.com/openai/codex/discussions/7782"
                .to_owned(),
        ));
    }
    Err(LoadError::NoProvider(id.to_owned()))
}

/// The address of the OpenAI API, from the settings or, in the older way, the environment.
pub(crate) fn openai_base_url(
    view: &View<'_>,
    env: &Env,
    notes: &mut Vec<String>,
) -> Option<String> {
    view.get("openai_base_url").or_else(|| {
        let url = env.get("OPENAI_BASE_URL")?;
        notes.push(
            "`OPENAI_BASE_URL` is deprecated. Set `openai_base_url` in config.toml instead."
                .to_owned(),
        );
        Some(url.to_owned())
    })
}
