//! How many tokens a model reads at servers that say it elsewhere than in their list of models:
//! llama.cpp, LM Studio and Ollama, next to their OpenAI-compatible API.

use bytes::Bytes;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::catalogue::{ModelInfo, parse_models};
use crate::client::{Client, Shared, whole};
use crate::exchange::{Source, current};
use crate::http::{Call, Endpoint};
use crate::request::RequestMeta;

/// `GET /props` of llama.cpp.
#[derive(Deserialize)]
struct Props {
    default_generation_settings: Generation,
}

#[derive(Deserialize)]
struct Generation {
    n_ctx: i64,
}

/// `POST /api/show` of Ollama.
#[derive(Deserialize)]
struct Shown {
    /// Settings of the model, one in a line.
    #[serde(default)]
    parameters: String,
    #[serde(default)]
    model_info: Map<String, Value>,
}

impl Client {
    /// The window of a model, as the server's own API has it; `None` if the server has no such API. The
    /// caller limits the time.
    pub async fn window(&self, model: &str, meta: &RequestMeta) -> Option<i64> {
        let asked = Asked {
            shared: self.shared(),
            meta,
        };
        if !self.provider().wire_api.format().reports_window {
            return None;
        }
        let (llama, studio, ollama) = tokio::join!(
            asked.llama_cpp(),
            asked.lm_studio(model),
            asked.ollama(model)
        );
        llama.or(studio).or(ollama).filter(|window| *window > 0)
    }
}

struct Asked<'a> {
    shared: &'a Shared,
    meta: &'a RequestMeta,
}

impl Asked<'_> {
    async fn llama_cpp(&self) -> Option<i64> {
        let props: Props = self.read("props", None).await?;
        Some(props.default_generation_settings.n_ctx)
    }

    async fn lm_studio(&self, model: &str) -> Option<i64> {
        let body = self.get("api/v0/models", None).await?;
        let wire = self.shared.provider.wire_api;
        let models = parse_models(&String::from_utf8_lossy(&body), wire).ok()?;
        ModelInfo::among(model, &models)?.context_window
    }

    async fn ollama(&self, model: &str) -> Option<i64> {
        let body = json!({ "model": model }).to_string().into();
        let shown: Shown = self.read("api/show", Some(body)).await?;
        let configured = shown.parameters.lines().find_map(|line| {
            let tokens = line.trim().strip_prefix("num_ctx")?;
            tokens.trim().parse().ok()
        });
        let trained = || {
            let mut facts = shown.model_info.iter();
            let (_, tokens) = facts.find(|(name, _)| name.ends_with(".context_length"))?;
            tokens.as_i64()
        };
        configured.or_else(trained)
    }

    async fn read<T: DeserializeOwned>(&self, path: &str, body: Option<Bytes>) -> Option<T> {
        let answer = self.get(path, body).await?;
        serde_json::from_slice(&answer).ok()
    }

    /// What the server answers at a path next to its OpenAI-compatible API.
    async fn get(&self, path: &str, body: Option<Bytes>) -> Option<Vec<u8>> {
        let provider = &self.shared.provider;
        let credentials = current(self.shared).await.ok()?;
        let mut call = Call::new(provider, Endpoint::Models, &credentials, self.meta).ok()?;
        let address = provider.address(false).ok()?;
        let root = address.strip_suffix("/v1").unwrap_or(address);
        call.url = format!("{root}/{path}");
        let patience = provider.idle_timeout();
        let response = call.send(&self.shared.http, body, patience).await.ok()?;
        if !response.status().is_success() {
            return None;
        }
        whole(Source::Http(Box::new(response))).await.ok()
    }
}
