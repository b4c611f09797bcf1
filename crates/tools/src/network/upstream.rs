//! Connections to the world: straight to addresses that were looked at first, or through another proxy.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use quipu_policy::domains::is_local;
use quipu_policy::hosts::Target;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

/// How long a name may take to be looked up, and a connection to be made.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where a target is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    /// At these addresses.
    Direct(Vec<SocketAddr>),
    /// Behind this proxy, which finds it.
    Proxy(String),
}

/// What is known of a target's place before it is connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    Public(Route),
    /// On this machine, in a private network, or nowhere to be found.
    Local(Route),
}

/// Whether a target is on this machine or in a private network by its own words, which need no looking up.
pub(super) fn is_here(target: &Target) -> bool {
    let literal = target.host.parse::<IpAddr>();
    target.host == "localhost" || literal.is_ok_and(is_local)
}

/// Looks up a target. A name is looked up once: what is decided about is what is connected to.
pub(super) async fn locate(target: &Target, proxy: Option<&str>) -> Place {
    let literal = target.host.parse::<IpAddr>().ok();
    if let (Some(proxy), None) = (proxy, literal)
        && target.host != "localhost"
    {
        return Place::Public(Route::Proxy(proxy.to_owned()));
    }
    let found = timeout(PATIENCE, lookup_host((target.host.as_str(), target.port))).await;
    let addresses: Vec<SocketAddr> = match found {
        Ok(Ok(addresses)) => addresses.collect(),
        _ => Vec::new(),
    };
    let local = addresses.is_empty() || addresses.iter().any(|it| is_local(it.ip()));
    match (local, proxy) {
        (true, _) => Place::Local(Route::Direct(addresses)),
        (false, Some(proxy)) => Place::Public(Route::Proxy(proxy.to_owned())),
        (false, None) => Place::Public(Route::Direct(addresses)),
    }
}

/// Connects.
pub(super) async fn connect(route: &Route) -> io::Result<TcpStream> {
    let connecting = async {
        match route {
            Route::Direct(addresses) => TcpStream::connect(addresses.as_slice()).await,
            Route::Proxy(proxy) => TcpStream::connect(proxy.as_str()).await,
        }
    };
    timeout(PATIENCE, connecting)
        .await
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}
