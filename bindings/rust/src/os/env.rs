//! The world outside: clock, disk and randomness behind small traits, so that the host can run under simulation.

use crate::ClockSource;
use crate::os::filesystem_kind::FileSystem;
use crate::os::log_queue::{self, Level};
use crate::os::namespaces::Scope;
use crate::storage::two_slots::FILE_BYTES;
use leafid_core::{ClockFilter, Code, Error, LeapEvent, Result};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The clock that ids are made of, and the one that waits are measured by.
pub(crate) trait Clock: Send + Sync {
    /// Nanoseconds since the Unix epoch; negative before it.
    fn now_ns(&self) -> i64;
    /// A clock that only goes forward, also while the machine is suspended.
    fn counted(&self) -> Duration;
    /// Sleeps.
    fn sleep(&self, time: Duration);
    /// Which start of the machine `counted` counts from.
    fn boot(&self) -> String;
}

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
    pub(crate) clock: AnyClock,
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

/// The system's clock without a call through a pointer, as it is read for each id, or another.
#[derive(Clone)]
pub(crate) enum AnyClock {
    System,
    /// The system's, read as of its last timer interrupt on the hot path.
    Coarse,
    #[cfg_attr(not(test), allow(dead_code))]
    Other(Arc<dyn Clock>, Arc<ClockFilter>),
}

/// The system clock's: it survives forks.
static SYSTEM: ClockFilter = ClockFilter::new();

impl AnyClock {
    /// Unix milliseconds as the clock reads: for the hot path alone. Far ahead of the spans it leads to no id.
    #[inline]
    pub(crate) fn now_ms(&self) -> i64 {
        match self {
            AnyClock::System => crate::os::disk::now_ms(),
            AnyClock::Coarse => crate::os::disk::coarse_ms(),
            AnyClock::Other(clock, _) => clock.now_ns().div_euclid(1_000_000),
        }
    }

    /// This clock as `source` wants it read on the hot path.
    pub(crate) fn read_as(&self, source: ClockSource) -> AnyClock {
        match (self, source) {
            (AnyClock::System, ClockSource::Coarse) => AnyClock::Coarse,
            (clock, _) => clock.clone(),
        }
    }

    /// How late the hot path's reading may be, milliseconds.
    pub(crate) fn lag_ms(&self) -> i64 {
        match self {
            AnyClock::Coarse => crate::os::disk::coarse_lag_ms(),
            _ => 0,
        }
    }

    /// Unix milliseconds as they are believed: for whatever is recorded, and for every decision.
    pub(crate) fn believed_ms(&self) -> i64 {
        self.believed_ns().div_euclid(1_000_000)
    }

    /// As [`AnyClock::believed_ms`], in nanoseconds.
    pub(crate) fn believed_ns(&self) -> i64 {
        let (now_ns, counted_ns) = self.both();
        let (filtered_ns, event) = self.filter().filter(now_ns, counted_ns);
        warn(event);
        filtered_ns
    }

    /// Which start of the machine it is; empty where that is not known.
    pub(crate) fn boot(&self) -> String {
        match self {
            AnyClock::System | AnyClock::Coarse => crate::os::disk::boot(),
            AnyClock::Other(clock, _) => clock.boot(),
        }
    }

    /// Takes note that the clock was believed to read `then_ms` when the suspend-counting one, since the same start of
    /// the machine, read `counted_ms`; and of the leap that was not followed then, and since when.
    pub(crate) fn learn(&self, then_ms: i64, counted_ms: i64, leap_ms: Option<(i64, i64)>) {
        let ns = |ms: i64| ms.saturating_mul(1_000_000);
        let leap = leap_ms.map(|(leap_ms, since_ms)| (ns(leap_ms), ns(since_ms)));
        warn(self.filter().observe((ns(then_ms), ns(counted_ms)), leap, self.both()));
    }

    /// The leap that is not followed yet: how far, and since when by the suspend-counting clock.
    pub(crate) fn leap_ms(&self) -> Option<(i64, i64)> {
        self.filter().leap().map(|(leap_ns, since_ns)| (leap_ns / 1_000_000, since_ns / 1_000_000))
    }

    /// A generator was opened by what is believed now.
    pub(crate) fn use_it(&self) {
        self.filter().mark_used();
    }

    fn filter(&self) -> &ClockFilter {
        match self {
            AnyClock::System | AnyClock::Coarse => &SYSTEM,
            AnyClock::Other(_, filter) => filter,
        }
    }

    /// Both clocks, read close together: a thread may be off the processor between two reads.
    fn both(&self) -> (i64, i64) {
        let mut before = nanoseconds(self.counted());
        loop {
            let now_ns = match self {
                AnyClock::System | AnyClock::Coarse => crate::os::disk::now_ns(),
                AnyClock::Other(clock, _) => clock.now_ns(),
            };
            let after = nanoseconds(self.counted());
            if after.saturating_sub(before) < 1_000_000_000 {
                return (now_ns, after);
            }
            before = after;
        }
    }

    /// The suspend-counting clock.
    pub(crate) fn counted(&self) -> Duration {
        match self {
            AnyClock::System | AnyClock::Coarse => crate::os::disk::counted(),
            AnyClock::Other(clock, _) => clock.counted(),
        }
    }

    pub(crate) fn sleep(&self, time: Duration) {
        match self {
            AnyClock::System | AnyClock::Coarse => std::thread::sleep(time),
            AnyClock::Other(clock, _) => clock.sleep(time),
        }
    }
}

/// Logs a leap, later: the clock is read with locks held, too.
fn warn(event: Option<LeapEvent>) {
    if let Some(event) = event {
        log_queue::later(Level::Warn, format_args!("{event}"));
    }
}

/// 292 years fit.
fn nanoseconds(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}
