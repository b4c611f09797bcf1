//! What holds for the connections of a thread's commands, and how commands learn of their gate.

use std::sync::Arc;

use quipu_policy::domains::{Domains, Standing};
use quipu_sandbox::Process;

use super::{Door, Keeper};

/// What programs that know the variable connect to without the gate: names of the loopback interface.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];
/// The same for private networks. A command in a network of its own has no way to them but the gate.
const PRIVATE: [&str; 6] = [
    "*.local",
    ".local",
    "169.254.0.0/16",
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
];

/// Variables that name the gate as an HTTP proxy, in capitals and small letters.
const HTTP_PROXIES: [&str; 21] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "WS_PROXY",
    "WSS_PROXY",
    "NPM_CONFIG_HTTP_PROXY",
    "NPM_CONFIG_HTTPS_PROXY",
    "NPM_CONFIG_PROXY",
    "http_proxy",
    "https_proxy",
    "ws_proxy",
    "wss_proxy",
    "npm_config_http_proxy",
    "npm_config_https_proxy",
    "npm_config_proxy",
    "PIP_PROXY",
    "YARN_HTTP_PROXY",
    "YARN_HTTPS_PROXY",
    "BUNDLE_HTTP_PROXY",
    "BUNDLE_HTTPS_PROXY",
    "DOCKER_HTTP_PROXY",
    "DOCKER_HTTPS_PROXY",
];
/// Variables that name it as a SOCKS proxy.
const SOCKS_PROXIES: [&str; 4] = ["ALL_PROXY", "FTP_PROXY", "all_proxy", "ftp_proxy"];
/// Variables with what goes past it.
const EXCEPTIONS: [&str; 5] = [
    "NO_PROXY",
    "no_proxy",
    "NPM_CONFIG_NOPROXY",
    "npm_config_noproxy",
    "BUNDLE_NO_PROXY",
];

/// What holds for connections of commands.
#[derive(Debug, Clone, Default)]
pub struct Network {
    pub domains: Domains,
    /// The user may be asked about hosts that nobody named.
    pub asks: bool,
    /// Rules files count too.
    pub uses_rules: bool,
    /// Only requests that read are let through.
    pub reads_only: bool,
    /// Addresses of this machine and of private networks may be reached.
    pub allow_local: bool,
    /// Another proxy that leads out, as `host:port`.
    pub upstream: Option<String>,
}

impl Network {
    /// The variables by which a sandboxed command of a client finds its gate.
    #[must_use]
    pub fn sandboxed_env(&self) -> Vec<(&'static str, String)> {
        self.env(&Door::Inside)
    }

    /// Serves the connections of a sandboxed command that belongs to no thread, by the lists alone.
    pub fn serve(self: Arc<Self>, process: &Process) {
        Door::Inside.watch(process, Arc::new(Keeper::of_lists(self)));
    }

    /// The variables by which a command finds its gate.
    pub(crate) fn env(&self, door: &Door) -> Vec<(&'static str, String)> {
        let port = door.port();
        let http = format!("http://127.0.0.1:{port}");
        let socks = format!("socks5h://127.0.0.1:{port}");
        let local = if self.allow_local { "1" } else { "0" };
        let of = |names: &'static [&'static str], value: String| {
            names.iter().map(move |name| (*name, value.clone()))
        };
        of(&HTTP_PROXIES, http)
            .chain(of(&SOCKS_PROXIES, socks))
            .chain(of(&EXCEPTIONS, self.exceptions(door)))
            .chain([
                ("ELECTRON_GET_USE_PROXY", "true".to_owned()),
                ("CODEX_NETWORK_ALLOW_LOCAL_BINDING", local.to_owned()),
            ])
            .collect()
    }

    /// What goes past the gate. In a network of its own that is the command's own loopback interface, except
    /// for names that the lists allow: those mean this machine, which only the gate reaches.
    fn exceptions(&self, door: &Door) -> String {
        match door {
            Door::Outside(..) => [&LOOPBACK[..], &PRIVATE[..]].concat().join(","),
            Door::Inside => {
                let named = Standing::Allowed { by_name: true };
                let own = LOOPBACK.into_iter();
                let own = own.filter(|name| self.domains.standing(name) != named);
                own.collect::<Vec<_>>().join(",")
            }
        }
    }
}
