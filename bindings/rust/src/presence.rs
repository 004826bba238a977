//! One holder of a worker id on a host, whatever its user or state directory: an abstract socket of that name.

use crate::env::Presence;
use crate::fork::Descriptor;
use leafid_core::{Code, Error, Result, Utc};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, acceptfrom, bind, connect, listen, socket_with,
};
use std::fs;

struct Socket(Descriptor);

impl Presence for Socket {
    fn drain(&self) {
        while self.0.fd().is_ok_and(|fd| acceptfrom(fd).is_ok()) {}
    }
}

/// No mark, where the host cannot make one.
struct Unmarked;
impl Presence for Unmarked {}

/// Binds the socket of this worker id; none if a process of this host has. Errors: `state_io`.
pub(crate) fn appear(name: &str, worker_id: u32) -> Result<Option<Box<dyn Presence>>> {
    match mark(name, worker_id) {
        Ok(socket) => Ok(Some(Box::new(socket))),
        Err(Errno::ADDRINUSE) => Ok(None),
        // Sandboxes that allow no such socket. Anything else may pass, and unmarked the id could be held twice.
        Err(
            error @ (Errno::PERM
            | Errno::ACCESS
            | Errno::AFNOSUPPORT
            | Errno::PROTONOSUPPORT
            | Errno::NOSYS
            | Errno::OPNOTSUPP),
        ) => {
            log::warn!(
                "leafid: worker id {worker_id} cannot be marked on this host ({error}): other state directories \
                 and users of the host do not see it"
            );
            Ok(Some(Box::new(Unmarked)))
        }
        Err(error) => {
            let message = format!("worker id {worker_id} cannot be marked on this host: {error}; try again");
            Err(Error::new(Code::StateIo, message))
        }
    }
}

fn address(name: &str, worker_id: u32) -> rustix::io::Result<SocketAddrUnix> {
    SocketAddrUnix::new_abstract_name(format!("leafid/{name}/{worker_id}").as_bytes())
}

fn unconnected() -> rustix::io::Result<std::os::fd::OwnedFd> {
    socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)
}

fn mark(name: &str, worker_id: u32) -> rustix::io::Result<Socket> {
    let address = address(name, worker_id)?;
    // Registered while unbound, so that a fork in between hands on nothing that holds the id.
    let descriptor = Descriptor::open(|| Ok(unconnected()?))
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    let fd = descriptor.fd().map_err(|_| Errno::BADF)?;
    bind(fd, &address)?;
    // Those who ask who holds the id stay in the queue until the next renewal.
    listen(fd, 4_096)?;
    Ok(Socket(descriptor))
}

/// The process that listens: the kernel tells whoever connects, with no help of the holder's.
pub(crate) fn holder(name: &str, worker_id: u32) -> Option<String> {
    let socket = unconnected().ok()?;
    connect(&socket, &address(name, worker_id).ok()?).ok()?;
    // Not rustix: it takes the pid for a number above 0, which that of another container's process is not.
    let peer = nix::sys::socket::getsockopt(&socket, nix::sys::socket::sockopt::PeerCredentials).ok()?;
    match peer.pid() {
        pid @ 1.. => Some(describe(pid, started_ms(pid))),
        _ => Some("a process of another container of this host".into()),
    }
}

/// How a holder in this very process is named.
pub(crate) const THIS_PROCESS: &str = "this process";

/// A process as the messages name it.
fn describe(pid: i32, started_ms: Option<i64>) -> String {
    if pid == std::process::id() as i32 {
        return format!(
            "{THIS_PROCESS} (pid {pid}), by a generator with other settings or of another copy of leafid"
        );
    }
    let host = crate::system::hostname();
    match started_ms {
        Some(ms) => format!("pid {pid} on host {host}, started {}", Utc(ms)),
        None => format!("pid {pid} on host {host}, start unknown"),
    }
}

/// When a process began, Unix milliseconds, as /proc tells it.
pub(crate) fn started_ms(pid: i32) -> Option<i64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command may hold spaces and brackets: the fields are counted from behind its last one. proc(5), field 22.
    let ticks: i64 = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
    let boot = fs::read_to_string("/proc/stat").ok()?;
    let boot_s: i64 = boot.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    Some(boot_s * 1_000 + ticks * 1_000 / rustix::param::clock_ticks_per_second() as i64)
}
