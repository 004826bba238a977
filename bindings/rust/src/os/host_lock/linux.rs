//! An abstract socket with the name of the worker id, and a lock file, where units with their own network still
//! share a directory.

use super::THIS_PROCESS;
use crate::os::ForkSafeFd;
use crate::os::env::HostLock;
use crate::os::lock_file::{self, LockFile};
use crate::os::namespaces::{self, Facts};
use crate::os::process;
use leafid_core::options::deployment::Scope;
use leafid_core::{Code, Error, Result, Utc};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, Shutdown, SocketAddrUnix, SocketFlags, SocketType, acceptfrom, bind, connect, listen,
    shutdown, socket_with,
};
use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// A millisecond each.
const COPY_WAITS: u32 = 200;

/// The lock of a held worker id, in two parts. A host may allow only one of them.
struct SocketAndFile {
    socket: Option<ForkSafeFd>,
    _file: Option<LockFile>,
}

impl Drop for SocketAndFile {
    fn drop(&mut self) {
        // For all copies of the descriptor: see `bind_socket`.
        if let Some(fd) = self.socket.as_ref().and_then(ForkSafeFd::still_open) {
            let _ = shutdown(fd, Shutdown::Both);
        }
    }
}

impl HostLock for SocketAndFile {
    fn drain_queries(&self) {
        let Some(socket) = &self.socket else { return };
        while socket.fd().is_ok_and(|fd| acceptfrom(fd).is_ok()) {}
    }
}

/// Locks this worker id on this host; `None` if another process holds it. Errors: `state_io`.
pub(crate) fn system_lock(name: &str, worker_id: u32) -> Result<Option<Box<dyn HostLock>>> {
    let wait = || std::thread::sleep(Duration::from_millis(1));
    let socket = match bind_socket(name, worker_id, wait) {
        Ok(socket) => Some(socket),
        Err(Errno::ADDRINUSE) => return Ok(None),
        // Sandboxes that allow no such socket. Other errors may pass, and without a lock the id could be held twice.
        Err(
            error @ (Errno::PERM
            | Errno::ACCESS
            | Errno::AFNOSUPPORT
            | Errno::PROTONOSUPPORT
            | Errno::NOSYS
            | Errno::OPNOTSUPP),
        ) => {
            log::warn!(
                "leafid: worker id {worker_id} cannot be locked on this host ({error}): other state directories \
                 and users of the host do not see it"
            );
            None
        }
        Err(error) => {
            let message = format!("worker id {worker_id} cannot be locked on this host: {error}; try again");
            return Err(Error::new(Code::StateIo, message));
        }
    };
    let mut lock = SocketAndFile { socket, _file: None };
    match lock_file::lock(Path::new(lock_file::LOCK_DIR), name, worker_id) {
        Ok(None) => Ok(None),
        Ok(file) => {
            lock._file = file;
            Ok(Some(Box::new(lock)))
        }
        // On many systems only root may write there: the socket is enough.
        Err(error) if lock_file::is_lasting(&error) => {
            log::debug!("leafid: no lock file of worker id {worker_id} in {}: {error}", lock_file::LOCK_DIR);
            Ok(Some(Box::new(lock)))
        }
        // A process with another network may hold it.
        Err(error) => Err(lock_file::failed(name, worker_id, &error)),
    }
}

fn address(name: &str, worker_id: u32) -> rustix::io::Result<SocketAddrUnix> {
    SocketAddrUnix::new_abstract_name(format!("leafid/{name}/{worker_id}").as_bytes())
}

fn unconnected() -> rustix::io::Result<std::os::fd::OwnedFd> {
    socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)
}

/// Of a lock that was dropped, a child that is being forked has a copy until it runs: this waits for it, up to
/// [`COPY_WAITS`] times.
fn bind_socket(name: &str, worker_id: u32, mut wait: impl FnMut()) -> rustix::io::Result<ForkSafeFd> {
    let address = address(name, worker_id)?;
    // Registered while unbound, so that a fork in between inherits nothing that holds the id.
    let descriptor = ForkSafeFd::open(|| Ok(unconnected()?))
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    let fd = descriptor.fd().map_err(|_| Errno::BADF)?;
    let mut waits = 0;
    while let Err(error) = bind(fd, &address) {
        let is_dropped = || connect(&unconnected()?, &address);
        if error != Errno::ADDRINUSE || waits == COPY_WAITS || is_dropped() != Err(Errno::CONNREFUSED) {
            return Err(error);
        }
        waits += 1;
        wait();
    }
    // Connections of processes that ask for the holder stay in the queue until the next renewal.
    listen(fd, 4_096)?;
    Ok(descriptor)
}

