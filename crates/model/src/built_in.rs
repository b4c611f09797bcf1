//! The providers that need no configuration, as one table, and the one to use when no configuration
//! names any.

use std::fmt;
use std::time::Duration;

use futures_util::future::join_all;
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::catalogue::DEFAULT_MODEL;
use crate::provider::{OFFLINE, ProviderConfig, StructuredOutput, WireApi, env_var};

/// The version announced to OpenAI: that of the protocol that this program implements.
pub const CLIENT_VERSION: &str = "0.118.0";

/// More than a machine needs to answer itself.
const PROBE: Duration = Duration::from_millis(150);

/// One built-in provider.
#[derive(Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// The value of `model_provider`.
    pub id: &'static str,
    /// The name for people.
    pub name: &'static str,
    /// Where requests go. `openai` has two addresses, by login; `azure` needs one of its own.
    pub base_url: Option<&'static str>,
    /// How requests and answers are written.
    pub wire_api: WireApi,
    /// Variables that may hold the key, in order; the first that is set counts.
    pub env_keys: &'static [&'static str],
    /// The model to use when none is configured; without one, the server is asked for its list.
    pub default_model: Option<&'static str>,
    structured_output: Option<StructuredOutput>,
}

/// All of them. With several keys in an environment, the first provider is used.
pub static BUILT_IN: [BuiltIn; 14] = [
    BuiltIn {
        wire_api: WireApi::Responses,
        ..hosted("openai", "OpenAI", None, &["OPENAI_API_KEY"], DEFAULT_MODEL)
    },
    BuiltIn {
        wire_api: WireApi::Anthropic,
        ..hosted(
            "anthropic",
            "Anthropic",
            Some("https://api.anthropic.com/v1"),
            &["ANTHROPIC_API_KEY"],
            "claude-opus-5-5",
        )
    },
    hosted(
        "openrouter",
        "OpenRouter",
        Some("https://openrouter.ai/api/v1"),
        &["OPENROUTER_API_KEY"],
        "openrouter/auto",
    ),
    hosted(
        "gemini",
        "Gemini",
        Some("https://generativelanguage.googleapis.com/v1beta/openai"),
        &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        "gemini-flash-latest",
    ),
    hosted(
        "groq",
        "Groq",
        Some("https://api.groq.com/openai/v1"),
        &["GROQ_API_KEY"],
        "openai/gpt-oss-120b",
    ),
    hosted(
        "mistral",
        "Mistral",
        Some("https://api.mistral.ai/v1"),
        &["MISTRAL_API_KEY"],
        "mistral-large-latest",
    ),
    hosted(
        "deepseek",
        "DeepSeek",
        Some("https://api.deepseek.com/v1"),
        &["DEEPSEEK_API_KEY"],
        "deepseek-chat",
    ),
    hosted(
        "xai",
        "xAI",
        Some("https://api.x.ai/v1"),
        &["XAI_API_KEY"],
        "grok-4",
    ),
    // The deployments of a resource are its models, so there is no default.
    BuiltIn {
        id: "azure",
        name: "Azure",
        base_url: None,
        wire_api: WireApi::Responses,
        env_keys: &["AZURE_OPENAI_API_KEY"],
        default_model: None,
        structured_output: None,
    },
    local("ollama", "Ollama", "http://localhost:11434/v1"),
    local("lmstudio", "LM Studio", "http://localhost:1234/v1"),
    // llama.cpp refuses a response format together with tools.
    BuiltIn {
        structured_output: Some(StructuredOutput::Instruction),
        ..local("llamacpp", "llama.cpp", "http://localhost:8080/v1")
    },
    local("vllm", "vLLM", "http://localhost:8000/v1"),
    BuiltIn {
        wire_api: WireApi::Offline,
        ..hosted(OFFLINE, "Offline", None, &[], OFFLINE)
    },
];

/// A provider on the internet that speaks Chat Completions.
const fn hosted(
    id: &'static str,
    name: &'static str,
    base_url: Option<&'static str>,
    env_keys: &'static [&'static str],
    default_model: &'static str,
) -> BuiltIn {
    BuiltIn {
        id,
        name,
        base_url,
        wire_api: WireApi::Chat,
        env_keys,
        default_model: Some(default_model),
        structured_output: None,
    }
}

