//! Why a provider cannot be reached, read from what the HTTP library reports: in words for people, and
//! whether waiting can help.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use reqwest::Url;

use crate::provider::{env_var, public_url};

/// How long a server may take to answer a TLS handshake.
const TLS_PATIENCE: Duration = Duration::from_secs(2);
const PROXY_VARIABLES: [&str; 6] = [
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
];

/// A connection that could not be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreachable {
    /// Where the request went, without its query.
    pub url: String,
    /// What was in the way.
    pub obstacle: Obstacle,
}

/// What was in the way of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// Nobody listens at that address.
    Refused,
    /// The name of the host has no address.
    UnknownHost,
    /// No name can be resolved for now.
    NoResolver,
    /// TLS failed; the text says how.
    Tls(String),
    /// What listens there does not speak TLS.
    NotTls,
    /// What listens there speaks TLS, and the address is one without.
    OnlyTls,
    /// Nobody answered in time.
    TimedOut,
    /// Something else, in the words of the system.
    Other(String),
}

impl Unreachable {
    pub(crate) fn new(url: &str, error: &reqwest::Error) -> Self {
        let mut obstacle = Obstacle::Other(root_cause(error));
        if error.is_timeout() {
            obstacle = Obstacle::TimedOut;
        }
        let mut next: Option<&(dyn Error + 'static)> = Some(error);
        while let Some(cause) = next {
            if let Some(error) = cause.downcast_ref::<io::Error>() {
                match innermost(error).kind() {
                    io::ErrorKind::ConnectionRefused => obstacle = Obstacle::Refused,
                    io::ErrorKind::InvalidData => obstacle = tls(&root_cause(error)),
                    _ => {}
                }
            }
            if cause.to_string() == "dns error" {
                obstacle = match root_cause(cause).contains("emporary") {
                    true => Obstacle::NoResolver,
                    false => Obstacle::UnknownHost,
                };
            }
            next = cause.source();
        }
        Self {
            url: public_url(url),
            obstacle,
        }
    }

    /// A request without TLS that was not answered fails for good if the server wants TLS, which only a try
    /// can tell: nothing but a handshake is sent.
    pub(crate) async fn with_tls_tried(mut self, client: &reqwest::Client) -> Self {
        let address = Url::parse(&self.url).ok();
        let address = address.filter(|url| url.scheme() == "http" && url.host_str().is_some());
        if let (Some(url), Obstacle::Other(_)) = (address, &self.obstacle) {
            let host = url.host_str().unwrap_or_default();
            let port = url.port_or_known_default().unwrap_or(80);
            let https = format!("https://{host}:{port}/");
            let tried = client.head(&https).timeout(TLS_PATIENCE).send().await;
            let speaks_tls = match tried {
                Ok(_) => true,
                Err(error) => matches!(Self::new(&https, &error).obstacle, Obstacle::Tls(_)),
            };
            if speaks_tls {
                self.obstacle = Obstacle::OnlyTls;
            }
        }
        self
    }

    /// Whether a later attempt may succeed. A server of this machine that does not listen has to be
    /// started first.
    pub(crate) fn may_pass(&self) -> bool {
        match self.obstacle {
            Obstacle::Refused => !is_loopback(&self.url),
            Obstacle::UnknownHost | Obstacle::Tls(_) | Obstacle::NotTls | Obstacle::OnlyTls => {
                false
            }
            Obstacle::NoResolver | Obstacle::TimedOut | Obstacle::Other(_) => true,
        }
    }

    /// The reason in a few words.
    pub(crate) fn brief(&self) -> String {
        let url = Url::parse(&self.url).ok();
        let origin = url.as_ref().map_or_else(
            || self.url.clone(),
            |url| url.origin().ascii_serialization(),
        );
        let host = url.as_ref().and_then(Url::host_str).unwrap_or(&self.url);
        match &self.obstacle {
            Obstacle::Refused if PROXY_VARIABLES.iter().any(|it| env_var(it).is_some()) => {
                format!("connection refused by {origin} or a proxy")
            }
            Obstacle::Refused => format!("connection refused by {origin}"),
            Obstacle::UnknownHost => format!("unknown host `{host}`"),
            Obstacle::NoResolver => format!("cannot resolve `{host}` at the moment"),
            Obstacle::Tls(text) => format!("TLS with {origin} failed: {text}"),
            Obstacle::NotTls => format!("{origin} does not speak TLS"),
            Obstacle::OnlyTls => format!("{origin} closed the connection; it speaks TLS"),
            Obstacle::TimedOut => format!("connecting to {origin} timed out"),
            Obstacle::Other(text) => text.clone(),
        }
    }

    fn advice(&self) -> &'static str {
        match self.obstacle {
            Obstacle::Refused if is_loopback(&self.url) => {
                "; start the server, or correct its address"
            }
            Obstacle::UnknownHost => "; check the address and the network",
            Obstacle::Tls(_) => {
                "; if its certificate is signed by a private authority, set CODEX_CA_CERTIFICATE to the \
                 file with that authority's certificate"
            }
            Obstacle::NotTls => "; use an address that begins with http://",
            Obstacle::OnlyTls => "; use an address that begins with https://",
            _ => "",
        }
    }
}

/// The text that clients know, then the reason and what to do.
impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (brief, advice) = (self.brief(), self.advice());
        write!(
            f,
            "error sending request for url ({}): {brief}{advice}",
            self.url
        )
    }
}

/// What a failure of TLS means. The library wraps some of its reasons in the names of its own types.
fn tls(reason: &str) -> Obstacle {
    if reason.contains("InvalidContentType") {
        return Obstacle::NotTls;
    }
    let Some((what, wrapped)) = reason.split_once("Other(OtherError(") else {
        return Obstacle::Tls(reason.to_owned());
    };
    let wrapped = wrapped.trim_end_matches(')');
    let plain = match wrapped {
        "CaUsedAsEndEntity" => "it is the certificate of an authority, not of a server",
        other => other,
    };
    Obstacle::Tls(format!("{what}{plain}"))
}

/// Whether an address is one of this machine.
pub(crate) fn is_loopback(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else {
        return false;
    };
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|it| it.is_loopback())
}

/// An error of the system that others may be wrapped around; their `source` skips it.
fn innermost(mut error: &io::Error) -> &io::Error {
    while let Some(inner) = error.get_ref().and_then(|it| it.downcast_ref()) {
        error = inner;
    }
    error
}

/// The innermost reason: the outer ones only repeat that a request failed.
pub(crate) fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_tls_are_in_plain_words() {
        let authority = "invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))";
        let plain =
            "invalid peer certificate: it is the certificate of an authority, not of a server";
        assert_eq!(tls(authority), Obstacle::Tls(plain.to_owned()));
        let unknown = "invalid peer certificate: UnknownIssuer";
        assert_eq!(tls(unknown), Obstacle::Tls(unknown.to_owned()));
        let corrupt = "received corrupt message of type InvalidContentType";
        assert_eq!(tls(corrupt), Obstacle::NotTls);
    }

    #[test]
    fn addresses_of_this_machine_are_known() {
        for url in [
            "http://localhost:1/v1",
            "http://127.0.0.9/v1",
            "http://[::1]:8/v1",
        ] {
            assert!(is_loopback(url), "{url}");
        }
        for url in [
            "http://localhost.example/v1",
            "http://10.0.0.1/v1",
            "nonsense",
        ] {
            assert!(!is_loopback(url), "{url}");
        }
    }
}
