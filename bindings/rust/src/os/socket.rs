//! Sockets that wait for nothing and that no started program inherits.

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketType};
use std::io;
use std::time::{Duration, Instant};

/// A TCP socket.
#[cfg(target_os = "linux")]
pub(crate) fn tcp(family: AddressFamily) -> io::Result<OwnedFd> {
    use rustix::net::SocketFlags;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(rustix::net::socket_with(family, SocketType::STREAM, flags, None)?)
}

/// A TCP socket.
#[cfg(target_os = "macos")]
pub(crate) fn tcp(family: AddressFamily) -> io::Result<OwnedFd> {
    let socket = rustix::net::socket(family, SocketType::STREAM, None)?;
    rustix::io::ioctl_fioclex(&socket)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    rustix::net::sockopt::set_socket_nosigpipe(&socket, true)?;
    Ok(socket)
}

/// A TCP socket.
#[cfg(windows)]
pub(crate) fn tcp(family: AddressFamily) -> io::Result<OwnedFd> {
    // It counts its calls, and needs no end before the process has ended.
    static STARTED: std::sync::OnceLock<Result<(), Errno>> = std::sync::OnceLock::new();
    (*STARTED.get_or_init(|| rustix::net::wsa_startup().map(drop)))?;
    let socket = rustix::net::socket(family, SocketType::STREAM, None)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    Ok(socket)
}

/// For each send: no signal if the other side has closed. On macOS the socket itself has that.
pub(crate) const SEND: SendFlags = {
    #[cfg(target_os = "linux")]
    let flags = SendFlags::NOSIGNAL;
    #[cfg(not(target_os = "linux"))]
    let flags = SendFlags::empty();
    flags
};

/// When a wait until `by` has to look at the socket: WSAPoll of Windows may not see that this process shut it down.
pub(crate) fn look_again(by: Instant) -> Instant {
    if cfg!(windows) { by.min(Instant::now() + Duration::from_millis(100)) } else { by }
}

/// Whether the connection is still being made. Interrupted, it continues as well. connect(2)
pub(crate) fn is_connecting(error: Errno) -> bool {
    let in_progress = if cfg!(windows) { Errno::WOULDBLOCK } else { Errno::INPROGRESS };
    error == in_progress || error == Errno::INTR
}
