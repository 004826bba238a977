//! What the host needs of the system, as small traits, so that a simulation can take its place: clock, disk, randomness.

use crate::os::PerProcess;
use crate::os::clock::Clock;
use crate::os::filesystem_kind::FileSystem;
use crate::os::namespaces::Scope;
use leafid_core::{Code, Error, Result};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Bytes of each file: two pages, one for each slot.
pub(crate) const FILE_BYTES: usize = 2 * 4096;

/// The clock, disk and randomness of this process. A forked child has its own.
pub(crate) fn of_process() -> &'static Arc<Env> {
    static ENV: PerProcess<Arc<Env>> = PerProcess::new();
    ENV.get_or_install(|| Arc::new(Env::system()))
}

/// Where state files, and the other files of two slots, live.
pub(crate) trait Disk: Send + Sync {
    /// Makes the directory if it is missing. Returns its identity and its file system.
    fn directory(&self, path: &Path, access: FileAccess) -> io::Result<(DirectoryId, FileSystem)>;
    /// Reads a file without locking it; none if there is no such file.
    fn peek(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;
    /// The names in a directory, in no particular order.
    fn list(&self, path: &Path) -> io::Result<Vec<OsString>>;
    /// Opens and locks a file. A missing one is made if `new` is given. None if another process holds the lock.
    /// Errors: also when the file system's locks exclude nobody.
    fn open(&self, path: &Path, new: Option<NewFile<'_>>) -> io::Result<Option<Box<dyn LockedFile>>>;
    /// Identifies the machine, whenever it was started; none where that is not known.
    fn machine_id(&self) -> Option<String>;
    /// Locks the worker id on this host; none if another process has it.
    fn lock_worker(&self, name: &str, worker_id: u32) -> Result<Option<Box<dyn HostLock>>>;
    /// Which processes see such a lock.
    fn scope(&self) -> Scope {
        Scope::Host
    }
    /// The user who holds the lock of a worker id, if that user could not have opened the record at this path.
    fn foreign_holder(&self, _name: &str, _worker_id: u32, _record: &Path) -> Option<u32> {
        None
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

/// Who may open a file, from its first moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileAccess {
    /// Its owner, and its group to read, less what umask takes: nobody else, who could hold its lock.
    Own,
    /// The members of its group as its owner, whatever umask says.
    Group,
    /// Only its owner: it holds a secret.
    Private,
}

/// With whom files are shared, as the user's options say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sharing {
    /// With other hosts: their file system may be one of the network.
    pub(crate) fs: bool,
    /// With the members of a group.
    pub(crate) group: bool,
}

impl Sharing {
    /// Who may open what is made.
    pub(crate) fn access(self) -> FileAccess {
        if self.group { FileAccess::Group } else { FileAccess::Own }
    }
}

impl From<bool> for Sharing {
    fn from(fs: bool) -> Sharing {
        Sharing { fs, group: false }
    }
}

/// What identifies a directory: device and inode.
pub(crate) type DirectoryId = FileId;
/// What identifies a file: device and inode. A copy has another.
pub(crate) type FileId = (u64, u64);

/// A file of two slots whose lock is held until it is dropped.
pub(crate) trait LockedFile: Send {
    /// The whole file.
    fn read(&self) -> io::Result<Vec<u8>>;
    /// Writes in place and makes it durable.
    fn write(&self, offset: usize, bytes: &[u8]) -> io::Result<()> {
        self.put(offset, bytes)?;
        self.sync()
    }
    /// Writes in place, and syncs nothing.
    fn put(&self, offset: usize, bytes: &[u8]) -> io::Result<()>;
    /// Makes durable what [`LockedFile::put`] wrote.
    fn sync(&self) -> io::Result<()>;
    /// Makes its name durable: a new file may be gone after a power cut until its directory is synced.
    fn sync_name(&self) -> io::Result<()>;
    /// Whether the locked file is still the one at its path.
    fn is_in_place(&self) -> io::Result<bool>;
    /// Which file it is.
    fn id(&self) -> io::Result<FileId>;
    /// When it was written or changed last, by the kernel's clock in Unix milliseconds: no copy has it, and nobody can
    /// set it.
    fn changed_ms(&self) -> io::Result<i64>;
    /// The permission bits of other users, none where only its owner may open it.
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
    /// When leafid was built, Unix milliseconds: no right clock reads less.
    pub(crate) built_ms: i64,
}

impl Env {
    /// A random number. Errors: `state_io`.
    pub(crate) fn number(&self) -> Result<u128> {
        self.random.number().map_err(|error| {
            Error::new(Code::StateIo, format!("the system gives no random numbers: {error}; try again"))
        })
    }
}
