//! Where ranges of ids come from: callbacks, files, and servers of each dialect.

pub(crate) mod callback;
pub(crate) mod completion;
pub(crate) mod fetch_request;
#[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "for the command line"))]
pub(crate) mod file;
pub(crate) mod host_source;