/// The processes that see such locks. It binds a socket with a random name and looks for it in the network of process
/// 1.
pub(crate) fn scope() -> Scope {
    let (processes, network) = (namespaces::number("pid"), namespaces::number("net"));
    let probe = || {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        let name = format!("leafid/seen/{:032x}", u128::from_ne_bytes(bytes));
        // Registered while unbound, as in `bind_socket`.
        let descriptor = ForkSafeFd::open(|| Ok(unconnected()?)).ok()?;
        bind(descriptor.fd().ok()?, &SocketAddrUnix::new_abstract_name(name.as_bytes()).ok()?).ok()?;
        Some((namespaces::first_sees(&name), descriptor))
    };
    let probed = probe();
    let first_sees = probed.as_ref().and_then(|(seen, _)| *seen);
    Facts { processes, network, locks: probed.is_some(), first_sees }.scope()
}

/// Describes the process that listens, else the one that holds the lock file.
pub(crate) fn system_holder(name: &str, worker_id: u32) -> Option<String> {
    let (pid, uid) = match peer(name, worker_id) {
        Some(peer) => (peer.pid, Some(peer.uid)),
        None => {
            let pid = lock_file::holder(Path::new(lock_file::LOCK_DIR), name, worker_id)?;
            (pid, fs::metadata(format!("/proc/{pid}")).ok().map(|process| process.uid()))
        }
    };
    let other = uid.filter(|&uid| uid != rustix::process::geteuid().as_raw());
    let user = other.map(|uid| format!(", user id {uid}")).unwrap_or_default();
    match pid {
        1.. => Some(describe(pid, process::started_ms(pid as u32)) + &user),
        _ => Some(format!("a process of another container of this host{user}")),
    }
}

/// The names under which this worker id is locked: those of sockets in this network, and of lock files.
pub(crate) fn names_of(worker_id: u32, _sub_directories: Option<&Path>) -> Vec<String> {
    let sockets = fs::read("/proc/self/net/unix").unwrap_or_default();
    let end = format!("/{worker_id}");
    // 0000000000000000: 00000002 00000000 00010000 0001 01 12345 @leafid/orders/7
    let sockets = sockets.split(|&byte| byte == b'\n').filter_map(|line| {
        let (_, address) = std::str::from_utf8(line).ok()?.split_once(" @leafid/")?;
        address.strip_suffix(&end).map(str::to_owned)
    });
    sockets.chain(lock_file::names_of(Path::new(lock_file::LOCK_DIR), worker_id)).collect()
}

/// The kernel tells this to each client that connects, without the help of the holder.
fn peer(name: &str, worker_id: u32) -> Option<libc::ucred> {
    let socket = unconnected().ok()?;
    connect(&socket, &address(name, worker_id).ok()?).ok()?;
    // Not rustix: it requires a pid above 0, which the process of another container does not have.
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut size = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the socket is open, and the kernel writes at most `size` bytes into `peer`, which may hold any numbers.
    let done = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut size,
        )
    };
    (done == 0 && size as usize == size_of::<libc::ucred>()).then_some(peer)
}

/// The user id that locked a worker id, if that user could not have opened its record. Root, this user, and users that
/// the permissions allow could have.
pub(crate) fn foreign_holder(name: &str, worker_id: u32, record: &Path) -> Option<u32> {
    let uid = peer(name, worker_id)?.uid;
    let may_open = || {
        // If the record is missing: who could create it.
        let found = record.ancestors().find_map(|path| fs::metadata(path).ok());
        // Membership of the group is not checked.
        found.is_none_or(|found| found.uid() == uid || found.mode() & 0o022 != 0)
    };
    (uid != 0 && uid != rustix::process::geteuid().as_raw() && !may_open()).then_some(uid)
}