/// A server on this machine that speaks Chat Completions.
const fn local(id: &'static str, name: &'static str, base_url: &'static str) -> BuiltIn {
    BuiltIn {
        id,
        name,
        base_url: Some(base_url),
        wire_api: WireApi::Chat,
        env_keys: &[],
        default_model: None,
        structured_output: None,
    }
}

impl BuiltIn {
    /// The built-in provider of that id.
    pub fn named(id: &str) -> Option<&'static Self> {
        BUILT_IN.iter().find(|it| it.id == id)
    }

    /// The ids of all, for messages.
    pub fn ids() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|it| it.id)
    }

    /// Whether it is a server on this machine.
    pub fn is_local(&self) -> bool {
        self.base_url
            .is_some_and(|url| url.starts_with("http://localhost:"))
    }

    /// The variable with a key for it, if `env` has one.
    pub fn key_in(&self, env: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
        let is_set = |name: &&&str| env(name).is_some_and(|value| !value.trim().is_empty());
        self.env_keys.iter().find(is_set).copied()
    }

    /// Its settings in the environment of this process. `CODEX_OSS_BASE_URL` and `CODEX_OSS_PORT`
    /// move the two local ones that official programs know.
    pub fn config(&self) -> ProviderConfig {
        let mut config = ProviderConfig {
            id: self.id.into(),
            name: self.name.into(),
            base_url: self.base_url.map(str::to_owned),
            wire_api: self.wire_api,
            structured_output: self.structured_output,
            ..ProviderConfig::default()
        };
        match self.id {
            "openai" => login_provider(&mut config),
            "ollama" | "lmstudio" => {
                let port = || Some(format!("http://localhost:{}/v1", oss_port()?));
                config.base_url = env_var("CODEX_OSS_BASE_URL")
                    .or_else(port)
                    .or(config.base_url);
            }
            _ => {
                let key = self.key_in(env_var).or(self.env_keys.first().copied());
                config.env_key = key.map(str::to_owned);
            }
        }
        config
    }
}

/// Local providers at whose address somebody listens.
pub async fn local_servers() -> Vec<ProviderConfig> {
    let local = BUILT_IN.iter().filter(|it| it.is_local());
    let probes = local.map(|it| async move {
        let config = it.config();
        let url = config.base_url.as_deref().unwrap_or_default();
        let authority = url.split('/').nth(2).unwrap_or_default();
        let answer = timeout(PROBE, TcpStream::connect(authority)).await;
        matches!(answer, Ok(Ok(_))).then_some(config)
    });
    join_all(probes).await.into_iter().flatten().collect()
}

fn oss_port() -> Option<u16> {
    env_var("CODEX_OSS_PORT")?.parse().ok()
}

/// OpenAI's key comes from a login; the variable counts when nobody is logged in.
fn login_provider(config: &mut ProviderConfig) {
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    config.requires_openai_auth = true;
    config.supports_websockets = true;
    config.http_headers = Some([header("version", CLIENT_VERSION)].into());
    config.env_http_headers = Some(
        [
            header("OpenAI-Organization", "OPENAI_ORGANIZATION"),
            header("OpenAI-Project", "OPENAI_PROJECT"),
        ]
        .into(),
    );
}

/// What makes a provider usable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The stored login.
    Login,
    /// The variable that holds a key.
    Key(&'static str),
}

/// A provider that can be used without configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usable {
    /// The provider.
    pub provider: &'static BuiltIn,
    /// Why it can be used.
    pub access: Access,
}

/// The provider for those who configured none. `Display` says why it is that one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The provider that is used.
    pub taken: Usable,
    /// Others that could be.
    pub others: Vec<Usable>,
}

/// No provider is configured and there is no key for any. `Display` says what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "no model is set up: `model_provider` is not configured and no API key was found.\n\
     Run `quipu init`, or set one of {}.\n\
     For a model on this machine, start its server and set `model_provider`, for example to \"ollama\".",
    known_keys()
)]
pub struct NoModel;

