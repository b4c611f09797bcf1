//! The variables that hold keys of the program itself. The settings name them so that keys need not be
//! written into files; a command that prints its environment must not show them to the model instead.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::snapshot::View;

/// The keys of built-in providers, which no table names.
const BUILT_IN: [(&str, &str); 3] = [
    ("anthropic", "ANTHROPIC_API_KEY"),
    ("openai", "OPENAI_API_KEY"),
    ("openrouter", "OPENROUTER_API_KEY"),
];

/// The names of variables from which providers and MCP servers get their keys.
pub(super) fn names(view: &View<'_>) -> BTreeSet<String> {
    let in_force = view.raw("model_provider").and_then(Value::as_str);
    let mut names: BTreeSet<String> = BUILT_IN
        .iter()
        .filter(|(provider, _)| in_force == Some(provider))
        .map(|(_, name)| (*name).to_owned())
        .collect();
    for (tables, key) in [
        ("model_providers", "env_key"),
        ("mcp_servers", "bearer_token_env_var"),
    ] {
        let tables = view.merged.get(tables).and_then(Value::as_object);
        for table in tables.into_iter().flat_map(|tables| tables.values()) {
            let headers = table.get("env_http_headers").and_then(Value::as_object);
            let headers = headers.into_iter().flat_map(|headers| headers.values());
            let named = table.get(key).into_iter().chain(headers);
            names.extend(named.filter_map(Value::as_str).map(str::to_owned));
        }
    }
    names
}
