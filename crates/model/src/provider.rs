//! What a provider is: its address, its wire format, how it is paid and how patient to be with it.
//! The same structure is read from `[model_providers.NAME]` and filled by the built-in ids.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::built_in::BuiltIn;
use crate::catalogue::{ModelInfo, Price};
use crate::credentials::{Credentials, Secret, Secrets};

/// The provider that answers without a network.
pub const OFFLINE: &str = "offline";

const OPENAI_API: &str = "https://api.openai.com/v1";
const CHATGPT_API: &str = "https://chatgpt.com/backend-api/codex";
const RETRY_CAP: u32 = 100;
/// Far above the longest answer any model gives, far below what would hurt.
const DEFAULT_MAX_RESPONSE_BYTES: u64 = 256 * 1024 * 1024;
const AZURE_MARKS: [&str; 6] = [
    "openai.azure.",
    "cognitiveservices.azure.",
    "aoai.azure.",
    "azure-api.",
    "azurefd.",
    "windows.net/openai",
];

/// How requests and answers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireApi {
    /// `POST {base_url}/responses`.
    #[default]
    Responses,
    /// `POST {base_url}/chat/completions`.
    Chat,
    /// `POST {base_url}/messages`.
    Anthropic,
    /// No network: the built-in scripted model.
    Offline,
}

/// How a provider is asked for output of a given shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StructuredOutput {
    /// The request's own field: `text.format` or `response_format`.
    Native,
    /// A tool whose arguments are the answer.
    Tool,
    /// Words in the instructions.
    Instruction,
}

/// A program that prints a bearer token. The owner of the credentials runs it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AuthCommand {
    /// The program.
    pub command: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Where it runs.
    pub cwd: Option<String>,
    /// How long it may take.
    #[serde(default = "AuthCommand::default_timeout_ms")]
    pub timeout_ms: u64,
    /// How long a token is used before the program runs again.
    #[serde(default = "AuthCommand::default_refresh_interval_ms")]
    pub refresh_interval_ms: u64,
}

impl AuthCommand {
    fn default_timeout_ms() -> u64 {
        5_000
    }

    fn default_refresh_interval_ms() -> u64 {
        300_000
    }
}

/// The settings of one provider.
#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ProviderConfig {
    /// The key under `model_providers`; set by the reader of the file.
    #[serde(skip)]
    pub id: String,
    /// The name shown to people; the id when empty.
    pub name: String,
    /// Where requests go, without the endpoint's own path.
    pub base_url: Option<String>,
    /// The environment variable that holds the key.
    pub env_key: Option<String>,
    /// What to tell a person whose environment lacks that variable.
    pub env_key_instructions: Option<String>,
    /// A literal bearer token.
    pub experimental_bearer_token: Option<Secret>,
    /// A program that prints a bearer token.
    pub auth: Option<AuthCommand>,
    /// How requests and answers are written.
    pub wire_api: WireApi,
    /// Appended to the URL as they are.
    pub query_params: Option<BTreeMap<String, String>>,
    /// Sent with every request.
    pub http_headers: Option<BTreeMap<String, String>>,
    /// Header to environment variable; left out when the variable is unset or blank.
    pub env_http_headers: Option<BTreeMap<String, String>>,
    /// Extra attempts before a stream opens.
    pub request_max_retries: Option<u32>,
    /// Extra attempts after a stream broke.
    pub stream_max_retries: Option<u32>,
    /// The longest silence inside a stream.
    pub stream_idle_timeout_ms: Option<u64>,
    /// How long a websocket may take to open.
    pub websocket_connect_timeout_ms: Option<u64>,
    /// Whether the account endpoints should ask for a login.
    pub requires_openai_auth: bool,
    /// Whether requests go over a websocket first.
    pub supports_websockets: bool,
    /// How output of a given shape is asked for; by wire format when unset.
    pub structured_output: Option<StructuredOutput>,
    /// The most bytes one answer may have.
    pub max_response_bytes: Option<u64>,
    /// Prices by model, over those of the catalogue.
    pub prices: BTreeMap<String, Price>,
}

impl ProviderConfig {
    /// The built-in provider of that id.
    pub fn built_in(id: &str) -> Option<Self> {
        BuiltIn::named(id).map(BuiltIn::config)
    }

