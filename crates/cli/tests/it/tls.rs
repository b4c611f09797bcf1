//! The websocket listener with TLS: certificates, their renewal, and a client.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quipu_testkit::client::within;
use quipu_testkit::process::{Launch, ServerProcess};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::support::{QUIPU, app_server};

/// A certificate in files.
struct Files {
    directory: TempDir,
}

impl Files {
    fn new() -> (Files, CertificateDer<'static>) {
        let directory = tempfile::tempdir().unwrap();
        let files = Files { directory };
        let certificate = files.renew();
        (files, certificate)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Puts another certificate in place, each file in one step.
    fn renew(&self) -> CertificateDer<'static> {
        let made = generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let CertifiedKey { cert, signing_key } = made;
        self.replace("key.pem", &signing_key.serialize_pem());
        self.replace("cert.pem", &cert.pem());
        cert.der().clone()
    }

    fn replace(&self, name: &str, text: &str) {
        let new = self.path("new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, self.path(name)).unwrap();
    }

    fn server(&self) -> ServerProcess {
        self.server_with(&[])
    }

    fn server_with(&self, more: &[&str]) -> ServerProcess {
        let (cert, key) = (self.text("cert.pem"), self.text("key.pem"));
        app_server([
            "--listen",
            "wss://localhost:0",
            "--tls-cert",
            &cert,
            "--tls-key",
            &key,
        ])
        .args(more.iter().copied())
        .start()
    }
}

async fn address(process: &mut ServerProcess) -> SocketAddr {
    let url = process.url().await;
    url.strip_prefix("wss://").unwrap().parse().unwrap()
}

/// A connection that trusts this certificate alone.
async fn secure(
    address: SocketAddr,
    trusted: &CertificateDer<'static>,
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = TlsConnector::from(Arc::new(config));
    let name = ServerName::try_from("localhost").unwrap();
    let connecting = async {
        let stream = TcpStream::connect(address).await?;
        connector.connect(name, stream).await
    };
    within("a secure connection", connecting).await
}

/// Whether the server answers over a connection that trusts this certificate.
async fn is_ready(address: SocketAddr, trusted: &CertificateDer<'static>) -> bool {
    let Ok(mut stream) = secure(address, trusted).await else {
        return false;
    };
    let request = b"GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    stream.write_all(request).await.unwrap();
    let mut answer = String::new();
    within("an answer", stream.read_to_string(&mut answer))
        .await
        .unwrap();
    answer.starts_with("HTTP/1.1 200 OK")
}

#[tokio::test]
async fn a_renewed_certificate_is_used_from_the_next_connection_on() {
    let (files, first) = Files::new();
    let mut process = files.server();
    let address = address(&mut process).await;
    assert!(is_ready(address, &first).await);
    let second = files.renew();
    assert!(is_ready(address, &second).await);
    assert!(!is_ready(address, &first).await);

    // Half of a renewal, or a mistake, changes nothing.
    files.replace("key.pem", "not a key");
    assert!(is_ready(address, &second).await);
    let said = process.said("the last one stays in use").await;
    assert!(said.contains("key.pem has no private key"), "{said}");
    let third = files.renew();
    assert!(is_ready(address, &third).await);
}

#[tokio::test]
async fn a_client_without_tls_gets_no_answer() {
    let (files, certificate) = Files::new();
    let mut process = files.server();
    let address = address(&mut process).await;
    let mut plain = TcpStream::connect(address).await.unwrap();
    plain
        .write_all(b"GET /readyz HTTP/1.1\r\n\r\n")
        .await
        .unwrap();
    let mut answer = Vec::new();
    within("the end", plain.read_to_end(&mut answer)).await.ok();
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    assert!(is_ready(address, &certificate).await);
}

/// `quipu mcp-server`, a client of this server, with one file of certificate authorities.
fn client(url: &str, authorities: &Path) -> ServerProcess {
    Launch::new(QUIPU)
        .args(["mcp-server", "--remote", url])
        .env("SSL_CERT_FILE", authorities.to_str().unwrap())
        .start()
}

/// What the client answers to a prompt.
async fn prompt(client: &mut ServerProcess) -> Value {
    let info = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info });
    let arguments = json!({ "prompt": "hello" });
    let messages = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
                "params": { "name": "codex", "arguments": arguments } }),
    ];
    let mut input = client.stdin.take().unwrap();
    for message in messages {
        let line = format!("{message}\n");
        input.write_all(line.as_bytes()).await.unwrap();
    }
    let mut lines = BufReader::new(client.stdout.take().unwrap()).lines();
    loop {
        let line = within("an answer", lines.next_line()).await.unwrap();
        let message: Value = serde_json::from_str(&line.expect("an answer")).unwrap();
        if message["id"] == 2 {
            return message;
        }
    }
}

#[tokio::test]
async fn clients_connect_with_tls_and_check_the_certificate() {
    let (files, _) = Files::new();
    let mut process = files.server();
    let url = format!("wss://localhost:{}", address(&mut process).await.port());
    let answer = prompt(&mut client(&url, &files.path("cert.pem"))).await;
    assert_ne!(answer["result"]["isError"], true, "{answer}");
    assert!(
        answer["result"]["content"][0]["text"].is_string(),
        "{answer}"
    );
    let (others, _) = Files::new();
    let answer = prompt(&mut client(&url, &others.path("cert.pem"))).await;
    let text = answer.to_string();
    assert!(text.contains("invalid peer certificate"), "{text}");
}

#[tokio::test]
async fn the_console_of_a_server_behind_tls_is_opened() {
    let (files, _) = Files::new();
    let mut process = files.server_with(&["--console"]);
    let port = address(&mut process).await.port();
    let url = format!("wss://localhost:{port}");
    let console = |authorities: &Path| {
        Launch::new(QUIPU)
            .args(["console", "--no-open", "--remote", &url])
            .env("SSL_CERT_FILE", authorities.to_str().unwrap())
            .start()
    };
    let mut opened = console(&files.path("cert.pem"));
    assert!(opened.exit().await.success(), "{}", opened.stderr());
    let page = format!("console: https://localhost:{port}/\n");
    assert!(opened.stderr().contains(&page), "{}", opened.stderr());
    let (others, _) = Files::new();
    let mut refused = console(&others.path("cert.pem"));
    assert!(!refused.exit().await.success());
    let said = refused.stderr();
    assert!(said.contains("invalid peer certificate"), "{said}");
    assert!(said.contains("SSL_CERT_FILE"), "{said}");
}
