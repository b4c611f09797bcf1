//! The head of a request to the gate. What the gate reads and what the server at the other end reads must be the same,
//! or a command could reach a host that nobody allowed: whatever two parsers may read differently is refused.

use quipu_policy::hosts::Target;
use quipu_policy::rules::{NetworkProtocol, normal_host};

/// The most headers of one request.
const MAX_HEADERS: usize = 128;

/// Headers between a client and a proxy. `host` is among them because the gate writes its own, from the address, as
/// RFC 9112 wants of proxies: what the command put there counts for nothing.
const FOR_PROXIES: [&str; 5] = [
    "connection",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
];

/// A request without its body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub method: String,
    pub target: Target,
    /// What follows the host in an absolute address; nothing for a tunnel.
    pub path: String,
    /// The headers that are meant for the server at the other end.
    pub headers: Vec<(String, String)>,
}

impl Head {
    /// Reads a head up to the empty line at its end; `None` if it is malformed or no request to a proxy.
    pub fn parse(bytes: &[u8]) -> Option<Head> {
        if has_stray_line_end(bytes) {
            return None;
        }
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let length = match request.parse(bytes).ok()? {
            httparse::Status::Complete(length) => length,
            httparse::Status::Partial => return None,
        };
        if length != bytes.len() {
            return None;
        }
        let (method, address) = (request.method?, request.path?);
        let (target, path) = match method {
            "CONNECT" => (target(address, NetworkProtocol::Https, 443)?, String::new()),
            _ => plain_target(address)?,
        };
        let mut all = Vec::new();
        for header in request.headers.iter() {
            let value = std::str::from_utf8(header.value).ok()?;
            all.push((header.name.to_owned(), value.to_owned()));
        }
        let is_host = |(name, _): &&(String, String)| name.eq_ignore_ascii_case("host");
        if all.iter().filter(is_host).count() > 1 {
            return None;
        }
        all.retain(|(name, _)| !FOR_PROXIES.iter().any(|it| name.eq_ignore_ascii_case(it)));
        Some(Head {
            method: method.to_owned(),
            target,
            path,
            headers: all,
        })
    }

    pub fn is_tunnel(&self) -> bool {
        self.target.protocol == NetworkProtocol::Https
    }

    /// How long the body is; `None` if the head does not say so.
    pub fn body_length(&self) -> Option<u64> {
        let mut length = None;
        for (name, value) in &self.headers {
            if name.eq_ignore_ascii_case("transfer-encoding") {
                return None;
            }
            if name.eq_ignore_ascii_case("content-length") {
                let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
                let given: u64 = value.parse().ok().filter(|_| is_number)?;
                if length.is_some_and(|other| other != given) {
                    return None;
                }
                length = Some(given);
            }
        }
        Some(length.unwrap_or(0))
    }
}

