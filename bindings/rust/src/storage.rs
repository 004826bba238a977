//! Files that survive a crash: their formats, their locks and how they are written.

pub(crate) mod decimal;
pub(crate) mod file_names;
pub(crate) mod record_format;
pub(crate) mod shared_file;
pub(crate) mod state_file;
pub(crate) mod two_slots;
