//! The life of one worker id's user, from the claim to the release: the machine `WorkerRun` and its parts.

pub mod cache_drop;
pub mod cache_file;
pub mod cache_read;
pub mod cache_write;
pub mod record_file;
pub mod record_open;
pub mod record_write;
pub mod waiting;
