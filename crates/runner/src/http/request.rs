//! Reads one request, within limits.

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The longest head, and the longest body.
const MAX_BYTES: usize = 16 << 10;

/// A request: everything that the interface needs of it.
#[derive(Debug)]
pub struct Request {
    pub method: String,
    /// Without the query.
    pub path: String,
    headers: Vec<(String, String)>,
}

/// Why there is no request.
#[derive(Debug)]
pub enum Unreadable {
    Gone,
    Malformed(&'static str),
    TooLong,
}

impl Request {
    /// The value of a header, whose name is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|it| it.0 == name);
        found.map(|it| it.1.as_str())
    }
}

pub async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Result<Request, Unreadable> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|it| it == b"\r\n\r\n") {
            break end;
        }
        if bytes.len() > MAX_BYTES {
            return Err(Unreadable::TooLong);
        }
        match stream.read_buf(&mut bytes).await {
            Ok(0) | Err(_) => return Err(Unreadable::Gone),
            Ok(_) => {}
        }
    };
    let head = std::str::from_utf8(&bytes[..end]);
    let request = parse(head.map_err(|_| Unreadable::Malformed("the head is not UTF-8"))?)?;
    // What a body says does not matter here, but a peer that is still sending would not read the answer.
    let length = request.header("content-length").unwrap_or("0");
    let length: usize = length
        .parse()
        .map_err(|_| Unreadable::Malformed("content-length is not a number"))?;
    if length > MAX_BYTES {
        return Err(Unreadable::TooLong);
    }
    let mut left = (end + 4 + length).saturating_sub(bytes.len());
    while left > 0 {
        match stream.read_buf(&mut bytes).await {
            Ok(0) | Err(_) => return Err(Unreadable::Gone),
            Ok(count) => left = left.saturating_sub(count),
        }
    }
    Ok(request)
}

fn parse(head: &str) -> Result<Request, Unreadable> {
    let malformed = Unreadable::Malformed("this is not an HTTP request");
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(malformed);
    };
    if !version.starts_with("HTTP/1.") || !target.starts_with('/') {
        return Err(malformed);
    }
    let headers = lines.map(|line| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    });
    let headers: Option<Vec<_>> = headers.collect();
    let path = target.split('?').next().unwrap_or_default();
    Ok(Request {
        method: method.to_owned(),
        path: decoded(path).ok_or(Unreadable::Malformed("the path is not valid"))?,
        headers: headers.ok_or(Unreadable::Malformed("a header has no colon"))?,
    })
}

/// A path without its percent signs.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |it: u8| char::from(it).to_digit(16);
                let value = digit(rest.next()?)? * 16 + digit(rest.next()?)?;
                u8::try_from(value).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}
