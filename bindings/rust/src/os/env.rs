//! The world outside: clock, disk and randomness behind small traits, so that the host can run under simulation.

use crate::os::clock::Clock;
use crate::os::filesystem_kind::FileSystem;
use crate::os::namespaces::Scope;
use crate::storage::two_slots::FILE_BYTES;
use leafid_core::{Code, Error, Result};
use std::ffi::OsString;
use std::io;
use std::path::Path;

/// Where state files, and the other files of two slots, live.
pub(crate) trait Disk: Send + Sync {
    /// Makes the directory if it is missing, and answers what identifies it, and what it is on.
    fn directory(&self, path: &Path, access: Access) -> io::Result<(DirectoryId, FileSystem)>;
    /// Reads a file without its lock; none if there is no such file.
    fn peek(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;
    /// The names in a directory, in no order.
    fn names(&self, path: &Path) -> io::Result<Vec<OsString>>;
    /// Opens and locks a file, made as `new` says, where that is given, if it is missing; none if another holds the lock.
    /// Errors: also when the lock does not lock.
    fn open(&self, path: &Path, new: Option<NewFile<'_>>) -> io::Result<Option<Box<dyn LockedFile>>>;
    /// Which machine it is, whenever it was started; none where that is not known.
    fn machine(&self) -> Option<String>;
    /// Marks the worker id as taken on this host; none if it is.
    fn appear(&self, name: &str, worker_id: u32) -> Result<Option<Box<dyn Presence>>>;
    /// Who sees such a mark.
    fn scope(&self) -> Scope {
        Scope::Host
    }
    /// The user who marked it, if that is one who could not have opened the record at this path.
    fn stranger(&self, _name: &str, _worker_id: u32, _record: &Path) -> Option<u32> {
        None
    }
    /// Who marked it, for messages.
    fn holder(&self, name: &str, worker_id: u32) -> Option<String>;
}

/// A file that is to be made.
#[derive(Clone, Copy)]
pub(crate) struct NewFile<'b> {
    pub(crate) bytes: &'b [u8; FILE_BYTES],
    pub(crate) access: Access,
}

/// Who may open a file, from its first moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Its owner, and its group to read, less what umask takes: nobody else, who could hold its lock.
    Own,
    /// The members of its group as its owner, whatever umask says.
    Group,
    /// Only its owner: it holds a secret.
    Private,
}

/// With whom files are shared, by the user's word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sharing {
    /// With other hosts: their file system may be one of the network.
    pub(crate) fs: bool,
    /// With the members of a group.
    pub(crate) group: bool,
}

impl Sharing {
    /// Who may open what is made.
    pub(crate) fn access(self) -> Access {
        if self.group { Access::Group } else { Access::Own }
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
    /// Writes in place.
    fn put(&self, offset: usize, bytes: &[u8]) -> io::Result<()>;
    /// Makes durable what was put.
    fn sync(&self) -> io::Result<()>;
    /// Makes its name durable: a file whose directory was not synced since it was made may be gone after a power cut.
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
    /// Lets go of the lock before the file is closed, for all copies of its descriptor: those of forked children, too.
    fn unlock(&self);
}

/// Marks a worker id as taken until it is dropped.
pub(crate) trait Presence: Send {
    /// Lets go of those who asked who holds the id.
    fn drain(&self) {}
}

/// Random numbers that no two processes share.
pub(crate) trait Random: Send + Sync {
    /// 128 random bits.
    fn number(&self) -> io::Result<u128>;
}

/// The world a host lives in.
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
