//! A TCP balancer in front of several servers: each connection goes to one that is up, and can be cut.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A listener that passes connections on. It ends when dropped, with all its connections.
pub struct Balancer {
    address: SocketAddr,
    servers: Arc<Vec<Server>>,
    task: JoinHandle<()>,
}

struct Server {
    address: SocketAddr,
    is_up: AtomicBool,
    /// Changed when its connections are to be cut.
    cut: watch::Sender<()>,
}

impl Balancer {
    /// Listens on a port of its own.
    pub async fn start(servers: Vec<SocketAddr>) -> Balancer {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await;
        let listener = listener.expect("a port is free");
        let server = |address| Server {
            address,
            is_up: AtomicBool::new(true),
            cut: watch::Sender::new(()),
        };
        let servers: Arc<Vec<Server>> = Arc::new(servers.into_iter().map(server).collect());
        let address = listener.local_addr().expect("the listener has an address");
        Balancer {
            address,
            servers: Arc::clone(&servers),
            task: tokio::spawn(accept(listener, servers)),
        }
    }

    /// Where clients connect.
    pub fn url(&self) -> String {
        format!("ws://{}", self.address)
    }

    /// Whether a server gets new connections, as a health check would decide.
    pub fn set_up(&self, server: usize, is_up: bool) {
        self.servers[server].is_up.store(is_up, Ordering::Relaxed);
    }

    /// Cuts the connections to a server.
    pub fn cut(&self, server: usize) {
        self.servers[server].cut.send_replace(());
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        self.task.abort();
        for server in self.servers.iter() {
            server.cut.send_replace(());
        }
    }
}

async fn accept(listener: TcpListener, servers: Arc<Vec<Server>>) {
    let next = Arc::new(AtomicUsize::new(0));
    while let Ok((client, _)) = listener.accept().await {
        let (servers, next) = (Arc::clone(&servers), Arc::clone(&next));
        tokio::spawn(async move {
            let start = next.fetch_add(1, Ordering::Relaxed);
            let order = (start..start + servers.len()).map(|it| &servers[it % servers.len()]);
            for server in order.filter(|it| it.is_up.load(Ordering::Relaxed)) {
                let mut cut = server.cut.subscribe();
                if let Ok(upstream) = TcpStream::connect(server.address).await {
                    tokio::select! {
                        _ = pass(client, upstream) => {}
                        _ = cut.changed() => {}
                    }
                    return;
                }
            }
        });
    }
}

/// Passes bytes on in both directions until one side has ended.
async fn pass(mut client: TcpStream, mut server: TcpStream) -> std::io::Result<()> {
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}