    /// The provider of a table in `model_providers`. What the table of a built-in id leaves out is as
    /// it is built in.
    pub fn declared(id: &str, table: &Value) -> Result<Self, serde_json::Error> {
        let mut config = Self::deserialize(table)?;
        config.id = id.into();
        if let Some(built_in) = Self::built_in(id) {
            let has_key = ["env_key", "experimental_bearer_token", "auth"]
                .iter()
                .any(|key| table.get(key).is_some());
            if !has_key {
                config.env_key = built_in.env_key;
            }
            if table.get("wire_api").is_none() {
                config.wire_api = built_in.wire_api;
            }
            if table.get("supports_websockets").is_none() {
                config.supports_websockets = built_in.supports_websockets;
            }
            config.base_url = config.base_url.or(built_in.base_url);
            config.structured_output = config.structured_output.or(built_in.structured_output);
        }
        Ok(config)
    }

    /// The name for people.
    pub fn display_name(&self) -> &str {
        if self.name.is_empty() {
            &self.id
        } else {
            &self.name
        }
    }

    /// Where requests go; a ChatGPT login has an address of its own. Only providers that use the OpenAI
    /// login may leave it out: another vendor's key and prompts must not go to OpenAI.
    pub fn address(&self, chatgpt_login: bool) -> Result<&str, String> {
        match &self.base_url {
            Some(url) => Ok(url.trim_end_matches('/')),
            None if !self.requires_openai_auth => Err(format!(
                "model_providers.{}.base_url is not set; set it to the address of the provider's API, for \
                 example \"https://example.com/v1\"",
                self.id
            )),
            None if chatgpt_login => Ok(CHATGPT_API),
            None => Ok(OPENAI_API),
        }
    }

    /// Whether its settings go together.
    pub fn check(&self) -> Result<(), String> {
        let style = self.structured_output.unwrap_or(StructuredOutput::Native);
        if self.wire_api == WireApi::Responses && style != StructuredOutput::Native {
            return Err(format!(
                "model_providers.{}.structured_output must be \"native\" with the Responses API; remove it, or set \
                 `wire_api` to \"chat\" or \"anthropic\"",
                self.id
            ));
        }
        Ok(())
    }

    /// What is known about a model of this provider: by a list of its models, else built in, with the
    /// price from the settings if any.
    pub fn model(&self, slug: &str, listed: &[ModelInfo]) -> ModelInfo {
        let mut info = ModelInfo::among(slug, listed)
            .unwrap_or_else(|| ModelInfo::lookup(slug, self.wire_api));
        info.price = self.prices.get(slug).copied().or(info.price);
        info
    }

    /// Adds everything in its settings that may be a key.
    pub fn add_secrets(&self, secrets: &mut Secrets) {
        for (name, value) in self.http_headers.iter().chain(&self.query_params).flatten() {
            secrets.add_named(name, value);
        }
        let variables = self.env_http_headers.iter().flatten();
        let variables = variables
            .map(|(_, variable)| variable.as_str())
            .chain(self.env_key.as_deref())
            .chain(self.fallback_env_key());
        secrets.extend(variables.filter_map(env_var));
        if let Some(token) = &self.experimental_bearer_token {
            secrets.add(token.expose());
        }
    }

    /// Whether the provider stores responses and wants item ids back, as Azure does.
    pub fn is_azure(&self) -> bool {
        self.name.eq_ignore_ascii_case("azure")
            || self.base_url.as_ref().is_some_and(|url| {
                let url = url.to_ascii_lowercase();
                AZURE_MARKS.iter().any(|mark| url.contains(mark))
            })
    }

    /// Whether the provider compacts histories itself.
    pub fn compacts_remotely(&self) -> bool {
        self.name == "OpenAI" && self.wire_api == WireApi::Responses
    }

    /// Whether the provider takes compressed requests with these credentials: OpenAI's, with a ChatGPT login.
    pub(crate) fn takes_compressed(&self, credentials: &Credentials) -> bool {
        self.compacts_remotely() && matches!(credentials, Credentials::ChatGpt { .. })
    }

