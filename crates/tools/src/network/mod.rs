//! The managed network: commands reach others only through a gate of this program, which lets through
//! what lists and rules allow and asks about the rest.

mod head;
mod http;
mod keeper;
mod settings;
mod socks;
mod upstream;

use std::sync::Arc;

use quipu_sandbox::{GATE_PORT, Gate};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

pub(crate) use keeper::{Keeper, Refusals};
pub use settings::Network;

/// Connections of one command that are served at once; more wait.
const MAX_CONNECTIONS: usize = 128;

/// The first byte of a SOCKS5 connection; HTTP begins with a letter.
const SOCKS_VERSION: u8 = 5;

/// Where a command finds its gate.
pub(crate) enum Door {
    /// In a network of its own, which has no other way out.
    Inside,
    /// On this machine's loopback interface: nothing makes the command use it.
    Outside(TcpListener, u16),
}

impl Door {
    /// A door for a command that the sandbox does not hold.
    pub async fn outside() -> std::io::Result<Door> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        Ok(Door::Outside(listener, port))
    }

    pub fn port(&self) -> u16 {
        match self {
            Door::Inside => GATE_PORT,
            Door::Outside(_, port) => *port,
        }
    }

    /// Serves the connections of a command until nothing of it is left.
    pub fn watch(self, process: &quipu_sandbox::Process, keeper: Arc<Keeper>) {
        let gate = match self {
            Door::Inside => process.take_gate(),
            Door::Outside(listener, _) => Some(process.open_gate(listener)),
        };
        if let Some(gate) = gate {
            tokio::spawn(serve(gate, keeper));
        }
    }
}

async fn serve(mut gate: Gate, keeper: Arc<Keeper>) {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    // Dropping the set ends the connections with their command.
    let mut connections = tokio::task::JoinSet::new();
    while let Some(stream) = gate.next().await {
        while connections.try_join_next().is_some() {}
        let Ok(place) = Arc::clone(&room).acquire_owned().await else {
            return;
        };
        let keeper = Arc::clone(&keeper);
        connections.spawn(async move {
            if let Err(error) = converse(stream, &keeper).await {
                tracing::debug!(%error, "a connection of a command broke off");
            }
            drop(place);
        });
    }
}

async fn converse(stream: TcpStream, keeper: &Keeper) -> std::io::Result<()> {
    let mut first = [0];
    if stream.peek(&mut first).await? == 0 {
        return Ok(());
    }
    match first[0] {
        SOCKS_VERSION => socks::serve(stream, keeper).await,
        _ => http::serve(stream, keeper).await,
    }
}
