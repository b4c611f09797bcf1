//! Patterns of hosts, and which addresses are not out there.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What lists say about a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// A pattern allows it.
    Allowed {
        /// It is named itself, not just covered by a wildcard.
        by_name: bool,
    },
    /// A pattern denies it.
    Denied,
    /// No pattern covers it.
    Unknown,
}

/// Allowed and denied hosts; a denial wins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Domains {
    /// Patterns of allowed hosts.
    pub allowed: Vec<String>,
    /// Patterns of denied hosts. One that covers everything counts for nothing.
    pub denied: Vec<String>,
}

impl Domains {
    /// What the lists say about a host, which is in lower case.
    #[must_use]
    pub fn standing(&self, host: &str) -> Standing {
        let mut denied = self.denied.iter().filter(|pattern| *pattern != "*");
        if denied.any(|pattern| covers(pattern, host)) {
            return Standing::Denied;
        }
        let mut allowed = self.allowed.iter().filter(|pattern| covers(pattern, host));
        match allowed.clone().next() {
            None => Standing::Unknown,
            Some(_) => Standing::Allowed {
                by_name: allowed.any(|pattern| !pattern.contains('*')),
            },
        }
    }
}

/// Whether a pattern covers a host: exact, `*.x` what lies below x, `**.x` that and x, `*` all.
fn covers(pattern: &str, host: &str) -> bool {
    let pattern = pattern.trim_end_matches('.').to_ascii_lowercase();
    let lies_below = |parent: &str| {
        host.strip_suffix(parent)
            .is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
    };
    if pattern == "*" {
        true
    } else if let Some(parent) = pattern.strip_prefix("**.") {
        host == parent || lies_below(parent)
    } else if let Some(parent) = pattern.strip_prefix("*.") {
        lies_below(parent)
    } else {
        pattern == host
    }
}

/// Whether an address belongs to this machine or to a network that is not public.
#[must_use]
pub fn is_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_local_v4(address),
        IpAddr::V6(address) => match embedded_v4(address) {
            Some(inner) => is_local_v4(inner),
            None => is_local_v6(address),
        },
    }
}

fn is_local_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let shared = a == 100 && (64..128).contains(&b);
    let protocols = (a, b, c) == (192, 0, 0);
    let benchmarks = a == 198 && (b == 18 || b == 19);
    a == 0
        || a >= 224
        || shared
        || protocols
        || benchmarks
        || address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_documentation()
}

fn is_local_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    let documentation = first == 0x2001 && second == 0xdb8;
    address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        || documentation
}

/// The IPv4 address that an IPv6 one stands for: mapped, compatible, translated or tunnelled.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let bytes = address.octets();
    let segments = address.segments();
    let last = || Ipv4Addr::new(bytes[12], bytes[13], bytes[14], bytes[15]);
    match segments {
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => Some(last()),
        [0, 0, 0, 0, 0, 0, high, _] if high != 0 => Some(last()),
        [0x2002, ..] => Some(Ipv4Addr::new(bytes[2], bytes[3], bytes[4], bytes[5])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_cover_what_they_say() {
        let covered = |pattern: &str| {
            ["x.org", "a.x.org", "b.a.x.org", "notx.org", "x.org.evil"]
                .map(|host| covers(pattern, host))
        };
        assert_eq!(covered("x.org"), [true, false, false, false, false]);
        assert_eq!(covered("*.X.org"), [false, true, true, false, false]);
        assert_eq!(covered("**.x.org"), [true, true, true, false, false]);
        assert_eq!(covered("*"), [true; 5]);
    }

    #[test]
    fn a_denial_wins() {
        let list = |patterns: &[&str]| patterns.iter().map(|it| (*it).to_owned()).collect();
        let domains = Domains {
            allowed: list(&["**.x.org", "y.org", "*.z.org"]),
            denied: list(&["bad.x.org", "*"]),
        };
        let allowed = |by_name| Standing::Allowed { by_name };
        assert_eq!(domains.standing("bad.x.org"), Standing::Denied);
        assert_eq!(domains.standing("good.x.org"), allowed(false));
        assert_eq!(domains.standing("y.org"), allowed(true));
        assert_eq!(domains.standing("z.org"), Standing::Unknown);
    }

    #[test]
    fn local_addresses_are_known_in_every_dress() {
        for local in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::10.0.0.1",
            "::127.0.0.1",
            "2002:7f00:1::",
        ] {
            assert!(is_local(local.parse().unwrap()), "{local}");
        }
        for public in ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8"] {
            assert!(!is_local(public.parse().unwrap()), "{public}");
        }
    }
}
