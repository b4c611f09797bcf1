//! The rules about the names of model providers. What a provider is, `quipu-model` says: it reads the
//! tables itself.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

use crate::env::Env;
use crate::load::LoadError;
use crate::snapshot::View;

/// Ids of providers that need no table.
pub const BUILT_IN_PROVIDERS: &[&str] = &[
    "openai",
    "anthropic",
    "openrouter",
    "gemini",
    "groq",
    "mistral",
    "deepseek",
    "xai",
    "azure",
    "ollama",
    "lmstudio",
    "llamacpp",
    "vllm",
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

/// Whether the provider in force exists.
pub(crate) fn check(view: &View<'_>) -> Result<(), LoadError> {
    let Some(id) = view.raw("model_provider").and_then(Value::as_str) else {
        return Ok(());
    };
    let declared = view
        .merged
        .get("model_providers")
        .and_then(Value::as_object);
    let mut known: Vec<&str> = BUILT_IN_PROVIDERS.to_vec();
    known.extend(declared.into_iter().flatten().map(|(id, _)| id.as_str()));
    if known.contains(&id) {
        return Ok(());
    }
    if id == "ollama-chat" {
        return Err(LoadError::Invalid(
            "`ollama-chat` is no longer supported.\nHow to fix: replace `ollama-chat` with `ollama` in \
             `model_provider`, `oss_provider`, or `--local-provider`.\n\
             More info: https://github.com/openai/codex/discussions/7782"
                .to_owned(),
        ));
    }
    Err(LoadError::NoProvider {
        id: id.to_owned(),
        known: known.into_iter().map(str::to_owned).collect(),
    })
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
