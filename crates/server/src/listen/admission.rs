//! Who may connect to a websocket listener: which web pages, and with which credentials.

use std::fmt;
use std::str::FromStr;

use quipu_rpc::http::Head;

use super::WebSocketAuth;

/// The subprotocol that is agreed on with a client that offers it. Browsers can present a token in no other
/// place, and close the connection if the server agrees to nothing that they offer.
pub(super) const SUBPROTOCOL: &str = "quipu";

/// Begins the subprotocol that carries a token.
const TOKEN_SUBPROTOCOL: &[u8] = b"quipu.bearer.";

/// Who may connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admission {
    /// What clients must present.
    pub auth: WebSocketAuth,
    /// The web pages whose scripts may connect; programs other than browsers name none.
    pub origins: Vec<Origin>,
    /// Whether pages that come from the listener itself may connect too.
    pub own_pages: bool,
}

impl Admission {
    /// Everyone who can reach the listener, but no web page.
    pub const ALL_PROGRAMS: Admission = Admission {
        auth: WebSocketAuth::None,
        origins: Vec::new(),
        own_pages: false,
    };

    /// Whether the page that a request comes from may make it.
    pub(super) fn allows_origin(&self, head: &Head) -> bool {
        head.header("origin").is_none_or(|origin| {
            let mut allowed = self.origins.iter();
            allowed.any(|it| it.0.as_bytes() == origin) || self.is_own_page(head, origin)
        })
    }

    /// Whether the page came from the address that the request goes to. Without a credential, only names of this
    /// machine count: a name of somebody else could lead here, and its pages with it.
    fn is_own_page(&self, head: &Head, origin: &[u8]) -> bool {
        let host = head.header("host").unwrap_or_default();
        let without_scheme = [&b"http://"[..], b"https://"]
            .iter()
            .find_map(|scheme| origin.strip_prefix(*scheme));
        self.own_pages
            && without_scheme == Some(host)
            && (self.auth != WebSocketAuth::None || is_this_machine(host))
    }

    /// Checks the credentials of a request; the error is what the client gets.
    pub(super) fn check(&self, head: &Head) -> Result<(), &'static str> {
        if let Some(header) = head.header("authorization") {
            return self.auth.check(Some(header));
        }
        let mut offered = head.words("sec-websocket-protocol");
        let token = offered.find_map(|word| word.strip_prefix(TOKEN_SUBPROTOCOL));
        let header = token.map(|token| [b"Bearer ", token].concat());
        self.auth.check(header.as_deref())
    }
}

/// Whether a `Host` header names the loopback interface.
fn is_this_machine(host: &[u8]) -> bool {
    let host = std::str::from_utf8(host).unwrap_or_default();
    let is_port = |text: &str| text.is_empty() || text.starts_with(':');
    ["127.0.0.1", "localhost", "[::1]"]
        .iter()
        .any(|name| host.strip_prefix(name).is_some_and(is_port))
}

/// The origin of a web page, as browsers send it: `https://example.com` or `http://localhost:5173`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(String);

impl FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Origin, String> {
        let is_origin = text.split_once("://").is_some_and(|(scheme, host)| {
            let letters = scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
            letters && !host.is_empty() && !host.contains(['/', '?', '#', '@', '*', ' '])
        });
        match is_origin {
            true => Ok(Origin(text.to_ascii_lowercase())),
            false => Err(format!(
                "`{text}` is not an origin; expected `http://HOST:PORT` or `https://HOST`, as the browser sends it"
            )),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_pages_are_those_of_the_address_that_is_asked() {
        let ask = |admission: &Admission, host: &str, origin: &str| {
            let headers = [("host", host), ("origin", origin)];
            admission.allows_origin(&Head {
                method: "GET".to_owned(),
                path: "/".to_owned(),
                query: String::new(),
                headers: headers
                    .map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec()))
                    .to_vec(),
            })
        };
        let open = Admission {
            own_pages: true,
            ..Admission::ALL_PROGRAMS
        };
        let closed = Admission {
            auth: WebSocketAuth::token("a token of thirty-two characters"),
            ..open.clone()
        };
        let here = ("127.0.0.1:80", "http://127.0.0.1:80");
        assert!(ask(&open, here.0, here.1) && ask(&closed, here.0, here.1));
        assert!(!ask(&Admission::ALL_PROGRAMS, here.0, here.1));
        for (host, origin) in [
            ("127.0.0.1:80", "http://127.0.0.1:81"),
            ("127.0.0.1:80", "null"),
            ("127.0.0.1:80", "http://evil.example"),
            ("127.0.0.1:80", "ftp://127.0.0.1:80"),
        ] {
            assert!(!ask(&open, host, origin), "{host} {origin}");
            assert!(!ask(&closed, host, origin), "{host} {origin}");
        }
        let elsewhere = ("evil.example:80", "http://evil.example:80");
        assert!(!ask(&open, elsewhere.0, elsewhere.1));
        assert!(ask(&closed, elsewhere.0, elsewhere.1));
        let similar = ("localhost.evil:80", "http://localhost.evil:80");
        assert!(!ask(&open, similar.0, similar.1));
    }

    #[test]
    fn origins_are_a_scheme_and_a_host() {
        for good in [
            "http://localhost:5173",
            "https://Example.com",
            "http://[::1]:80",
        ] {
            let origin: Origin = good.parse().unwrap();
            assert_eq!(origin.to_string(), good.to_lowercase());
        }
        for bad in [
            "null",
            "*",
            "localhost",
            "http://",
            "http://a/",
            "https://*.a.b",
        ] {
            assert!(bad.parse::<Origin>().is_err(), "{bad}");
        }
    }
}
