//! `--oss`: a run with a model server of this machine. That nobody listens there is reported at once, in place of
//! five attempts to connect.

use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use quipu_model::ProviderConfig;

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

    /// The id of the provider to use, once somebody listens there.
    pub fn provider(self, configured: Option<String>) -> Result<String, String> {
        let id = self.provider.or(configured);
        let id = id.unwrap_or_else(|| "ollama".to_owned());
        match ProviderConfig::built_in(&id) {
            Some(provider) => reach(&provider).map(|()| id),
            // One of the user's own, or none at all, which loading the configuration tells.
            None => Ok(id),
        }
    }
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
        false => Err(format!(
            "nothing listens at {url}, where {} is expected: start it, or say with CODEX_OSS_BASE_URL \
             or CODEX_OSS_PORT where it is",
            provider.name
        )),
    }
}
