//! Limits on the network of commands, in the form clients read.

use std::collections::BTreeMap;

use quipu_wire::{NetworkDomainPermission, NetworkRequirements, NetworkUnixSocketPermission};
use serde::Deserialize;

use crate::Table;

#[derive(Deserialize)]
struct NetworkToml {
    enabled: Option<bool>,
    http_port: Option<u16>,
    socks_port: Option<u16>,
    allow_upstream_proxy: Option<bool>,
    dangerously_allow_non_loopback_proxy: Option<bool>,
    dangerously_allow_all_unix_sockets: Option<bool>,
    domains: Option<BTreeMap<String, NetworkDomainPermission>>,
    #[serde(default)]
    allowed_domains: Vec<String>,
    #[serde(default)]
    denied_domains: Vec<String>,
    managed_allowed_domains_only: Option<bool>,
    unix_sockets: Option<BTreeMap<String, NetworkUnixSocketPermission>>,
    #[serde(default)]
    allow_unix_sockets: Vec<String>,
    allow_local_binding: Option<bool>,
}

/// Reads the limits of a checked file. Older lists are folded into the newer tables, and the tables
/// unfolded into the lists, so that old and new clients see the same.
pub fn from_table(table: &Table) -> Option<NetworkRequirements> {
    let toml: NetworkToml =
        serde_json::from_value(table.get("experimental_network")?.clone()).ok()?;
    let mut domains = toml.domains.unwrap_or_default();
    domains.extend(
        toml.allowed_domains
            .into_iter()
            .map(|domain| (domain, NetworkDomainPermission::Allow)),
    );
    domains.extend(
        toml.denied_domains
            .into_iter()
            .map(|domain| (domain, NetworkDomainPermission::Deny)),
    );
    let mut sockets = toml.unix_sockets.unwrap_or_default();
    sockets.extend(
        toml.allow_unix_sockets
            .into_iter()
            .map(|path| (path, NetworkUnixSocketPermission::Allow)),
    );
    Some(NetworkRequirements {
        enabled: toml.enabled,
        http_port: toml.http_port,
        socks_port: toml.socks_port,
        allow_upstream_proxy: toml.allow_upstream_proxy,
        dangerously_allow_non_loopback_proxy: toml.dangerously_allow_non_loopback_proxy,
        dangerously_allow_all_unix_sockets: toml.dangerously_allow_all_unix_sockets,
        managed_allowed_domains_only: toml.managed_allowed_domains_only,
        allowed_domains: names(&domains, &NetworkDomainPermission::Allow),
        denied_domains: names(&domains, &NetworkDomainPermission::Deny),
        domains: some(domains),
        allow_unix_sockets: names(&sockets, &NetworkUnixSocketPermission::Allow),
        unix_sockets: some(sockets),
        allow_local_binding: toml.allow_local_binding,
    })
}

fn names<P: PartialEq>(permissions: &BTreeMap<String, P>, wanted: &P) -> Option<Vec<String>> {
    let names: Vec<String> = permissions
        .iter()
        .filter(|(_, permission)| *permission == wanted)
        .map(|(name, _)| name.clone())
        .collect();
    (!names.is_empty()).then_some(names)
}

fn some<P>(permissions: BTreeMap<String, P>) -> Option<BTreeMap<String, P>> {
    (!permissions.is_empty()).then_some(permissions)
}
