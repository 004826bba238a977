//! The kinds of macOS, where the mount says whether its disk is of this machine.

use leafid_core::options::deployment::{FileSystem, FilesystemKind};
use std::io;
use std::path::Path;

/// The file system of this directory, or of the nearest existing one above it. This hangs on a network that does not
/// respond.
pub(crate) fn of(path: &Path) -> io::Result<FileSystem> {
    let found = rustix::fs::statfs(super::nearest(path)?)?;
    let name: Vec<u8> =
        found.f_fstypename.iter().map(|&byte| byte as u8).take_while(|&byte| byte != 0).collect();
    Ok(classify(&String::from_utf8_lossy(&name), found.f_flags & libc::MNT_LOCAL as u32 != 0))
}

/// `local`: whether the mount says so. A program that serves files, as macFUSE's, may say anything.
fn classify(name: &str, local: bool) -> FileSystem {
    let kind = match name {
        "tmpfs" => FilesystemKind::Ephemeral,
        _ if !local || name.contains("fuse") => FilesystemKind::Network,
        _ => FilesystemKind::Local,
    };
    FileSystem { name: name.into(), kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_name_and_mount() {
        for (name, local, kind) in [
            ("apfs", true, FilesystemKind::Local),
            ("tmpfs", true, FilesystemKind::Ephemeral),
            ("nfs", false, FilesystemKind::Network),
            ("smbfs", false, FilesystemKind::Network),
            ("macfuse", true, FilesystemKind::Network),
        ] {
            assert_eq!(classify(name, local), FileSystem { name: name.into(), kind });
        }
    }
}
