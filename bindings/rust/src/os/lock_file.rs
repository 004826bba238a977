//! The lock file of a worker id, in a directory that units of one host share although each has its own network.
//!
//! Any user may write to that directory. leafid reads no file there and follows no link. What else stands in the place of
//! the file keeps the worker id, as a lock would: taken for no lock, it would let two processes have the id.

use crate::os::ForkSafeFd;
use leafid_core::{Code, Error};
use rustix::fs::{FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::fmt::Display;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// hier(7), file-hierarchy(7)
#[cfg(target_os = "linux")]
pub(crate) const LOCK_DIR: &str = "/run/lock";
/// Every user may write there, and macOS removes nothing from it.
#[cfg(target_os = "macos")]
pub(crate) const LOCK_DIR: &str = "/private/var/tmp";
/// How often what others change meanwhile is looked at again: a file that is being opened, a list of locks.
const TRIES: usize = 8;

/// A locked lock file, held until it is dropped.
pub(crate) struct LockFile {
    descriptor: ForkSafeFd,
    path: PathBuf,
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // A forked child has no descriptor.
        if let Some(fd) = self.descriptor.still_open() {
            // A process that opened it meanwhile sees that it is gone. A file of another user stays.
            if is_at(&self.descriptor, &self.path).unwrap_or(false) {
                let _ = fs::remove_file(&self.path);
            }
            // For all copies of the descriptor.
            let _ = rustix::fs::flock(fd, FlockOperation::Unlock);
        }
    }
}

/// Creates and locks the file of this worker id; `None` if another process holds the lock. Errors: something else stands in
/// its place, for which [`failed`] has `worker_in_use`; no file can be created, opened for now, or locked.
pub(crate) fn lock(directory: &Path, name: &str, worker_id: u32) -> io::Result<Option<LockFile>> {
    let path = path_of(directory, name, worker_id);
    for _ in 0..TRIES {
        let descriptor = match ForkSafeFd::open(|| open(&path)) {
            Ok(descriptor) => descriptor,
            Err(error) if error.kind() == io::ErrorKind::NotFound => match make(directory, &path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => continue,
            },
            Err(error) if is_not_ours(&error) && fs::symlink_metadata(&path).is_ok() => {
                return Err(stranger(&path, worker_id, &error));
            }
            Err(error) => return Err(error),
        };
        match lock_opened(descriptor, &path)? {
            LockAttempt::Locked(held) => return Ok(Some(held)),
            LockAttempt::Taken => return Ok(None),
            LockAttempt::Stranger => return Err(stranger(&path, worker_id, &"it is not a file")),
            LockAttempt::Retry => {}
        }
    }
    // Other processes take it and give it back all the time.
    Ok(None)
}

/// Whether what cannot be opened is not a file of leafid's, which every user can open, if anything stands there at all.
fn is_not_ours(error: &io::Error) -> bool {
    // A link; a socket.
    let errors = [Errno::ACCESS, Errno::PERM, Errno::LOOP, Errno::NXIO];
    Errno::from_io_error(error).is_some_and(|error| errors.contains(&error))
}

/// The error of what stands in the place of a lock file. It is logged once: a range goes on with its next id.
fn stranger(path: &Path, worker_id: u32, why: &dyn Display) -> io::Error {
    static TOLD: AtomicBool = AtomicBool::new(false);
    let text = format!(
        "worker id {worker_id} is not taken, because {} cannot be locked: {why}; remove it if it is not yours",
        path.display()
    );
    if !TOLD.swap(true, Relaxed) {
        log::warn!("leafid: {text}");
    }
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

/// Whether it is the error of [`stranger`]; those of the system have a number.
fn is_strangers(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidInput && error.raw_os_error().is_none()
}

/// Whether this process can never make the file, as where only root may write. Whatever else fails may pass while another
/// process holds the lock.
#[cfg(target_os = "linux")]
pub(crate) fn is_lasting(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(
            Errno::ACCESS
                | Errno::PERM
                | Errno::ROFS
                | Errno::NOENT
                | Errno::NOTDIR
                | Errno::LOOP
                // Of files without a name, and of locks. open(2), flock(2)
                | Errno::ISDIR
                | Errno::OPNOTSUPP
                | Errno::NOSYS
        )
    )
}

/// `state_io` with the file, or `worker_in_use` where something else stands in its place.
pub(crate) fn failed(name: &str, worker_id: u32, error: &io::Error) -> Error {
    if is_strangers(error) {
        return Error::new(Code::WorkerInUse, error.to_string());
    }
    let path = path_of(Path::new(LOCK_DIR), name, worker_id);
    let message = format!("worker id {worker_id} cannot be locked in {}: {error}; try again", path.display());
    Error::new(Code::StateIo, message)
}

