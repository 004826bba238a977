//! Files that survive a crash: their locks and how they are written.

pub(crate) mod io_failure;
pub(crate) mod shared_file;
pub(crate) mod shared_lock;
pub(crate) mod state_file;
