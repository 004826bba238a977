//! Sockets of connections. A forked child closes them and never writes to them.

use super::connection_state::ConnectionState;
use super::deadline;
use super::resolve;
use crate::os::{ForkSafeFd, socket};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, Shutdown, sockopt};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::time::Instant;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, Either, LazyBuffers, NextTimeout, ShutdownHandle, Transport,
};
use ureq::{Error, Timeout};

/// A connected non-blocking socket, which is closed in a forked child.
pub(crate) struct Socket {
    descriptor: ForkSafeFd,
    connection_state: Arc<ConnectionState>,
}

impl Socket {
    fn connect(address: SocketAddr, by: Instant) -> io::Result<Socket> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let descriptor = ForkSafeFd::open(|| socket::tcp(family))?;
        let socket = Socket { descriptor, connection_state: Arc::default() };
        let fd = socket.descriptor.fd()?;
        sockopt::set_tcp_nodelay(fd, true)?;
        match rustix::net::connect(fd, &address) {
            Ok(()) => {}
            Err(error) if socket::is_connecting(error) => {
                socket.wait(PollFlags::OUT, by)?;
                sockopt::socket_error(fd)??;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(socket)
    }

    fn send(&self, mut bytes: &[u8], by: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
            match rustix::net::send(self.descriptor.fd()?, bytes, socket::SEND) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(Errno::WOULDBLOCK) => self.wait(PollFlags::OUT, by)?,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Returns 0 at the end.
    fn receive(&self, buffer: &mut [u8], by: Instant) -> io::Result<usize> {
        loop {
            // Also if bytes keep coming, one by one.
            if Instant::now() >= by {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match rustix::net::recv(self.descriptor.fd()?, &mut *buffer, RecvFlags::empty()) {
                Ok((received, _)) => return Ok(received),
                Err(Errno::WOULDBLOCK) => match self.wait(PollFlags::IN, socket::look_again(by)) {
                    Err(error) if error.kind() == io::ErrorKind::TimedOut => {}
                    waited => waited?,
                },
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Waits until the socket is ready or closed.
    fn wait(&self, what: PollFlags, by: Instant) -> io::Result<()> {
        loop {
            let left = by.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos() as _ };
            match poll(&mut [PollFd::from_borrowed_fd(self.descriptor.fd()?, what)], Some(&timeout)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Whether no unexpected bytes came and the other side has not closed.
    fn is_quiet(&self) -> bool {
        let Ok(fd) = self.descriptor.fd() else { return false };
        matches!(rustix::net::recv(fd, &mut [0; 1], RecvFlags::PEEK), Err(Errno::WOULDBLOCK))
    }
}

impl ShutdownHandle for Socket {
    fn shutdown(&self) {
        if let Ok(fd) = self.descriptor.fd() {
            let _ = rustix::net::shutdown(fd, Shutdown::Both);
        }
    }
}

/// A connection in the form that ureq needs.
pub(crate) struct Connection {
    socket: Arc<Socket>,
    buffers: LazyBuffers,
}

impl Transport for Connection {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, _: NextTimeout) -> Result<(), Error> {
        self.socket.connection_state.sent();
        deadline::set_connection_state(&self.socket.connection_state);
        let (by, is_connecting) = deadline::deadline();
        let output = &self.buffers.output()[..amount];
        self.socket.send(output, by).map_err(|error| timed(error, is_connecting))
    }

    fn await_input(&mut self, _: NextTimeout) -> Result<bool, Error> {
        let (by, is_connecting) = deadline::deadline();
        let buffer = self.buffers.input_append_buf();
        let received = self.socket.receive(buffer, by).map_err(|error| timed(error, is_connecting))?;
        self.buffers.input_appended(received);
        Ok(received > 0)
    }

    fn is_open(&mut self) -> bool {
        self.socket.connection_state.may_serve() && self.socket.is_quiet()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connection")
    }
}

fn timed(error: io::Error, is_connecting: bool) -> Error {
    match error.kind() {
        io::ErrorKind::TimedOut if is_connecting => Error::Timeout(Timeout::Connect),
        io::ErrorKind::TimedOut => Error::Timeout(Timeout::Global),
        _ => Error::Io(error),
    }
}

/// Looks up the host name and connects to its addresses, one after another.
#[derive(Debug)]
pub(crate) struct Connect;

impl<In: Transport> Connector<In> for Connect {
    type Out = Either<In, Connection>;

    fn connect(&self, details: &ConnectionDetails, chained: Option<In>) -> Result<Option<Self::Out>, Error> {
        // Through a proxy.
        if let Some(chained) = chained {
            return Ok(Some(Either::A(chained)));
        }
        deadline::set_connecting();
        let (by, _) = deadline::deadline();
        let addresses = resolve::addresses(details.uri, by)?;
        let mut failed = Error::HostNotFound;
        for (tried, address) in addresses.iter().enumerate() {
            let now = Instant::now();
            let share = by.saturating_duration_since(now) / (addresses.len() - tried) as u32;
            match Socket::connect(*address, now + share) {
                Ok(socket) => {
                    let socket = Arc::new(socket);
                    let handle: Weak<dyn ShutdownHandle> = Arc::downgrade(&socket) as _;
                    (details.register_shutdown)(handle)?;
                    let config = details.config;
                    let buffers = LazyBuffers::new(config.input_buffer_size(), config.output_buffer_size());
                    return Ok(Some(Either::B(Connection { socket, buffers })));
                }
                Err(error) => failed = timed(error, true),
            }
        }
        Err(failed)
    }
}
