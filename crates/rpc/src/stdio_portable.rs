//! Standard input and output where the runtime has no better way to them than a thread for each.

use tokio::io::{AsyncRead, AsyncWrite};

pub(crate) fn input() -> Box<dyn AsyncRead + Send + Unpin> {
    Box::new(tokio::io::stdin())
}

pub(crate) fn output() -> Box<dyn AsyncWrite + Send + Unpin> {
    Box::new(tokio::io::stdout())
}
