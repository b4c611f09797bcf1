//! Which provider answers: the configured one, else one that there is a key for, else the offline model.

use quipu_config::Snapshot;
use quipu_model::{BuiltIn, Choice, NoModel, OFFLINE, ProviderConfig, choose};
use quipu_wire::ConfigWarningNotification;

use crate::Refusal;
use crate::Server;

impl Server {
    /// The provider for threads whose settings name none, or `NoModel` when the offline model would
    /// answer them.
    pub fn choose_provider(&self) -> Result<Choice, NoModel> {
        let env = self.settings.config.env();
        let has_login = self.accounts.current().is_some();
        choose(|name| env.get(name).map(str::to_owned), has_login)
    }

    /// The provider that these settings use.
    pub fn provider(&self, snapshot: &Snapshot) -> Result<ProviderConfig, String> {
        in_use(self, snapshot).map_err(|error| error.to_string())
    }
}

/// The provider in use with these settings.
pub(crate) fn in_use(server: &Server, snapshot: &Snapshot) -> Result<ProviderConfig, Refusal> {
    let id = snapshot.model().provider.unwrap_or_else(|| {
        let chosen = server.choose_provider();
        let id = chosen.map_or(OFFLINE, |choice| choice.taken.provider.id);
        id.to_owned()
    });
    let declared = snapshot
        .merged()
        .get("model_providers")
        .and_then(|table| table.get(&id));
    let mut provider = match (declared, BuiltIn::named(&id)) {
        (Some(table), _) => ProviderConfig::declared(&id, table)
            .map_err(|error| unusable(&format!("model_providers.{id}: {error}")))?,
        (None, Some(built_in)) => built_in.config(),
        (None, None) => return Err(unusable(&format!("Model provider `{id}` not found"))),
    };
    if id == "openai"
        && let Some(url) = snapshot.openai_base_url()
    {
        provider.base_url = Some(url.to_owned());
    }
    provider.check().map_err(|problem| unusable(&problem))?;
    if !provider.wire_api.is_offline() {
        provider
            .address(false)
            .map_err(|problem| unusable(&problem))?;
    }
    Ok(provider)
}

/// The provider for a thread with these settings, where one is configured or need not be.
pub(crate) fn for_thread(server: &Server, snapshot: &Snapshot) -> Result<ProviderConfig, Refusal> {
    if server.settings.needs_model && snapshot.model().provider.is_none() {
        let chosen = server.choose_provider();
        chosen.map_err(|none| Refusal::invalid_request(none.to_string()))?;
    }
    in_use(server, snapshot)
}

/// The providers of `model_providers` that can be read.
pub(crate) fn declared(snapshot: &Snapshot) -> impl Iterator<Item = ProviderConfig> {
    let tables = snapshot.merged().get("model_providers");
    let tables = tables.and_then(serde_json::Value::as_object).into_iter();
    let read = |(id, table): (&String, _)| ProviderConfig::declared(id, table).ok();
    tables.flatten().filter_map(read)
}

/// A warning about the choice of the provider: that it cannot be used, or that several keys were found and
/// which one is used. OpenAI is the default of the protocol, so that one is used without a warning.
pub(crate) fn warning(server: &Server, snapshot: &Snapshot) -> Option<ConfigWarningNotification> {
    let summary = match in_use(server, snapshot) {
        Err(error) => error.to_string(),
        Ok(_) if snapshot.model().provider.is_some() => return None,
        Ok(_) => {
            let choice = server.choose_provider().ok()?;
            let is_plain = choice.others.is_empty() || choice.taken.provider.id == "openai";
            (!is_plain).then(|| choice.to_string())?
        }
    };
    Some(ConfigWarningNotification {
        summary,
        details: None,
        path: None,
        range: None,
    })
}

fn unusable(problem: &str) -> Refusal {
    Refusal::InvalidConfig(problem.to_string())
}
