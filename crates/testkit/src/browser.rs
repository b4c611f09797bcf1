//! As much of a browser as a login needs: it opens pages and follows redirects between servers on loopback.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::client::within;

/// A page that was opened.
#[derive(Debug)]
pub struct Page {
    /// The status.
    pub status: u16,
    /// The head, as it came.
    pub head: String,
    /// The rest.
    pub body: String,
}

impl Page {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut values = lines.filter(|(it, _)| it.eq_ignore_ascii_case(name));
        values.next().map(|(_, value)| value)
    }
}

/// Opens one page.
pub async fn open(url: &str) -> Page {
    within(url, get(url)).await
}

/// Opens a page and follows where it leads.
pub async fn follow(url: &str) -> Page {
    let mut page = open(url).await;
    while let Some(next) = page.header("location") {
        let next = next.to_owned();
        page = open(&next).await;
    }
    page
}

/// A value in the query of an address.
pub fn query(url: &str, name: &str) -> Option<String> {
    let (_, query) = url.split_once('?')?;
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let found = pairs.find(|(it, _)| it == name);
    found.map(|(_, value)| value.into_owned())
}

async fn get(url: &str) -> Page {
    let address = url.strip_prefix("http://").expect("pages are plain HTTP");
    let (host, path) = address.split_once('/').unwrap_or((address, ""));
    let mut stream = connect(host).await;
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    let sent = stream.write_all(request.as_bytes()).await;
    sent.expect("a request can be sent");
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer).await;
    read.expect("the answer can be read");
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
    Page {
        status: status.unwrap_or_else(|| panic!("no answer of {url}: {answer}")),
        head: head.to_owned(),
        body: body.to_owned(),
    }
}

async fn connect(host: &str) -> TcpStream {
    // Only IPv4 is served, and `localhost` may mean more.
    let host = host.replace("localhost", "127.0.0.1");
    let connected = tokio::time::timeout(Duration::from_secs(5), TcpStream::connect(&host)).await;
    match connected {
        Ok(Ok(stream)) => stream,
        other => panic!("no connection to {host}: {other:?}"),
    }
}
