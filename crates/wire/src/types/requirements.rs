//! What an administrator demands of the configuration.

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::{AskForApproval, SandboxMode, WebSearchMode};

/// What an administrator demands; null where nothing is demanded.
#[wire]
pub struct ConfigRequirements {
    pub allowed_approval_policies: Option<Vec<AskForApproval>>,
    /// Always has `read-only` in it.
    pub allowed_sandbox_modes: Option<Vec<SandboxMode>>,
    /// Always has `disabled` in it.
    pub allowed_web_search_modes: Option<Vec<WebSearchMode>>,
    /// Features that are fixed on or off, by name.
    pub feature_requirements: Option<BTreeMap<String, bool>>,
    /// Where the provider must process requests.
    pub enforce_residency: Option<ResidencyRequirement>,
    /// Rules for commands that reach the network through the server's proxy.
    #[wire(experimental = "configRequirements/read.network", sent)]
    pub network: Option<NetworkRequirements>,
}

/// Whether commands may reach a host.
#[wire]
pub enum NetworkDomainPermission {
    Allow,
    Deny,
}

/// Rules of the proxy through which sandboxed commands reach the network.
#[wire]
pub struct NetworkRequirements {
    /// Whether the proxy is used.
    pub enabled: Option<bool>,
    pub http_port: Option<u16>,
    pub socks_port: Option<u16>,
    /// Whether the proxy may use another proxy.
    pub allow_upstream_proxy: Option<bool>,
    /// Whether the proxy may listen on addresses that other machines can reach.
    pub dangerously_allow_non_loopback_proxy: Option<bool>,
    /// Whether commands may connect to every Unix socket.
    pub dangerously_allow_all_unix_sockets: Option<bool>,
    /// Permissions by host pattern; a denial wins.
    pub domains: Option<BTreeMap<String, NetworkDomainPermission>>,
    /// Whether users cannot allow hosts of their own.
    pub managed_allowed_domains_only: Option<bool>,
    /// The allowed patterns of `domains`, for older clients; null if there are none.
    pub allowed_domains: Option<Vec<String>>,
    /// The denied patterns of `domains`, for older clients; null if there are none.
    pub denied_domains: Option<Vec<String>>,
    /// Permissions by the path of a Unix socket.
    pub unix_sockets: Option<BTreeMap<String, NetworkUnixSocketPermission>>,
    /// The allowed paths of `unixSockets`, for older clients; null if there are none.
    pub allow_unix_sockets: Option<Vec<String>>,
    /// Whether commands may reach addresses of this machine and of private networks.
    pub allow_local_binding: Option<bool>,
}

/// Whether commands may connect to a Unix socket.
#[wire]
pub enum NetworkUnixSocketPermission {
    Allow,
    None,
}

/// A region in which requests are processed.
#[wire]
pub enum ResidencyRequirement {
    /// The United States.
    Us,
}

/// Result of `configRequirements/read`.
#[wire]
pub struct ConfigRequirementsReadResponse {
    /// Null if nothing is demanded.
    pub requirements: Option<ConfigRequirements>,
}
