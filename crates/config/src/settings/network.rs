//! The managed network: hosts that commands may reach through a gate of this program. An administrator
//! switches it on for everybody, a permission profile for those that choose it.

use std::collections::BTreeMap;

use quipu_wire::{NetworkDomainPermission, NetworkRequirements};
use serde::Deserialize;

/// What holds for connections of commands.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ManagedNetwork {
    /// Hosts by pattern: exact, `*.x` for what lies below x, `**.x` for both, `*` for all.
    pub domains: BTreeMap<String, NetworkDomainPermission>,
    /// A person may be asked about hosts that nobody named.
    pub asks: bool,
    /// Hosts that users have allowed count too.
    pub users_may_allow: bool,
    /// Only requests that read are let through.
    pub reads_only: bool,
    /// Connections go through the proxy of the environment, if there is one.
    pub allow_upstream_proxy: bool,
    /// Addresses of this machine and of private networks may be reached.
    pub allow_local: bool,
}

/// `[permissions.NAME.network]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ProfileNetwork {
    pub enabled: bool,
    mode: Mode,
    domains: BTreeMap<String, Permission>,
    allow_upstream_proxy: bool,
    allow_local_binding: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Limited,
    #[default]
    Full,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Permission {
    Allow,
    Deny,
    None,
}

/// What is in force, if the network is managed. What an administrator says goes before a profile.
pub(super) fn resolve(
    profile: Option<&ProfileNetwork>,
    limits: Option<&NetworkRequirements>,
) -> Option<ManagedNetwork> {
    let profile = profile.filter(|profile| profile.enabled);
    let limits = limits.filter(|limits| limits.enabled == Some(true));
    if profile.is_none() && limits.is_none() {
        return None;
    }
    let mut network = ManagedNetwork {
        users_may_allow: true,
        ..ManagedNetwork::default()
    };
    if let Some(profile) = profile {
        let named = profile.domains.iter();
        network.domains = named
            .filter_map(|(pattern, permission)| Some((pattern.clone(), (*permission).known()?)))
            .collect();
        network.reads_only = profile.mode == Mode::Limited;
        network.allow_upstream_proxy = profile.allow_upstream_proxy;
        network.allow_local = profile.allow_local_binding;
    }
    if let Some(limits) = limits {
        let own_only = limits.managed_allowed_domains_only == Some(true);
        if own_only {
            let denied = |it: &NetworkDomainPermission| *it == NetworkDomainPermission::Deny;
            network.domains.retain(|_, permission| denied(permission));
        }
        network
            .domains
            .extend(limits.domains.clone().unwrap_or_default());
        network.asks = !own_only;
        network.users_may_allow = !own_only;
        network.allow_upstream_proxy = limits
            .allow_upstream_proxy
            .unwrap_or(network.allow_upstream_proxy);
        network.allow_local = limits.allow_local_binding.unwrap_or(network.allow_local);
    }
    Some(network)
}

impl Permission {
    fn known(self) -> Option<NetworkDomainPermission> {
        match self {
            Self::Allow => Some(NetworkDomainPermission::Allow),
            Self::Deny => Some(NetworkDomainPermission::Deny),
            Self::None => None,
        }
    }
}
