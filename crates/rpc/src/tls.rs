//! TLS of clients: the usual certificate authorities, and one of the user's own that a variable names.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Variables that name a file with more certificate authorities; the first that is set counts.
const CA_VARIABLES: [&str; 2] = ["CODEX_CA_CERTIFICATE", "SSL_CERT_FILE"];

/// Makes a connection to a host secure.
pub async fn connect(
    host: &str,
    stream: TcpStream,
) -> io::Result<impl AsyncRead + AsyncWrite + Send + Unpin + use<>> {
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(authorities()?)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
}

fn authorities() -> io::Result<RootCertStore> {
    let mut store = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    let named = CA_VARIABLES.iter().find_map(|name| {
        let path = std::env::var_os(name).filter(|it| !it.is_empty())?;
        Some((*name, path))
    });
    let Some((name, path)) = named else {
        return Ok(store);
    };
    let failed = |why: String| {
        let path = path.to_string_lossy();
        io::Error::other(format!(
            "could not load the certificate authorities of {name} from {path}: {why}"
        ))
    };
    let certificates =
        CertificateDer::pem_file_iter(&path).map_err(|error| failed(error.to_string()))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| failed(error.to_string()))?;
        store
            .add(certificate)
            .map_err(|error| failed(error.to_string()))?;
    }
    Ok(store)
}
