//! What the user said of directories, deployments and servers, checked.

pub(crate) mod allowed;
pub(crate) mod checks;
pub(crate) mod clock_check;
pub(crate) mod deployment;
pub(crate) mod http_options;
pub(crate) mod state_dir;
