//! The few descriptor operations that the standard library lacks: non-blocking mode and passing
//! descriptors over a socket.

use std::{
    io,
    os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd},
};

/// Stdin, stdout and stderr of a command.
pub(crate) type StdFds = [OwnedFd; 3];

/// Turns a `-1` of the C library into the error it stands for.
pub(crate) fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// Makes reads and writes return at once.
pub(crate) fn set_nonblocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: fcntl on an open descriptor with integer arguments touches no memory.
    let flags = check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) })?;
    // SAFETY: as above.
    check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK) })?;
    Ok(())
}

/// Puts one descriptor in the place of another. The numbers 0 to 2 must never become free: the next
/// descriptor would get them, and they are what a new program takes for its streams.
pub(crate) fn replace(place: OwnedFd, by: OwnedFd) -> io::Result<OwnedFd> {
    // SAFETY: closes `place`, whose number is then owned by the value returned.
    check(unsafe { libc::dup2(by.as_raw_fd(), place.as_raw_fd()) }).map(|_| place)
}

/// Sends bytes at once or not at all.
pub(crate) fn send_now(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<()> {
    let flags = NO_SIGNAL | libc::MSG_DONTWAIT;
    // SAFETY: the kernel only reads `bytes`.
    let sent = unsafe {
        libc::send(
            socket.as_raw_fd(),
            bytes.as_ptr().cast(),
            bytes.len(),
            flags,
        )
    };
    if sent < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Closes every descriptor from `first` on, also those that others left open.
pub(crate) fn close_from(first: RawFd) {
    #[cfg(target_os = "linux")]
    // SAFETY: called before this process opens descriptors of its own.
    unsafe {
        libc::syscall(libc::SYS_close_range, first, libc::c_int::MAX, 0)
    };
    #[cfg(not(target_os = "linux"))]
    for fd in first..1024 {
        // SAFETY: as above.
        unsafe { libc::close(fd) };
    }
}

/// Room for one control message with a few descriptors, aligned as its header must be.
#[repr(C)]
union ControlBuffer {
    _align: libc::cmsghdr,
    bytes: [u8; 64],
}

fn header(bytes: &mut libc::iovec, control: &mut ControlBuffer, fds: usize) -> libc::msghdr {
    // SAFETY: a msghdr of zeros is a valid empty message.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = bytes;
    message.msg_iovlen = 1;
    message.msg_control = std::ptr::from_mut(control).cast();
    // SAFETY: CMSG_SPACE only computes.
    message.msg_controllen = unsafe { libc::CMSG_SPACE((fds * size_of::<RawFd>()) as u32) } as _;
    debug_assert!(message.msg_controllen as usize <= size_of::<ControlBuffer>());
    message
}

/// Sends some of `bytes` (at least one) together with the descriptors.
pub(crate) fn send_with_fds<const N: usize>(
    socket: BorrowedFd<'_>,
    bytes: &[u8],
    fds: [BorrowedFd<'_>; N],
) -> io::Result<usize> {
    let mut part = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let mut control = ControlBuffer { bytes: [0; 64] };
    let message = header(&mut part, &mut control, N);
    let raw = fds.map(|fd| fd.as_raw_fd());
    // SAFETY: `message` points at `control`, which has room for one header and the descriptors
    // after it; `sendmsg` only reads from `part` and `control`, both alive.
    let sent = unsafe {
        let first = libc::CMSG_FIRSTHDR(&message);
        (*first).cmsg_level = libc::SOL_SOCKET;
        (*first).cmsg_type = libc::SCM_RIGHTS;
        (*first).cmsg_len = libc::CMSG_LEN(size_of::<[RawFd; N]>() as u32) as _;
        std::ptr::copy_nonoverlapping(
            raw.as_ptr().cast(),
            libc::CMSG_DATA(first),
            size_of::<[RawFd; N]>(),
        );
        libc::sendmsg(socket.as_raw_fd(), &message, NO_SIGNAL)
    };
    if sent < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(sent.cast_unsigned())
    }
}

/// Receives some bytes and the descriptors sent with them, if they came along.
pub(crate) fn recv_with_fds<const N: usize>(
    socket: BorrowedFd<'_>,
    bytes: &mut [u8],
) -> io::Result<(usize, Option<[OwnedFd; N]>)> {
    let mut part = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    let mut control = ControlBuffer { bytes: [0; 64] };
    let mut message = header(&mut part, &mut control, N);
    // SAFETY: the kernel writes at most `iov_len` bytes to `part` and `msg_controllen` to `control`.
    let received = unsafe { libc::recvmsg(socket.as_raw_fd(), &mut message, CLOSE_ON_EXEC) };
    if received < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel left a valid chain of headers in `control`; the first one is read only if
    // it says that it holds exactly our descriptors, which are then owned by nobody else.
    let fds = unsafe {
        let first = libc::CMSG_FIRSTHDR(&message);
        let complete = !first.is_null()
            && (*first).cmsg_type == libc::SCM_RIGHTS
            && (*first).cmsg_len as usize
                == libc::CMSG_LEN(size_of::<[RawFd; N]>() as u32) as usize;
        complete.then(|| {
            let mut raw = [-1; N];
            std::ptr::copy_nonoverlapping(
                libc::CMSG_DATA(first),
                raw.as_mut_ptr().cast(),
                size_of::<[RawFd; N]>(),
            );
            raw.map(|fd| OwnedFd::from_raw_fd(fd))
        })
    };
    Ok((received.cast_unsigned(), fds))
}

#[cfg(target_os = "linux")]
const CLOSE_ON_EXEC: libc::c_int = libc::MSG_CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const CLOSE_ON_EXEC: libc::c_int = 0;

#[cfg(target_os = "linux")]
const NO_SIGNAL: libc::c_int = libc::MSG_NOSIGNAL;
#[cfg(not(target_os = "linux"))]
const NO_SIGNAL: libc::c_int = 0;