enum LockAttempt {
    Locked(LockFile),
    Taken,
    /// It is not a file.
    Stranger,
    /// The file must be opened again.
    Retry,
}

fn lock_opened(descriptor: ForkSafeFd, path: &Path) -> io::Result<LockAttempt> {
    let found = rustix::fs::fstat(descriptor.fd()?)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Ok(LockAttempt::Stranger);
    }
    match rustix::fs::flock(descriptor.fd()?, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return Ok(LockAttempt::Taken),
        Err(Errno::INTR) => return Ok(LockAttempt::Retry),
        Err(error) => return Err(error.into()),
    }
    let held = LockFile { descriptor, path: path.to_owned() };
    // The last holder may have removed it meanwhile.
    Ok(match is_at(&held.descriptor, path)? {
        true => LockAttempt::Locked(held),
        false => LockAttempt::Retry,
    })
}

/// Whether an open file is the one at its path.
fn is_at(descriptor: &ForkSafeFd, path: &Path) -> io::Result<bool> {
    let held = rustix::fs::fstat(descriptor.fd()?)?;
    let there = fs::symlink_metadata(path).ok();
    Ok(there.is_some_and(|there| (there.dev(), there.ino()) == (held.st_dev as u64, held.st_ino as u64)))
}

/// The names under which this worker id is locked.
pub(crate) fn names_of(directory: &Path, worker_id: u32) -> Vec<String> {
    let end = format!("-{worker_id}.lock");
    let files = fs::read_dir(directory).into_iter().flatten().flatten();
    let names = files.filter_map(|file| {
        let file = file.file_name().into_string().ok()?;
        Some(file.strip_prefix("leafid-")?.strip_suffix(&end)?.to_owned())
    });
    names.filter(|name| is_locked(&path_of(directory, name, worker_id))).collect()
}

/// Whether a process holds the lock. For a moment it is shared with this one, which a claim waits for.
fn is_locked(path: &Path) -> bool {
    let Ok(descriptor) = ForkSafeFd::open(|| open(path)) else { return false };
    let Ok(fd) = descriptor.fd() else { return false };
    let locked = rustix::fs::flock(fd, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK);
    // For all copies of the descriptor.
    let _ = rustix::fs::flock(fd, FlockOperation::Unlock);
    locked
}

/// The process that holds the lock, by proc_locks(5).
#[cfg(target_os = "linux")]
pub(crate) fn holder(directory: &Path, name: &str, worker_id: u32) -> Option<i32> {
    let inode = fs::symlink_metadata(path_of(directory, name, worker_id)).ok()?.ino().to_string();
    // The list is read by pages: what is unlocked in between hides a line.
    (0..TRIES).find_map(|_| listed(&inode))
}

#[cfg(target_os = "linux")]
fn listed(inode: &str) -> Option<i32> {
    let locks = fs::read_to_string("/proc/locks").ok()?;
    // 1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF; a waiter has an arrow after the colon.
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, "WRITE", pid, file, ..] = words[..] else { return None };
        (file.rsplit(':').next() == Some(inode)).then(|| pid.parse().ok())?
    })
}

/// The name contains letters, digits, dots, dashes and underscores.
fn path_of(directory: &Path, name: &str, worker_id: u32) -> PathBuf {
    directory.join(format!("leafid-{name}-{worker_id}.lock"))
}

