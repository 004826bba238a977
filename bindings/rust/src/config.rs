//! Checks of the options for directories, deployments and servers.

pub(crate) mod deployment;
pub(crate) mod http_options;
pub(crate) mod state_dir;
