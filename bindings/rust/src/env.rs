//! The world outside: clock, disk and randomness behind small traits, so that the host can run under simulation.

use crate::slot::FILE_BYTES;
use crate::timeline::Timeline;
use leafid_core::Result;
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
}

/// Where state files live.
pub(crate) trait Disk: Send + Sync {
    /// Makes the directory if it is missing, and answers what identifies it.
    fn directory(&self, path: &Path) -> io::Result<DirectoryId>;
    /// Reads a file without its lock; none if there is no such file.
    fn peek(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;
    /// Opens and locks a file, made with these bytes if it is missing; none if another holds the lock.
    fn open(&self, path: &Path, initial: &[u8; FILE_BYTES]) -> io::Result<Option<Box<dyn LockedFile>>>;
    /// Marks the worker id as taken on this host; none if it is.
    fn appear(&self, name: &str, worker_id: u32) -> Result<Option<Box<dyn Presence>>>;
    /// Who marked it, for messages.
    fn holder(&self, name: &str, worker_id: u32) -> Option<String>;
}

/// What identifies a directory: device and inode.
pub(crate) type DirectoryId = (u64, u64);

/// A state file whose lock is held until it is dropped.
pub(crate) trait LockedFile: Send {
    /// The whole file.
    fn read(&self) -> io::Result<Vec<u8>>;
    /// Writes in place and makes it durable.
    fn write(&self, offset: usize, bytes: &[u8]) -> io::Result<()>;
    /// Whether the locked file is still the one at its path.
    fn is_in_place(&self) -> io::Result<bool>;
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
}

/// The system's clock without a call through a pointer, as it is read for each id, or another.
#[derive(Clone)]
pub(crate) enum AnyClock {
    System,
    #[cfg_attr(not(test), allow(dead_code))]
    Other(Arc<dyn Clock>, Arc<Timeline>),
}

/// The system clock's: it survives forks.
static SYSTEM: Timeline = Timeline::new();

impl AnyClock {
    /// Unix milliseconds as the clock reads: for the hot path alone. Far ahead of the spans it leads to no id.
    #[inline]
    pub(crate) fn now_ms(&self) -> i64 {
        match self {
            AnyClock::System => crate::system::now_ms(),
            AnyClock::Other(clock, _) => clock.now_ns().div_euclid(1_000_000),
        }
    }

    /// Unix milliseconds as they are believed: for whatever is recorded, and for every decision.
    pub(crate) fn believed_ms(&self) -> i64 {
        self.believed_ns().div_euclid(1_000_000)
    }

    /// As [`AnyClock::believed_ms`], in nanoseconds.
    pub(crate) fn believed_ns(&self) -> i64 {
        let (now_ns, counted_ns) = self.both();
        match self {
            AnyClock::System => SYSTEM.believe(now_ns, counted_ns),
            AnyClock::Other(_, line) => line.believe(now_ns, counted_ns),
        }
    }

    /// Both clocks, read close together: a thread may be off the processor between two reads.
    fn both(&self) -> (i64, i64) {
        let mut before = nanoseconds(self.counted());
        loop {
            let now_ns = match self {
                AnyClock::System => crate::system::now_ns(),
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
            AnyClock::System => crate::system::counted(),
            AnyClock::Other(clock, _) => clock.counted(),
        }
    }

    pub(crate) fn sleep(&self, time: Duration) {
        match self {
            AnyClock::System => std::thread::sleep(time),
            AnyClock::Other(clock, _) => clock.sleep(time),
        }
    }
}

/// 292 years fit.
fn nanoseconds(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}
