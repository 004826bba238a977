//! Files that survive a crash: their locks and how they are written.

pub(crate) mod io_failure;
#[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "the command line changes files by hand"))]
pub(crate) mod shared_file;
pub(crate) mod shared_lock;
pub(crate) mod state_file;
