//! Options that both kinds share: directories, servers, and where the process runs; and the key of public ids.

pub(crate) mod http_options;
pub(crate) mod key_source;
pub(crate) mod shared_setters;
pub(crate) mod state_dir;
pub(crate) mod surroundings;
pub(crate) mod user_options;