/// Whether there is a line feed or carriage return alone, which some programs take for the end of a line.
fn has_stray_line_end(bytes: &[u8]) -> bool {
    let mut before = 0;
    let lone_feed = bytes.iter().any(|byte| {
        let lone = *byte == b'\n' && before != b'\r';
        before = *byte;
        lone
    });
    let lone_return = bytes
        .iter()
        .enumerate()
        .any(|(at, byte)| *byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
    lone_feed || lone_return
}

/// The target and the path of an absolute address.
fn plain_target(address: &str) -> Option<(Target, String)> {
    let plain = address.strip_prefix("http://")?;
    let at = plain.find(['/', '?']).unwrap_or(plain.len());
    let (authority, path) = plain.split_at(at);
    let slash = if path.starts_with('/') { "" } else { "/" };
    let target = target(authority, NetworkProtocol::Http, 80)?;
    Some((target, format!("{slash}{path}")))
}

/// The target of an authority, `host[:port]`.
fn target(authority: &str, protocol: NetworkProtocol, port: u16) -> Option<Target> {
    let host = normal_host(authority).ok()?;
    let after_host = authority
        .rsplit_once(']')
        .map_or(authority, |(_, rest)| rest);
    let port = match after_host.rsplit_once(':') {
        Some((_, text)) => text.parse().ok()?,
        None => port,
    };
    Some(Target {
        host,
        protocol,
        port,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A head with these lines.
    fn parse(lines: &str) -> Option<Head> {
        Head::parse(format!("{lines}\r\n\r\n").as_bytes())
    }

    fn read(lines: &str) -> Option<(String, String, u16, String)> {
        let head = parse(lines)?;
        let Target { host, port, .. } = head.target;
        Some((head.method, host, port, head.path))
    }

    #[test]
    fn requests_to_a_proxy_name_their_target() {
        let read_as = |method: &str, host: &str, port, path: &str| {
            Some((method.to_owned(), host.to_owned(), port, path.to_owned()))
        };
        let cases = [
            (
                "GET http://X.org HTTP/1.1",
                read_as("GET", "x.org", 80, "/"),
            ),
            (
                "GET http://x.org?q HTTP/1.1",
                read_as("GET", "x.org", 80, "/?q"),
            ),
            (
                "POST http://x.org:81/a?b HTTP/1.0",
                read_as("POST", "x.org", 81, "/a?b"),
            ),
            (
                "CONNECT x.org:443 HTTP/1.1",
                read_as("CONNECT", "x.org", 443, ""),
            ),
            (
                "CONNECT [::1]:22 HTTP/1.1",
                read_as("CONNECT", "::1", 22, ""),
            ),
            ("GET http://[::1]/ HTTP/1.1", read_as("GET", "::1", 80, "/")),
        ];
        for (head, expected) in cases {
            assert_eq!(read(head), expected, "{head}");
        }
        for wrong in [
            "",
            "GET",
            "GET / HTTP/1.1",
            "GET ftp://x.org/ HTTP/1.1",
            "GET http://x.org/ HTTP/2",
            "GET http://a b/ HTTP/1.1",
            "GET  http://x.org/ HTTP/1.1",
            "GET http://x.org/ HTTP/1.1 ",
            "CONNECT x.org:99999 HTTP/1.1",
            "GET http:// HTTP/1.1",
            "GET http://u@x.org/ HTTP/1.1",
            "GET http://*.x.org/ HTTP/1.1",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_others_may_read_differently_is_refused() {
        const FIRST: &str = "GET http://x.org/ HTTP/1.1\r\n";
        for lines in ["Host: x.org\r\nA: b", "Host: evil.org", "Host:"] {
            let head = parse(&format!("{FIRST}{lines}"));
            assert!(head.is_some(), "{lines:?}");
        }
        for (lines, why) in [
            ("A: b\r\n c", "a folded header"),
            ("A: b\r\n\tc", "a header folded by a tab"),
            (" A: b", "a blank before a name"),
            ("A : b", "a blank after a name"),
            ("A b", "no colon"),
            (": b", "no name"),
            ("Host: x.org\r\nHost: x.org", "two hosts"),
            ("Host: x.org\r\nhost: evil.org", "two hosts that differ"),
            ("A: b\nHost: evil.org", "a line feed alone"),
            ("A: b\rHost: evil.org", "a carriage return alone"),
            ("A: b\r\r\nC: d", "a carriage return too many"),
            ("A: b\0c", "a NUL in a value"),
            ("A\0: b", "a NUL in a name"),
        ] {
            assert_eq!(parse(&format!("{FIRST}{lines}")), None, "{why}");
        }
        for first in [
            "GET http://x.org/\0 HTTP/1.1",
            "GET\thttp://x.org/ HTTP/1.1",
            "GET http://x.org/\tHTTP/1.1",
            "GET http://x.org#@evil.org/ HTTP/1.1",
            "GET http://x.org\\@evil.org/ HTTP/1.1",
            "GE\0T http://x.org/ HTTP/1.1",
        ] {
            assert_eq!(parse(first), None, "{first:?}");
        }
        let many = "A: b\r\n".repeat(MAX_HEADERS + 1);
        assert_eq!(parse(&format!("{FIRST}{}", many.trim_end())), None);
        assert_eq!(Head::parse(b"GET http://x.org/ HTTP/1.1\n\n"), None);
        assert_eq!(
            Head::parse(b"GET http://x.org/ HTTP/1.1\r\nA: \xff\r\n\r\n"),
            None
        );
    }

    #[test]
    fn the_length_of_a_body_is_given_or_nothing() {
        for (headers, length) in [
            ("A: b", Some(0)),
            ("Content-Length: 7\r\nA: b", Some(7)),
            ("content-length: 7\r\ncontent-length: 7", Some(7)),
            ("content-length: 7\r\ncontent-length: 8", None),
            ("content-length: -1", None),
            ("content-length: +7", None),
            ("content-length: 7, 7", None),
            ("content-length: 7\r\nTransfer-Encoding: chunked", None),
        ] {
            let head = parse(&format!("POST http://x.org/ HTTP/1.1\r\n{headers}")).unwrap();
            assert_eq!(head.body_length(), length, "{headers}");
        }
    }

    #[test]
    fn headers_for_proxies_stay_here() {
        let lines = "GET http://x.org/ HTTP/1.1\r\nHost: evil.org\r\nProxy-Authorization: secret\r\n\
                     Connection: keep-alive\r\nA: b";
        let kept = vec![("A".to_owned(), "b".to_owned())];
        assert_eq!(parse(lines).unwrap().headers, kept);
    }
}