/// The environment variables of which one is enough.
pub fn known_keys() -> String {
    let keys: Vec<&str> = candidates().flat_map(|it| it.env_keys).copied().collect();
    keys.join(", ")
}

/// Providers that a key alone makes usable.
fn candidates() -> impl Iterator<Item = &'static BuiltIn> {
    BUILT_IN
        .iter()
        .filter(|it| it.default_model.is_some() && !it.env_keys.is_empty())
}

/// The provider to use when none is configured: that of the login, else the first of the table that
/// `env` has a key for.
pub fn choose(env: impl Fn(&str) -> Option<String>, has_login: bool) -> Result<Choice, NoModel> {
    let access = |provider: &BuiltIn| match provider.id {
        "openai" if has_login => Some(Access::Login),
        _ => provider.key_in(&env).map(Access::Key),
    };
    let mut usable = candidates().filter_map(|provider| {
        let access = access(provider)?;
        Some(Usable { provider, access })
    });
    Ok(Choice {
        taken: usable.next().ok_or(NoModel)?,
        others: usable.collect(),
    })
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Usable { provider, access } = &self.taken;
        let model = provider.default_model.unwrap_or_default();
        write!(f, "using {} ({model}): {access}", provider.name)?;
        for other in &self.others {
            write!(f, "; {} too", other.access)?;
        }
        if !self.others.is_empty() {
            f.write_str("; set `model_provider` to choose")?;
        }
        Ok(())
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Login => f.write_str("logged in"),
            Self::Key(variable) => write!(f, "{variable} is set"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{anthropic_models, openai_models};

    fn with(vars: &[(&'static str, &'static str)]) -> impl Fn(&str) -> Option<String> {
        let vars = vars.to_vec();
        move |name| {
            let found = vars.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        }
    }

    #[test]
    fn every_row_can_be_used_as_it_is() {
        for row in &BUILT_IN {
            let config = ProviderConfig::built_in(row.id).unwrap();
            assert_eq!(config.id, row.id);
            assert_eq!(BuiltIn::named(row.id), Some(row));
            let needs_key = !row.env_keys.is_empty() && row.id != "openai";
            assert_eq!(config.env_key.is_some(), needs_key, "{}", row.id);
        }
        assert!(ProviderConfig::built_in("nope").is_none());
        assert!(BUILT_IN[9].is_local() && !BUILT_IN[0].is_local());
        assert_eq!(BUILT_IN[0].default_model, Some(&*openai_models()[0].slug));
        assert_eq!(
            BUILT_IN[1].default_model,
            Some(&*anthropic_models()[0].slug)
        );
    }

    #[test]
    fn a_key_or_a_login_chooses_the_provider() {
        let alone = choose(
            with(&[("GOOGLE_API_KEY", "k"), ("GROQ_API_KEY", " ")]),
            false,
        )
        .unwrap();
        assert_eq!(
            alone.to_string(),
            "using Gemini (gemini-flash-latest): GOOGLE_API_KEY is set"
        );
        let keys = [("ANTHROPIC_API_KEY", "k"), ("XAI_API_KEY", "k")];
        let several = choose(with(&keys), false).unwrap();
        assert_eq!(
            several.to_string(),
            "using Anthropic (claude-opus-5-5): ANTHROPIC_API_KEY is set; XAI_API_KEY is set too; \
             set `model_provider` to choose"
        );
        let login = choose(with(&keys), true).unwrap();
        assert_eq!((login.taken.provider.id, login.others.len()), ("openai", 2));
        assert_eq!(login.taken.access, Access::Login);
    }

    #[test]
    fn without_a_key_the_ways_out_are_named() {
        // The address of an Azure resource is nobody's guess.
        let none = choose(with(&[("AZURE_OPENAI_API_KEY", "k")]), false).unwrap_err();
        let text = none.to_string();
        assert_eq!(text.lines().count(), 3, "{text}");
        for words in [
            "quipu init",
            "ANTHROPIC_API_KEY",
            "GEMINI_API_KEY",
            "ollama",
        ] {
            assert!(text.contains(words), "{words} is not in {text}");
        }
        assert!(!text.contains("AZURE"), "{text}");
    }
}
