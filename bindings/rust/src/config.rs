//! Options that both kinds share: directories, servers, and where the process runs.

pub(crate) mod http_options;
pub(crate) mod state_dir;
pub(crate) mod surroundings;