/// Describes a process for messages.
fn describe(pid: i32, started_ms: Option<i64>) -> String {
    if pid == std::process::id() as i32 {
        return format!("{THIS_PROCESS}, by another copy of leafid");
    }
    let host = crate::os::hostname::hostname();
    match started_ms {
        Some(ms) => format!("pid {pid} on host {host}, started {}", Utc(ms)),
        None => format!("pid {pid} on host {host}, start unknown"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::child::in_child;

    #[test]
    fn the_names_of_a_worker_id_are_seen() {
        let seen = in_child(|| {
            let name = format!("names.of-{}-4", std::process::id());
            let lock = system_lock(&name, 4_000_000_001).unwrap().unwrap();
            assert!(names_of(4_000_000_001, None).contains(&name));
            assert!(names_of(1, None).iter().all(|other| !other.contains(&name)));
            // No other thread of the child forks: nothing has a copy.
            drop(lock);
            !names_of(4_000_000_001, None).contains(&name)
        });
        assert!(seen());
    }

    #[test]
    fn a_copy_of_a_dropped_lock_is_waited_for_and_a_lock_is_not() {
        let ended_well = in_child(|| {
            let name = format!("copied-{}", std::process::id());
            let dropped = || {
                let lock = SocketAndFile { socket: Some(bind_socket(&name, 7, || {}).unwrap()), _file: None };
                lock.socket.as_ref().unwrap().fd().unwrap().try_clone_to_owned().unwrap()
            };
            let (mut copy, mut waits) = (Some(dropped()), 0);
            let bound = bind_socket(&name, 7, || {
                waits += 1;
                copy = copy.take().filter(|_| waits < 3);
            });
            assert!(bound.is_ok() && waits == 3, "{waits}");
            let waited = || panic!("it is held");
            assert_eq!(bind_socket(&name, 7, waited).err(), Some(Errno::ADDRINUSE));
            drop(SocketAndFile { socket: bound.ok(), _file: None });
            let (_copy, mut waits) = (dropped(), 0);
            assert_eq!(bind_socket(&name, 7, || waits += 1).err(), Some(Errno::ADDRINUSE));
            waits == COPY_WAITS
        });
        assert!(ended_well());
    }

    #[test]
    fn a_folder_in_the_place_of_the_lock_file_keeps_the_id() {
        let name = format!("stranger-{}", std::process::id());
        let stranger = format!("{}/leafid-{name}-1.lock", lock_file::LOCK_DIR);
        if std::fs::create_dir(&stranger).is_err() {
            assert!(
                system_lock(&name, 1).unwrap().is_some(),
                "only root may write there: the socket is enough"
            );
            return;
        }
        let locked = system_lock(&name, 1);
        std::fs::remove_dir(&stranger).unwrap();
        assert_eq!(locked.err().unwrap().code(), Code::WorkerInUse);
        assert!(system_lock(&name, 1).unwrap().is_some());
    }

    #[test]
    fn a_lock_file_that_cannot_be_opened_now_is_not_taken_for_none() {
        let ended_well = in_child(|| {
            // SAFETY: copies and closes a descriptor of the child's own, and sets its limit.
            unsafe {
                let next = libc::dup(0);
                libc::close(next);
                // The socket has the last.
                let limit = libc::rlimit { rlim_cur: next as u64 + 1, rlim_max: next as u64 + 1 };
                libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
            }
            let failed = system_lock("full", 4_000_000_002).err().map(|error| error.to_string());
            let says = |word| failed.as_ref().is_some_and(|failed| failed.contains(word));
            says("/leafid-full-4000000002.lock: ") && says("os error 24")
        });
        assert!(ended_well());
    }

    #[test]
    fn those_who_asked_are_let_go_of() {
        let name = format!("drain-{}", std::process::id());
        let lock = SocketAndFile { socket: Some(bind_socket(&name, 7, || {}).unwrap()), _file: None };
        for _ in 0..3 {
            assert_eq!(peer(&name, 7).unwrap().pid, std::process::id() as i32);
        }
        lock.drain_queries();
        assert_eq!(acceptfrom(lock.socket.as_ref().unwrap().fd().unwrap()).err(), Some(Errno::AGAIN));
    }
}
