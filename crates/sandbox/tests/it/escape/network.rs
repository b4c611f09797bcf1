//! Attacks over sockets.

use std::{
    io,
    net::{TcpStream, UdpSocket},
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd},
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixDatagram, UnixStream},
    },
    path::Path,
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
    ("redirect a pair of raw sockets", ForAnybody, || {
        let [one, _other] = pair(libc::SOCK_RAW)?;
        send_to(&one, &address(&property("OUTSIDE").join("datagrams")))
    }),
    (
        "redirect a pair of raw sockets with flags",
        ForAnybody,
        || {
            let [one, _other] = pair(libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK)?;
            send_to(&one, &address(&property("OUTSIDE").join("datagrams")))
        },
    ),
    (
        "redirect a pair of raw sockets to an abstract name",
        ForAnybody,
        || {
            let [one, _other] = pair(libc::SOCK_RAW)?;
            send_to(&one, &abstract_datagrams())
        },
    ),
    (
        "connect a raw socket of a pair elsewhere",
        ForAnybody,
        || {
            let [one, _other] = pair(libc::SOCK_RAW)?;
            connect(&one, &address(&property("OUTSIDE").join("datagrams")))?;
            system_call(
                libc::SYS_write,
                &[one.as_raw_fd() as usize, c"x".as_ptr() as usize, 1],
            )
            .map(drop)
        },
    ),
    ("a raw unix socket", ForAnybody, || {
        socket(libc::AF_UNIX, libc::SOCK_RAW, 0)
    }),
    ("a unix socket of packets", ForAnybody, || {
        socket(libc::AF_UNIX, libc::SOCK_SEQPACKET, 0)
    }),
    ("redirect a pair of packet sockets", Unknown, || {
        let [one, _other] = pair(libc::SOCK_SEQPACKET)?;
        let address = address(&property("OUTSIDE").join("datagrams"));
        connect(&one, &address)?;
        send_to(&one, &address)
    }),
    ("disconnect a pair, then connect elsewhere", Unknown, || {
        let [one, _other] = pair(libc::SOCK_STREAM)?;
        connect(&one, &[0; 16])?;
        connect(&one, &address(&property("OUTSIDE").join("socket")))
    }),
    ("listen with one of a pair", Unknown, || {
        let [one, other] = pair(libc::SOCK_STREAM)?;
        drop(other);
        let name = address(&property("WORKSPACE").join("directory/socket"));
        let fd = one.as_raw_fd() as usize;
        system_call(libc::SYS_bind, &[fd, name.as_ptr() as usize, name.len()])?;
        system_call(libc::SYS_listen, &[fd, 1]).map(drop)
    }),
    ("pairs of other families", Unknown, || {
        for family in [libc::AF_TIPC, libc::AF_INET, libc::AF_NETLINK] {
            let mut fds = [0_i32; 2];
            let arguments = [
                family as usize,
                libc::SOCK_STREAM as usize,
                0,
                fds.as_mut_ptr() as usize,
            ];
            if system_call(libc::SYS_socketpair, &arguments).is_ok() {
                return Ok(());
            }
        }
        Err(io::ErrorKind::Unsupported.into())
    }),
    ("list the sockets of the host", ForAnybody, || {
        socket(libc::AF_NETLINK, libc::SOCK_RAW, NETLINK_SOCK_DIAG)
    }),
    ("listen to events of devices", ForAnybody, || {
        socket(
            libc::AF_NETLINK,
            libc::SOCK_DGRAM,
            libc::NETLINK_KOBJECT_UEVENT,
        )
    }),
    ("the kernel's audit", Unknown, || {
        socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_AUDIT)
    }),
    ("sockets of rarer families", Unknown, || {
        let rare = [
            libc::AF_KEY,
            libc::AF_BLUETOOTH,
            libc::AF_CAN,
            libc::AF_TIPC,
            libc::AF_RDS,
            AF_XDP,
            AF_QIPCRTR,
        ];
        for family in rare {
            for kind in [libc::SOCK_RAW, libc::SOCK_DGRAM, libc::SOCK_STREAM] {
                if socket(family, kind, 0).is_ok() {
                    return Ok(());
                }
            }
        }
        Err(io::ErrorKind::Unsupported.into())
    }),
    ("change a route of the host", Unknown, || {
        // A netlink request that takes the loopback interface down.
        let fd = system_call(
            libc::SYS_socket,
            &[libc::AF_NETLINK as usize, libc::SOCK_RAW as usize, 0],
        )?;
        let request = [32_u32, 16 | 5 << 16, 1, 0, 0, 1, 0, 1];
        let arguments = [fd as usize, request.as_ptr() as usize, 32, 0, 0, 0];
        system_call(libc::SYS_sendto, &arguments)?;
        let mut answer = [0_i32; 64];
        let arguments = [fd as usize, answer.as_mut_ptr() as usize, 256, 0, 0, 0];
        system_call(libc::SYS_recvfrom, &arguments)?;
        match answer[4] {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(-error)),
        }
    }),
    ("reconnect a pair of sockets", Unknown, || {
        let [one, other] = pair(libc::SOCK_STREAM)?;
        drop(other);
        connect(&one, &address(&property("OUTSIDE").join("socket")))
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

const NETLINK_SOCK_DIAG: libc::c_int = 4;
const AF_QIPCRTR: libc::c_int = 42;
const AF_XDP: libc::c_int = 44;

/// Two connected unix sockets.
fn pair(kind: libc::c_int) -> io::Result<[OwnedFd; 2]> {
    let mut fds = [0_i32; 2];
    let arguments = [
        libc::AF_UNIX as usize,
        kind as usize,
        0,
        fds.as_mut_ptr() as usize,
    ];
    system_call(libc::SYS_socketpair, &arguments)?;
    // SAFETY: the descriptors are new.
    Ok(fds.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }))
}

/// A unix socket's address as the kernel wants it.
fn address(path: &Path) -> Vec<u8> {
    named(path.as_os_str().as_encoded_bytes())
}

/// The abstract name of a datagram socket of the server.
fn abstract_datagrams() -> Vec<u8> {
    let name = property("ABSTRACT_DATAGRAMS");
    let mut bytes = vec![0];
    bytes.extend(name.as_os_str().as_encoded_bytes());
    named(&bytes)
}

fn named(name: &[u8]) -> Vec<u8> {
    let mut address = (libc::AF_UNIX as u16).to_ne_bytes().to_vec();
    address.extend(name);
    address
}

fn send_to(socket: &OwnedFd, address: &[u8]) -> io::Result<()> {
    let (fd, text) = (socket.as_raw_fd() as usize, c"x".as_ptr() as usize);
    let arguments = [fd, text, 1, 0, address.as_ptr() as usize, address.len()];
    system_call(libc::SYS_sendto, &arguments).map(drop)
}

fn connect(socket: &OwnedFd, address: &[u8]) -> io::Result<()> {
    let arguments = [
        socket.as_raw_fd() as usize,
        address.as_ptr() as usize,
        address.len(),
    ];
    system_call(libc::SYS_connect, &arguments).map(drop)
}

fn socket(family: libc::c_int, kind: libc::c_int, protocol: libc::c_int) -> io::Result<()> {
    system_call(
        libc::SYS_socket,
        &[family as usize, kind as usize, protocol as usize],
    )
    .map(drop)
}
