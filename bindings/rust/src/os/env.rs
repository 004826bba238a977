//! The interface to the system as small traits, which a simulation can implement: clock, disk and random numbers.

use crate::os::PerProcess;
use crate::os::clock::Clock;
use leafid_core::options::deployment::{FileSystem, Scope};
use leafid_core::{Code, Error, Result};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The size of each file in bytes: two pages, one for each slot.
pub(crate) use leafid_core::format::two_slots::FILE_BYTES;

/// The clock, the disk and the random numbers of this process. A forked child has its own.
pub(crate) fn of_process() -> &'static Arc<Env> {
    static ENV: PerProcess<Arc<Env>> = PerProcess::new();
    ENV.get_or_install(|| Arc::new(Env::system()))
}

/// The disk with the state files and the other files of two slots.
pub(crate) trait Disk: Send + Sync {
    /// Creates the directory if it is missing. Returns its identity and its file system.
    fn directory(&self, path: &Path, access: FileAccess) -> io::Result<(FileId, FileSystem)>;
    /// Reads a file without locking it; `None` if there is no such file.
    fn peek(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;
    /// The names in a directory, in no particular order.
    fn list(&self, path: &Path) -> io::Result<Vec<OsString>>;
    /// Opens and locks a file. A missing one is created if `new` is given. `None` if another process holds the lock.
    ///
    /// It is also an error if the file system's locks exclude no process.
    fn open(&self, path: &Path, new: Option<NewFile<'_>>) -> io::Result<Option<Box<dyn LockedFile>>>;
    /// Identifies the machine across its starts; `None` if it is unknown.
    fn machine_id(&self) -> Option<String>;
    /// Locks the worker id on this host; `None` if another process holds it.
    fn lock_worker(&self, name: &str, worker_id: u32) -> Result<Option<Box<dyn HostLock>>>;
    /// The processes that see such a lock.
    fn scope(&self) -> Scope {
        Scope::Host
    }
    /// The user who holds the lock of a worker id, if that user could not have opened the record at this path.
    fn foreign_holder(&self, _name: &str, _worker_id: u32, _record: &Path) -> Option<u32> {
        None
    }
    /// The names under which this worker id is locked on this host, as far as the system shows it. `sub_directories`: a
    /// directory with one for each name.
    fn names_of(&self, _worker_id: u32, _sub_directories: Option<&Path>) -> Vec<String> {
        Vec::new()
    }
    /// Describes the process that holds the lock of a worker id, for messages.
    fn holder(&self, name: &str, worker_id: u32) -> Option<String>;
}

/// The first content of a file, and who may open it.
#[derive(Clone, Copy)]
pub(crate) struct NewFile<'b> {
    pub(crate) bytes: &'b [u8; FILE_BYTES],
    pub(crate) access: FileAccess,
}

/// Who may open a file, from its creation on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileAccess {
    /// The owner, and the group for reading, less the umask. Other users cannot open it, and so cannot hold its lock.
    Own,
    /// The owner and the members of the group, whatever the umask.
    Group,
    /// Only the owner, because the file holds a secret.
    Private,
}

/// With whom the user's options share files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sharing {
    /// With other hosts: the file system may be on the network.
    pub(crate) fs: bool,
    /// With the members of a group.
    pub(crate) group: bool,
}

impl Sharing {
    /// Who may open new files.
    pub(crate) fn access(self) -> FileAccess {
        if self.group { FileAccess::Group } else { FileAccess::Own }
    }
}

impl From<bool> for Sharing {
    fn from(fs: bool) -> Sharing {
        Sharing { fs, group: false }
    }
}

/// Identifies a file or a directory: device and inode. A copy has another one.
pub(crate) type FileId = (u64, u64);

/// A file of two slots. Its lock is held until it is dropped.
pub(crate) trait LockedFile: Send {
    /// The whole file.
    fn read(&self) -> io::Result<Vec<u8>>;
    /// Writes in place and makes it durable.
    fn write(&self, offset: usize, bytes: &[u8]) -> io::Result<()> {
        self.put(offset, bytes)?;
        self.sync()
    }
    /// Writes in place without a sync.
    fn put(&self, offset: usize, bytes: &[u8]) -> io::Result<()>;
    /// Makes durable what [`LockedFile::put`] wrote.
    fn sync(&self) -> io::Result<()>;
    /// Makes the file's name durable: a new file may be gone after a power cut until its directory is synced.
    fn sync_name(&self) -> io::Result<()>;
    /// Whether the locked file is still the one at its path.
    fn is_in_place(&self) -> io::Result<bool>;
    /// The identity of the file.
    fn id(&self) -> io::Result<FileId>;
    /// The time of the last write or change, by the kernel's clock in Unix milliseconds. A copy has another one, and
    /// no program can set it.
    fn changed_ms(&self) -> io::Result<i64>;
    /// The permission bits of other users; 0 if only the owner may open it.
    fn others_bits(&self) -> io::Result<u32> {
        Ok(0)
    }
    /// Releases the lock before the file is closed, for all copies of its descriptor, also those in forked children.
    fn unlock(&self);
}

/// The lock of a worker id on this host, held until it is dropped.
pub(crate) trait HostLock: Send {
    /// Closes the connections of processes that asked who holds the worker id.
    fn drain_queries(&self) {}
}

/// Random numbers that no two processes share.
pub(crate) trait Random: Send + Sync {
    /// 128 random bits.
    fn number(&self) -> io::Result<u128>;
}

/// The system that the host runs on, or a simulated one.
pub(crate) struct Env {
    pub(crate) clock: Clock,
    pub(crate) disk: Box<dyn Disk>,
    pub(crate) random: Box<dyn Random>,
    /// The time at which leafid was built, Unix milliseconds. No correct clock reads less.
    pub(crate) built_ms: i64,
}

impl Env {
    /// A random number. Errors: `state_io`.
    pub(crate) fn number(&self) -> Result<u128> {
        self.random.number().map_err(|error| {
            Error::new(Code::StateIo, format!("the system returned no random numbers: {error}; try again"))
        })
    }
}