    /// The environment variable to fall back on when nobody is logged in.
    pub(crate) fn fallback_env_key(&self) -> Option<&'static str> {
        (self.id == "openai").then_some("OPENAI_API_KEY")
    }

    pub(crate) fn request_retries(&self) -> u32 {
        self.request_max_retries.unwrap_or(4).min(RETRY_CAP)
    }

    pub(crate) fn stream_retries(&self) -> u32 {
        self.stream_max_retries.unwrap_or(5).min(RETRY_CAP)
    }

    pub(crate) fn idle_timeout(&self) -> Duration {
        Duration::from_millis(self.stream_idle_timeout_ms.unwrap_or(300_000))
    }

    /// Whether requests go over a websocket as long as that works.
    pub fn uses_websockets(&self) -> bool {
        self.supports_websockets && self.wire_api == WireApi::Responses
    }

    pub(crate) fn connect_timeout(&self) -> Duration {
        Duration::from_millis(self.websocket_connect_timeout_ms.unwrap_or(15_000))
    }

    pub(crate) fn response_limit(&self) -> u64 {
        self.max_response_bytes
            .unwrap_or(DEFAULT_MAX_RESPONSE_BYTES)
    }

    pub(crate) fn output_style(&self) -> StructuredOutput {
        self.structured_output
            .unwrap_or(self.wire_api.format().structured_output)
    }
}

/// Values of headers and query parameters may be keys, so only their names are shown.
impl fmt::Debug for ProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |map: &Option<BTreeMap<String, String>>| {
            map.iter()
                .flat_map(BTreeMap::keys)
                .cloned()
                .collect::<Vec<_>>()
        };
        f.debug_struct("ProviderConfig")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("base_url", &self.base_url.as_deref().map(public_url))
            .field("wire_api", &self.wire_api)
            .field("env_key", &self.env_key)
            .field("experimental_bearer_token", &self.experimental_bearer_token)
            .field("query_params", &names(&self.query_params))
            .field("http_headers", &names(&self.http_headers))
            .field("env_http_headers", &self.env_http_headers)
            .finish_non_exhaustive()
    }
}

/// An address without its query and its user, either of which may hold a key.
pub(crate) fn public_url(url: &str) -> String {
    let address = url.split('?').next().unwrap_or_default();
    let Some((scheme, rest)) = address.split_once("://") else {
        return address.to_owned();
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

/// The value of an environment variable that is set and not blank.
pub(crate) fn env_var(name: &str) -> Option<String> {
    std::env::var(name)
        .ok()
        .filter(|value| !value.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_a_built_in_id_may_be_short() {
        let table = serde_json::json!({"name": "Proxy", "base_url": "http://proxy/v1"});
        let short = ProviderConfig::declared("anthropic", &table).unwrap();
        assert_eq!(short.base_url.as_deref(), Some("http://proxy/v1"));
        assert_eq!(short.env_key.as_deref(), Some("ANTHROPIC_API_KEY"));
        assert_eq!(short.wire_api, WireApi::Anthropic);
        let table = serde_json::json!({"wire_api": "chat", "experimental_bearer_token": "t"});
        let full = ProviderConfig::declared("anthropic", &table).unwrap();
        assert_eq!((full.env_key, full.wire_api), (None, WireApi::Chat));
        let own = ProviderConfig::declared("own", &serde_json::json!({})).unwrap();
        assert_eq!((own.base_url, own.env_key), (None, None));
    }

    #[test]
    fn azure_is_recognised_by_name_or_address() {
        let by_name = ProviderConfig {
            name: "Azure".into(),
            ..Default::default()
        };
        let by_url = ProviderConfig {
            base_url: Some("https://x.OpenAI.Azure.com/v1".into()),
            ..Default::default()
        };
        assert!(by_name.is_azure() && by_url.is_azure());
        assert!(!ProviderConfig::built_in("openai").unwrap().is_azure());
    }

    #[test]
    fn debug_shows_names_but_no_values() {
        let config = ProviderConfig {
            base_url: Some("https://me:sk-4@host/v1?key=sk-5".into()),
            experimental_bearer_token: Some(Secret::new("tok-1")),
            query_params: Some([("key".to_owned(), "sk-2".to_owned())].into()),
            http_headers: Some([("x-api-key".to_owned(), "sk-3".to_owned())].into()),
            ..Default::default()
        };
        let shown = format!("{config:?}");
        for secret in ["tok-1", "sk-2", "sk-3", "sk-4", "sk-5"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        assert!(shown.contains("x-api-key") && shown.contains("https://host/v1"));
    }
}
