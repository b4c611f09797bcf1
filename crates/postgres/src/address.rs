//! Where the database is, and whether the way there is encrypted. An address has a password in it, so it is never
//! shown: errors and logs name the host only.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// The address of a database: `postgres://USER:PASSWORD@HOST/DATABASE`, or what libpq calls a connection string.
///
/// Connections to other machines are encrypted, and the server's certificate is checked, unless `sslmode=disable`
/// says otherwise. `sslrootcert` names a file with the certificates to trust in place of those of the web.
#[derive(Clone)]
pub struct Address {
    pub(crate) config: Config,
    pub(crate) roots: Option<PathBuf>,
}

/// Why a text is not the address of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidAddress(String);

impl fmt::Display for InvalidAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the address of the store is invalid: {}", self.0)
    }
}

impl std::error::Error for InvalidAddress {}

impl FromStr for Address {
    type Err = InvalidAddress;

    fn from_str(text: &str) -> Result<Self, InvalidAddress> {
        if !text.starts_with("postgres://") && !text.starts_with("postgresql://") {
            let text = "it must begin with postgres://";
            return Err(InvalidAddress(text.to_owned()));
        }
        let (text, options) = without_tls_options(text);
        let mut config: Config = text
            .parse()
            .map_err(|error: tokio_postgres::Error| InvalidAddress(error.to_string()))?;
        if config.get_hosts().is_empty() {
            return Err(InvalidAddress("it names no host".to_owned()));
        }
        if config.get_user().is_none() {
            return Err(InvalidAddress("it names no user".to_owned()));
        }
        let mode = options.mode.as_deref();
        config.ssl_mode(match mode {
            Some("disable") => SslMode::Disable,
            Some("require" | "verify-ca" | "verify-full") => SslMode::Require,
            None if config.get_hosts().iter().all(is_local) => SslMode::Disable,
            None => SslMode::Require,
            Some(_) => {
                let text = "sslmode must be require, verify-full or disable; anything else can be stripped on the way";
                return Err(InvalidAddress(text.to_owned()));
            }
        });
        config.application_name("quipu");
        Ok(Self {
            config,
            roots: options.roots,
        })
    }
}

impl Address {
    /// Sets the password, if the address has none.
    pub fn or_password(mut self, password: Option<&str>) -> Self {
        if let Some(password) = password
            && self.config.get_password().is_none()
        {
            self.config.password(password);
        }
        self
    }

    /// The password, which must be shown nowhere.
    pub fn password(&self) -> Option<&[u8]> {
        self.config.get_password()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ports = self.config.get_ports();
        for (index, host) in self.config.get_hosts().iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            match host {
                Host::Tcp(name) => write!(f, "{comma}{name}")?,
                #[cfg(unix)]
                Host::Unix(path) => write!(f, "{comma}{}", path.display())?,
            }
            if let Some(port) = ports.get(index).or(ports.first()) {
                write!(f, ":{port}")?;
            }
        }
        write!(f, "/{}", self.config.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

fn is_local(host: &Host) -> bool {
    match host {
        #[cfg(unix)]
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            let address = name.parse::<std::net::IpAddr>();
            name == "localhost" || address.is_ok_and(|it| it.is_loopback())
        }
    }
}

#[derive(Default)]
struct TlsOptions {
    mode: Option<String>,
    roots: Option<PathBuf>,
}

/// Takes the options out that the library does not know, or understands otherwise.
fn without_tls_options(text: &str) -> (String, TlsOptions) {
    let mut options = TlsOptions::default();
    let Some((base, query)) = text.split_once('?') else {
        return (text.to_owned(), options);
    };
    let mut others = Vec::new();
    for pair in query.split('&') {
        match pair.split_once('=') {
            Some(("sslmode", mode)) => options.mode = Some(mode.to_owned()),
            Some(("sslrootcert", file)) => {
                options.roots = Some(PathBuf::from(file.replace("%2F", "/").replace("%2f", "/")));
            }
            _ => others.push(pair),
        }
    }
    let text = match others.is_empty() {
        true => base.to_owned(),
        false => format!("{base}?{}", others.join("&")),
    };
    (text, options)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Address, String> {
        text.parse()
            .map_err(|error: InvalidAddress| error.to_string())
    }

    #[test]
    fn an_address_is_shown_without_its_secret() {
        let address = parse("postgres://quipu:s3cret@db.example:5433/threads").unwrap();
        assert_eq!(address.to_string(), "db.example:5433/threads");
        assert!(!format!("{address:?}").contains("s3cret"));
        assert_eq!(address.password(), Some(&b"s3cret"[..]));
        let error = parse("postgres://quipu:s3cret@:x/y").unwrap_err();
        assert!(!error.contains("s3cret"), "{error}");
    }

    #[test]
    fn other_machines_are_reached_through_tls() {
        let mode = |text: &str| parse(text).unwrap().config.get_ssl_mode();
        for (text, expected) in [
            ("postgres://u@db.example/t", SslMode::Require),
            (
                "postgres://u@db.example/t?sslmode=verify-full",
                SslMode::Require,
            ),
            (
                "postgres://u@db.example/t?sslmode=disable",
                SslMode::Disable,
            ),
            ("postgres://u@localhost/t", SslMode::Disable),
            ("postgres://u@127.0.0.1/t", SslMode::Disable),
            ("postgres://u@%2Frun%2Fpostgresql/t", SslMode::Disable),
            ("postgres://u@localhost/t?sslmode=require", SslMode::Require),
        ] {
            assert_eq!(mode(text), expected, "{text}");
        }
        let other = "postgres://u@db/t?connect_timeout=3&sslrootcert=%2Fetc%2Fca.pem";
        let address = parse(other).unwrap();
        assert_eq!(address.roots, Some(PathBuf::from("/etc/ca.pem")));
        assert!(address.config.get_connect_timeout().is_some());
        let error = parse("postgres://u@db/t?sslmode=prefer").unwrap_err();
        assert!(error.contains("sslmode must be"), "{error}");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "threads",
            "mysql://u@db/t",
            "postgres://",
            "postgres://db/t",
        ] {
            let error = parse(text).unwrap_err();
            assert!(
                error.starts_with("the address of the store is invalid"),
                "{error}"
            );
        }
    }
}
