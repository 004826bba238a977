//! Failed operations in the terms of the core.

use crate::os::process;
use leafid_core::call::{IoFailure, IoKind};
use std::io;

/// The kind of the failure, and what the system said.
pub(crate) fn io_failure(error: &io::Error) -> IoFailure {
    let kind = match error.kind() {
        io::ErrorKind::PermissionDenied => IoKind::Denied,
        io::ErrorKind::ReadOnlyFilesystem => IoKind::ReadOnly,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => IoKind::Full,
        _ => IoKind::Other,
    };
    // A process may have changed its user since the opening.
    let user = if kind == IoKind::Denied { process::user() } else { String::new() };
    IoFailure { kind, text: error.to_string(), user }
}
