//! Attacks over sockets.

use std::{
    io,
    net::{TcpStream, UdpSocket},
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixDatagram, UnixStream},
    },
};

use super::{Deed, Works, number, property};
use crate::lab::system_call;
use Works::{ForAnybody, ForRoot, Unknown};

pub const ATTACKS: &[(&str, Works, Deed)] = &[
    ("reach the server over TCP", ForAnybody, || {
        TcpStream::connect(("127.0.0.1", number("TCP") as u16)).map(drop)
    }),
    ("reach the server over UDP", ForAnybody, || {
        // A connected socket learns that nobody listens there.
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.connect(("127.0.0.1", number("UDP") as u16))?;
        socket.send(b"x")?;
        std::thread::yield_now();
        socket.send(b"x").map(drop)
    }),
    ("reach the world", Unknown, || {
        let socket = UdpSocket::bind("0.0.0.0:0")?;
        socket.connect("192.0.2.1:9")?;
        socket.send(b"x").map(drop)
    }),
    ("unix socket", ForAnybody, || {
        UnixStream::connect(property("OUTSIDE").join("socket")).map(drop)
    }),
    ("unix datagrams", ForAnybody, || {
        UnixDatagram::unbound()?
            .send_to(b"x", property("OUTSIDE").join("datagrams"))
            .map(drop)
    }),
    ("redirect a pair of datagram sockets", ForAnybody, || {
        let (one, _other) = UnixDatagram::pair()?;
        one.send_to(b"x", property("OUTSIDE").join("datagrams"))
            .map(drop)
    }),
    ("reconnect a pair of sockets", Unknown, || {
        use std::os::fd::AsRawFd;
        let (one, other) = UnixStream::pair()?;
        drop(other);
        let path = property("OUTSIDE").join("socket");
        let mut address = [0_u8; 110];
        address[0] = libc::AF_UNIX as u8;
        let bytes = path.as_os_str().as_encoded_bytes();
        address[2..2 + bytes.len()].copy_from_slice(bytes);
        let arguments = [
            one.as_raw_fd() as usize,
            address.as_ptr() as usize,
            address.len(),
        ];
        system_call(libc::SYS_connect, &arguments).map(drop)
    }),
    ("abstract socket", ForAnybody, || {
        let name = property("ABSTRACT");
        let address = SocketAddr::from_abstract_name(name.as_os_str().as_encoded_bytes())?;
        UnixStream::connect_addr(&address).map(drop)
    }),
    ("netlink of other kinds", ForAnybody, || {
        socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_GENERIC)
    }),
    ("packets", ForRoot, || {
        socket(libc::AF_PACKET, libc::SOCK_RAW, 0)
    }),
    ("raw internet", ForRoot, || {
        socket(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP)
    }),
    ("virtual machine sockets", Unknown, || {
        socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0)
    }),
    ("crypto sockets", Unknown, || {
        socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0)
    }),
];

fn socket(family: libc::c_int, kind: libc::c_int, protocol: libc::c_int) -> io::Result<()> {
    system_call(
        libc::SYS_socket,
        &[family as usize, kind as usize, protocol as usize],
    )
    .map(drop)
}
