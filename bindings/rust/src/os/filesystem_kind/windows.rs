//! The kinds of Windows: what a drive is, and the name of its file system.

use crate::os::windows::{narrow, wide};
use leafid_core::options::deployment::{FileSystem, FilesystemKind};
use std::io;
use std::path::{Component, Path, Prefix};
use std::ptr;
use windows_sys::Win32::Storage::FileSystem::{GetDriveTypeW, GetVolumeInformationW, GetVolumePathNameW};
use windows_sys::Win32::System::WindowsProgramming::{DRIVE_RAMDISK, DRIVE_REMOTE};

/// The file system of this directory, or of the nearest existing one above it. This hangs on a network that does not
/// respond.
pub(crate) fn of(path: &Path) -> io::Result<FileSystem> {
    let path = super::nearest(path)?;
    let (mut root, mut name) = ([0_u16; 1_024], [0_u16; 64]);
    let text = wide(&path);
    // SAFETY: the path ends with a zero, and at most as many units are written as there is room for.
    if unsafe { GetVolumePathNameW(text.as_ptr(), root.as_mut_ptr(), root.len() as u32) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call above ended the root with a zero.
    let kind = match unsafe { GetDriveTypeW(root.as_ptr()) } {
        DRIVE_REMOTE => FilesystemKind::Network,
        DRIVE_RAMDISK => FilesystemKind::Ephemeral,
        _ if is_share(&path) => FilesystemKind::Network,
        _ => FilesystemKind::Local,
    };
    // SAFETY: as for the root; what is null is not written.
    let named = unsafe {
        GetVolumeInformationW(
            root.as_ptr(),
            ptr::null_mut(),
            0,
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
            name.as_mut_ptr(),
            name.len() as u32,
        )
    };
    let name = if named != 0 { narrow(&name) } else { "a file system without a name".into() };
    Ok(FileSystem { name, kind })
}

/// Whether the path names a server.
fn is_share(path: &Path) -> bool {
    let Some(Component::Prefix(prefix)) = path.components().next() else { return false };
    matches!(prefix.kind(), Prefix::UNC(..) | Prefix::VerbatimUNC(..))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_on_the_network_and_this_machine_s_disk_is_local() {
        for (path, share) in
            [(r"\\server\share\a", true), (r"\\?\UNC\server\share\a", true), (r"C:\a", false)]
        {
            assert_eq!(is_share(Path::new(path)), share, "{path}");
        }
        let found = of(&std::env::temp_dir().join("not/there")).unwrap();
        assert_eq!(found.kind, FilesystemKind::Local);
    }
}
