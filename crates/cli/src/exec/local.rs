//! `--oss`: a run with a model server of this machine. That nobody listens there is reported at once, in place of
//! five attempts to connect.

use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use quipu_config::Snapshot;
use quipu_model::{BUILT_IN, BuiltIn, ProviderConfig};

use crate::cmd::providers;

/// More than a machine needs to answer itself.
const PROBE: Duration = Duration::from_secs(2);

pub struct Local {
    /// The one named on the command line.
    provider: Option<String>,
}

impl Local {
    pub fn asked_for(oss: bool, provider: Option<String>) -> Option<Local> {
        (oss || provider.is_some()).then_some(Local { provider })
    }

    /// The id of the provider to use, once somebody listens where the settings say that it is.
    pub fn provider(self, found: &Snapshot) -> Result<String, String> {
        let id = self.provider.or(found.model().oss_provider);
        let id = id.unwrap_or_else(|| "ollama".to_owned());
        match BuiltIn::named(&id) {
            Some(it) if it.is_local() => reach(&providers::provider(found, &id)?)?,
            Some(_) => return Err(elsewhere(&id)),
            // One of the user's own, or none at all, which loading the configuration tells.
            None => {}
        }
        Ok(id)
    }
}

fn elsewhere(id: &str) -> String {
    let local = BUILT_IN.iter().filter(|it| it.is_local());
    let local: Vec<&str> = local.map(|it| it.id).collect();
    format!(
        "`{id}` is not a server on this machine; there are: {}",
        local.join(", ")
    )
}

/// The model that is asked for where none is named.
pub fn model(provider: &str) -> Option<&'static str> {
    match provider {
        "ollama" => Some("gpt-oss:20b"),
        "lmstudio" => Some("openai/gpt-oss-20b"),
        _ => None,
    }
}

fn reach(provider: &ProviderConfig) -> Result<(), String> {
    let url = provider.base_url.as_deref().unwrap_or_default();
    let authority = url.split('/').nth(2).unwrap_or_default();
    let addresses = authority.to_socket_addrs().into_iter().flatten();
    let mut attempts = addresses.map(|it| TcpStream::connect_timeout(&it, PROBE));
    match attempts.any(|it| it.is_ok()) {
        true => Ok(()),
        false => {
            let (id, name) = (&provider.id, &provider.name);
            let remedy = match &**id {
                "ollama" | "lmstudio" => "CODEX_OSS_BASE_URL or CODEX_OSS_PORT".to_owned(),
                id => format!("`base_url` in [model_providers.{id}]"),
            };
            Err(format!(
                "nothing listens at {url}, where {name} is expected: start it, or say with {remedy} where \
                 it is"
            ))
        }
    }
}
