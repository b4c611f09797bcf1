//! Where the model works and when: the `<environment_context>` block.

use std::fmt::Write as _;

use super::facts::{Facts, NetworkHosts};

/// The block; the working directory is left out when the model knows it already.
pub fn block(facts: &Facts, with_cwd: bool) -> String {
    let mut out = String::from("<environment_context>\n");
    if with_cwd {
        line(&mut out, 2, "cwd", &facts.cwd);
    }
    line(&mut out, 2, "shell", &facts.shell);
    line(&mut out, 2, "current_date", &facts.date);
    line(&mut out, 2, "timezone", &facts.timezone);
    if let Some(hosts) = &facts.network {
        network(&mut out, hosts);
    }
    if !facts.subagents.is_empty() {
        out.push_str("  <subagents>\n");
        for agent in &facts.subagents {
            put(
                &mut out,
                format_args!("    - {}: {}\n", agent.id, agent.nickname),
            );
        }
        out.push_str("  </subagents>\n");
    }
    out.push_str("</environment_context>");
    out
}

fn network(out: &mut String, hosts: &NetworkHosts) {
    out.push_str("  <network enabled=\"true\">\n");
    for host in &hosts.allowed {
        line(out, 4, "allowed", host);
    }
    for host in &hosts.denied {
        line(out, 4, "denied", host);
    }
    out.push_str("  </network>\n");
}

fn line(out: &mut String, indent: usize, tag: &str, value: &str) {
    put(out, format_args!("{:indent$}<{tag}>{value}</{tag}>\n", ""));
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    out.write_fmt(text).unwrap_or_default();
}
