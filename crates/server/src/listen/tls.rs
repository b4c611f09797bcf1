//! TLS of websocket listeners. Certificates are renewed every few weeks, so their files are looked at for every
//! connection, and what changed is used from then on.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};
use tokio_rustls::server::TlsStream;

/// The longest file that is read.
const MAX_FILE: u64 = 1 << 20;

/// A certificate chain and its private key, in two PEM files.
pub struct Certificate {
    chain: PathBuf,
    key: PathBuf,
    current: Mutex<Loaded>,
}

struct Loaded {
    /// The state of both files when they were last read.
    stamps: [Option<Stamp>; 2],
    acceptor: TlsAcceptor,
}

/// What changes when a file is replaced or written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    inode: u64,
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("cannot read {path}: {source}")]
    Unreadable { path: String, source: io::Error },
    #[error("{path} has no {what} in PEM format: {why}")]
    Malformed {
        path: String,
        what: &'static str,
        why: String,
    },
    #[error("the certificate in {chain} cannot be used with the key in {key}: {why}")]
    Unsuitable {
        chain: String,
        key: String,
        why: rustls::Error,
    },
}

impl Certificate {
    /// Reads both files.
    pub fn load(chain: &Path, key: &Path) -> Result<Certificate, TlsError> {
        let stamps = stamps(chain, key);
        let acceptor = acceptor(chain, key)?;
        Ok(Certificate {
            chain: chain.to_owned(),
            key: key.to_owned(),
            current: Mutex::new(Loaded { stamps, acceptor }),
        })
    }

    /// Makes a connection secure, with the certificate as it is now.
    pub(super) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let acceptor = tokio::task::block_in_place(|| self.acceptor());
        acceptor.accept(stream).await
    }

    /// What was read last, after what changed was read again. Files that do not fit each other are between two
    /// steps of a renewal, or wrong: the last good pair stays in use.
    fn acceptor(&self) -> TlsAcceptor {
        let mut current = self.current.lock();
        let stamps = stamps(&self.chain, &self.key);
        if stamps != current.stamps {
            current.stamps = stamps;
            match acceptor(&self.chain, &self.key) {
                Ok(acceptor) => {
                    tracing::info!(path = %self.chain.display(), "certificate reloaded");
                    current.acceptor = acceptor;
                }
                Err(error) => {
                    tracing::error!(%error, "certificate not reloaded; the last one stays in use");
                }
            }
        }
        current.acceptor.clone()
    }
}

fn stamps(chain: &Path, key: &Path) -> [Option<Stamp>; 2] {
    [chain, key].map(|path| {
        let state = fs::metadata(path).ok()?;
        Some(Stamp {
            modified: state.modified().ok(),
            length: state.len(),
            inode: inode(&state),
        })
    })
}

#[cfg(unix)]
fn inode(state: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(state)
}

#[cfg(not(unix))]
fn inode(_: &fs::Metadata) -> u64 {
    0
}

fn acceptor(chain: &Path, key: &Path) -> Result<TlsAcceptor, TlsError> {
    let malformed = |path: &Path, what, why: &dyn ToString| TlsError::Malformed {
        path: path.display().to_string(),
        what,
        why: why.to_string(),
    };
    let text = read(chain)?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let certificates = certificates.map_err(|why| malformed(chain, "certificate", &why))?;
    if certificates.is_empty() {
        return Err(malformed(chain, "certificate", &"it is empty"));
    }
    let private = PrivateKeyDer::from_pem_slice(&read(key)?)
        .map_err(|why| malformed(key, "private key", &why))?;
    let unsuitable = |why| TlsError::Unsuitable {
        chain: chain.display().to_string(),
        key: key.display().to_string(),
        why,
    };
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(unsuitable)?
        .with_no_client_auth()
        .with_single_cert(certificates, private)
        .map_err(unsuitable)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    quipu_disk::read(path, MAX_FILE).map_err(|source| TlsError::Unreadable {
        path: path.display().to_string(),
        source,
    })
}
