//! The real clock, disk and randomness.

use crate::env::{AnyClock, DirectoryId, Disk, Env, LockedFile, Presence, Random};
use crate::fork::{self, Descriptor};
use crate::presence;
use crate::slot::FILE_BYTES;
use leafid_core::Result;
use rustix::fs::{AtFlags, CWD, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

impl Env {
    pub(crate) fn system() -> Env {
        Env { clock: AnyClock::System, disk: Box::new(SystemDisk), random: Box::new(SystemRandom) }
    }
}

/// Unix milliseconds; negative before 1970.
#[inline]
pub(crate) fn now_ms() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        // Seconds of any real clock times 1000 fit.
        Ok(since) => since.as_secs() as i64 * 1_000 + i64::from(since.subsec_millis()),
        Err(_) => now_ns().div_euclid(1_000_000),
    }
}

/// Nanoseconds since the Unix epoch, to the year 2262.
pub(crate) fn now_ns() -> i64 {
    let nanoseconds = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => nanoseconds(since),
        Err(before) => -nanoseconds(before.duration()),
    }
}

/// Time since the machine started, suspended or not.
pub(crate) fn counted() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    // Never negative: it counts from the machine's start.
    Duration::new(time.tv_sec.max(0) as u64, time.tv_nsec as u32)
}

struct SystemRandom;

impl Random for SystemRandom {
    fn number(&self) -> io::Result<u128> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(u128::from_ne_bytes(bytes))
    }
}

struct SystemDisk;

impl Disk for SystemDisk {
    fn directory(&self, path: &Path) -> io::Result<DirectoryId> {
        fs::create_dir_all(path)?;
        let metadata = fs::metadata(path)?;
        Ok((metadata.dev(), metadata.ino()))
    }

    fn peek(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        // Not File::open: it would wait for a writer where somebody put a pipe.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        match rustix::fs::open(path, flags, Mode::empty()).map_err(io::Error::from) {
            Ok(file) => read_bounded(&mut File::from(file)).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn open(&self, path: &Path, initial: &[u8; FILE_BYTES]) -> io::Result<Option<Box<dyn LockedFile>>> {
        let open = || {
            let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
            Ok::<OwnedFd, io::Error>(rustix::fs::open(path, flags, Mode::empty())?)
        };
        let descriptor = match Descriptor::open(open) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create(path, initial)?;
                Descriptor::open(open)?
            }
            opened => opened?,
        };
        match rustix::fs::flock(descriptor.fd()?, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Box::new(SystemFile { descriptor, path: path.to_owned() }))),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn appear(&self, name: &str, worker_id: u32) -> Result<Option<Box<dyn Presence>>> {
        presence::appear(name, worker_id)
    }

    fn holder(&self, name: &str, worker_id: u32) -> Option<String> {
        presence::holder(name, worker_id)
    }
}

/// Publishes a complete, durable file at a path where there is none. Another process may be first: then its file stands.
fn create(path: &Path, initial: &[u8; FILE_BYTES]) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    match create_unnamed(directory, path, initial).or_else(|_| create_named(directory, path, initial)) {
        // Whoever was first may not have come to this yet.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => sync_directories(directory),
    }
}

/// By a file that has no name until it is complete: a kill in between leaves nothing behind.
fn create_unnamed(directory: &Path, path: &Path, initial: &[u8; FILE_BYTES]) -> io::Result<()> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::TMPFILE;
    let mut fresh = File::from(rustix::fs::open(directory, flags, Mode::from_raw_mode(0o600))?);
    complete(&mut fresh, initial)?;
    let unnamed = format!("/proc/self/fd/{}", fresh.as_raw_fd());
    Ok(rustix::fs::linkat(CWD, unnamed, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// For file systems that have no unnamed files.
fn create_named(directory: &Path, path: &Path, initial: &[u8; FILE_BYTES]) -> io::Result<()> {
    let mut fresh = tempfile::Builder::new().prefix(".new-").tempfile_in(directory)?;
    complete(fresh.as_file_mut(), initial)?;
    fresh.persist_noclobber(path).map(drop).map_err(|error| error.error)
}

fn complete(file: &mut File, initial: &[u8; FILE_BYTES]) -> io::Result<()> {
    file.write_all(initial)?;
    // Readable by other users of the host, so that a refusal can name the holder.
    rustix::fs::fchmod(&*file, Mode::from_raw_mode(0o644))?;
    file.sync_all()
}

/// Makes the new entry outlive a power cut, and those of the directories above it, which may be as new.
fn sync_directories(directory: &Path) -> io::Result<()> {
    for directory in directory.ancestors().take(4) {
        match File::open(directory).and_then(|directory| directory.sync_all()) {
            Err(error) if error.kind() != io::ErrorKind::PermissionDenied => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn read_bounded(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(FILE_BYTES + 1);
    file.take(FILE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

struct SystemFile {
    descriptor: Descriptor,
    path: PathBuf,
}

impl LockedFile for SystemFile {
    fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; FILE_BYTES + 1];
        let mut filled = 0;
        while filled < bytes.len() {
            match rustix::io::pread(self.descriptor.fd()?, &mut bytes[filled..], filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }

    fn write(&self, offset: usize, bytes: &[u8]) -> io::Result<()> {
        let mut written = 0;
        while written < bytes.len() {
            // No fork comes between the check and the write: a child that wrote late would undo its parent's.
            let wrote = fork::without_signals(|| {
                let fd = self.descriptor.fd()?;
                Ok::<_, io::Error>(rustix::io::pwrite(fd, &bytes[written..], (offset + written) as u64))
            });
            match wrote? {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(more) => written += more,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        loop {
            match rustix::fs::fdatasync(self.descriptor.fd()?) {
                Err(Errno::INTR) => {}
                done => return Ok(done?),
            }
        }
    }

    fn is_in_place(&self) -> io::Result<bool> {
        let held = rustix::fs::fstat(self.descriptor.fd()?)?;
        match fs::metadata(&self.path) {
            Ok(there) => Ok((held.st_dev as u64, held.st_ino as u64) == (there.dev(), there.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}
