//! How operators reach a running service: one HTTP request over its socket.

use std::io;

use serde_json::Value;

use crate::record::Places;

/// The longest answer.
const MAX_BYTES: u64 = 64 << 20;

/// Asks the service that uses these files; nothing if none is running.
pub fn ask(places: &Places, method: &str, path: &str) -> io::Result<Option<(u16, Value)>> {
    let Some(text) = system::exchange(places, method, path)? else {
        return Ok(None);
    };
    let malformed = || io::Error::new(io::ErrorKind::InvalidData, "the answer is not HTTP");
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(malformed)?;
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
    let body = serde_json::from_str(body).map_err(io::Error::other)?;
    Ok(Some((status.ok_or_else(malformed)?, body)))
}

#[cfg(unix)]
mod system {
    //! The socket of the service.

    use std::io::{self, Read as _, Write as _};
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    use super::{MAX_BYTES, Places};

    /// How long the service may take.
    const PATIENCE: Duration = Duration::from_secs(15);

    pub fn exchange(places: &Places, method: &str, path: &str) -> io::Result<Option<String>> {
        let mut stream = match UnixStream::connect(places.socket()) {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
                ) =>
            {
                return Ok(None);
            }
            stream => stream?,
        };
        stream.set_read_timeout(Some(PATIENCE))?;
        let path: String = path.bytes().map(encoded).collect();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
        )?;
        let mut text = String::new();
        stream.take(MAX_BYTES).read_to_string(&mut text)?;
        Ok(Some(text))
    }

    /// Identifiers may hold anything.
    fn encoded(byte: u8) -> String {
        match byte {
            b'/' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
            byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        }
    }
}

#[cfg(not(unix))]
mod system {
    //! Services have no socket here.

    use std::io;

    use super::Places;

    pub fn exchange(_: &Places, _: &str, _: &str) -> io::Result<Option<String>> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "services have no control socket on this system; use their HTTP interface (`--port`)",
        ))
    }
}
