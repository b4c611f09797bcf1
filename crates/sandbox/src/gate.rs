//! The way out of a command's own network, watched by its owner.

use std::time::Duration;

use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    time,
};

use crate::process::State;

/// How long to wait when the system has no descriptor left for a visitor.
const PAUSE: Duration = Duration::from_millis(100);

/// Where the connections of one command arrive.
#[derive(Debug)]
pub struct Gate {
    listener: TcpListener,
    state: watch::Receiver<State>,
}

impl Gate {
    pub(crate) fn new(listener: TcpListener, state: watch::Receiver<State>) -> Self {
        Self { listener, state }
    }

    /// The next connection; `None` once no process of the command is left.
    pub async fn next(&mut self) -> Option<TcpStream> {
        let Self { listener, state } = self;
        let gone = async {
            // A sender that is dropped means the same.
            state.wait_for(|state| state.gone).await.ok();
        };
        tokio::pin!(gone);
        loop {
            tokio::select! {
                visitor = listener.accept() => match visitor {
                    Ok((stream, _)) => return Some(stream),
                    Err(error) => {
                        tracing::warn!(%error, "a connection of a command is not taken");
                        time::sleep(PAUSE).await;
                    }
                },
                () = &mut gone => return None,
            }
        }
    }
}
