//! What [`run`](crate::run) and [`supply`](crate::supply) share with their hosts: clocks, the number of a call, lines of
//! a log, and how an operation on a file failed.

mod io_failure;
mod shared_failure;

pub use io_failure::{FileAction, FileAdvice, IoFailure, IoKind, MOST_STUCK_CALLS};
pub use shared_failure::{LOCK_TIMEOUT, SharedFailure};

use crate::{Code, Error};
use core::time::Duration;

/// How long a close waits for what may hang: threads, the disk, a source.
pub const CLOSE_WAITS: Duration = Duration::from_secs(2);

/// How long an opening waits for the disk: at least 100 ms, whatever `timeout_ms` is.
pub fn disk_bound(timeout: Duration) -> Duration {
    timeout.max(Duration::from_millis(100))
}

/// The error of a call that its host carries out, and whose code panicked.
pub fn panicked() -> Error {
    Error::new(Code::Internal, "leafid panicked while it carried out a call; report this")
}

/// The clocks of the host, read directly before a machine is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Clocks {
    /// The system's clock, Unix milliseconds. It may go back or leap.
    pub wall_ms: i64,
    /// The time since the machine started. It never goes back, and counts while the machine sleeps.
    pub boot: Duration,
}

/// The number of a call. A machine never uses one twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u64);

/// How important a line of the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// An ordinary event.
    Info,
    /// Ids are still issued, but somebody should look.
    Warn,
}
