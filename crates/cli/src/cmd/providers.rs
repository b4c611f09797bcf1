//! `quipu providers`: which model providers there are, and which of them can be used now.

use std::collections::BTreeSet;
use std::process::ExitCode;

use quipu_config::{Env, LoadRequest, Snapshot};
use quipu_model::{BuiltIn, ProviderConfig};
use serde_json::{Value, json};

use super::{app_server, print};
use crate::args::{ConfigArgs, ProvidersArgs};
use crate::session;

/// One provider as it is shown.
struct Row {
    id: String,
    name: String,
    wire: &'static str,
    /// The variable that holds the key, if the provider has one.
    key: Option<String>,
    /// What can be said about the key.
    state: &'static str,
    in_use: bool,
}

pub fn run(args: ProvidersArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let overrides = common.overrides(&args.config)?;
    let config = app_server::load(Env::from_process(), overrides)?;
    let found = config.load(&LoadRequest::default());
    let found = found.map_err(|error| error.to_string())?;
    let env = config.env().clone();
    let (in_use, has_login) = session::with_client(config, async |client, server| {
        let account = client.account_read(Default::default()).await;
        let has_login = account.is_ok_and(|it| it.account.is_some());
        let configured = found.model().provider;
        let chosen = || Some(server.choose_provider().ok()?.taken.provider.id.to_owned());
        Ok((configured.or_else(chosen), has_login))
    })?;
    let mut rows = Vec::new();
    for id in ids(&found) {
        let provider = provider(&found, &id)?;
        let openai_key = || Some(BuiltIn::named(&provider.id)?.env_keys.first()?.to_string());
        let key = provider.env_key.clone().or_else(openai_key);
        let is_set = |name: &String| env.get(name).is_some_and(|it| !it.trim().is_empty());
        let state = match &key {
            _ if provider.requires_openai_auth && has_login => "logged in",
            Some(key) if is_set(key) => "key set",
            Some(_) => "no key",
            None => "no key needed",
        };
        rows.push(Row {
            name: provider.display_name().to_owned(),
            wire: provider.wire_api.name(),
            in_use: in_use.as_ref() == Some(&id),
            id,
            key,
            state,
        });
    }
    if args.json {
        return print::lines(rows.iter().map(Row::json));
    }
    if in_use.is_none() {
        eprintln!("no provider is in use: run `quipu init`, or set a key");
    }
    print::lines(rows.iter().map(Row::text))
}

impl Row {
    fn text(&self) -> String {
        let mark = if self.in_use { "*" } else { " " };
        let key = self.key.as_deref().unwrap_or("-");
        let (id, name, wire, state) = (&self.id, &self.name, self.wire, self.state);
        format!("{mark} {id:<12} {name:<12} {wire:<10} {key:<22} {state}")
    }

    fn json(&self) -> String {
        let line: Value = json!({
            "id": self.id,
            "name": self.name,
            "wire_api": self.wire,
            "env_key": self.key,
            "state": self.state,
            "in_use": self.in_use,
        });
        line.to_string()
    }
}

/// Built-in ids in their order, then those of the configuration.
fn ids(found: &Snapshot) -> Vec<String> {
    let built_in: Vec<String> = BuiltIn::ids().map(str::to_owned).collect();
    let declared = found.merged().get("model_providers");
    let declared = declared.and_then(Value::as_object).into_iter().flatten();
    let known: BTreeSet<&String> = built_in.iter().collect();
    let own: Vec<String> = declared
        .map(|(id, _)| id.clone())
        .filter(|id| !known.contains(id))
        .collect();
    built_in.iter().cloned().chain(own).collect()
}

/// The provider with this id, as the settings have it.
pub fn provider(found: &Snapshot, id: &str) -> Result<ProviderConfig, String> {
    let declared = found.merged().get("model_providers");
    match declared.and_then(|it| it.get(id)) {
        Some(table) => ProviderConfig::declared(id, table)
            .map_err(|error| format!("model_providers.{id}: {error}")),
        None => Ok(ProviderConfig::built_in(id).unwrap_or_default()),
    }
}
