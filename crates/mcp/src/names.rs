//! The names under which models know the tools of servers.

use std::fmt::Write as _;

use sha1::{Digest as _, Sha1};

/// Providers refuse longer names of functions.
const MAX_NAME: usize = 64;
/// What is kept of a name that is too long, before the digest of the whole.
const KEPT: usize = 24;

/// The prefix of every tool of a server.
pub(crate) fn prefix(server: &str) -> String {
    format!("mcp__{}__", safe(server))
}

/// The name under which a model knows a tool.
pub(crate) fn qualified(server: &str, tool: &str) -> String {
    let raw = format!("mcp__{server}__{tool}");
    let name = safe(&raw);
    if name.len() <= MAX_NAME {
        return name;
    }
    let mut short = name[..KEPT].to_owned();
    for byte in Sha1::digest(raw.as_bytes()) {
        // Writing to a string cannot fail.
        write!(short, "{byte:02x}").ok();
    }
    short
}

/// Whether a server may have this name.
pub(crate) fn is_server_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !name.is_empty() && name.chars().all(allowed)
}

fn safe(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hold_only_what_providers_take() {
        assert_eq!(qualified("my-srv", "echo.it"), "mcp__my_srv__echo_it");
        assert_eq!(qualified("s", "grün"), "mcp__s__gr_n");
    }

    #[test]
    fn a_long_name_ends_in_the_digest_of_the_whole() {
        let name = qualified("good", &"x".repeat(70));
        assert_eq!(
            name,
            "mcp__good__xxxxxxxxxxxxx80f7bbdb874c63df15bc084e374eb91b10934c03"
        );
        assert_eq!(name.len(), MAX_NAME);
    }
}
