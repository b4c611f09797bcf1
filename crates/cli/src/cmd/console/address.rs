//! The address of a console, and the two things that are asked of it before a browser is opened.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::str::FromStr;
use std::time::Duration;

use serde_json::Value;

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// No answer is longer.
const MAX_BYTES: u64 = 64 * 1024;

/// Where a console is: `HOST:PORT`.
#[derive(Debug, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    pub fn loopback(port: u16) -> Address {
        Address(format!("127.0.0.1:{port}"))
    }

    /// The page, with a code that opens it.
    pub fn page(&self, code: Option<&str>) -> String {
        // What follows `#` is not sent to any server.
        let code = code.map_or(String::new(), |code| format!("#code={code}"));
        format!("http://{}/{code}", self.0)
    }

    /// A new code for somebody who has the token; nothing if no console with that token runs there.
    pub fn code(&self, token: &str) -> Option<String> {
        let answer = self.ask("POST", "/console/code", token).ok()??;
        Some(answer.get("code")?.as_str()?.to_owned())
    }

    /// Whether there is a console at all.
    pub fn check(&self) -> Result<(), String> {
        match self.ask("GET", "/console/settings", "") {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(format!(
                "the server at {} has no console; start it with `app-server --listen ws://IP:PORT --console`",
                self.0
            )),
            Err(error) => Err(format!("cannot reach {}: {error}", self.0)),
        }
    }

    /// The JSON that is answered with 200.
    fn ask(&self, method: &str, path: &str, token: &str) -> io::Result<Option<Value>> {
        let address = self.0.to_socket_addrs()?.next();
        let address = address.ok_or(io::ErrorKind::AddrNotAvailable)?;
        let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let host = &self.0;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Length: 0\r\n\r\n"
        )?;
        let mut text = String::new();
        stream.take(MAX_BYTES).read_to_string(&mut text)?;
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body);
        let is_good = text.starts_with("HTTP/1.1 200 ");
        Ok(body
            .filter(|_| is_good)
            .and_then(|it| serde_json::from_str(it).ok()))
    }
}

impl FromStr for Address {
    type Err = String;

    /// Reads `ws://HOST:PORT` or `http://HOST:PORT`.
    fn from_str(url: &str) -> Result<Address, String> {
        let rest = ["ws://", "http://"]
            .iter()
            .find_map(|scheme| url.strip_prefix(scheme));
        let authority = rest.map(|it| it.trim_end_matches('/'));
        let is_good = |it: &&str| {
            let port = it
                .rsplit_once(':')
                .map(|(host, port)| (host, port.parse::<u16>()));
            matches!(port, Some((host, Ok(_))) if !host.is_empty() && !host.contains(['/', '@', ' ', '\r', '\n']))
        };
        match authority.filter(is_good) {
            Some(authority) => Ok(Address(authority.to_owned())),
            None => Err(format!("`{url}` is not `ws://HOST:PORT`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_host_and_a_port() {
        for good in [
            "ws://127.0.0.1:4500",
            "http://box.example:80/",
            "ws://[::1]:9",
        ] {
            let address: Address = good.parse().unwrap();
            assert!(address.page(None).starts_with("http://"), "{good}");
        }
        for bad in [
            "",
            "ws://",
            "ws://a",
            "wss://a:1",
            "ws://a:b",
            "ws://a/b:1",
            "ws://:1",
        ] {
            assert!(bad.parse::<Address>().is_err(), "{bad}");
        }
        let page = Address::loopback(1).page(Some("x"));
        assert_eq!(page, "http://127.0.0.1:1/#code=x");
    }
}
