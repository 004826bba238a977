//! The process generation: a number that no ancestor of this process had. And what modules do around a fork.

use std::time::Duration;

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;

/// How long a fork waits for the threads of a module before it continues anyway.
#[cfg_attr(windows, allow(dead_code, reason = "there is no fork"))]
pub(crate) const FORK_WAITS: Duration = Duration::from_millis(100);

/// The actions of a module around a fork.
#[cfg_attr(windows, allow(dead_code, reason = "there is no fork"))]
pub(crate) struct ForkHooks {
    /// Runs in the parent before the fork. It waits at most this long.
    pub(crate) before: fn(Duration),
    /// Runs in the parent after the fork.
    pub(crate) in_parent: fn(),
    /// Runs in a child when it first enters. It must be async-signal-safe: the child's other threads are gone, and may have
    /// held any lock.
    pub(crate) in_child: fn(),
}

impl ForkHooks {
    /// Hooks that do nothing, for those that a module does not need.
    pub(crate) const NONE: ForkHooks = ForkHooks { before: |_| {}, in_parent: || {}, in_child: || {} };
}

/// The modules with hooks, in the order of the calls.
#[derive(Clone, Copy)]
pub(crate) enum ForkOrder {
    Fetches,
    Renewals,
    UserCalls,
    Timeouts,
    /// The last one, because the others may log.
    Logs,
}
