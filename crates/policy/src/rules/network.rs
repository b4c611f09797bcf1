//! Rules about hosts: whom commands may reach through the managed network.

use quipu_wire::NetworkApprovalProtocol;

/// How a host is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NetworkProtocol {
    /// Plain HTTP through the proxy.
    Http,
    /// HTTPS, tunnelled through the proxy.
    Https,
    /// TCP over SOCKS5.
    Socks5Tcp,
    /// UDP over SOCKS5.
    Socks5Udp,
}

impl NetworkProtocol {
    pub(super) fn from_name(name: &str) -> Option<NetworkProtocol> {
        match name {
            "http" => Some(NetworkProtocol::Http),
            "https" | "https_connect" | "http-connect" => Some(NetworkProtocol::Https),
            "socks5_tcp" => Some(NetworkProtocol::Socks5Tcp),
            "socks5_udp" => Some(NetworkProtocol::Socks5Udp),
            _ => None,
        }
    }

    /// The name in rules files and in the ids of questions.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            NetworkProtocol::Http => "http",
            NetworkProtocol::Https => "https",
            NetworkProtocol::Socks5Tcp => "socks5_tcp",
            NetworkProtocol::Socks5Udp => "socks5_udp",
        }
    }

    /// The same in questions to clients.
    #[must_use]
    pub fn to_wire(self) -> NetworkApprovalProtocol {
        match self {
            NetworkProtocol::Http => NetworkApprovalProtocol::Http,
            NetworkProtocol::Https => NetworkApprovalProtocol::Https,
            NetworkProtocol::Socks5Tcp => NetworkApprovalProtocol::Socks5Tcp,
            NetworkProtocol::Socks5Udp => NetworkApprovalProtocol::Socks5Udp,
        }
    }
}

/// What a rule says about a host. Later is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NetworkDecision {
    /// Connect without a question.
    Allow,
    /// Ask.
    Prompt,
    /// Refuse.
    Deny,
}

impl NetworkDecision {
    pub(super) fn from_name(name: &str) -> Option<NetworkDecision> {
        match name {
            "allow" => Some(NetworkDecision::Allow),
            "prompt" => Some(NetworkDecision::Prompt),
            "deny" | "forbidden" => Some(NetworkDecision::Deny),
            _ => None,
        }
    }
}

/// One `network_rule`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkRule {
    /// The host, as [`normal_host`] writes it.
    pub host: String,
    /// How it is reached.
    pub protocol: NetworkProtocol,
    /// What to do.
    pub decision: NetworkDecision,
    /// Why, in the words of the rule's author.
    pub justification: Option<String>,
}

/// Why a text names no host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// Nothing is there.
    #[error("the host is empty")]
    Empty,
    /// It is more than a host.
    #[error("the host must be a name or an address, without scheme, path or blanks")]
    NotAHost,
    /// It stands for many hosts.
    #[error("the host must be one host; wildcards are not possible here")]
    Wildcard,
    /// An address in brackets without its end, or something else than a port after it.
    #[error("the host has a malformed address or port")]
    Malformed,
}

/// A host as rules compare it: lower case, without port, brackets and final dot.
pub fn normal_host(text: &str) -> Result<String, HostError> {
    let text = text.trim();
    if text.contains(['/', '?', '#', '@']) || text.contains(char::is_whitespace) {
        return Err(HostError::NotAHost);
    }
    if text.contains('*') {
        return Err(HostError::Wildcard);
    }
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    let host = if let Some(bracketed) = text.strip_prefix('[') {
        let (address, rest) = bracketed.split_once(']').ok_or(HostError::Malformed)?;
        if !rest.is_empty() && !rest.strip_prefix(':').is_some_and(is_port) {
            return Err(HostError::Malformed);
        }
        address
    } else {
        match text.split_once(':') {
            Some((host, port)) if !port.contains(':') => {
                is_port(port).then_some(host).ok_or(HostError::Malformed)?
            }
            _ => text,
        }
    };
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    if host.is_empty() {
        return Err(HostError::Empty);
    }
    Ok(host)
}
