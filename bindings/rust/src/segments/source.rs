//! Where ranges of ids come from: callbacks, files, and servers of each dialect.

pub(crate) mod callback;
pub(crate) mod completion;
pub(crate) mod fetch_request;
#[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "for the command line"))]
pub(crate) mod file;
#[cfg(feature = "http")]
pub(crate) mod http_sources;
pub(crate) mod select;
pub(crate) mod source_properties;
