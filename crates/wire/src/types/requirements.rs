//! MODDOC

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::{AskForApproval, SandboxMode, WebSearchMode};

/// DOC
#[wire]
pub struct ConfigRequirements {
    pub allowed_approval_policies: Option<Vec<AskForApproval>>,
    pub allowed_sandbox_modes: Option<Vec<SandboxMode>>,
    pub allowed_web_search_modes: Option<Vec<WebSearchMode>>,
    pub feature_requirements: Option<BTreeMap<String, bool>>,
    pub enforce_residency: Option<ResidencyRequirement>,
    #[wire(experimental = "configRequirements/read.network", sent)]
    pub network: Option<NetworkRequirements>,
}

/// DOC
#[wire]
pub enum NetworkDomainPermission {
    Allow,
    Deny,
}

/// DOC
#[wire]
pub struct NetworkRequirements {
    pub enabled: Option<bool>,
    pub http_port: Option<u16>,
    pub socks_port: Option<u16>,
    pub allow_upstream_proxy: Option<bool>,
    pub dangerously_allow_non_loopback_proxy: Option<bool>,
    pub dangerously_allow_all_unix_sockets: Option<bool>,
    pub domains: Option<BTreeMap<String, NetworkDomainPermission>>,
    pub managed_allowed_domains_only: Option<bool>,
    pub allowed_domains: Option<Vec<String>>,
    pub denied_domains: Option<Vec<String>>,
    pub unix_sockets: Option<BTreeMap<String, NetworkUnixSocketPermission>>,
    pub allow_unix_sockets: Option<Vec<String>>,
    pub allow_local_binding: Option<bool>,
}

/// DOC
#[wire]
pub enum NetworkUnixSocketPermission {
    Allow,
    None,
}

/// DOC
#[wire]
pub enum ResidencyRequirement {
    Us,
}

/// Result of `configRequirements/read`.
#[wire]
pub struct ConfigRequirementsReadResponse {
    pub requirements: Option<ConfigRequirements>,
}
