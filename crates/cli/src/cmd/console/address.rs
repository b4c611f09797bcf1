//! The address of a console, and the two things that are asked of it before a browser is opened.

use std::io;
use std::str::FromStr;
use std::time::Duration;

use quipu_rpc::tls;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// No answer is longer.
const MAX_BYTES: u64 = 64 * 1024;

/// Where a console is.
#[derive(Debug, PartialEq, Eq)]
pub struct Address {
    /// `HOST:PORT`
    authority: String,
    /// Whether it is behind TLS.
    is_secure: bool,
}

impl Address {
    pub fn loopback(port: u16) -> Address {
        Address {
            authority: format!("127.0.0.1:{port}"),
            is_secure: false,
        }
    }

    /// The page, with a code that opens it.
    pub fn page(&self, code: Option<&str>) -> String {
        let scheme = if self.is_secure { "https" } else { "http" };
        // What follows `#` is not sent to any server.
        let code = code.map_or(String::new(), |code| format!("#code={code}"));
        format!("{scheme}://{}/{code}", self.authority)
    }

    /// A new code for somebody who has the token; nothing if no console with that token runs there.
    pub fn code(&self, token: &str) -> Option<String> {
        let answer = self.ask("POST", "/console/code", token).ok()??;
        Some(answer.get("code")?.as_str()?.to_owned())
    }

    /// Whether there is a console at all.
    pub fn check(&self) -> Result<(), String> {
        let at = &self.authority;
        match self.ask("GET", "/console/settings", "") {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(format!(
                "the server at {at} has no console; start it with `app-server --listen ws://IP:PORT --console`",
            )),
            Err(error) if self.is_secure => Err(format!(
                "cannot reach {at} with TLS: {error}. For a certificate of your own, let `SSL_CERT_FILE` name it or \
                 its authority, or open {} in the browser yourself",
                self.page(None)
            )),
            Err(error) => Err(format!("cannot reach {at}: {error}")),
        }
    }

    /// The JSON that is answered with 200.
    fn ask(&self, method: &str, path: &str, token: &str) -> io::Result<Option<Value>> {
        let host = &self.authority;
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Length: 0\r\n\r\n"
        );
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let asked = async { tokio::time::timeout(PATIENCE, self.exchange(&request)).await };
        let text = runtime.block_on(asked)??;
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body);
        let is_good = text.starts_with("HTTP/1.1 200 ");
        Ok(body
            .filter(|_| is_good)
            .and_then(|it| serde_json::from_str(it).ok()))
    }

    async fn exchange(&self, request: &str) -> io::Result<String> {
        let stream = TcpStream::connect(&self.authority).await?;
        if !self.is_secure {
            return exchange(stream, request).await;
        }
        let host = self.authority.rsplit_once(':').map(|(host, _)| host);
        let host = host.unwrap_or_default().trim_matches(['[', ']']);
        exchange(tls::connect(host, stream).await?, request).await
    }
}

/// Sends a request and reads all that comes back.
async fn exchange(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    request: &str,
) -> io::Result<String> {
    stream.write_all(request.as_bytes()).await?;
    let mut text = String::new();
    stream.take(MAX_BYTES).read_to_string(&mut text).await?;
    Ok(text)
}

impl FromStr for Address {
    type Err = String;

    /// Reads `ws://HOST:PORT` or `wss://HOST:PORT`, or the same with `http` and `https`.
    fn from_str(url: &str) -> Result<Address, String> {
        if url.starts_with("unix://") {
            return Err(format!(
                "a browser cannot open `{url}`; let that server also listen on a port of localhost, with `--listen \
                 ws://127.0.0.1:PORT --console`"
            ));
        }
        let schemes = [
            ("ws", false),
            ("wss", true),
            ("http", false),
            ("https", true),
        ];
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let secure = schemes.iter().find(|it| it.0 == scheme).map(|it| it.1);
        let authority = rest.trim_end_matches('/');
        let port = authority
            .rsplit_once(':')
            .map(|(host, port)| (host, port.parse::<u16>()));
        let is_good = matches!(port, Some((host, Ok(_))) if !host.is_empty() && !host.contains(['/', '@', ' ', '\r', '\n']));
        match secure {
            Some(is_secure) if is_good => Ok(Address {
                authority: authority.to_owned(),
                is_secure,
            }),
            _ => Err(format!(
                "`{url}` is not `ws://HOST:PORT` or `wss://HOST:PORT`"
            )),
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
            "ftp://a:1",
            "unix:///a",
            "ws://a:b",
            "ws://a/b:1",
            "ws://:1",
        ] {
            assert!(bad.parse::<Address>().is_err(), "{bad}");
        }
        let address: Address = "wss://a:1".parse().unwrap();
        assert_eq!(address.page(None), "https://a:1/");
        let page = Address::loopback(1).page(Some("x"));
        assert_eq!(page, "http://127.0.0.1:1/#code=x");
    }
}
