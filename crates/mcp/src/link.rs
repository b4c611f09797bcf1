//! The two ways to a server, behind one face.

use std::sync::{Arc, Weak};

use tokio::sync::mpsc;

use crate::error::Error;
use crate::http::Http;
use crate::session::Session;

/// The way to a server.
pub(crate) enum Link {
    /// The queue of lines for its standard input.
    Stdio(mpsc::Sender<Vec<u8>>),
    Http(Arc<Http>),
}

/// The way of answers back to a server, which does not keep the connection alive.
#[derive(Clone)]
pub(crate) enum BackLink {
    Stdio(mpsc::WeakSender<Vec<u8>>),
    Http(Weak<Http>),
}

impl Link {
    /// Carries a request. Over HTTP this also brings the answer; it fails if there is none.
    pub async fn request(
        &self,
        session: &Arc<Session>,
        id: u64,
        message: Vec<u8>,
    ) -> Result<(), Error> {
        match self {
            Link::Stdio(lines) => {
                let sent = lines.send(message).await;
                sent.map_err(|_| Error::Closed(None))?;
                // The answer comes as a line.
                session.closed().await;
                Err(Error::Closed(None))
            }
            Link::Http(http) => http.request(id, message).await,
        }
    }

    /// Carries a notification.
    pub async fn notify(&self, message: Vec<u8>) -> Result<(), Error> {
        match self {
            Link::Stdio(lines) => lines.send(message).await.map_err(|_| Error::Closed(None)),
            Link::Http(http) => http.notify(message).await,
        }
    }

    /// Whether nothing can be carried any more.
    pub fn is_closed(&self) -> bool {
        match self {
            Link::Stdio(lines) => lines.is_closed(),
            Link::Http(_) => false,
        }
    }

    pub fn back(&self) -> BackLink {
        match self {
            Link::Stdio(lines) => BackLink::Stdio(lines.downgrade()),
            Link::Http(http) => BackLink::Http(Arc::downgrade(http)),
        }
    }
}

impl BackLink {
    /// Answers a request of the server, or gives up if the server does not take its answers.
    pub fn answer(&self, message: Vec<u8>) {
        match self {
            BackLink::Stdio(lines) => {
                if let Some(lines) = lines.upgrade()
                    && lines.try_send(message).is_err()
                {
                    tracing::debug!("an MCP server does not read its answers");
                }
            }
            BackLink::Http(http) => {
                if let Some(http) = http.upgrade() {
                    tokio::spawn(async move {
                        if let Err(error) = http.notify(message).await {
                            tracing::debug!(%error, "an answer to an MCP server was lost");
                        }
                    });
                }
            }
        }
    }
}
