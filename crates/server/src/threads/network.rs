//! The managed network of commands, from the configuration.

use std::sync::Arc;

use quipu_config::{Env, Snapshot};
use quipu_policy::domains::Domains;
use quipu_prompt::facts::NetworkHosts;
use quipu_tools::Network;
use quipu_wire::NetworkDomainPermission;

use super::session::Session;
use crate::Server;

/// What holds for the commands of a session; `None` if the network is not managed.
pub(super) fn of(server: &Server, session: &Session) -> Option<Arc<Network>> {
    managed(server.settings.config.env(), &session.snapshot)
}

/// What holds for commands under these settings; `None` if the network is not managed.
pub(crate) fn managed(env: &Env, snapshot: &Snapshot) -> Option<Arc<Network>> {
    let managed = snapshot.permissions().network.as_ref()?;
    let with = |wanted: NetworkDomainPermission| {
        let domains = managed.domains.iter();
        let named = domains.filter(move |(_, permission)| **permission == wanted);
        named.map(|(pattern, _)| pattern.clone()).collect()
    };
    Some(Arc::new(Network {
        domains: Domains {
            allowed: with(NetworkDomainPermission::Allow),
            denied: with(NetworkDomainPermission::Deny),
        },
        asks: managed.asks,
        uses_rules: managed.users_may_allow,
        reads_only: managed.reads_only,
        allow_local: managed.allow_local,
        upstream: managed.allow_upstream_proxy.then(|| proxy(env)).flatten(),
    }))
}

/// What the model is told of it.
pub(super) fn hosts(network: &Network) -> NetworkHosts {
    NetworkHosts {
        allowed: network.domains.allowed.clone(),
        denied: network.domains.denied.clone(),
    }
}

/// The proxy that the environment names, as `host:port`.
fn proxy(env: &Env) -> Option<String> {
    let names = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];
    let url = names
        .iter()
        .find_map(|name| env.get(name).filter(|url| !url.is_empty()))?;
    let rest = url.strip_prefix("http://").unwrap_or(url);
    let authority = rest.split('/').next()?;
    let place = authority.rsplit('@').next()?;
    let has_port = place.rsplit_once(':').is_some();
    Some(match has_port {
        true => place.to_owned(),
        false => format!("{place}:80"),
    })
}
