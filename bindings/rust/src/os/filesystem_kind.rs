//! The kind of file system of a directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub(crate) use linux::*;
#[cfg(target_os = "macos")]
pub(crate) use macos::*;
#[cfg(windows)]
pub(crate) use windows::*;

/// The file system that a directory is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileSystem {
    /// The kernel's name for it: `ext4`, `nfs4`.
    pub(crate) name: String,
    pub(crate) kind: FilesystemKind,
}

/// How long a file lasts, and who sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FilesystemKind {
    /// A disk of this machine.
    Local,
    /// Gone with the container or with the machine's memory.
    Ephemeral,
    /// Shared with other hosts.
    Network,
}

/// The path without links, or that of the nearest existing directory above it.
fn nearest(path: &Path) -> io::Result<PathBuf> {
    for ancestor in path.ancestors() {
        match fs::canonicalize(ancestor) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            found => return found,
        }
    }
    // Of a path without a root, as one on a drive that is not there.
    Err(io::ErrorKind::NotFound.into())
}
