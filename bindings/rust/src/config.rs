//! Checks of the options for directories, deployments and servers.

pub(crate) mod allowed;
pub(crate) mod checks;
pub(crate) mod clock_check;
pub(crate) mod deployment;
pub(crate) mod http_options;
pub(crate) mod state_dir;
