//! The gate as a SOCKS5 proxy: connections over TCP, without a login.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use quipu_policy::hosts::Target;
use quipu_policy::rules::{NetworkProtocol, normal_host};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::SOCKS_VERSION;
use super::keeper::Keeper;
use super::upstream::{Route, connect};

const PATIENCE: Duration = Duration::from_secs(30);

const NO_LOGIN: u8 = 0;
const NO_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;

/// What a request comes to.
#[derive(Clone, Copy)]
enum Reply {
    Done = 0,
    NotAllowed = 2,
    Unreachable = 4,
    NoSuchCommand = 7,
    NoSuchAddress = 8,
}

/// Serves one connection.
pub(super) async fn serve(mut client: TcpStream, keeper: &Keeper) -> io::Result<()> {
    let greeted = timeout(PATIENCE, greet(&mut client)).await;
    let target = match greeted.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))? {
        Ok(target) => target,
        Err(reply) => return answer(&mut client, reply).await,
    };
    // What goes through cannot be looked at, and other proxies speak another language.
    let admitted = match keeper.network.reads_only {
        true => None,
        false => keeper.admit(&target).await.ok(),
    };
    let Some(route @ Route::Direct(_)) = admitted else {
        return answer(&mut client, Reply::NotAllowed).await;
    };
    match connect(&route).await {
        Ok(mut server) => {
            answer(&mut client, Reply::Done).await?;
            copy_bidirectional(&mut client, &mut server).await.map(drop)
        }
        Err(_) => answer(&mut client, Reply::Unreachable).await,
    }
}

/// Agrees on how to speak, and reads where to.
async fn greet(client: &mut TcpStream) -> io::Result<Result<Target, Reply>> {
    let [_, count] = read(client).await?;
    let mut methods = vec![0; count.into()];
    client.read_exact(&mut methods).await?;
    if !methods.contains(&NO_LOGIN) {
        client.write_all(&[SOCKS_VERSION, NO_METHOD]).await?;
        return Err(io::ErrorKind::InvalidData.into());
    }
    client.write_all(&[SOCKS_VERSION, NO_LOGIN]).await?;
    let [version, command, _, kind] = read(client).await?;
    if version != SOCKS_VERSION {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let host = match kind {
        1 => Ipv4Addr::from(read::<4>(client).await?).to_string(),
        3 => {
            let [length] = read(client).await?;
            let mut name = vec![0; length.into()];
            client.read_exact(&mut name).await?;
            String::from_utf8_lossy(&name).into_owned()
        }
        4 => Ipv6Addr::from(read::<16>(client).await?).to_string(),
        _ => return Ok(Err(Reply::NoSuchAddress)),
    };
    let port = u16::from_be_bytes(read(client).await?);
    if command != CONNECT {
        return Ok(Err(Reply::NoSuchCommand));
    }
    let host = match kind {
        3 => normal_host(&host),
        _ => Ok(host),
    };
    Ok(host
        .map(|host| Target {
            host,
            protocol: NetworkProtocol::Socks5Tcp,
            port,
        })
        .map_err(|_| Reply::NoSuchAddress))
}

async fn read<const N: usize>(client: &mut TcpStream) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    client.read_exact(&mut bytes).await?;
    Ok(bytes)
}

async fn answer(client: &mut TcpStream, reply: Reply) -> io::Result<()> {
    let bound = [1, 0, 0, 0, 0, 0, 0];
    let head = [SOCKS_VERSION, reply as u8, 0];
    client.write_all(&[&head[..], &bound].concat()).await
}