fn open(path: &Path) -> io::Result<std::os::fd::OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::NONBLOCK;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Created without a name, so that every user can open it as soon as it has one.
#[cfg(target_os = "linux")]
fn make(directory: &Path, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD};
    use std::os::fd::AsRawFd;
    let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::TMPFILE;
    let fresh = rustix::fs::open(directory, flags, Mode::from_raw_mode(0o600))?;
    rustix::fs::fchmod(&fresh, Mode::from_raw_mode(0o444))?;
    let unnamed = format!("/proc/self/fd/{}", fresh.as_raw_fd());
    Ok(rustix::fs::linkat(CWD, unnamed, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// Created with another name, so that every user can open it as soon as it has its own.
#[cfg(target_os = "macos")]
fn make(directory: &Path, path: &Path) -> io::Result<()> {
    let fresh = tempfile::Builder::new().prefix(".leafid-").tempfile_in(directory)?;
    rustix::fs::fchmod(fresh.as_file(), Mode::from_raw_mode(0o444))?;
    fresh.persist_noclobber(path).map(drop).map_err(|error| error.error)
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::os::child::in_child;
    use rustix::fs::CWD;

    #[test]
    fn one_has_it_and_nothing_is_left_behind() {
        let dir = tempfile::tempdir().unwrap();
        let first = lock(dir.path(), "orders", 7).unwrap().unwrap();
        assert!(lock(dir.path(), "orders", 7).unwrap().is_none());
        assert_eq!(holder(dir.path(), "orders", 7), Some(std::process::id() as i32));
        let other = lock(dir.path(), "orders", 8).unwrap().unwrap();
        drop(first);
        assert!(lock(dir.path(), "orders", 7).unwrap().is_some());
        drop(other);
        assert_eq!(holder(dir.path(), "orders", 7), None);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn one_that_a_killed_process_left_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(path_of(dir.path(), "orders", 7), "whatever").unwrap();
        let held = lock(dir.path(), "orders", 7).unwrap().unwrap();
        let flags = rustix::io::fcntl_getfd(held.descriptor.fd().unwrap()).unwrap();
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC), "no program that is begun has the lock");
    }

    #[test]
    fn one_that_its_holder_removed_since_it_was_opened_is_not_taken() {
        let dir = tempfile::tempdir().unwrap();
        let path = path_of(dir.path(), "orders", 7);
        let opened = || ForkSafeFd::open(|| open(&path)).unwrap();
        let first = lock(dir.path(), "orders", 7).unwrap().unwrap();
        let (late, later) = (opened(), opened());
        drop(first);
        assert!(matches!(lock_opened(late, &path).unwrap(), LockAttempt::Retry));
        let second = lock(dir.path(), "orders", 7).unwrap().unwrap();
        assert!(matches!(lock_opened(later, &path).unwrap(), LockAttempt::Retry));
        assert!(matches!(lock_opened(opened(), &path).unwrap(), LockAttempt::Taken));
        drop(second);
    }

    #[test]
    fn of_many_at_once_one_at_a_time_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let inside = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..300 {
                        // It is not an error if another thread created it first.
                        if let Some(held) = lock(dir.path(), "orders", 7).unwrap() {
                            assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                            inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                            drop(held);
                        }
                    }
                });
            }
        });
    }

    #[test]
    fn what_others_put_there_keeps_the_id_and_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let path = path_of(dir.path(), "orders", 7);
        let is_kept = || {
            let error = lock(dir.path(), "orders", 7).err().unwrap();
            let code = failed("orders", 7, &error).code();
            code == Code::WorkerInUse && !is_lasting(&error) && error.to_string().contains("-7.lock")
        };
        let elsewhere = dir.path().join("elsewhere");
        fs::write(&elsewhere, "").unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert!(is_kept());
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(dir.path().join("nowhere"), &path).unwrap();
        assert!(is_kept());
        assert!(!dir.path().join("nowhere").exists());
        fs::remove_file(&path).unwrap();
        rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
        assert!(is_kept());
        fs::remove_file(&path).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert!(is_kept());
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(is_kept());
        let missing = lock(&dir.path().join("missing"), "orders", 7).err().unwrap();
        assert!(is_lasting(&missing));
        let below = lock(&elsewhere, "orders", 7).err().unwrap();
        assert!(is_lasting(&below), "{below}");
    }

    /// As a profile of AppArmor without its right k.
    #[test]
    fn a_file_of_leafid_s_that_may_not_be_locked_is_no_stranger_s() {
        let dir = tempfile::tempdir().unwrap();
        drop(lock(dir.path(), "orders", 7).unwrap());
        let ended_well = in_child(|| {
            let refused = refuse_flock().is_ok().then(|| lock(dir.path(), "orders", 7).err()).flatten();
            refused.is_some_and(|error| is_lasting(&error) && !is_strangers(&error))
        });
        assert!(ended_well());
    }

    /// From now on flock fails in this process, with EACCES. seccomp(2)
    fn refuse_flock() -> io::Result<()> {
        let step = |code, jf, k| libc::sock_filter { code: code as u16, jt: 0, jf, k };
        let mut steps = [
            // The number of the call, at the beginning of what the filter sees.
            step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
            step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, libc::SYS_flock as u32),
            step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ERRNO | libc::EACCES as u32),
            step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
        ];
        let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
        // SAFETY: both take numbers, and a filter that outlives the call.
        let done = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
                | libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)
        };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}
