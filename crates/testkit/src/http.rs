//! Reading HTTP/1.1 requests, by hand like everything scripted servers do with it.

use std::collections::BTreeMap;
use std::io;

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

const MAX_HEAD: usize = 256 * 1024;
const MAX_BODY: usize = 512 * 1024 * 1024;

/// A request as received.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    /// The path and query.
    pub path: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    /// Without the compression that the headers tell of.
    pub body: Vec<u8>,
}

/// The next request of a connection; `buffer` holds what was read beyond it.
pub(crate) async fn read_request(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
) -> io::Result<Option<Request>> {
    let head_end = loop {
        if let Some(at) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        if buffer.len() > MAX_HEAD {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let method = words.next().unwrap_or_default().to_owned();
    let path = words.next().unwrap_or_default().to_owned();
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length: usize = headers
        .get("content-length")
        .and_then(|length| length.parse().ok())
        .unwrap_or(0);
    if length > MAX_BODY {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let body_start = head_end + 4;
    while buffer.len() < body_start + length {
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
    let mut body = buffer[body_start..body_start + length].to_vec();
    buffer.drain(..body_start + length);
    if headers
        .get("content-encoding")
        .is_some_and(|it| it == "zstd")
    {
        let mut plain = Vec::new();
        let mut decoder = ruzstd::decoding::StreamingDecoder::new(&*body)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
        io::Read::read_to_end(&mut decoder, &mut plain)?;
        body = plain;
    }
    Ok(Some(Request {
        method,
        path,
        headers,
        body,
    }))
}
